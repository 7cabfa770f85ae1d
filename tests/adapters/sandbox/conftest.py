"""Sandboxes of each level, each on a workspace of its own, and what commands are to reach for."""

import os
import secrets
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from adapters.sandbox import toolchains
from adapters.sandbox.choose import open_sandbox
from adapters.sandbox.port import MIB, Command, Finished, Level, Limits, Sandbox, SandboxUnavailable

SMALL = Limits(
    wall_s=60.0, cpu_s=60, memory_bytes=512 * MIB, disk_bytes=32 * MIB, file_bytes=16 * MIB
)

PLAIN = Command((), limits=SMALL)


@dataclass(frozen=True, slots=True)
class Bench:
    """A sandbox and a workspace, and what is run in them."""

    sandbox: Sandbox
    workspace: Path
    mark: str = field(default_factory=lambda: secrets.token_hex(8))

    async def run(self, *argv: str, command: Command = PLAIN) -> Finished:
        return await self.sandbox.run(self.workspace, replace(command, argv=argv))

    async def python(self, code: str, *, command: Command = PLAIN) -> Finished:
        """Run `code`; the mark is on the command line of every process that it starts from here."""
        return await self.sandbox.run(self.workspace, self.of_python(code, command))

    def of_python(self, code: str, command: Command = PLAIN) -> Command:
        found = toolchains.python()
        argv = (*found.argv_prefix, "-I", "-S", "-c", textwrap.dedent(code), self.mark)
        return replace(command, argv=argv, read_only=found.read_only)

    def alive(self) -> list[int]:
        """Return the processes of this machine that still carry the mark."""
        return carrying(self.mark)


def carrying(mark: str) -> list[int]:
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit() and int(place.name) != os.getpid():
            try:
                if mark.encode() in (place / "cmdline").read_bytes():
                    found.append(int(place.name))
            except OSError:
                continue  # it has ended since
    return found


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def said(finished: Finished) -> str:
    return finished.output_tail.decode(errors="replace").strip()


def opened(level: Level) -> Sandbox:
    """Return the sandbox of exactly `level`; skip where this machine has none."""
    try:
        sandbox = open_sandbox(at_most=level, allow_none=level is Level.NONE)
    except SandboxUnavailable as error:
        pytest.skip(error.message)
    if sandbox.level is not level:
        pytest.skip(f"this machine has no sandbox of the level {level}")
    return sandbox


@pytest.fixture(params=[Level.NAMESPACES, Level.LANDLOCK])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    return opened(request.param)


@pytest.fixture
def bench(sandbox: Sandbox, tmp_path: Path) -> Bench:
    return Bench(sandbox, _workspace(tmp_path))


@pytest.fixture
def isolated(tmp_path: Path) -> Bench:
    return Bench(opened(Level.NAMESPACES), _workspace(tmp_path))


@pytest.fixture
def landlocked(tmp_path: Path) -> Bench:
    return Bench(opened(Level.LANDLOCK), _workspace(tmp_path))


def _workspace(tmp_path: Path) -> Path:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    return workspace


@dataclass(frozen=True, slots=True)
class Machine:
    """Things that are open to every user of this machine, so that only a sandbox is between."""

    folder: Path
    port: int
    datagrams: socket.socket
    abstract: str
    process: int
    secret: str
    before: list[tuple[str, int, int, bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.before.extend(self.state())

    @property
    def file(self) -> Path:
        return self.folder / "notes.txt"

    def state(self) -> list[tuple[str, int, int, bytes]]:
        return [
            (path.name, path.stat().st_mode, path.stat().st_mtime_ns, path.read_bytes())
            for path in sorted(self.folder.iterdir())
            if path.is_file()
        ]

    def is_running(self) -> bool:
        return Path(f"/proc/{self.process}/environ").read_bytes() != b""

    def received(self) -> bytes:
        try:
            return self.datagrams.recv(100)
        except BlockingIOError:
            return b""


@pytest.fixture(scope="session")
def machine() -> Iterator[Machine]:
    with ExitStack() as stack:
        place = tempfile.TemporaryDirectory(prefix="assay-machine-", dir="/var/tmp")
        folder = Path(stack.enter_context(place))
        folder.chmod(0o777)
        (folder / "notes.txt").write_text("private")
        (folder / "notes.txt").chmod(0o666)
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        datagrams = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        datagrams.bind(("127.0.0.1", server.getsockname()[1]))
        datagrams.setblocking(False)
        abstract = f"assay-{secrets.token_hex(8)}"
        for address in (f"\0{abstract}", str(folder / "service")):
            service = stack.enter_context(socket.socket(socket.AF_UNIX))
            service.bind(address)
            service.listen()
        (folder / "service").chmod(0o777)
        secret = secrets.token_hex(16)
        waiting = stack.enter_context(_waiting(secret))
        port = server.getsockname()[1]
        yield Machine(folder, port, datagrams, abstract, waiting.pid, secret)


def _waiting(secret: str) -> "subprocess.Popen[bytes]":
    """Start a process with a secret in its environment, which waits until its input ends."""
    process = subprocess.Popen(
        ["/bin/sh", "-c", "read -r _"], stdin=subprocess.PIPE, env={"SECRET": secret}
    )
    end = time.monotonic() + 30
    while sys.platform == "linux" and time.monotonic() < end:
        if secret.encode() in Path(f"/proc/{process.pid}/environ").read_bytes():
            break
        time.sleep(0.01)
    return process
