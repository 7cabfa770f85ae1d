"""The index of a set of roots on disk: kept up to date by whoever comes first, read by everybody.

An index is never changed. A new one is built in a folder of its own under an exclusive lock and
then named in `manifest.json` by an atomic rename, so readers see the old one or the new one.
"""

import errno
import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePath
from uuid import uuid4

import anyio
from anyio import to_thread

from adapters.documents.cached import CachedConverter
from adapters.documents.convert import converter_version
from adapters.documents.folder import FolderFile, FolderReader, Inventory, Skipped, Unused
from adapters.documents.sealed import seal, unseal
from adapters.search.index import INDEX_VERSION, FolderIndex, build_index
from adapters.search.ranking import TOKENS_VERSION
from state.values.blocks import Document, Outcome
from state.values.errors import RejectedError
from state.values.ids import canonical_json, content_hash, sha256_hex

Progress = Callable[[int, int], None]
"""Called with how many files are done, and how many there are."""

_AT_ONCE = 4
_LOCK_PAUSE_S = 0.05
# A file changed this close to when it was read may change again within one tick of its clock.
_TICK_NS = 50_000_000


@dataclass(frozen=True, slots=True)
class Entry:
    """A file as it was when it was read; without a `signature` it must be read again."""

    locator: str
    signature: str
    content_hash: str
    outcome: str
    reason: str
    title: str | None = None

    @property
    def is_document(self) -> bool:
        """Tell whether the file is in the index."""
        return self.outcome in (Outcome.OK, Outcome.PARTIAL)


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an index was made from: its folder's name, the version of its makers, every file.

    `digest` is the hash of the index itself: the library behind it trusts every byte of its files,
    and a damaged one may end the process.
    """

    index: str
    version: str
    entries: tuple[Entry, ...]
    digest: str = ""

    @property
    def documents(self) -> tuple[Entry, ...]:
        """Return the files in the index, in the order of their numbers there."""
        return tuple(entry for entry in self.entries if entry.is_document)


@dataclass(frozen=True, slots=True)
class OpenIndex:
    """An index with its manifest, and what the folder holds that is not in it."""

    manifest: Manifest
    index: FolderIndex
    unused: Unused


class Shelf:
    """Keeps the index of a reader's roots below `folder`."""

    def __init__(self, reader: FolderReader, folder: Path, converter: CachedConverter) -> None:
        roots = canonical_json([str(root) for root in reader.roots])
        self._reader = reader
        self._folder = folder / sha256_hex(roots)[:32]
        self._converter = converter
        self._version = f"{INDEX_VERSION}/{TOKENS_VERSION}/{converter_version()}"

    async def refresh(
        self, current: OpenIndex | None, *, progress: Progress | None = None
    ) -> OpenIndex:
        """Return the index of what the roots hold now: `current` when nothing changed.

        Files that changed by name, size or time are read again; the index is built again when
        content changed. Waits while another process builds it, and then uses what that made.
        """
        inventory = await to_thread.run_sync(self._reader.inventory)
        manifest = current.manifest if current else await to_thread.run_sync(self._load)
        retry = current is None  # once a process: what crashed a reader may do so no more
        if manifest is None or not _is_current(manifest, inventory, retry=retry):
            async with self._lock():
                manifest = await self._update(inventory, progress, retry=retry)
        if current is not None and current.manifest.index == manifest.index:
            return OpenIndex(manifest, current.index, self._unused(manifest, inventory))
        index = await to_thread.run_sync(self._open, manifest)
        if index is None:  # replaced or damaged since: build what is there now
            async with self._lock():
                manifest = await self._update(inventory, progress, anew=True)
                index = await to_thread.run_sync(self._open, manifest)
        if index is None:
            raise RejectedError(
                f"The index in {self._folder} cannot be opened; delete that folder.",
                code="INDEX_DAMAGED",
            )
        return OpenIndex(manifest, index, self._unused(manifest, inventory))

    def _unused(self, manifest: Manifest, inventory: Inventory) -> Unused:
        unread = [
            Skipped(self._reader.display_path(entry.locator), entry.outcome, entry.reason)
            for entry in manifest.entries
            if not entry.is_document
        ]
        return Unused(tuple(sorted([*unread, *inventory.skipped])), inventory.ignored)

    async def _update(
        self,
        inventory: Inventory,
        progress: Progress | None,
        *,
        anew: bool = False,
        retry: bool = False,
    ) -> Manifest:
        old = await to_thread.run_sync(self._load)
        if old is not None and not anew and _is_current(old, inventory, retry=retry):
            return old
        entries = await self._read_all(inventory.files, old, progress)
        manifest = Manifest(f"index-{uuid4().hex}", self._version, entries)
        if old is not None and not anew and _same_documents(old, manifest):
            manifest = Manifest(old.index, self._version, entries, old.digest)
        else:
            manifest = await to_thread.run_sync(self._build, manifest)
        await to_thread.run_sync(self._publish, manifest)
        return manifest

    async def _read_all(
        self, files: tuple[FolderFile, ...], old: Manifest | None, progress: Progress | None
    ) -> tuple[Entry, ...]:
        known = {entry.locator: entry for entry in old.entries} if old else {}
        done: dict[str, Entry] = {}
        pending = iter(files)

        async def work() -> None:
            for file in pending:
                done[file.locator] = await self._read(file, known.get(file.locator))
                if progress is not None:
                    progress(len(done), len(files))

        async with anyio.create_task_group() as group:
            for _ in range(min(_AT_ONCE, len(files))):
                group.start_soon(work)
        return tuple(done[file.locator] for file in files)

    async def _read(self, file: FolderFile, known: Entry | None) -> Entry:
        signature = _signature(file)
        unchanged = known if known is not None and known.signature == signature else None
        if unchanged is not None and await to_thread.run_sync(self._is_kept, unchanged):
            return unchanged
        try:
            data = await to_thread.run_sync(self._reader.open, file.locator)
        except RejectedError as error:
            return Entry(file.locator, signature, "", "unreadable", error.message)
        conversion = await self._converter.convert(data, name=PurePath(file.locator).name)
        return Entry(
            locator=file.locator,
            signature=signature if _is_settled(file) else "",
            content_hash=content_hash(data),
            outcome=conversion.outcome.value,
            reason=conversion.reason,
            title=conversion.document.title if conversion.document else None,
        )

    def _is_kept(self, entry: Entry) -> bool:
        """Tell whether the outcome stands: a crash may have been chance, a cache may be emptied."""
        if entry.is_document:
            return self.recall(entry) is not None
        return entry.outcome != Outcome.CRASHED

    def recall(self, entry: Entry) -> Document | None:
        """Return the document of `entry` from the cache, or None when it is not there any more."""
        name = PurePath(entry.locator).name
        conversion = self._converter.recall(entry.content_hash, name=name)
        return conversion.document if conversion else None

    def _documents(self, manifest: Manifest) -> Iterator[tuple[str, Document]]:
        for entry in manifest.documents:
            document = self.recall(entry)
            if document is None:
                raise FileNotFoundError(errno.ENOENT, "a cached document vanished")
            yield self._reader.display_path(entry.locator), document

    def _build(self, manifest: Manifest) -> Manifest:
        unfinished = self._folder / f"{manifest.index}.tmp"
        with _cache_errors(self._folder):
            build_index(unfinished, self._documents(manifest))
            built = replace(manifest, digest=_digest(unfinished))
            unfinished.rename(self._folder / manifest.index)
        return built

    def _publish(self, manifest: Manifest) -> None:
        unfinished = self._folder / f"manifest-{uuid4().hex}.tmp"
        with _cache_errors(self._folder):
            unfinished.write_bytes(seal(canonical_json(asdict(manifest)).encode()))
            unfinished.replace(self._folder / "manifest.json")
        for path in self._folder.glob("index-*"):
            if path.name != manifest.index:
                shutil.rmtree(path, ignore_errors=True)

    def _load(self) -> Manifest | None:
        """Return the manifest, or None when there is none that this version of Assay can use."""
        try:
            body = json.loads(unseal((self._folder / "manifest.json").read_bytes()))
            entries = tuple(Entry(**entry) for entry in body["entries"])
            manifest = Manifest(body["index"], body["version"], entries, body["digest"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return manifest if manifest.version == self._version else None

    def _open(self, manifest: Manifest) -> FolderIndex | None:
        folder = self._folder / manifest.index
        try:
            return FolderIndex(folder) if _digest(folder) == manifest.digest else None
        except (OSError, ValueError):
            return None

    @asynccontextmanager
    async def _lock(self) -> AsyncIterator[None]:
        """Hold the lock of this index; the kernel lets go of it when the process ends."""
        with _cache_errors(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(
                self._folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
            )
        try:
            while not _try_lock(descriptor):  # noqa: ASYNC110 - another process lets go of it
                await anyio.sleep(_LOCK_PAUSE_S)
            yield
        finally:
            os.close(descriptor)


@contextmanager
def _cache_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:  # the index reports a full disk as ValueError
        raise RejectedError(
            f"The index in {folder} cannot be written ({error}); "
            "free some space or choose another cache folder.",
            code="CACHE_UNWRITABLE",
        ) from error


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _digest(index: Path) -> str:
    """Return the hash of the files of an index, but for its locks."""
    digests: dict[str, str] = {}
    for path in index.rglob("*"):
        if path.is_file() and path.suffix != ".lock":
            with path.open("rb") as file:
                digests[str(path.relative_to(index))] = hashlib.file_digest(
                    file, "sha256"
                ).hexdigest()
    return sha256_hex(canonical_json(digests))


def _signature(file: FolderFile) -> str:
    return f"{file.size}-{file.mtime_ns}-{file.changed_ns}-{file.inode}"


def _is_settled(file: FolderFile) -> bool:
    """Tell whether the file is still the one listed, and a later change would show in its times."""
    try:
        info = Path(file.locator).lstat()
    except OSError:
        return False
    now = FolderFile(file.locator, info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino)
    return now == file and time.time_ns() - file.changed_ns > _TICK_NS


def _is_current(manifest: Manifest, inventory: Inventory, *, retry: bool) -> bool:
    if retry and any(entry.outcome == Outcome.CRASHED for entry in manifest.entries):
        return False
    listed = [(file.locator, _signature(file)) for file in inventory.files]
    return listed == [(entry.locator, entry.signature) for entry in manifest.entries]


def _same_documents(old: Manifest, new: Manifest) -> bool:
    def contents(manifest: Manifest) -> list[tuple[str, str]]:
        return [(entry.locator, entry.content_hash) for entry in manifest.documents]

    return contents(old) == contents(new)
