"""The `Sandbox` port: runs a command on a copy of a workspace, with nothing else in reach."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from state.values.errors import ObstructedError

MIB = 1024 * 1024
TAIL_BYTES = 64 * 1024


class Level(StrEnum):
    """How far a command is kept from the machine it runs on.

    `namespaces`: own processes, network and file tree (bubblewrap). `landlock`: this machine's tree
    and processes, of which only the system's files can be read and only the workspace be written,
    and no network, not even 127.0.0.1 (Landlock, seccomp). `none`: limits only.
    """

    NAMESPACES = "namespaces"
    LANDLOCK = "landlock"
    NONE = "none"


class SandboxUnavailable(ObstructedError):
    """Nothing was learnt about the code: the sandbox could not start, or broke under it."""

    code = "SANDBOX_UNAVAILABLE"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one command may use. Seconds, bytes and counts, for all of its processes together.

    Only `file_bytes` and `open_files` are for each file and process. `disk_bytes` includes the copy
    of the workspace; temporary files get as much again. `processes` counts threads.
    """

    wall_s: float = 300.0
    cpu_s: int = 240
    memory_bytes: int = 4096 * MIB
    file_bytes: int = 256 * MIB
    disk_bytes: int = 512 * MIB
    processes: int = 256
    open_files: int = 512


@dataclass(frozen=True, slots=True)
class Command:
    """What to run, and where: `cwd` is relative to the workspace.

    `environment` is added to the little that every command gets (PATH, HOME, LANG, TMPDIR, CI) and
    never holds a secret. `read_only` are folders of this machine that it may read as well.
    `collect` are paths relative to the workspace whose files are given back (`Finished.collected`),
    each up to 8 MiB. With `network` it may reach the outside: for installing dependencies only.
    """

    argv: tuple[str, ...]
    cwd: str = "."
    environment: Mapping[str, str] = field(default_factory=dict)
    read_only: tuple[Path, ...] = ()
    collect: tuple[str, ...] = ()
    network: bool = False
    limits: Limits = Limits()


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended.

    `exit_code` is None when a signal or a limit ended it. `limit` names one that explains its end:
    "wall", "cpu", "memory", "disk", "processes", or '' for none that is known; a program that gives
    up because of it may have an exit code too, never 0. A missing program has exit code 127.
    `output_tail` is the end of what it wrote (both streams, at most 64 KiB), `output_bytes` how
    much that was in all.
    """

    exit_code: int | None
    signal: int | None
    limit: str
    level: Level
    wall_s: float
    cpu_s: float
    peak_memory_bytes: int | None
    output_tail: bytes
    output_bytes: int
    collected: Mapping[str, bytes] = field(default_factory=dict)


class Sandbox(Protocol):
    """Runs commands one at a time or several at once."""

    @property
    def level(self) -> Level:
        """Return how far commands are confined here."""
        ...

    async def run(self, workspace: Path, command: Command) -> Finished:
        """Run `command` on a fresh copy of `workspace`, of which nothing is left afterwards.

        Links are copied as links, special files not at all. Raises `InvalidRequest` for a command
        that makes no sense, and for a workspace too large for its limits.
        Whatever the command does, it ends within its limits, with all its processes. Raises
        `SandboxUnavailable` when it is the sandbox that failed, and not the command.
        """
        ...

    async def run_in_place(self, workspace: Path, command: Command) -> Finished:
        """Run `command` on `workspace` itself, which it may change: to install dependencies.

        Afterwards special files, and the set-user and set-group bits of others, are gone from it.
        """
        ...
