"""Who may execute a run: a lock that its driver holds for life, and that names its holder."""

import json
import os
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from state.durable import explained
from state.envelope import utc_text
from state.errors import LeaseHeld
from state.locks import FileLock

LEASE = "lease"
_TRIES = 6  # looking whether a lease is held takes it for a moment; wait that out
_PAUSE_S = 0.01


@dataclass(frozen=True, slots=True)
class LeaseHolder:
    """The process that executes a run. `command` says what it is, `since` when it took the run."""

    pid: int
    host: str
    since: str
    command: str


class Lease:
    """The right to execute a run, held until `release`, the end of the block, or of the process.

    The kernel gives the lock back when the process dies, however it dies. A *forked* child would
    keep it, so children are started by exec: the descriptor is close-on-exec.
    """

    def __init__(self, run_id: str, holder: LeaseHolder, lock: FileLock) -> None:
        self.run_id = run_id
        self.holder = holder
        self._lock = lock
        self._pid = os.getpid()

    def release(self) -> None:
        """Let somebody else execute the run; a second release does nothing."""
        if self._pid == os.getpid():
            self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()


def take_lease(
    folder: Path,
    run_id: str,
    command: str,
    *,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Lease:
    """Take the lease of the run in `folder`, at once or not at all.

    Raises `LeaseHeld`, which names the holder, and `StorageError`.
    """
    lock = FileLock(folder / LEASE)
    for _ in range(_TRIES):
        if lock.acquire(timeout=0):
            break
        time.sleep(_PAUSE_S)
    else:
        lock.close()
        raise LeaseHeld(_explain(run_id, _read(folder)))
    holder = LeaseHolder(os.getpid(), socket.gethostname(), utc_text(clock()), command)
    try:
        with explained(lock.path):
            lock.path.write_text(json.dumps(asdict(holder)))
    except BaseException:
        lock.close()
        raise
    return Lease(run_id, holder, lock)


def lease_holder(folder: Path) -> LeaseHolder | None:
    """Return who executes the run in `folder`; None when nobody does.

    When the holder has not said yet who it is, its pid is 0.
    """
    lock = FileLock(folder / LEASE)
    if not lock.path.exists():
        return None
    try:
        if lock.acquire(shared=True, timeout=0):
            return None
    finally:
        lock.close()
    return _read(folder) or LeaseHolder(0, "", "", "")


def _read(folder: Path) -> LeaseHolder | None:
    try:
        return LeaseHolder(**json.loads((folder / LEASE).read_text()))
    except (OSError, ValueError, TypeError):
        return None  # its holder is writing it right now; who it is only matters for the message


def _explain(run_id: str, holder: LeaseHolder | None) -> str:
    if holder is None:
        return f"run {run_id!r} is being executed by another process"
    text = (
        f"run {run_id!r} is being executed by pid {holder.pid} on host {holder.host} "
        f"since {holder.since} ({holder.command})"
    )
    if holder.host == socket.gethostname() and not _is_alive(holder.pid):
        text += "; that process is gone, but a child of it still holds the run"
    return text


def _is_alive(pid: int) -> bool:
    if sys.platform == "linux":
        return Path(f"/proc/{pid}").exists()
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
