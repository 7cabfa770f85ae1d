"""Tries a sandbox before it is trusted: a program in it reaches for what it must not get.

No address but 127.0.0.1 is involved, and nothing of a person: what it reaches for is made for it.
"""

import json
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Protocol

from adapters.sandbox import toolchains
from adapters.sandbox.port import Command, Finished, Limits, SandboxUnavailable
from adapters.sandbox.supervision import Stop
from adapters.sandbox.temporary import temporary_folder

_PROGRAM = Path(__file__).with_name("reaching.py")
_LIMITS = Limits(wall_s=60.0)


class Blocking(Protocol):
    """A sandbox that can be waited for without an event loop."""

    def run_here(self, workspace: Path, command: Command, stop: Stop) -> Finished:
        """Run `command` on a copy of `workspace`, unless told to stop."""
        ...


def probe(sandbox: Blocking) -> None:
    """Return if `sandbox` works and confines; else raise `SandboxUnavailable` that says why not."""
    interpreter = toolchains.python()
    command = Command(
        (*interpreter.argv_prefix, "-I", "-S", "reach.py"),
        environment=interpreter.environment,
        read_only=interpreter.read_only,
        limits=_LIMITS,
    )
    try:
        with _targets() as workspace, Stop() as stop:
            finished = sandbox.run_here(workspace, command, stop)
    except OSError as error:
        raise SandboxUnavailable(f"it could not be tried: {error}") from error
    said = finished.output_tail.decode(errors="replace").strip().splitlines()
    if finished.exit_code != 0 or not said or said[-1] != "tried":
        raise SandboxUnavailable(f"a program did not run in it: {' '.join(said[-1:])}")
    if len(said) > 1:
        raise SandboxUnavailable(f"it does not keep a program from {', '.join(said[:-1])}")


@contextmanager
def _targets() -> Iterator[Path]:
    """Make what the program is to reach for, and the workspace that tells it."""
    with ExitStack() as stack:
        folder = stack.enter_context(temporary_folder("assay-probe-"))
        folder.chmod(0o755)
        file = folder / "private.txt"
        file.write_text("private")
        name = f"assay-{secrets.token_hex(16)}"
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        if sys.platform == "linux":
            service = stack.enter_context(socket.socket(socket.AF_UNIX))
            service.bind("\0" + name)
            service.listen()
        secret = secrets.token_hex(16)
        process = stack.enter_context(_waiting({"ASSAY_PROBE": secret}))
        targets = {
            "port": server.getsockname()[1],
            "name": name,
            "file": str(file),
            "process": process,
            "secret": secret,
        }
        workspace = folder / "workspace"
        workspace.mkdir()
        (workspace / "targets.json").write_text(json.dumps(targets))
        (workspace / "reach.py").write_bytes(_PROGRAM.read_bytes())
        yield workspace


@contextmanager
def _waiting(environment: dict[str, str]) -> Iterator[int]:
    """Lend a process of this user with `environment`, which waits until the block ends."""
    with subprocess.Popen(
        ["/bin/sh", "-c", "read -r _"], stdin=subprocess.PIPE, env=environment
    ) as it:
        yield it.pid
