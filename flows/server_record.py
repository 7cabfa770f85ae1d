"""What Assay's own Prefect server leaves on disk: its record and its locks."""

import fcntl
import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from state.values.errors import RejectedError, TransientError

_POLL_S = 0.01
_START_LOCK_WAIT_S = 60.0


@dataclass(frozen=True, slots=True)
class Record:
    """How to find the server and how to speak to it.

    `started` is the kernel's start time of `pid`, in ticks since boot, so that a process which
    later got the same number is not taken for the server; it is empty where there is no /proc.
    """

    pid: int
    started: str
    port: int
    version: str
    secret: str = field(repr=False)

    @property
    def auth_string(self) -> str:
        """Return `user:password` as Prefect wants it."""
        return f"assay:{self.secret}"


@dataclass(frozen=True, slots=True)
class Place:
    """The files of one server; everything Prefect keeps for Assay is in `folder`.

    Three locks, each a flock that the kernel drops with its holder:

    - `server.lock`, exclusive: held by the server for its life, so there is never a second one.
    - `use.lock`, shared: held by each client while it needs the server; the server takes it
      exclusively before it ends for idleness, so it never ends under a client.
    - `start.lock`, exclusive: held for the moment in which somebody looks whether a server lives
      and starts or stops one, so that a look is never mistaken for a server.
    """

    folder: Path

    @classmethod
    def of(cls, home: Path) -> "Place":
        """Return the place under `home`, made when it was not there (0700)."""
        folder = Path(home).absolute() / "prefect"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise RejectedError(
                f"cannot make {folder}: {error.strerror or error}; set another home for Assay"
            ) from error
        return cls(folder)

    @property
    def record(self) -> Path:
        """Return the path of the record."""
        return self.folder / "server.json"

    @property
    def log(self) -> Path:
        """Return the path of the server's log."""
        return self.folder / "server.log"

    @property
    def server_lock(self) -> Path:
        """Return the path of the lock that the server holds for its life."""
        return self.folder / "server.lock"

    @property
    def use_lock(self) -> Path:
        """Return the path of the lock that clients share."""
        return self.folder / "use.lock"

    @property
    def start_lock(self) -> Path:
        """Return the path of the lock around looking, starting and stopping."""
        return self.folder / "start.lock"


def read_record(place: Place) -> Record | None:
    """Return the record, or None when there is none or it is not one of ours."""
    try:
        facts = json.loads(place.record.read_bytes())
        record = Record(**facts)
    except (FileNotFoundError, ValueError, TypeError):
        return None
    sound = (
        type(record.pid) is int
        and type(record.port) is int
        and all(type(text) is str for text in (record.started, record.version, record.secret))
    )
    return record if sound and record.pid > 1 and 0 < record.port < 65536 else None


def write_record(place: Place, record: Record) -> None:
    """Replace the record in one step; nobody but the owner can read it at any moment."""
    write_private(place.record, json.dumps(asdict(record)))


def write_private(path: Path, text: str) -> None:
    """Replace the file at `path` in one step, readable by its owner only."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def take_lock(path: Path, *, shared: bool = False) -> int | None:
    """Return a descriptor that holds the lock, or None when somebody else does. Never waits."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def is_locked(path: Path) -> bool:
    """Tell whether somebody holds the lock. A look is a short hold: look under the start lock."""
    descriptor = take_lock(path)
    if descriptor is not None:
        os.close(descriptor)
    return descriptor is None


def wait_for_lock(path: Path, *, shared: bool = False, wait_s: float) -> int | None:
    """Return a descriptor that holds the lock, or None when `wait_s` were not enough."""
    deadline = time.monotonic() + wait_s
    while True:
        descriptor = take_lock(path, shared=shared)
        if descriptor is not None or time.monotonic() > deadline:
            return descriptor
        time.sleep(_POLL_S)


@contextmanager
def looking(place: Place) -> Iterator[None]:
    """Hold the start lock. Raises `TransientError` when its holder keeps it for a minute."""
    descriptor = wait_for_lock(place.start_lock, wait_s=_START_LOCK_WAIT_S)
    if descriptor is None:
        raise TransientError(
            f"{place.start_lock} has been held for {_START_LOCK_WAIT_S:.0f} s by a process that"
            " starts or stops the Prefect server; end that process and try again"
        )
    try:
        yield
    finally:
        os.close(descriptor)


def process_start(pid: int) -> str:
    """Return the kernel's start time of `pid`, or "" when there is no such process or no /proc."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # proc(5): the name, field 2, may hold spaces and brackets; field 22 is the start time.
    return stat.rpartition(")")[2].split()[19]
