"""Certificates and host names are verified, though the connection goes to a pinned address."""

import asyncio
import ssl
from collections.abc import Sequence
from pathlib import Path

import pytest

from adapters.web.client import HttpClient
from adapters.web.errors import NoAnswer
from adapters.web.port import Request
from adapters.web.rules import Rules
from tests.adapters.web.authority import Authority
from tests.adapters.web.loopback import Sleeps, answer, serving

pytestmark = pytest.mark.anyio


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


async def on_loopback(host: str) -> Sequence[str]:
    return ["127.0.0.1"]


async def ask(port: int, tls: ssl.SSLContext, *, host: str = "shop.test") -> bytes:
    origin = f"https://{host}:{port}"
    client = HttpClient(Rules(services=(origin,)), resolve=on_loopback, tls=tls, sleep=Sleeps())
    return (await client.send(Request(origin))).body


async def test_a_certificate_of_the_name_is_accepted_at_the_pinned_address(
    authority: Authority,
) -> None:
    seen: list[str | None] = []
    context = authority.server("shop.test")
    context.sni_callback = lambda _socket, name, _context: seen.append(name)
    async with serving(answer(b"secure"), tls=context) as server:
        assert await ask(server.port, authority.trusted()) == b"secure"

    assert seen == ["shop.test"]
    assert server.header("host") == f"shop.test:{server.port}"


async def test_a_certificate_of_another_name_is_refused(authority: Authority) -> None:
    async with serving(answer(b"secure"), tls=authority.server("other.test")) as server:
        with pytest.raises(NoAnswer, match=r"shop\.test has no valid certificate.*mismatch"):
            await ask(server.port, authority.trusted())

    assert server.heads == []


async def test_a_certificate_of_an_unknown_authority_is_refused(authority: Authority) -> None:
    async with serving(answer(b"secure"), tls=authority.server("shop.test")) as server:
        with pytest.raises(NoAnswer, match="no valid certificate"):
            await ask(server.port, ssl.create_default_context())

    assert server.heads == []


async def test_a_certificate_that_has_expired_is_refused(authority: Authority) -> None:
    async with serving(answer(b"secure"), tls=authority.server("shop.test", days=-1)) as server:
        with pytest.raises(NoAnswer, match="expired"):
            await ask(server.port, authority.trusted())


async def test_a_server_without_tls_is_told(authority: Authority) -> None:
    async def plain(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(answer())

    async with serving(plain) as server:
        server_port = server.port
        origin = f"https://shop.test:{server_port}"
        rules = Rules(services=(origin,), wall_s=1.0)
        client = HttpClient(rules, resolve=on_loopback, tls=authority.trusted(), sleep=Sleeps())
        with pytest.raises(NoAnswer):
            await client.send(Request(origin))


async def test_a_body_that_is_cut_off_without_a_farewell_is_not_whole(
    authority: Authority,
) -> None:
    """Where the end of the connection is the end of the body, TLS has to say that it is."""

    async def cut(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhalf of it")
        await writer.drain()
        await asyncio.sleep(0.05)
        writer.transport.abort()

    async def finished(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nall of it")

    async with serving(cut, tls=authority.server("shop.test")) as server:
        with pytest.raises(NoAnswer):
            await ask(server.port, authority.trusted())
    async with serving(finished, tls=authority.server("shop.test")) as server:
        assert await ask(server.port, authority.trusted()) == b"all of it"
