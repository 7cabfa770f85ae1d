"""What Assay's own Prefect server leaves on disk: its record and its locks."""

import json
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from state.durable import create_private_folder, explained, replace_file
from state.locks import FileLock, holding

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
        """Return the place under `home`, made when it was not there (0700).

        Raises `StorageError` when it cannot be made.
        """
        folder = Path(home).absolute() / "prefect"
        with explained(folder):
            create_private_folder(folder)
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
    replace_file(place.record, json.dumps(asdict(record)).encode())


def is_locked(path: Path, *, patience_s: float = 0.0) -> bool:
    """Tell whether somebody holds the lock `path`, and goes on holding it for `patience_s`.

    A look is a short hold itself: look under the start lock.
    """
    lock = FileLock(path)
    try:
        return not lock.acquire(timeout=patience_s)
    finally:
        lock.close()


def looking(place: Place) -> AbstractContextManager[None]:
    """Hold the start lock. Raises `StorageError` when its holder keeps it for a minute."""
    return holding(place.start_lock, f"{place.start_lock}", timeout=_START_LOCK_WAIT_S)


def process_start(pid: int) -> str:
    """Return the kernel's start time of `pid`, or "" when it does not run or there is no /proc."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # proc(5): field 2, the name, may hold spaces and brackets; then the state, and 22 is the start.
    facts = stat.rpartition(")")[2].split()
    return "" if facts[0] in "ZX" else facts[19]
