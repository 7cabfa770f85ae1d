"""Functions that a confined child process runs in tests, to see what it can reach."""

import ctypes
import os
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

from state.values.blocks import Conversion, Outcome


def attempt(data: bytes, name: str, media_type: str) -> Conversion:
    """Do what `name` says with the path or number in `data`; tell how that ended."""
    try:
        return Conversion(Outcome.EMPTY, f"done: {_ATTEMPTS[name](data.decode())}")
    except OSError as error:
        return Conversion(Outcome.EMPTY, f"refused: {error.strerror}")
    except threading.ThreadError as error:
        return Conversion(Outcome.EMPTY, f"refused: {error}")


def _raw(number: int, *arguments: object) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    if (found := libc.syscall(number, *arguments)) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(found)


def _connect(address: str) -> None:
    host, _, port = address.rpartition(":")
    socket.create_connection((host, int(port)), timeout=1).close()


def _fork(_: str) -> str:
    child = os.fork()
    if child == 0:
        os._exit(0)
    return str(os.waitpid(child, 0))


def _thread(_: str) -> str:
    said: list[str] = []
    thread = threading.Thread(target=lambda: said.append("a thread ran"))
    thread.start()
    thread.join()
    return said[0]


_ATTEMPTS: dict[str, Callable[[str], object]] = {
    "socket": lambda family: socket.socket(getattr(socket, family)).close(),
    "datagrams": lambda family: socket.socket(getattr(socket, family), socket.SOCK_DGRAM).close(),
    "pair": lambda _: socket.socketpair(),
    "look up": lambda name: socket.getaddrinfo(name, 80),
    "connect": _connect,
    "fork": _fork,
    "spawn": lambda path: os.posix_spawn(path, [path], {}),
    "run": lambda path: subprocess.run([path], check=True),
    "exec": lambda path: os.execv(path, [path]),
    "call": lambda number: _raw(int(number), 0, 0, 0, 0, 0),
    "open anew": lambda path: _raw(437, -100, path.encode(), ctypes.create_string_buffer(24), 24),
    "read": lambda path: Path(path).read_bytes()[:20],
    "list": lambda path: next(Path(path).iterdir()),
    "write": lambda path: os.open(path, os.O_WRONLY),
    "create": lambda path: os.open(path, os.O_RDONLY | os.O_CREAT),
    "remove": lambda path: Path(path).unlink(),
    "rename": lambda path: Path(path).rename(path + "2"),
    "link": lambda path: Path(path + "3").hardlink_to(path),
    "mode": lambda path: Path(path).chmod(0o777),
    "folder": lambda path: Path(path).mkdir(),
    "signal": lambda pid: os.kill(int(pid), 0),
    "signal itself": lambda _: os.kill(os.getpid(), 0),
    "thread": _thread,
    "import": lambda module: __import__(module).__name__,
}  # fmt: skip
