"""What is done before a run is begun: see that there is something to read, and index it."""

import threading
from collections.abc import Callable, Sequence

import anyio

from adapters.documents.folder import FolderReader
from adapters.documents.port import Converter
from flows.settings import Settings
from flows.wiring import local_converter
from state.values.errors import InvalidRequest, RejectedError

Progress = Callable[[int, int], None]


class Indexing:
    """Brings the index over `sources` up to date in a thread of its own, beside other work.

    `progress` is called from there, with how many files are done and how many there are.
    """

    def __init__(self, settings: Settings, sources: Sequence[str], progress: Progress) -> None:
        self._settings, self._sources, self._progress = settings, sources, progress
        self._error: BaseException | None = None
        # A daemon, so that an interrupted command does not wait for a large folder.
        self._thread = threading.Thread(target=self._run, name="indexing", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Return when the index is up to date.

        Raises `InvalidRequest` when one of the sources holds no document that can be read.
        """
        self._thread.join()
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            anyio.run(self._refresh)
        except BaseException as error:  # noqa: BLE001 - raised again by `wait`
            self._error = error

    async def _refresh(self) -> None:
        from adapters.search.local import LocalFolder

        search = LocalFolder(
            self._sources,
            cache=self._settings.cache,
            converter=local_converter(self._settings),
            progress=self._progress,
            own=self._settings.home,
        )
        try:
            await search.refresh()
        finally:
            await search.converter.aclose()


async def require_documents(settings: Settings, sources: Sequence[str]) -> None:
    """Raise `InvalidRequest` unless each of `sources` holds a document; leaves nothing on the disk.

    Reads only until the first document of each source is found.
    """
    converter = local_converter(settings)
    try:
        for source in sources:
            await _require_document(FolderReader([source]), converter)
    finally:
        await converter.aclose()


async def _require_document(reader: FolderReader, converter: Converter) -> None:
    inventory = await anyio.to_thread.run_sync(reader.inventory)
    why = ""
    for file in inventory.files:
        try:
            data = await anyio.to_thread.run_sync(reader.open, file.locator)
        except RejectedError as error:
            why = why or error.message
            continue
        made = await converter.convert(data, name=file.locator)
        if made.outcome.is_readable:
            return
        why = why or f"{reader.display_path(file.locator)}: {made.reason}"
    tried = f" ({len(inventory.files)} tried, such as {why.rstrip('.')})" if why else ""
    raise InvalidRequest(
        f"{reader.roots[0]} holds no document that can be read{tried}; "
        "name a folder with documents (PDF, Word, HTML, Markdown, text, source code)"
    )
