"""Read: archive a source's bytes, then make text of them; never the other way round."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import PurePosixPath
from urllib.parse import urlsplit

import anyio
from prefect import task

from adapters.documents.port import Converter, Reader
from adapters.models.port import Answer
from state.artifacts import Artifacts
from state.envelope import utc_text
from state.values.blocks import Block, BlockKind, Document, Outcome
from state.values.errors import RejectedError
from state.values.ids import canonical_json
from state.values.money import Usage
from state.values.redaction import redact
from tasks.policy import POLICY
from tasks.slots import SlottedReader


@dataclass(frozen=True, slots=True)
class ReadInput:
    """One source to open."""

    locator: str


@dataclass(frozen=True, slots=True)
class Reading:
    """A source as it was read: what was archived, and the text that one extractor made of it.

    `fetched_at` is when the bytes were read and `modified_at` the source's own date (or '').
    """

    locator: str
    display: str
    title: str | None
    content_hash: str
    size: int
    media_type: str
    outcome: Outcome
    text_hash: str
    blocks_hash: str
    characters: int
    extractor: str
    extractor_version: str
    fetched_at: str
    modified_at: str
    warnings: tuple[str, ...] = ()
    declared_type: str = ""


async def read_source(
    given: ReadInput,
    reader: Reader,
    converter: Converter,
    artifacts: Artifacts,
    now: Callable[[], datetime],
) -> Answer[Reading]:
    """Archive the source, convert it and archive its text.

    Raises `RejectedError` whose code is the conversion's outcome when there is no text to quote.
    """
    opened = await reader.open(given.locator)
    fetched_at = utc_text(now())
    content_hash = await anyio.to_thread.run_sync(artifacts.put, opened.data)
    conversion = await converter.convert(
        opened.data, name=file_name(given.locator), media_type=opened.media_type
    )
    document = conversion.document
    if document is None or not conversion.outcome.is_readable:
        raise RejectedError(
            f"{opened.display}: {conversion.reason or conversion.outcome}",
            code=conversion.outcome.upper(),
        )
    text_hash = await anyio.to_thread.run_sync(artifacts.put, document.text.encode())
    blocks = spell_blocks(document).encode()
    blocks_hash = await anyio.to_thread.run_sync(artifacts.put, blocks)
    reading = Reading(
        locator=given.locator,
        display=opened.display,
        title=redact(document.title) if document.title else None,
        content_hash=content_hash,
        size=len(opened.data),
        media_type=document.media_type,
        outcome=conversion.outcome,
        text_hash=text_hash,
        blocks_hash=blocks_hash,
        characters=len(document.text),
        extractor=document.extractor,
        extractor_version=document.extractor_version,
        fetched_at=fetched_at,
        modified_at=opened.modified_at,
        warnings=document.warnings,
        declared_type=opened.media_type,
    )
    return Answer(reading, Usage(pages=1))


def file_name(locator: str) -> str:
    """Return what a source is called when it is read: a path as it is, the last part of a URL."""
    if "://" not in locator:
        return locator
    return PurePosixPath(urlsplit(locator).path).name


def spell_blocks(document: Document) -> str:
    """Return the blocks as the archive keeps them: a JSON list, offsets into the text."""
    return canonical_json([asdict(block) for block in document.blocks])


def parse_blocks(text: str) -> tuple[Block, ...]:
    """Return the blocks that `spell_blocks` spelled."""
    return tuple(
        Block(**{**fields, "kind": BlockKind(fields["kind"])}) for fields in json.loads(text)
    )


@task(name="read", task_run_name="read {given.locator}", **POLICY)
async def read(
    given: ReadInput,
    *,
    reader: Reader,
    converter: Converter,
    artifacts: Artifacts,
    now: Callable[[], datetime],
) -> Answer[Reading]:
    """Open a source and archive it."""
    return await read_source(given, SlottedReader(reader), converter, artifacts, now)
