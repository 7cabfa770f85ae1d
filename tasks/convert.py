"""Convert: make text of an archived document, and say how well that went."""

from dataclasses import dataclass

import anyio
from prefect import task

from adapters.documents.port import Converter
from adapters.models.port import Answer
from state.artifacts import Artifacts
from state.values.errors import RejectedError
from state.values.redaction import redact
from tasks.policy import POLICY
from tasks.read import spell_blocks


@dataclass(frozen=True, slots=True)
class ConvertInput:
    """An archived document; `name` is its file's name, `media_type` what it was sent as or ''."""

    content_hash: str
    name: str
    media_type: str


@dataclass(frozen=True, slots=True)
class Converted:
    """The text that one extractor made of a document, and the quality of it."""

    text_hash: str
    blocks_hash: str
    characters: int
    media_type: str
    outcome: str
    extractor: str
    extractor_version: str
    title: str
    warnings: tuple[str, ...]
    pages: int | None
    pages_without_text: int
    pages_in_doubt: int
    dropped: tuple[str, ...]
    hidden_text: bool


async def convert_document(
    given: ConvertInput, converter: Converter, artifacts: Artifacts
) -> Answer[Converted]:
    """Convert and archive text and blocks.

    Raises `RejectedError` whose code is the conversion's outcome when there is no text to work
    from: nothing that follows could make up for it.
    """
    data = await anyio.to_thread.run_sync(artifacts.get, given.content_hash)
    made = await converter.convert(data, name=given.name, media_type=given.media_type)
    document = made.document
    if document is None or not made.outcome.is_readable or not document.text.strip():
        raise RejectedError(
            f"{given.name}: {made.reason or made.outcome}; there is no text to make code from",
            code=made.outcome.upper() if not made.outcome.is_readable else "EMPTY",
        )
    quality = document.quality
    return Answer(
        Converted(
            text_hash=await anyio.to_thread.run_sync(artifacts.put, document.text.encode()),
            blocks_hash=await anyio.to_thread.run_sync(
                artifacts.put, spell_blocks(document).encode()
            ),
            characters=len(document.text),
            media_type=document.media_type,
            outcome=made.outcome,
            extractor=document.extractor,
            extractor_version=document.extractor_version,
            title=redact(document.title or ""),
            warnings=document.warnings,
            pages=quality.pages,
            pages_without_text=len(quality.pages_without_text),
            pages_in_doubt=len(quality.pages_in_doubt),
            dropped=quality.dropped,
            hidden_text=bool(quality.hidden_text),
        )
    )


@task(name="convert", task_run_name="convert {given.name}", **POLICY)
async def convert(
    given: ConvertInput, *, converter: Converter, artifacts: Artifacts
) -> Answer[Converted]:
    """Convert a document."""
    return await convert_document(given, converter, artifacts)
