"""What /proc tells of a process and all that it started; nothing where there is no /proc."""

import os
from typing import NamedTuple

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Process(NamedTuple):
    """One process; its processor time includes that of the children it waited for."""

    parent: int
    state: str
    cpu_s: float
    threads: int
    memory_bytes: int


def descendants(root: int) -> dict[int, Process]:
    """Return the processes that `root` started, directly or not, by their ids."""
    everyone = _everyone()
    children: dict[int, list[int]] = {}
    for pid, process in everyone.items():
        children.setdefault(process.parent, []).append(pid)
    found: dict[int, Process] = {}
    waiting = [root]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in found:
                found[child] = everyone[child]
                waiting.append(child)
    return found


def threads_of(user: int) -> int | None:
    """Return how many threads run as `user` on this machine; None where that is not known."""
    everyone = _everyone()
    if not everyone:
        return None
    return sum(process.threads for pid, process in everyone.items() if _owner(pid) == user)


def _everyone() -> dict[int, Process]:
    found: dict[int, Process] = {}
    try:
        names = os.listdir("/proc")  # noqa: PTH208  this runs several times a second
    except OSError:
        return found
    for name in names:
        if name.isdigit() and (process := _read(name)) is not None:
            found[int(name)] = process
    return found


def _read(name: str) -> Process | None:
    try:
        file = os.open(f"/proc/{name}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None  # it has ended since
    try:
        text = os.read(file, 4096)
    except OSError:
        return None
    finally:
        os.close(file)
    # See proc(5): the name comes second, in brackets, and may hold anything.
    state, parent, *fields = text.rpartition(b")")[2].split()
    ticks = sum(int(field) for field in fields[9:13])
    return Process(
        parent=int(parent),
        state=state.decode(),
        cpu_s=ticks / _TICKS,
        threads=int(fields[15]),
        memory_bytes=int(fields[19]) * _PAGE,
    )


def _owner(pid: int) -> int:
    try:
        return os.stat(f"/proc/{pid}").st_uid  # noqa: PTH116  as above
    except OSError:
        return -1
