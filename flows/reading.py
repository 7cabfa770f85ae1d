"""Reading documents outside of a run: what `assay read` shows of files, folders and addresses."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import anyio

from adapters.documents.folder import FolderReader
from adapters.documents.port import Converter, Opened, Reader
from flows.groups import first_leaf
from flows.settings import Settings
from flows.wiring import local_converter
from state.values.blocks import Document
from state.values.errors import AssayError, InvalidRequest
from state.values.ids import content_hash
from state.values.redaction import redact
from tasks.read import file_name


@dataclass(frozen=True, slots=True)
class Read:
    """How reading one input ended; `code` says why it could not be opened, or is ''."""

    input: str
    outcome: str
    reason: str = ""
    code: str = ""
    document: Document | None = None
    opened: Opened | None = None
    media_type: str = ""

    @property
    def name(self) -> str:
        """Return the input as it may be shown: on one line, an address without its secrets."""
        line = " ".join(self.input.split())
        return redact(line) if "://" in line else line

    @property
    def is_readable(self) -> bool:
        """Tell whether there is text."""
        return self.document is not None

    def as_json(self) -> dict[str, Any]:
        """Return what programs get: texts, blocks with their offsets into `visible_text`."""
        document = self.document
        found: dict[str, Any] = {
            "input": self.name,
            "outcome": self.outcome,
            "reason": self.reason,
            "code": self.code,
            "content_hash": content_hash(self.opened.data) if self.opened else "",
            "size": len(self.opened.data) if self.opened else 0,
            "address": self.opened.display if self.opened and "://" in self.input else "",
            "media_type": document.media_type if document else "",
            "title": document.title if document else None,
            "main_text": document.main_text if document else "",
            "visible_text": document.text if document else "",
            "blocks": [],
            "quality": {},
            "warnings": list(document.warnings) if document else [],
            "extractor": None,
        }
        if document is not None:
            found["blocks"] = [
                {**asdict(block), "text": document.text[block.start : block.end]}
                for block in document.blocks
            ]
            found["quality"] = asdict(document.quality)
            found["extractor"] = {
                "name": document.extractor,
                "version": document.extractor_version,
            }
        return found


@dataclass(slots=True)
class _Input:
    name: str
    reader: Reader | None = None
    locator: str = ""
    done: anyio.Event = field(default_factory=anyio.Event)
    read: Read | None = None


async def read_inputs(
    settings: Settings, inputs: Sequence[str], show: Callable[[Read], None]
) -> None:
    """Read each of `inputs` and `show` how that ended, in their order: files, folders, URLs.

    A run is not needed and none is made; nothing is archived. Raises `InvalidRequest` for a folder
    that is missing, and what `show` raises; whatever is wrong with one file is said in its `Read`.
    """
    converter = local_converter(settings)
    web = _web(settings, inputs)
    try:
        wanted = [each async for each in _expand(inputs, web)]
        limit = anyio.Semaphore(settings.conversions_at_once)
        async with anyio.create_task_group() as group:
            for each in wanted:
                group.start_soon(_read, each, converter, limit)
            for each in wanted:
                await each.done.wait()
                assert each.read is not None  # set before it is done  # noqa: S101
                show(each.read)
                each.read = None  # a large folder is not kept in memory
    except BaseExceptionGroup as raised:
        raise first_leaf(raised) from None
    finally:
        await converter.aclose()


def _web(settings: Settings, inputs: Sequence[str]) -> Reader | None:
    """Return a reader for the addresses among `inputs`, or None: then nothing of the web loads."""
    if not any("://" in each for each in inputs):
        return None
    from flows.web import open_reader

    return open_reader(settings)


async def _expand(inputs: Sequence[str], web: Reader | None) -> AsyncIterator[_Input]:
    from adapters.documents.local_reader import LocalReader

    for each in inputs:
        if "://" in each:
            yield _Input(each, web, each)
            continue
        folder = FolderReader([each])
        reader = LocalReader(folder)
        root = folder.roots[0]
        found = await anyio.to_thread.run_sync(folder.inventory)
        if not (found.files or found.skipped):
            raise InvalidRequest(f"{each} holds no file to read")
        for skipped in found.skipped:
            read = Read(skipped.path, skipped.outcome, skipped.reason, "SKIPPED")
            yield _Input(skipped.path, read=read)
        for file in found.files:
            name = str(Path(each) / Path(file.locator).relative_to(root))
            yield _Input(name, reader, file.locator)


async def _read(each: _Input, converter: Converter, limit: anyio.Semaphore) -> None:
    try:
        if each.read is not None:
            return
        async with limit:
            each.read = await _read_one(each.name, each.locator, each.reader, converter)
    finally:
        each.done.set()


async def _read_one(name: str, locator: str, reader: Reader | None, converter: Converter) -> Read:
    assert reader is not None  # every input has one  # noqa: S101
    try:
        opened = await reader.open(locator)
    except AssayError as error:
        return Read(name, "unavailable", error.message, error.code)
    return await read_opened(name, opened, converter)


async def read_opened(name: str, opened: Opened, converter: Converter) -> Read:
    """Return how reading what was opened ended; `name` is its path or address."""
    made = await converter.convert(opened.data, name=file_name(name), media_type=opened.media_type)
    readable = made.outcome.is_readable
    code = "" if readable else made.outcome.upper()
    return Read(name, made.outcome, made.reason, code, made.document if readable else None, opened)
