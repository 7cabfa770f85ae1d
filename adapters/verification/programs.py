"""Where Node and Rust are on this machine, for a sandbox that shows only what it is told to."""

import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_SHOWN_ANYWAY = Path("/usr")


@dataclass(frozen=True, slots=True)
class Program:
    """A tool's folder of programs, and what must be readable for them to work."""

    folder: Path
    read_only: tuple[Path, ...]


@cache
def node() -> Program | None:
    """Return where `node` and `npm` are, or None when there is no npm here."""
    found, manager = shutil.which("node"), shutil.which("npm")
    if found is None or manager is None:
        return None
    return _at(Path(found).resolve().parent.parent)


@cache
def cargo() -> Program | None:
    """Return where Cargo and the compiler are, behind whatever chooses a toolchain; or None."""
    compiler = shutil.which("rustc")
    if compiler is None:
        return None
    asked = subprocess.run(
        [compiler, "--print", "sysroot"], capture_output=True, text=True, timeout=60, check=False
    )
    root = Path(asked.stdout.strip())
    return _at(root) if asked.returncode == 0 and (root / "bin" / "cargo").is_file() else None


def _at(prefix: Path) -> Program:
    shown = prefix.is_relative_to(_SHOWN_ANYWAY)
    return Program(prefix / "bin", () if shown else (prefix,))
