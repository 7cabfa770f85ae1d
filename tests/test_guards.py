"""The guards around every test hold: no network beyond loopback, no person's own ledger."""

import os
import socket
import time
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_socket import SocketConnectBlockedError


def test_a_connection_beyond_loopback_is_refused() -> None:
    with (
        pytest.warns(UserWarning, match=r"192\.0\.2\.1"),
        socket.socket() as client,
        pytest.raises(SocketConnectBlockedError, match=r"192\.0\.2\.1"),
    ):
        client.connect(("192.0.2.1", 80))


def test_loopback_and_unix_sockets_are_open(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()

    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(str(tmp_path / "s"))
        server.listen()
        client.connect(str(tmp_path / "s"))


def test_the_home_is_a_folder_of_this_test(assay_home: Path, tmp_path: Path) -> None:
    assert os.environ["ASSAY_HOME"] == str(assay_home)
    assert assay_home.is_relative_to(tmp_path)
    assert not assay_home.exists()


def test_the_clock_is_in_utc() -> None:
    assert time.localtime(0).tm_hour == 0


@given(st.integers())
def test_property_tests_run_beside_the_guards(number: int) -> None:
    assert number - number == 0


@pytest.mark.anyio
async def test_async_tests_run_on_asyncio(anyio_backend_name: str) -> None:
    await anyio.lowlevel.checkpoint()

    assert anyio_backend_name == "asyncio"
