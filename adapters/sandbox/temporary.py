"""Temporary folders that do not outlive who made them for long, even when that is killed.

Each is locked while it is in use (flock(2)); the kernel unlocks it when the process is gone, and
the next process to make one removes what it finds unlocked.
"""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from adapters.sandbox.trees import remove

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """Lend a new folder whose name begins with `prefix`, which only its makers' names do."""
    with suppress(OSError):  # only tidying up
        remove_abandoned(Path(tempfile.gettempdir()), prefix)
    path, lock = _made(prefix)
    try:
        yield path
    finally:
        try:
            remove(path)
        finally:
            os.close(lock)


@cache
def remove_abandoned(parent: Path, prefix: str) -> None:
    """Remove this user's folders in `parent` that nobody uses any more; once in a process."""
    with os.scandir(parent) as listing:
        for item in listing:
            if item.name.startswith(prefix):
                with suppress(OSError):  # it is in use, or somebody else removes it
                    _remove_if_abandoned(Path(item.path))


def _remove_if_abandoned(path: Path) -> None:
    folder = os.open(path, _FOLDER)
    try:
        if os.fstat(folder).st_uid == os.geteuid():
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove(path)
    finally:
        os.close(folder)


def _made(prefix: str) -> tuple[Path, int]:
    while True:
        path = Path(tempfile.mkdtemp(prefix=prefix)).resolve()
        with suppress(FileNotFoundError):  # taken for abandoned, before it was locked
            folder = os.open(path, _FOLDER)
            if _is_ours(folder) and path.exists():
                return path, folder
            os.close(folder)


def _is_ours(folder: int) -> bool:
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # where nothing can be locked, nothing is taken for abandoned either
    return True
