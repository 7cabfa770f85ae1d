"""Locks between processes: flock with a time-out, fair because nobody polls."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, LOCK_UN, flock
from pathlib import Path

from state.durable import storage_error
from state.errors import StorageError


class FileLock:
    """An advisory lock on the file `path`, which is made when missing and never removed.

    The descriptor is kept open between two holds. Not for use by two threads at once. A process
    that is forked while the lock is held keeps it alive, so start children by exec: the
    descriptor is close-on-exec.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._name = str(path)
        self._fd = -1
        self._inode = -1

    def acquire(self, *, shared: bool = False, timeout: float) -> bool:
        """Take the lock, waiting at most `timeout` seconds (0: only try); tell whether it was got.

        Raises `StorageError` when the file cannot be opened.
        """
        mode = LOCK_SH if shared else LOCK_EX
        try:
            while True:
                fd = self._fd if self._fd >= 0 else self._open()
                try:
                    flock(fd, mode | LOCK_NB)
                except (BlockingIOError, PermissionError):
                    if timeout <= 0 or not self._wait(fd, mode, timeout):
                        return False
                if self._is_current():
                    return True
                self.close()  # somebody replaced the file: a lock on the old one excludes nobody
        except OSError as error:
            raise storage_error(self.path, error) from error

    def release(self) -> None:
        """Give the lock back."""
        flock(self._fd, LOCK_UN)

    def close(self) -> None:
        """Close the file, which also gives the lock back."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _open(self) -> int:
        self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        self._inode = os.fstat(self._fd).st_ino
        return self._fd

    def _is_current(self) -> bool:
        try:
            return os.stat(self._name).st_ino == self._inode  # noqa: PTH116 - on every append
        except FileNotFoundError:
            return False

    def _wait(self, fd: int, mode: int, timeout: float) -> bool:
        waiter = _Waiter(fd, mode)
        self._fd = -1  # the waiter's until it has the lock
        if not waiter.wait(timeout):
            return False
        self._fd = fd
        return True


class _Waiter:
    """Blocks in a thread of its own, since flock knows no time-out."""

    def __init__(self, fd: int, mode: int) -> None:
        self._fd, self._mode = fd, mode
        self._mutex = threading.Lock()
        self._ended = threading.Event()
        self._abandoned = False
        self._error: OSError | None = None

    def wait(self, timeout: float) -> bool:
        """Tell whether the lock was got in time; when not, the descriptor gets closed."""
        threading.Thread(target=self._block, name="flock", daemon=True).start()
        got = False
        try:
            got = self._ended.wait(timeout)
        finally:  # also when interrupted
            if not got:
                self._abandon()
        if self._error is not None:
            raise self._error
        return got

    def _abandon(self) -> None:
        with self._mutex:
            self._abandoned = True
            if self._ended.is_set() and self._error is None:
                os.close(self._fd)

    def _block(self) -> None:
        try:
            flock(self._fd, self._mode)
        except OSError as error:
            self._error = error
        with self._mutex:
            self._ended.set()
            if self._abandoned or self._error is not None:
                os.close(self._fd)


@contextmanager
def holding(path: Path, what: str, *, shared: bool = False, timeout: float) -> Iterator[None]:
    """Hold the lock `path` for a block. Raises `StorageError` when it stays taken too long."""
    lock = FileLock(path)
    try:
        if not lock.acquire(shared=shared, timeout=timeout):
            raise busy(what, timeout)
        yield
    finally:
        lock.close()


def busy(what: str, timeout: float) -> StorageError:
    """Return the error that says that `what` stayed locked for `timeout` seconds."""
    return StorageError(
        f"{what} has been locked by another process for {timeout:g} s; "
        "nothing was changed, try again when that process is done"
    )
