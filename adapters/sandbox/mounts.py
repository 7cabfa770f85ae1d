"""The file tree that bubblewrap builds for a command, as bubblewrap's arguments."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from adapters.kernel import seccomp
from adapters.kernel.nobody import NOBODY
from adapters.sandbox import filters
from adapters.sandbox.port import MIB, Command
from adapters.sandbox.system import (
    NETWORK_SETTINGS,
    ROOT_FOLDERS,
    SETTINGS,
    SYSTEM,
    is_superuser,
    outside_system,
)

WORKSPACE, TEMPORARY = "/sandbox", "/tmp"  # noqa: S108  the command's own

_SHARED_MEMORY_BYTES = 64 * MIB
_TEMPORARY_BYTES = 256 * MIB
_HOST = "sandbox"
_HOSTS = f"127.0.0.1 localhost {_HOST}\n::1 localhost\n"


class Handed:
    """Data that a child process is handed as open files, by number."""

    def __init__(self) -> None:
        self.numbers: list[int] = []

    def give(self, data: bytes) -> str:
        """Return the number of an open file that holds `data`."""
        number = os.memfd_create("handed")
        self.numbers.append(number)
        view = memoryview(data)
        while view:
            view = view[os.write(number, view) :]
        os.lseek(number, 0, os.SEEK_SET)
        return str(number)


@contextmanager
def handing() -> Iterator[Handed]:
    """Lend a `Handed`, and close what it opened."""
    handed = Handed()
    try:
        yield handed
    finally:
        for number in handed.numbers:
            os.close(number)


def in_memory(disk_bytes: int) -> list[str]:
    """Return arguments for an empty workspace of at most `disk_bytes`."""
    return ["--perms", "0700", "--size", str(disk_bytes), "--tmpfs", WORKSPACE]


def on_disk(workspace: Path) -> list[str]:
    """Return arguments for `workspace` itself as the workspace."""
    return ["--bind", str(workspace), WORKSPACE]


def arguments(command: Command, workspace: list[str], handed: Handed) -> list[str]:
    """Return what bubblewrap is told to keep `command` in, before `--` and what to run."""
    temporary = min(_TEMPORARY_BYTES, command.limits.disk_bytes)
    return [
        *_namespaces(command, handed),
        *_system(command),
        *_files(handed),
        *("--proc", "/proc", "--dev", "/dev"),
        *("--perms", "1777", "--size", str(_SHARED_MEMORY_BYTES), "--tmpfs", "/dev/shm"),  # noqa: S108
        *("--remount-ro", "/dev"),
        *("--perms", "1777", "--size", str(temporary), "--tmpfs", TEMPORARY),
        *_readable(command),
        *workspace,
        *("--remount-ro", "/", "--chdir", "/"),  # else its owner could fill it without a bound
    ]


def _namespaces(command: Command, handed: Handed) -> list[str]:
    made = ["--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"]
    made += ["--die-with-parent", "--new-session", "--hostname", _HOST]
    if not command.network:
        made.append("--unshare-net")
    if not is_superuser():
        made += ["--unshare-user", "--disable-userns", "--cap-drop", "ALL"]
    machine = seccomp.machine()
    if machine:
        code = filters.of_namespaces(machine, network=command.network)
        made += ["--seccomp", handed.give(code)]
    return made


def _system(command: Command) -> list[str]:
    made = ["--ro-bind", str(SYSTEM), str(SYSTEM)]
    for name in ROOT_FOLDERS:
        folder = Path("/", name)
        if folder.is_symlink():
            made += ["--symlink", str(folder.readlink()), str(folder)]
        elif folder.is_dir():
            made += ["--ro-bind", str(folder), str(folder)]
    made += ["--perms", "0755", "--dir", "/etc"]
    for setting in (*SETTINGS, *(NETWORK_SETTINGS if command.network else ())):
        made += ["--ro-bind-try", setting, setting]
    return made


def _files(handed: Handed) -> list[str]:
    """Return arguments for files whose counterparts tell too much about this machine."""
    user, group = (NOBODY, NOBODY) if is_superuser() else (os.getuid(), os.getgid())
    contents = {
        "/etc/hosts": _HOSTS,
        "/etc/passwd": f"nobody:x:{user}:{group}::{TEMPORARY}:/bin/sh\n",
        "/etc/group": f"nogroup:x:{group}:\n",
    }
    made: list[str] = []
    for path, content in contents.items():
        made += ["--perms", "0644", "--ro-bind-data", handed.give(content.encode()), path]
    return made


def _readable(command: Command) -> list[str]:
    """Return arguments that show folders where they are; the folders above hold nothing else."""
    folders = outside_system(command.read_only)
    above = {parent for folder in folders for parent in folder.parents[:-1]}
    made: list[str] = []
    for parent in sorted(above):
        if str(parent) != TEMPORARY:
            made += ["--perms", "0755", "--dir", str(parent)]
    for folder in sorted(folders):
        made += ["--ro-bind", str(folder), str(folder)]
    return made
