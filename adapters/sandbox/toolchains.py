"""Finds the programs that tests are run with, and the folders that these need to see."""

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from adapters.sandbox.commands import SEARCHED
from adapters.sandbox.system import outside_system

_PATIENCE_S = 20.0


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A program as a sandboxed command needs it.

    `argv_prefix` begins the command, `read_only` and `environment` go into its fields of that name.
    """

    argv_prefix: tuple[str, ...]
    read_only: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


def python() -> Toolchain:
    """Return the interpreter that runs this, with the packages of its environment."""
    prefixes = (Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve().parent)
    folders = _with_targets(prefixes)
    return Toolchain((sys.executable,), folders, {"PYTHONNOUSERSITE": "1"})


def pytest() -> Toolchain | None:
    """Return pytest, run by this interpreter; None where it is not installed beside Assay."""
    if importlib.util.find_spec("pytest") is None:
        return None
    found = python()
    return Toolchain((*found.argv_prefix, "-m", "pytest"), found.read_only, found.environment)


def npm() -> Toolchain | None:
    """Return npm with its Node, None where either is missing; it asks no registry for updates."""
    found = node()
    program = shutil.which("npm")
    if found is None or program is None:
        return None
    executable = Path(found.argv_prefix[0])
    beside = executable.parent / "npm"  # what version managers put on the path only finds it
    script = (beside if beside.exists() else Path(program)).resolve()
    quiet = {"npm_config_update_notifier": "false", "npm_config_fund": "false"}
    return Toolchain(
        (str(executable), str(script)),
        _with_targets((*found.read_only, script.parent.parent)),
        {**found.environment, **quiet},
    )


def node() -> Toolchain | None:
    """Return Node; None where it is missing."""
    said = _ask("node", "-p", "process.execPath")
    if not said:
        return None
    executable = Path(said)
    folder = executable.parent
    return Toolchain((said,), _with_targets((folder.parent,)), _searching(folder))


def cargo() -> Toolchain | None:
    """Return cargo with its compiler; None where either is missing. It does not use the network."""
    said = _ask("rustc", "--print", "sysroot")
    root = Path(said)
    program = root / "bin" / "cargo"
    if not said or not program.is_file():
        return None
    environment = {**_searching(root / "bin"), "CARGO_NET_OFFLINE": "true"}
    return Toolchain((str(program),), _with_targets((root,)), environment)


def _ask(program: str, *arguments: str) -> str:
    """Return what `program` of this machine's path says, '' when it is missing or fails."""
    found = shutil.which(program)
    if found is None:
        return ""
    try:
        said = subprocess.run(
            [found, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd="/",
            timeout=_PATIENCE_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return said.stdout.decode(errors="surrogateescape").strip()


def _searching(folder: Path) -> dict[str, str]:
    return {"PATH": f"{folder}:{SEARCHED}"}


def _with_targets(folders: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return `folders` and what they are links to, without what every command sees anyway."""
    both = outside_system(place for folder in folders for place in (folder, folder.resolve()))
    return tuple(
        place for place in both if not any(place.is_relative_to(it) for it in both if it != place)
    )
