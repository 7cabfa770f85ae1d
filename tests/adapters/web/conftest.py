"""Counts connections where none may be: at the interpreter's own socket events."""

import sys
from collections.abc import Iterator

import pytest

_connected: list[str] = []


def _listen(event: str, arguments: tuple[object, ...]) -> None:
    if event == "socket.connect":
        _connected.append(str(arguments[1]))


sys.addaudithook(_listen)


@pytest.fixture
def connected() -> Iterator[list[str]]:
    """Return the addresses that sockets are told to connect to during the test."""
    _connected.clear()
    yield _connected
    _connected.clear()
