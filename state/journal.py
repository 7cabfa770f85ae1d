"""One run's journal: the append-only file of hashed lines that is the truth about the run.

Only this module reads and writes journals. A journal is `journal` in the run's folder, which is
named after the hash of the run id; the id itself is in every line.
"""

import io
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from state.durable import explained, storage_error, sync_file, sync_folder, write_all
from state.envelope import NO_HASH, HashMismatch, Line, parse_line
from state.errors import CorruptLedger
from state.values.ids import sha256_hex

JOURNAL = "journal"
APPEND_LOCK = "append.lock"
_LOOKS = (
    3  # a writer that sets a torn line aside may be seen half-way: look again before complaining
)


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place between two lines: bytes and events before it, and the hash of the last of them."""

    offset: int = 0
    position: int = 0
    hash: str = NO_HASH


START = Cursor()


@dataclass(frozen=True, slots=True)
class Scan:
    """Lines that were read and checked, where they end, and the bytes of a torn line after that."""

    lines: tuple[Line, ...]
    end: Cursor
    torn: bytes = b""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something about a run that was mended and that somebody should hear of."""

    run_id: str
    message: str


def run_folder(home: Path, run_id: str) -> Path:
    """Return the folder of run `run_id` in the ledger's `home`."""
    return home / "runs" / folder_name(run_id)


def folder_name(run_id: str) -> str:
    """Return the name of the folder of run `run_id`: the first 32 hex digits of its SHA-256."""
    return sha256_hex(run_id)[:32]


def scan(data: bytes, start: Cursor, folder: Path) -> Scan:
    """Return the lines of `data`, which follow `start` in the journal of `folder`.

    Checks every hash, position and link to the line before. A last line without newline or with a
    wrong hash was never acknowledged and comes back as `torn`. Raises `CorruptLedger` naming the
    place of anything else that is wrong.
    """
    lines: list[Line] = []
    at, position, previous = 0, start.position, start.hash
    while (end := data.find(b"\n", at)) >= 0:
        try:
            line = parse_line(data[at:end])
            _check_link(line, position + 1, previous, folder)
        except CorruptLedger as error:
            if isinstance(error, HashMismatch) and end + 1 == len(data):
                break
            raise CorruptLedger(
                f"{folder / JOURNAL}: event {position + 1} (at byte {start.offset + at}): "
                f"{error.message}; restore the file from a backup"
            ) from error
        lines.append(line)
        at, position, previous = end + 1, position + 1, line.hash
    return Scan(tuple(lines), Cursor(start.offset + at, position, previous), data[at:])


def _check_link(line: Line, position: int, previous: str, folder: Path) -> None:
    envelope = line.envelope
    if envelope.position != position:
        raise CorruptLedger(f"its position is {envelope.position}")
    if envelope.previous_hash != previous:
        raise CorruptLedger("it does not follow the event before it")
    if folder_name(envelope.run_id) != folder.name:
        raise CorruptLedger(f"it belongs to run {envelope.run_id!r}")


@dataclass(frozen=True, slots=True)
class Probe:
    """Which file a journal is, how long it is, and some of its bytes."""

    inode: int
    size: int
    found: bytes


def probe(folder: Path, offset: int = 0, length: int = 0) -> Probe | None:
    """Look at the journal in `folder`, and at `length` bytes from `offset`; None without one."""
    path = folder / JOURNAL
    with explained(path):
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        except FileNotFoundError:
            return None
        try:
            status = os.fstat(fd)
            return Probe(status.st_ino, status.st_size, os.pread(fd, length, offset))
        finally:
            os.close(fd)


def read_journal(folder: Path, start: Cursor = START, *, end: int | None = None) -> Scan:
    """Return what the journal in `folder` holds after `start`; without a journal, nothing.

    Takes no lock. With `end`, reads no further than that byte, and what is returned is on the
    disk, whoever wrote it. Raises `CorruptLedger` (also when the journal ends before `start`) and
    `StorageError`.
    """
    for look in range(1, _LOOKS):
        try:
            return scan(read_bytes(folder, start, end), start, folder)
        except CorruptLedger:
            time.sleep(0.01 * look)
    return scan(read_bytes(folder, start, end), start, folder)


def recorded_run_id(folder: Path) -> str | None:
    """Return the id of the run whose journal is in `folder`; None without a single event.

    A damaged journal is asked too: its run goes by what any line tells, else by the folder's name.
    """
    path = folder / JOURNAL
    with explained(path):
        try:
            file = path.open("rb")
        except (FileNotFoundError, NotADirectoryError):
            return None
        with file:
            number = 0
            for number, raw in enumerate(file):
                run_id = _told_run_id(raw)
                if run_id is not None and folder_name(run_id) == folder.name:
                    return run_id
                if number == 0 and not file.peek(1):
                    return None  # nothing but a torn line
    return folder.name if number else None


def _told_run_id(raw: bytes) -> str | None:
    try:
        run_id = json.loads(raw.partition(b"\t")[2])["run_id"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return run_id if isinstance(run_id, str) else None


def read_bytes(folder: Path, start: Cursor, end: int | None = None) -> bytes:
    """Return the bytes of the journal after `start`, unchecked; up to `end` they are made durable.

    Raises `CorruptLedger` when the journal ends before `start`, and `StorageError`.
    """
    path = folder / JOURNAL
    with explained(path):
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        except FileNotFoundError:
            if start.offset:
                raise CorruptLedger(f"{path}: the file is gone; restore it from a backup") from None
            return b""
        with os.fdopen(fd, "rb", buffering=0) as file:
            size = os.fstat(fd).st_size
            if size < start.offset:
                raise CorruptLedger(
                    f"{path}: {start.offset} bytes were recorded and {size} are left; "
                    "restore the file from a backup"
                )
            file.seek(start.offset)
            if end is None:
                return file.readall()
            sync_file(fd)
            return _read_exactly(file, end - start.offset)


def _read_exactly(file: io.FileIO, size: int) -> bytes:
    parts: list[bytes] = []
    while size and (part := file.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


class JournalWriter:
    """The journal of `folder`, open for appending. Callers hold the run's append lock.

    Opening it creates the file when missing and makes its name durable.
    """

    def __init__(self, folder: Path, sync: Callable[[int], None] = sync_file) -> None:
        self._sync = sync
        self._path = folder / JOURNAL
        self._name = str(self._path)
        with explained(self._path):
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
            self._fd = os.open(self._path, flags, 0o600)
            try:
                self._inode = os.fstat(self._fd).st_ino
                sync_folder(folder)
                sync_folder(folder.parent)
            except OSError:
                os.close(self._fd)
                raise
        self.synced = 0  # bytes known to be on the disk
        self.broken = False

    def is_current(self) -> bool:
        """Tell whether the file can be written and is still the one its name leads to."""
        return not self.broken and self._length() >= 0

    def ends_with(self, hash_: str, begin: int, end: int) -> bool:
        """Tell whether the line at byte `begin`, with this hash, still ends the file at `end`."""
        return (
            not self.broken
            and self._length() == end
            and os.pread(self._fd, len(hash_), begin) == hash_.encode()
        )

    def _length(self) -> int:
        try:
            named = os.stat(self._name)  # noqa: PTH116 - half the time of Path.stat, on every append
        except FileNotFoundError:
            return -1
        return named.st_size if named.st_ino == self._inode else -1

    def append(
        self, lines: Sequence[Line], end: int, after_write: Callable[[Line], None] | None = None
    ) -> int:
        """Write `lines` at `end`, the file's length; return the new length once all is on disk.

        When the disk refuses, the file is cut back to `end` and `StorageError` raised.
        """
        size = end
        try:
            for line in lines:
                data = line.encode()
                write_all(self._fd, data)
                size += len(data)
                if after_write is not None:
                    after_write(line)
        except BaseException as error:  # also when interrupted
            self._cut_back(end)
            if isinstance(error, OSError):
                raise storage_error(self._path, error) from error
            raise
        return self.sync(end, size)

    def sync(self, acknowledged: int, end: int) -> int:
        """Make the first `end` bytes durable and return `end`.

        After an error nobody knows what is on the disk, so the file is cut back to what had been
        `acknowledged` and this writer is not used again.
        """
        try:
            self._sync(self._fd)
        except OSError as error:
            self.broken = True
            self._cut_back(acknowledged)
            raise storage_error(self._path, error) from error
        self.synced = end
        return end

    def set_aside(self, torn: bytes, end: int) -> Path:
        """Move the torn bytes after `end` to a new file beside the journal and return its path."""
        with explained(self._path):
            side = _write_side_file(self._path.parent, torn)
            os.ftruncate(self._fd, end)
            sync_file(self._fd)
        return side

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)

    def _cut_back(self, end: int) -> None:
        try:
            os.ftruncate(self._fd, end)
            sync_file(self._fd)
        except OSError:
            self.broken = True  # the remains are a torn line, set aside when the run is reopened


def _write_side_file(folder: Path, data: bytes) -> Path:
    number = 1
    while True:
        path = folder / f"torn-{number}"
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            number += 1
            continue
        try:
            write_all(fd, data)
            sync_file(fd)
            sync_folder(folder)
        except OSError:
            path.unlink()
            raise
        finally:
            os.close(fd)
        return path
