"""A program that tries what a sandbox must refuse, and prints, line by line, what it could do.

It is run inside a sandbox, from a copy, and imports nothing of Assay. The file `targets.json`
beside it says what to reach for.
"""

import contextlib
import json
import os
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path


def main() -> None:
    """Try everything, and print what succeeded; the last line says that all was tried."""
    targets = json.loads(Path("targets.json").read_text())
    attempts: dict[str, Callable[[], bool]] = {
        "the network": lambda: _connects(("127.0.0.1", targets["port"]), socket.AF_INET),
        "services of this machine": lambda: _connects("\0" + targets["name"], socket.AF_UNIX),
        "other files": lambda: _reads(targets["file"]),
        "other folders": lambda: _writes(targets["file"] + ".new"),
        "other processes": lambda: _signals(targets["process"]),
        "the environment of other processes": lambda: _finds(targets["secret"], targets["process"]),
    }
    for what, attempt in attempts.items():
        with contextlib.suppress(OSError):
            if attempt():
                sys.stdout.write(f"{what}\n")
    sys.stdout.write("tried\n")


def _connects(address: tuple[str, int] | str, family: int) -> bool:
    with socket.socket(family) as tried:
        tried.settimeout(5)
        tried.connect(address)
    return True


def _reads(path: str) -> bool:
    return bool(Path(path).read_bytes())


def _writes(path: str) -> bool:
    Path(path).write_bytes(b"x")
    return True


def _signals(process: int) -> bool:
    os.kill(process, 0)
    return True


def _finds(secret: str, process: int) -> bool:
    return any(secret.encode() in text for text in _told_of(process))


def _told_of(process: int) -> Iterator[bytes]:
    """Yield what can be read about `process`, and about all that can be seen."""
    seen = [str(process)]
    with contextlib.suppress(OSError):
        seen += [place.name for place in Path("/proc").iterdir() if place.name.isdigit()]
    for name in seen:
        for about in ("environ", "cmdline"):
            with contextlib.suppress(OSError):
                yield Path("/proc", name, about).read_bytes()


if __name__ == "__main__":
    main()
