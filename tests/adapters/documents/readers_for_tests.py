"""Functions that child processes run in tests in place of the real readers."""

import os
import signal
import time
from pathlib import Path

from adapters.documents.convert import convert_bytes
from state.values.blocks import Conversion, Outcome


def misbehave(data: bytes, name: str, media_type: str) -> Conversion:
    """Do what the first word of `data` says, else read the data."""
    match data.split(b" ")[0]:
        case b"spin":
            while True:
                pass
        case b"sleep":
            time.sleep(60)
        case b"die":
            os.kill(os.getpid(), signal.SIGKILL)
        case b"exit":
            os._exit(3)
        case b"eat":
            hoard = [b"x" * 10_000_000 for _ in range(1_000)]
            return Conversion(Outcome.OK, str(len(hoard)))
        case b"babble":
            return Conversion(Outcome.OK, "x" * 5_000_000)
        case b"write":
            return Conversion(Outcome.EMPTY, _try_to_write())
        case b"print":
            os.write(1, b"noise")
        case b"environment":
            return Conversion(Outcome.EMPTY, repr(sorted(os.environ)))
        case b"descriptors":
            return Conversion(Outcome.EMPTY, repr(_descriptors()))
        case _:
            pass
    return convert_bytes(data, name, media_type)


def _try_to_write() -> str:
    path = Path(f"/tmp/{os.getpid()}.sandbox")
    try:
        path.write_bytes(b"x")
    except OSError as error:
        return str(error.strerror)
    path.unlink()
    return "written"


def _descriptors() -> list[str]:
    links = [Path(f"/proc/self/fd/{number}") for number in range(64)]
    return sorted(str(link.readlink()) for link in links if link.is_symlink())
