"""That `assay serve` is serving a home, and how it is told to look at once. Imports no Prefect."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flows.server_record import Place
from state.locks import FileLock
from state.values.errors import RejectedError

_PATIENCE_S = 0.3  # others look at the lock for an instant


@contextmanager
def the_only_one(place: Place) -> Iterator[None]:
    """Hold the serve lock for the block; raises `RejectedError` (SERVING) when another does."""
    lock = FileLock(_lock(place))
    try:
        if not lock.acquire(timeout=_PATIENCE_S):
            raise RejectedError(
                f"'assay serve' is already serving {place.folder.parent}; stop that one first",
                code="SERVING",
            )
        yield
    finally:
        lock.close()


def is_serving(place: Place) -> bool:
    """Tell whether `assay serve` is serving this home now."""
    if not _lock(place).exists():
        return False
    lock = FileLock(_lock(place))
    try:
        return not lock.acquire(timeout=0)
    finally:
        lock.close()


def refuse_served(home: Path) -> None:
    """Raise `RejectedError` (SERVING) when `assay serve` keeps the Prefect server of `home`."""
    if (home / "prefect").is_dir() and is_serving(Place.of(home)):
        raise RejectedError(
            f"'assay serve' is serving {home} and would start the server again; end that instead",
            code="SERVING",
        )


def knock(home: Path) -> bool:
    """Have the recovery look at once if somebody serves `home`; tell whether somebody does."""
    if not (home / "prefect").is_dir() or not is_serving(place := Place.of(home)):
        return False
    descriptor = os.open(_bell(place), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.utime(descriptor)
    finally:
        os.close(descriptor)
    return True


def last_knock(place: Place) -> int:
    """Return when somebody last knocked, in nanoseconds; 0: never."""
    try:
        return _bell(place).stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def _lock(place: Place) -> Path:
    return place.folder / "serve.lock"


def _bell(place: Place) -> Path:
    return place.folder / "knock"
