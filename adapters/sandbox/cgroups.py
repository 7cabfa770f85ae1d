"""Control groups: the kernel's own limits on the memory and number of a set of processes.

They are used where this process may make them: below its own group (version 1, usually the
superuser) or beside it in a part of the tree that was delegated to its user (version 2).
"""

import os
import secrets
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from adapters.sandbox.port import Limits

_ABOUT_OURSELVES = 8  # processes and threads of the sandbox itself
_PATIENCE_S = 2.0


@dataclass(frozen=True, slots=True)
class Hierarchies:
    """Where groups can be made: for memory, for processes, and whether that is version 2.

    In version 2 both are the same folder.
    """

    memory: Path
    processes: Path
    is_v2: bool


@dataclass(frozen=True, slots=True)
class Group:
    """A group made for one command; without hierarchies it holds nothing and knows nothing."""

    memory: Path | None = None
    processes: Path | None = None

    @property
    def is_limiting(self) -> bool:
        """Return whether the kernel holds memory and processes to the limits."""
        return self.memory is not None

    @property
    def entrances(self) -> list[str]:
        """Return the files that a process writes 0 to, to enter."""
        return [str(folder / "cgroup.procs") for folder in self.folders()]

    def limits_met(self) -> set[str]:
        """Return which of "memory" and "processes" stopped something in the group so far."""
        met: set[str] = set()
        if self.memory is None or self.processes is None:
            return met
        killed = _counts(self.memory / "memory.events") or _counts(
            self.memory / "memory.oom_control"
        )
        if killed.get("oom_kill", 0):
            met.add("memory")
        if _counts(self.processes / "pids.events").get("max", 0):
            met.add("processes")
        return met

    def peak_memory_bytes(self) -> int | None:
        """Return the most memory that the group had at any time, where the kernel tells."""
        if self.memory is None:
            return None
        for name in ("memory.peak", "memory.max_usage_in_bytes"):
            text = _read(self.memory / name)
            if text.strip().isdigit():
                return int(text)
        return None

    def folders(self) -> list[Path]:
        """Return the folders that are this group, one or two."""
        both = (self.memory, self.processes)
        return list(dict.fromkeys(folder for folder in both if folder is not None))


@contextmanager
def group(limits: Limits) -> Iterator[Group]:
    """Make a group that holds to `limits`, and remove it; all in it must have ended by then.

    Where that fails it is a group that holds nothing, so that limits are kept by watching.
    """
    made = _make_if_possible(limits)
    try:
        yield made
    finally:
        remove(made.folders())


def _make_if_possible(limits: Limits) -> Group:
    places = available()
    if places is None:
        return Group()
    try:
        return _make(places, limits)
    except OSError:
        return Group()


@cache
def available() -> Hierarchies | None:
    """Return where groups can be made, having tried it once; None where they cannot."""
    try:
        places = find(
            Path("/proc/self/mountinfo").read_text(), Path("/proc/self/cgroup").read_text()
        )
    except OSError:
        return None
    found = next((place for place in places if _works(place)), None)
    if found is not None:
        for place in {found.memory, found.processes}:
            _remove_abandoned(place)
    return found


def find(mountinfo: str, membership: str) -> list[Hierarchies]:
    """Return where groups might be made, best first, by proc(5)'s and cgroups(7)'s tables."""
    mounts = _mounts(mountinfo)
    own = _own(membership)
    found: list[Hierarchies] = []
    if "" in mounts and "" in own:
        top, mine = Path(mounts[""].place), _place(mounts[""], own[""])
        places = (mine,) if mine == top else (mine, mine.parent)
        found += [Hierarchies(place, place, is_v2=True) for place in places]
    if mounts.keys() & own.keys() >= {"memory", "pids"}:
        memory, processes = (_place(mounts[name], own[name]) for name in ("memory", "pids"))
        found.append(Hierarchies(memory, processes, is_v2=False))
    return found


@dataclass(frozen=True, slots=True)
class _Mount:
    root: str
    place: str


def _mounts(mountinfo: str) -> dict[str, _Mount]:
    """Return the mounts of groups by controller, that of version 2 by ''."""
    mounts: dict[str, _Mount] = {}
    for line in mountinfo.splitlines():
        first, _, last = line.partition(" - ")
        fields, kind = first.split(), last.split()
        if len(fields) < 5 or len(kind) < 3 or not kind[0].startswith("cgroup"):
            continue
        names = [""] if kind[0] == "cgroup2" else kind[2].split(",")
        mounts.update(dict.fromkeys(names, _Mount(fields[3], fields[4])))
    return mounts


def _own(membership: str) -> dict[str, str]:
    own: dict[str, str] = {}
    for line in membership.splitlines():
        _, controllers, path = line.split(":", 2)
        own.update(dict.fromkeys(controllers.split(","), path))
    return own


def _place(mount: _Mount, path: str) -> Path:
    inner = os.path.relpath(path, mount.root)
    return Path(mount.place) if inner.startswith("..") else Path(mount.place, inner)


def _remove_abandoned(place: Path) -> None:
    """Remove empty groups of processes that were killed together with those that watched them."""
    for folder in place.glob("assay-*-*"):
        maker = folder.name.split("-")[1]
        if maker.isdigit() and not Path("/proc", maker).exists():
            with suppress(OSError):  # something is still in it, or it is gone
                folder.rmdir()


def _works(places: Hierarchies) -> bool:
    try:
        made = _make(places, Limits())
    except OSError:
        return False
    try:
        return _can_enter(made)
    finally:
        remove(made.folders())


def _can_enter(made: Group) -> bool:
    with subprocess.Popen(["/bin/sh", "-c", "read -r _"], stdin=subprocess.PIPE) as waiting:
        try:
            for entrance in made.entrances:
                _write(Path(entrance), f"{waiting.pid}\n")
        except OSError:
            return False
    return True


def _make(places: Hierarchies, limits: Limits) -> Group:
    name = f"assay-{os.getpid()}-{secrets.token_hex(6)}"
    made = Group(places.memory / name, places.processes / name)
    memory, processes = _limits_of(places, limits)
    try:
        for folder in made.folders():
            folder.mkdir()
        for file, value in memory.items():
            _set(places.memory / name / file, value)
        for file, value in processes.items():
            _set(places.processes / name / file, value)
    except OSError:
        remove(made.folders())
        raise
    return made


def _limits_of(places: Hierarchies, limits: Limits) -> tuple[Mapping[str, str], Mapping[str, str]]:
    memory = str(limits.memory_bytes)
    processes = {"pids.max": str(limits.processes + _ABOUT_OURSELVES)}
    if places.is_v2:
        return {"memory.max": memory, "memory.swap.max": "0"}, processes
    return {"memory.limit_in_bytes": memory, "memory.memsw.limit_in_bytes": memory}, processes


def _set(path: Path, value: str) -> None:
    if "sw" in path.name and not path.exists():
        return  # this kernel does not count swap
    _write(path, value)


def remove(folders: list[Path]) -> None:
    """Remove groups by their folders, and end what is still in them.

    That is nothing, unless the process was lost that ends all others. The kernel may need a moment
    to forget what was in a group.
    """
    end = time.monotonic() + _PATIENCE_S
    for folder in folders:
        while folder.exists():
            try:
                folder.rmdir()
            except OSError:
                if time.monotonic() > end:
                    break  # an empty group does no harm
                _kill_members(folder)
                time.sleep(0.01)


def _write(path: Path, value: str) -> None:
    """Write to a file that is there; in a folder that is no group after all, there is none."""
    with path.open("r+") as file:
        file.write(value)


def _kill_members(folder: Path) -> None:
    for pid in _read(folder / "cgroup.procs").split():
        with suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)


def _counts(path: Path) -> dict[str, int]:
    pairs = (line.split() for line in _read(path).splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
