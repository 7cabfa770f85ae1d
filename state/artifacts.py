"""The archive: bytes kept under their own hash, in a folder or (for tests) in memory.

A folder holds `sha256/ab/cdef…` (the bodies), `tmp/` (bodies being written) and `lock`, which
keeps the removal of a body apart from a `put` that has just found it there.
"""

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from state.durable import (
    TEMPORARY_PREFIX,
    create_private_folder,
    explained,
    refuse_unsuitable,
    sync_folder,
    write_temporary,
)
from state.errors import IntegrityError, NotFound
from state.values.errors import InvalidRequest, RejectedError
from state.values.ids import content_hash, is_content_hash

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
# Not blocking, or opening a pipe that somebody put there would wait for ever.
_BODY = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


@dataclass(frozen=True, slots=True)
class Stored:
    """A body in the archive. `age_s` counts from the last time it was put."""

    hash: str
    size: int
    age_s: float


class Artifacts(Protocol):
    """Keeps bytes under their content hash, `sha256:<64 hex>`.

    Every method that takes a hash raises `InvalidRequest` for a text that is none, and every
    method `StorageError` when the disk refuses.
    """

    def put(self, data: bytes) -> str:
        """Return the hash of `data`, once `data` is kept durably. The same bytes are kept once."""
        ...

    def get(self, body_hash: str) -> bytes:
        """Return the body whose hash is `body_hash`; all of it is checked against that.

        Raises `NotFound`, or `IntegrityError` when the bytes are not those that were put.
        """
        ...

    def read_text(self, body_hash: str) -> str:
        """Return the body as UTF-8 text, no character changed.

        Raises as `get`, and `RejectedError` when it is not text.
        """
        ...

    def has(self, body_hash: str) -> bool:
        """Tell whether there is a body for `body_hash`. It is not read, so it may be damaged."""
        ...

    def delete(self, body_hash: str, *, unused_for_s: float = 0.0) -> bool:
        """Remove a body; tell whether one was removed.

        A body that was put within the last `unused_for_s` seconds stays.
        """
        ...

    def entries(self) -> Iterator[Stored]:
        """Yield what is kept, by ascending hash. Files that are not bodies are passed over."""
        ...

    def sweep_temporaries(self, older_than_s: float) -> int:
        """Remove what killed writers left at least `older_than_s` ago; return how many files."""
        ...


class LocalArtifacts:
    """Keeps bodies as files in `folder`, for its owner only. Any number of processes may share it.

    Making one touches nothing on the disk; the first `put` makes the folders. Raises
    `RejectedError` for a file system that is not fit. Symbolic links inside are never followed.
    """

    def __init__(self, folder: Path | str, *, clock: Callable[[], float] = time.time) -> None:
        refuse_unsuitable(folder)
        self._folder = Path(folder)
        self._clock = clock
        self._made: set[Path] = set()

    def put(self, data: bytes) -> str:
        """Keep `data`; a damaged file of another size under its hash is written anew."""
        body_hash = content_hash(data)
        path = self._path(body_hash)
        with explained(path):
            self._make(path.parent)
            with self._lock(fcntl.LOCK_SH):
                if self._renew(path, len(data)):
                    return body_hash
            temporary = write_temporary(self._make(self._folder / "tmp"), data)
            try:
                self._touch(temporary)
                with self._lock(fcntl.LOCK_SH), self._shard(path) as shard:
                    os.rename(temporary, path.name, dst_dir_fd=shard)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
            sync_folder(path.parent)
        return body_hash

    def get(self, body_hash: str) -> bytes:
        """Return the body, hash-checked as a whole."""
        path = self._path(body_hash)
        with explained(path):
            try:
                with self._shard(path) as shard:
                    fd = os.open(path.name, _BODY, dir_fd=shard)
                with os.fdopen(fd, "rb") as file:
                    _refuse_irregular(fd)
                    data = file.read()
            except FileNotFoundError:
                raise no_such_body(body_hash) from None
            except OSError as error:
                if error.errno not in (errno.ELOOP, errno.ENOTDIR):
                    raise
                raise IntegrityError(
                    f"artifact {body_hash}: {path} is not a plain file in plain folders; "
                    "move it away and restore the file from a backup"
                ) from error
        return checked_body(body_hash, data, f"{path} from a backup")

    def read_text(self, body_hash: str) -> str:
        """Return the body as UTF-8 text."""
        return body_as_text(body_hash, self.get(body_hash))

    def has(self, body_hash: str) -> bool:
        """Tell whether there is a plain file for the body."""
        path = self._path(body_hash)
        with explained(path):
            return self._status(path) is not None

    def delete(self, body_hash: str, *, unused_for_s: float = 0.0) -> bool:
        """Remove the body, durably; no `put` is under way on it meanwhile."""
        path = self._path(body_hash)
        with explained(path):
            if self._status(path) is None:
                return False
            with self._lock(fcntl.LOCK_EX):
                status = self._status(path)
                if status is None or self._age(status) < unused_for_s:
                    return False
                with self._shard(path) as shard:
                    os.unlink(path.name, dir_fd=shard)
                sync_folder(path.parent)
        return True

    def entries(self) -> Iterator[Stored]:
        """Yield what is kept, by ascending hash."""
        root = self._folder / "sha256"
        for shard in _names(root):
            for name in _names(root / shard):
                body_hash = f"sha256:{shard}{name}"
                if not (len(shard) == 2 and is_content_hash(body_hash)):
                    continue
                with explained(root / shard / name):
                    status = self._status(root / shard / name)
                if status is not None:
                    yield Stored(body_hash, status.st_size, self._age(status))

    def sweep_temporaries(self, older_than_s: float) -> int:
        """Remove files that killed writers left in `tmp/`."""
        swept = 0
        for name in _names(self._folder / "tmp"):
            path = self._folder / "tmp" / name
            with explained(path):
                try:
                    old = self._age(path.lstat()) >= older_than_s
                    if old and name.startswith(TEMPORARY_PREFIX):
                        path.unlink()
                        swept += 1
                except FileNotFoundError:
                    continue  # its writer has just finished
        return swept

    def _path(self, body_hash: str) -> Path:
        digest = digest_of(body_hash)
        return self._folder / "sha256" / digest[:2] / digest[2:]

    def _make(self, folder: Path) -> Path:
        if folder not in self._made:
            create_private_folder(folder)
            self._made.add(folder)
        return folder

    @contextmanager
    def _shard(self, path: Path) -> Iterator[int]:
        """Open the folder of `path`, refusing links below the archive's own folder."""
        fd = os.open(path.parent.parent, _DIRECTORY)
        try:
            shard = os.open(path.parent.name, _DIRECTORY, dir_fd=fd)
        finally:
            os.close(fd)
        try:
            yield shard
        finally:
            os.close(shard)

    @contextmanager
    def _lock(self, kind: int) -> Iterator[None]:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
        fd = os.open(self._folder / "lock", flags, 0o600)
        try:
            fcntl.flock(fd, kind)
            yield
        finally:
            os.close(fd)

    def _status(self, path: Path) -> os.stat_result | None:
        try:
            with self._shard(path) as shard:
                status = os.stat(path.name, dir_fd=shard, follow_symlinks=False)
        except FileNotFoundError:
            return None
        return status if stat.S_ISREG(status.st_mode) else None

    def _renew(self, path: Path, size: int) -> bool:
        """Tell whether the body is there, and if so start its age anew, so that no gc takes it."""
        status = self._status(path)
        if status is None or status.st_size != size:
            return False
        self._touch(path)
        sync_folder(path.parent)  # whoever put it may not have come to that yet
        return True

    def _touch(self, path: Path) -> None:
        now = self._clock()
        os.utime(path, (now, now), follow_symlinks=False)

    def _age(self, status: os.stat_result) -> float:
        return max(0.0, self._clock() - status.st_mtime)


class MemoryArtifacts:
    """Keeps bodies in memory: the archive's fake."""

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._bodies: dict[str, tuple[bytes, float]] = {}

    def put(self, data: bytes) -> str:
        """Keep `data`."""
        body_hash = content_hash(data)
        self._bodies[body_hash] = (bytes(data), self._clock())
        return body_hash

    def get(self, body_hash: str) -> bytes:
        """Return the body."""
        digest_of(body_hash)
        if body_hash not in self._bodies:
            raise no_such_body(body_hash)
        return self._bodies[body_hash][0]

    def read_text(self, body_hash: str) -> str:
        """Return the body as UTF-8 text."""
        return body_as_text(body_hash, self.get(body_hash))

    def has(self, body_hash: str) -> bool:
        """Tell whether the body is kept."""
        digest_of(body_hash)
        return body_hash in self._bodies

    def delete(self, body_hash: str, *, unused_for_s: float = 0.0) -> bool:
        """Forget the body."""
        if not self.has(body_hash) or self._clock() - self._bodies[body_hash][1] < unused_for_s:
            return False
        del self._bodies[body_hash]
        return True

    def entries(self) -> Iterator[Stored]:
        """Yield what is kept, by ascending hash."""
        for body_hash, (body, put_at) in sorted(self._bodies.items()):
            yield Stored(body_hash, len(body), max(0.0, self._clock() - put_at))

    def sweep_temporaries(self, older_than_s: float) -> int:
        """Return 0: nothing is left by halves."""
        return 0


def digest_of(body_hash: str) -> str:
    """Return the hex digits of a content hash; raises `InvalidRequest` for a text that is none."""
    if not is_content_hash(body_hash):
        raise InvalidRequest(
            f"{body_hash[:100]!r} is no content hash; give `sha256:` and 64 lower-case hex digits"
        )
    return body_hash.removeprefix("sha256:")


def _refuse_irregular(fd: int) -> None:
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        raise OSError(errno.ELOOP, "not a regular file")


def checked_body(body_hash: str, data: bytes, remedy: str) -> bytes:
    """Return `data`; raises `IntegrityError`, with what to restore, when it is not that body."""
    found = content_hash(data)
    if found != body_hash:
        raise IntegrityError(
            f"artifact {body_hash} is damaged: its {len(data)} bytes hash to {found}; "
            f"restore {remedy}, or fetch its source again in a new run"
        )
    return data


def no_such_body(body_hash: str) -> NotFound:
    """Return the error that says that a body is not there."""
    return NotFound(
        f"artifact {body_hash} is not in the archive; check that this is the data folder the run "
        "was made in, or restore it from a backup"
    )


def body_as_text(body_hash: str, data: bytes) -> str:
    """Return a body as UTF-8 text, no character changed; raises `RejectedError` when it is none."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise RejectedError(
            f"artifact {body_hash} is not UTF-8 text ({error}); read its bytes"
        ) from error


def _names(folder: Path) -> list[str]:
    with explained(folder):
        try:
            fd = os.open(folder, _DIRECTORY)
        except FileNotFoundError:
            return []
        except NotADirectoryError:
            return []  # a stray file, or a link
        try:
            with os.scandir(fd) as entries:
                return sorted(entry.name for entry in entries)
        finally:
            os.close(fd)
