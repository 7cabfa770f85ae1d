"""The levels `landlock` and `none`: a command runs beside everything else on this machine.

The copy of a workspace is a temporary folder. Landlock and a filter of system calls keep the
command to it; at `none` only its limits hold.
"""

import ctypes
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Self

from adapters.kernel import landlock, seccomp
from adapters.kernel.nobody import NOBODY
from adapters.sandbox import cgroups, filters
from adapters.sandbox.commands import check, environment, kernel_limits
from adapters.sandbox.endings import collect, conclude
from adapters.sandbox.port import Command, Finished, Level, SandboxUnavailable
from adapters.sandbox.supervision import Stop, Supervised, Watch
from adapters.sandbox.supervisor import Confinement, Order
from adapters.sandbox.system import (
    NETWORK_SETTINGS,
    ROOT_FOLDERS,
    SETTINGS,
    SYSTEM,
    is_open_to,
    is_superuser,
    outside_system,
)
from adapters.sandbox.temporary import temporary_folder
from adapters.sandbox.trees import copy, give_to, is_larger, measure, open_folder, tidy
from adapters.sandbox.waiting import in_thread

NEEDED_VERSION = 6
"""The version of Landlock that keeps signals and abstract sockets apart (Linux 6.12)."""

_USE_DEVICE = landlock.READ_FILE | landlock.WRITE_FILE | landlock.IOCTL_ON_DEVICE
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_FACTS = (
    *("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys/vm/overcommit_memory"),
    "/sys/devices/system/cpu",
)


Confine = Callable[[Command, list[Path]], Confinement | None]
"""Says what a command gives up that may change what is at or below some folders."""


class _BesideSandbox:
    """Runs commands in folders; `user` is the one that they run as, None for this process's own."""

    def __init__(self, level: Level, confine: Confine, *, user: int | None) -> None:
        self._level = level
        self._confine = confine
        self._user = user

    @property
    def level(self) -> Level:
        """Return how far commands are confined."""
        return self._level

    async def run(self, workspace: Path, command: Command) -> Finished:
        """Run `command` on a copy of `workspace`; see `Sandbox.run`."""
        return await in_thread(partial(self.run_here, workspace, command))

    async def run_in_place(self, workspace: Path, command: Command) -> Finished:
        """Run `command` on `workspace` itself; see `Sandbox.run_in_place`."""
        check(workspace, command)
        return await in_thread(partial(self._run_in_place, workspace, command))

    def run_here(self, workspace: Path, command: Command, stop: Stop) -> Finished:
        """Run `command` as `run` does, but wait for it in this thread."""
        check(workspace, command)
        with self._box() as box:
            inside = box.path / "workspace"
            inside.mkdir()
            root = open_folder(inside)
            try:
                copy(workspace, root, owner=self._user, max_bytes=command.limits.disk_bytes)
                if self._user is not None:
                    os.fchown(root, self._user, self._user)
                place = _Place(inside, root, command.limits.disk_bytes)
                return self._attempt(command, box, place, stop)
            finally:
                os.close(root)

    def _run_in_place(self, workspace: Path, command: Command, stop: Stop) -> Finished:
        root = open_folder(workspace)
        try:
            before = os.fstat(root)
            most = measure(root).bytes + command.limits.disk_bytes
            if self._user is not None:
                give_to(root, self._user, self._user)
            try:
                with self._box() as box:
                    place = _Place(workspace.resolve(), root, most)
                    return self._attempt(command, box, place, stop)
            finally:
                tidy(root)
                if self._user is not None:
                    give_to(root, before.st_uid, before.st_gid)
        finally:
            os.close(root)

    def _attempt(self, command: Command, box: "_Box", place: "_Place", stop: Stop) -> Finished:
        def is_disk_full() -> bool:
            return is_larger(place.root, place.max_bytes) or is_larger(
                box.temporary_root, command.limits.disk_bytes
            )

        with cgroups.group(command.limits) as group:
            order = Order(
                argv=list(command.argv),
                environment=environment(command, temporary=str(box.temporary)),
                folder=str(place.path / command.cwd),
                input=None,
                limits=kernel_limits(command, user=self._effective_user(), group=group),
                groups=group.entrances,
                confinement=self._confine(command, [place.path, box.temporary]),
                remains=[str(box.path)],
            )
            with Supervised(order, stop=stop) as supervised:
                ended = supervised.watch(Watch(command.limits, group, is_disk_full))
            return conclude(
                ended,
                level=self._level,
                group=group,
                is_disk_full=is_disk_full(),
                collected=collect(place.root, command),
            )

    def _effective_user(self) -> int:
        return os.geteuid() if self._user is None else self._user

    def _box(self) -> "_Box":
        return _Box(self._user)


@dataclass(frozen=True, slots=True)
class _Place:
    """The workspace that a command works on: where it is, open, and how large it may become."""

    path: Path
    root: int
    max_bytes: int


class _Box:
    """A folder for one command, with room for temporary files; gone when the block ends."""

    def __init__(self, user: int | None) -> None:
        self._stack = ExitStack()
        try:
            self.path = self._stack.enter_context(temporary_folder("assay-sandbox-"))
            self.temporary = self.path / "tmp"
            self.temporary.mkdir(0o700)
            if user is not None:
                os.chown(self.path, user, user)
                os.chown(self.temporary, user, user)
        except OSError as error:
            self._stack.close()
            raise SandboxUnavailable(f"no folder could be made for the command: {error}") from error
        self.temporary_root = open_folder(self.temporary)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.temporary_root)
        self._stack.close()


class LandlockSandbox(_BesideSandbox):
    """A `Sandbox` of the level `landlock`, which needs no privilege.

    As the superuser, commands run as a user that owns nothing. Held are: the contents of all files
    but the system's and those shown to the command, every socket but pairs (so that a test cannot
    serve to itself on 127.0.0.1), signals and tracing, shared memory. Not held: that a file exists,
    its size and times can be seen, and so can the ids of processes; disk space is watched and may
    be exceeded for a moment. Where commands run as the own user, changes of the modes and times of
    files only seem to succeed.
    """

    def __init__(self) -> None:
        user = NOBODY if is_superuser() else None
        super().__init__(Level.LANDLOCK, _confine, user=user)


class UnconfinedSandbox(_BesideSandbox):
    """A `Sandbox` of the level `none`: limits, and the end of all processes, but nothing else.

    The command may read and write what this process may. For what a person has vouched for.
    """

    def __init__(self) -> None:
        super().__init__(Level.NONE, _confine_nothing, user=None)


def obstacle() -> str:
    """Return why commands cannot be confined by Landlock here, '' when they can."""
    if sys.platform != "linux":
        return "only Linux has it"
    if not seccomp.machine():
        return "this architecture is not known to the filter of system calls"
    offered = landlock.version(ctypes.CDLL(None))
    if offered < NEEDED_VERSION:
        return f"Linux 6.12 or later is needed (Landlock {NEEDED_VERSION}; here it is {offered})"
    return ""


def _confine_nothing(_command: Command, _writable: list[Path]) -> Confinement | None:
    return None


def _confine(command: Command, writable: list[Path]) -> Confinement:
    shown = outside_system(command.read_only)
    run = [str(SYSTEM), *(f"/{name}" for name in ROOT_FOLDERS), *map(str, shown)]
    read = [*SETTINGS, *_FACTS, "/etc/passwd", "/etc/group", "/etc/hosts"]
    if command.network:
        read += NETWORK_SETTINGS
    is_nobody = is_superuser()
    code = filters.of_shared_system(
        seccomp.machine(), network=command.network, same_user=not is_nobody
    )
    return Confinement(
        allowed=[
            *((path, landlock.RUN) for path in run),
            *((path, landlock.READ) for path in read),
            *((path, _USE_DEVICE) for path in _DEVICES),
            *((str(path), landlock.CHANGE) for path in writable),
        ],
        allow_tcp=command.network,
        filter=code.hex(),
        is_nobody=is_nobody,
        may_search=is_nobody and not all(is_open_to(NOBODY, path) for path in (*shown, *writable)),
    )
