"""The process between Assay and a command: starts it, and ends only after all that it started.

It reads an `Order` (a line of JSON) from its standard input, a socket, and answers on it with one
`Report`. Anything more that comes in, or the end of it, means: end them all now. What the command
started stays its descendant however it detaches itself, since orphans are given to this process
(Linux). Only modules that are quick to load are used here: it is started for every command.
"""

import ctypes
import errno
import json
import os
import resource
import select
import signal
import sys
import time
from types import FrameType
from typing import TypedDict

from adapters.kernel import landlock, seccomp
from adapters.kernel.nobody import become_nobody
from adapters.sandbox.processes import descendants

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_NOT_FOUND, _NOT_RUNNABLE = 127, 126
_PATIENCE_S = 20.0


class Confinement(TypedDict):
    """What the command's process gives up before it runs: files, calls, and being the superuser."""

    allowed: list[tuple[str, int]]
    allow_tcp: bool
    filter: str
    is_nobody: bool
    may_search: bool


class Order(TypedDict):
    """What to start and how.

    `limits` are (resource, value). `groups` are files to write its process into. `remains` are
    folders to remove if Assay is gone when the command ends.
    """

    argv: list[str]
    environment: dict[str, str]
    folder: str
    input: int | None
    limits: list[tuple[int, int]]
    groups: list[str]
    confinement: Confinement | None
    remains: list[str]


class Report(TypedDict):
    """How it ended: `status` as of waitpid(2), or `error` if it never started.

    `left` are processes that even SIGKILL did not end.
    """

    status: int
    error: str
    cpu_s: float
    peak_memory_bytes: int
    left: list[int]


def main() -> None:
    """Serve one order."""
    order: Order = json.loads(_read_line(0))
    woken = _wake_on_children()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        pid = _start(order)
    except OSError as error:
        _answer(Report(status=0, error=str(error), cpu_s=0.0, peak_memory_bytes=0, left=[]), order)
        return
    status = _wait(pid, woken)
    left, ended = _end_all(pid)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    unit = 1024 if sys.platform == "linux" else 1
    report = Report(
        status=ended if status is None else status,
        error="",
        cpu_s=used.ru_utime + used.ru_stime,
        peak_memory_bytes=used.ru_maxrss * unit,
        left=left,
    )
    _answer(report, order)


def _read_line(file: int) -> bytes:
    line = bytearray()
    while not line.endswith(b"\n"):
        piece = os.read(file, 65536)
        if not piece:
            raise SystemExit(0)  # Assay is gone before it said what to do
        line += piece
    return bytes(line)


def _answer(report: Report, order: Order) -> None:
    try:
        os.write(0, json.dumps(report).encode() + b"\n")
    except OSError:
        _clear(order)


def _clear(order: Order) -> None:
    """Remove what Assay would have removed, were it still there."""
    from pathlib import Path  # noqa: PLC0415  slow to load, and hardly ever needed

    from adapters.sandbox import cgroups, trees  # noqa: PLC0415

    cgroups.remove([Path(entrance).parent for entrance in order["groups"]])
    for folder in order["remains"]:
        trees.remove(Path(folder))


def _wake_on_children() -> int:
    woken, wake = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, _note)
    return woken


def _note(_number: int, _frame: FrameType | None) -> None:
    """Do nothing: the wake-up is all that is wanted of the signal."""


def _wait(pid: int, woken: int) -> int | None:
    """Return the wait status of `pid`, or None when told to end it; reap all others meanwhile."""
    while True:
        ready, _, _ = select.select([0, woken], [], [])
        if woken in ready:
            _drain(woken)
            while (reaped := _reap()) is not None:
                if reaped[0] == pid:
                    return reaped[1]
        if 0 in ready:
            return None


def _drain(file: int) -> None:
    try:
        while os.read(file, 4096):
            pass
    except BlockingIOError:
        return


def _reap() -> tuple[int, int] | None:
    try:
        pid, status = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return None
    return (pid, status) if pid else None


def _end_all(pid: int) -> tuple[list[int], int]:
    """Kill everything that was started; return what is left, and the status of `pid` if it is new.

    First all are stopped, so that none starts another while they are killed.
    """
    status = 0
    end = time.monotonic() + _PATIENCE_S
    while True:
        while (reaped := _reap()) is not None:
            status = reaped[1] if reaped[0] == pid else status
        if not _has_children():
            return [], status
        if time.monotonic() > end:
            return sorted(descendants(os.getpid())), status
        stopped: set[int] = set()
        while fresh := set(descendants(os.getpid())) - stopped:
            _signal(fresh, signal.SIGSTOP)
            stopped |= fresh
        _signal(stopped, signal.SIGKILL)
        if not stopped:
            _kill_group(pid)  # no /proc
        time.sleep(0.005)


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _signal(pids: set[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _start(order: Order) -> int:
    """Return the process that runs the command; raise `OSError` if it could not be prepared."""
    said, say = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            _become(order, parent)
        except BaseException as error:  # noqa: BLE001  whatever it is, this process must end here
            os.write(say, str(error).encode() or b"unknown")
        os._exit(_NOT_RUNNABLE)
    os.close(say)
    if order["input"] is not None:
        os.close(order["input"])
    with os.fdopen(said, "rb") as reader:
        problem = reader.read()
    if problem:
        os.waitpid(pid, 0)
        raise OSError(problem.decode(errors="replace"))
    return pid


def _become(order: Order, parent: int) -> None:
    """Turn this process into the command; return only if that fails at the last."""
    os.setsid()
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null if order["input"] is None else order["input"], 0)
    if order["input"] is not None:
        os.close(order["input"])
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    for group in order["groups"]:
        entrance = os.open(group, os.O_WRONLY)
        os.write(entrance, b"0\n")
        os.close(entrance)
    os.chdir(order["folder"])
    for limit, value in order["limits"]:
        _limit(limit, value)
    if order["confinement"] is not None:
        _confine(order["confinement"])
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(_NOT_RUNNABLE)
    _execute(order["argv"], order["environment"])


def _limit(limit: int, value: int) -> None:
    hard = resource.getrlimit(limit)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    # The soft limit of processor time is a signal that tells why; the hard one just kills.
    slack = 2 if limit == resource.RLIMIT_CPU and hard == resource.RLIM_INFINITY else 0
    resource.setrlimit(limit, (value, value + slack))


def _confine(confinement: Confinement) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if confinement["is_nobody"]:
        become_nobody(libc, may_search=confinement["may_search"])
    held = landlock.restrict(libc, confinement["allowed"], allow_tcp=confinement["allow_tcp"])
    if not held or not seccomp.install(libc, bytes.fromhex(confinement["filter"])):
        raise OSError(errno.ENOSYS, "the kernel did not confine the process")


def _execute(argv: list[str], environment: dict[str, str]) -> None:
    try:
        os.execvpe(argv[0], argv, environment)  # noqa: S606  running it is what this is for
    except OSError as error:
        is_missing = error.errno in (errno.ENOENT, errno.ENOTDIR)
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode())
        os._exit(_NOT_FOUND if is_missing else _NOT_RUNNABLE)
