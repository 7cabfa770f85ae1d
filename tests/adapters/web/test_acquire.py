"""A file is downloaded whole or not at all."""

import asyncio
import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from adapters.web.acquire import ACQUISITION, acquire
from state.values.errors import RejectedError
from tests.adapters.web.loopback import answer, client_for, serving

pytestmark = pytest.mark.anyio

PDF = b"%PDF-1.7\n" + bytes(range(256)) * 1000


async def test_a_file_is_downloaded_and_described(tmp_path: Path) -> None:
    pages: dict[str, bytes | list[bytes]] = {
        "/get": answer(b"", status="302 Found", headers=("Location: /paper",)),
        "/paper": answer(PDF, media_type="text/html"),
    }
    async with serving(pages) as server:
        got = await acquire(client_for(server), f"{server.origin}/get", tmp_path / "in")

    assert got.path.read_bytes() == PDF
    assert got.path.suffix == ".pdf"
    assert (got.url, got.size) == (f"{server.origin}/paper", len(PDF))
    assert (got.sha256, got.media_type) == (hashlib.sha256(PDF).hexdigest(), "application/pdf")
    assert _files(tmp_path / "in") == [got.path]


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (answer(b"x", status="404 Not Found"), "HTTP_404"),
        (answer(b"x" * 2_001), "BODY_LIMIT"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nshort", "PAGE_UNAVAILABLE"),
        (answer(b"", status="302 Found", headers=("Location: file:///x",)), "URL_POLICY_DENIED"),
    ],
)
async def test_a_download_that_fails_leaves_nothing(
    tmp_path: Path, reply: bytes, code: str
) -> None:
    async with serving(reply) as server:
        with pytest.raises(RejectedError) as caught:
            await acquire(client_for(server), server.origin, tmp_path, max_bytes=2_000)

    assert caught.value.code == code
    assert _files(tmp_path) == []


async def test_a_download_that_breaks_off_is_begun_anew(tmp_path: Path) -> None:
    half = b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nshort"
    async with serving({"/": [half, answer(b"whole")]}) as server:
        got = await acquire(client_for(server), server.origin, tmp_path)

    assert got.path.read_bytes() == b"whole"


_CHILD = """
import sys, anyio
from pathlib import Path
from adapters.web.acquire import acquire
from adapters.web.client import HttpClient
from adapters.web.rules import Rules
client = HttpClient(Rules(services=(sys.argv[1],)))
anyio.run(acquire, client, sys.argv[1], Path(sys.argv[2]))
"""


def _files(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def _start(url: str, folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", _CHILD, url, str(folder)])


async def test_a_killed_download_leaves_a_part_that_the_next_overwrites(tmp_path: Path) -> None:
    slow = True

    async def drip(_: bytes, writer: asyncio.StreamWriter) -> None:
        if not slow:
            writer.write(answer(PDF))
            return
        writer.write(answer(PDF)[: len(PDF) // 2])
        await writer.drain()
        await asyncio.sleep(30)

    async with serving(drip) as server:
        child = _start(server.origin, tmp_path)
        deadline = time.monotonic() + 15
        while not any(path.stat().st_size for path in _files(tmp_path)):
            assert time.monotonic() < deadline
            await asyncio.sleep(0.02)
        with pytest.raises(RejectedError, match="another process") as caught:
            await acquire(client_for(server), server.origin, tmp_path)
        os.kill(child.pid, signal.SIGKILL)
        await asyncio.to_thread(child.wait)
        (left,) = _files(tmp_path)
        slow = False
        got = await acquire(client_for(server), server.origin, tmp_path)

    assert caught.value.code == "CONFLICT"
    assert left.suffix == ".part"
    assert got.path.read_bytes() == PDF
    assert _files(tmp_path) == [got.path]


async def test_a_folder_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    async with serving(answer(b"x")) as server:
        with pytest.raises(RejectedError) as caught:
            await acquire(client_for(server), server.origin, tmp_path / "file")

    assert caught.value.code == "FOLDER_UNWRITABLE"


def test_the_rules_of_acquisition_allow_http_and_five_redirects() -> None:
    assert str(ACQUISITION.admit("http://example.org/a")) == "http://example.org/a"
    assert ACQUISITION.max_redirects == 5
