"""What a child process is given to see that its limits hold: work that must not succeed."""

import os
import socket
from collections.abc import Callable

from state.values.blocks import Conversion, Outcome


def exceed_memory(_data: bytes, _name: str, _media_type: str) -> Conversion:
    """Ask for more memory than any reader gets; return `ok` only where nothing stops that."""
    held = bytearray(4 * 1024**3)
    return Conversion(Outcome.OK, f"{len(held)} bytes were to be had")


def reach_out(data: bytes, _name: str, _media_type: str) -> Conversion:
    """Reach for all that a reader must not have; `data` is the path of a file it may not read.

    Returns `empty` with what could be had after all, in words for people, parted by ", ".
    """
    attempts: tuple[tuple[str, Callable[[], None]], ...] = (
        ("the network", _open_socket),
        ("other processes", _start_process),
        ("other files", lambda: os.close(os.open(data, os.O_RDONLY))),
    )
    return Conversion(Outcome.EMPTY, ", ".join(what for what, reach in attempts if _works(reach)))


def _works(reach: Callable[[], None]) -> bool:
    try:
        reach()
    except OSError:
        return False
    return True


def _open_socket() -> None:
    socket.socket().close()


def _start_process() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
