"""What holds of commands whatever runs them: which are refused, and what environment they get."""

import os
import re
import resource
from pathlib import Path, PurePosixPath

from adapters.sandbox.cgroups import Group
from adapters.sandbox.port import Command
from adapters.sandbox.processes import threads_of
from state.values.errors import InvalidRequest

SEARCHED = "/usr/local/bin:/usr/bin:/bin"

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# These start programs that reserve far more addresses than they use memory.
_RESERVES = frozenset("node npm npx yarn pnpm corepack deno bun tsx java".split())


def check(workspace: Path, command: Command) -> None:
    """Raise `InvalidRequest` for a command that makes no sense, or reaches out of `workspace`."""
    if not command.argv or not command.argv[0] or command.argv[0].startswith("-"):
        raise InvalidRequest("a command must begin with a program to run")
    for text in (*command.argv, *command.environment, *command.environment.values()):
        if "\0" in text:
            raise InvalidRequest(f"{text!r} has a NUL character, which no program can be given")
        if not _is_encodable(text):
            raise InvalidRequest(f"{text!r} has characters that no program can be given")
    for name in command.environment:
        if not _NAME.fullmatch(name):
            raise InvalidRequest(f"{name!r} is no name of an environment variable")
    for path in (command.cwd, *command.collect):
        _check_inside(path)
    for folder in command.read_only:
        _check_readable(folder, workspace)
    _check_folder(workspace, command.cwd)


def environment(command: Command, *, temporary: str) -> dict[str, str]:
    """Return all that `command` gets as its environment; nothing of ours is in it."""
    return {
        "PATH": SEARCHED,
        "HOME": temporary,
        "TMPDIR": temporary,
        "LANG": "C.UTF-8",
        "CI": "1",
        **command.environment,
    }


def reserves_addresses(argv: tuple[str, ...]) -> bool:
    """Return whether a limit on addresses would keep the program from starting at all."""
    return any(PurePosixPath(word).name in _RESERVES for word in argv[:2])


def _is_encodable(text: str) -> bool:
    try:
        os.fsencode(text)
    except UnicodeEncodeError:  # half of a pair, as JSON may hold
        return False
    return True


def _check_inside(path: str) -> None:
    pure = PurePosixPath(path)
    if not path or "\0" in path or pure.is_absolute() or ".." in pure.parts:
        raise InvalidRequest(f"{path!r} is no path relative to the workspace and inside it")


def _check_readable(folder: Path, workspace: Path) -> None:
    if not folder.is_absolute() or "\0" in str(folder) or ".." in folder.parts:
        raise InvalidRequest(f"{folder} is to be readable, but is no absolute path")
    if not folder.exists():
        raise InvalidRequest(f"{folder} is to be readable, but there is no such folder")
    if folder.resolve() == Path("/") or workspace.resolve().is_relative_to(folder.resolve()):
        raise InvalidRequest(f"{folder} is to be readable, but holds the workspace or everything")


def _check_folder(workspace: Path, cwd: str) -> None:
    place = workspace
    for part in ("", *PurePosixPath(cwd).parts):
        place = place / part
        if not place.is_dir() or (part and place.is_symlink()):
            raise InvalidRequest(f"{place} is no folder, so that nothing can be run in it")


def kernel_limits(command: Command, *, user: int, group: Group) -> list[tuple[int, int]]:
    """Return the limits of each process of `command` that `user` runs, as (resource, value)."""
    limits = command.limits
    chosen = [
        (resource.RLIMIT_CPU, limits.cpu_s),
        (resource.RLIMIT_FSIZE, min(limits.file_bytes, limits.disk_bytes)),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_CORE, 0),
    ]
    if not group.is_limiting:  # these are coarser: one counts addresses, one all that a user runs
        running = threads_of(user)
        if running is not None:
            chosen.append((resource.RLIMIT_NPROC, limits.processes + running))
        if not reserves_addresses(command.argv):
            chosen.append((resource.RLIMIT_AS, limits.memory_bytes))
    return chosen
