"""One exchange after another with servers that behave, and with servers that do not."""

import asyncio
import contextlib
import gzip
import json
import time
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.web.asking import Asking, user_agent
from adapters.web.client import HttpClient
from adapters.web.decoding import make_decoder
from adapters.web.errors import BodyLimit, EncodingDenied, NoAnswer, RedirectLimit, UrlDenied
from adapters.web.port import Request
from adapters.web.rules import Rules
from adapters.web.waiting import Pace, pause_s, retry_after_s
from state.values.errors import InvalidRequest, RejectedError
from tests.adapters.web.loopback import Script, Sleeps, answer, client_for, serving

pytestmark = pytest.mark.anyio


async def test_an_answer_comes_whole_and_decoded() -> None:
    body = b"text " * 1000
    async with serving(
        answer(
            gzip.compress(body),
            headers=("Content-Encoding: gzip", "X-A: 1", "x-a: 2", "Set-Cookie: id=1"),
        )
    ) as server:
        response = await client_for(server).send(Request(f"{server.origin}/a?b", (("q", "ä b"),)))

    assert response.body == body
    assert response.url == f"{server.origin}/a?b&q=%C3%A4+b"
    assert response.headers == {"content-type": "text/plain", "x-a": "1, 2"}
    assert server.paths() == ["/a?b&q=%C3%A4+b"]


async def test_a_request_says_who_asks_and_nothing_more() -> None:
    async with serving(answer()) as server:
        await client_for(server).send(Request(server.origin, headers=(("X-Key", "k"),)))

    names = [line.partition(":")[0].lower() for line in server.heads[0].split("\r\n")[1:] if line]
    assert sorted(names) == sorted(
        ["host", "user-agent", "accept", "accept-encoding", "x-key", "connection"]
    )
    assert server.header("user-agent") == user_agent()
    assert user_agent().startswith("Assay/")
    assert server.header("accept-encoding") == "gzip, deflate"


async def test_json_is_posted() -> None:
    async with serving(answer(b"{}")) as server:
        await client_for(server).send(Request(server.origin, json={"q": "ä"}))

    assert server.heads[0].startswith("POST / ")
    assert json.loads(server.bodies[0]) == {"q": "ä"}
    assert server.header("content-type") == "application/json"


@pytest.mark.parametrize("name", ["Host", "cookie", "Range", "Content-Length", "Referer"])
async def test_headers_of_the_client_cannot_be_given(name: str) -> None:
    async with serving(answer()) as server:
        with pytest.raises(InvalidRequest, match=name):
            await client_for(server).send(Request(server.origin, headers=((name, "x"),)))

    assert server.connections == 0


@pytest.mark.parametrize("text", ["secret\r\nX-Other: 1", "secret\n", "secret\0", "secret\ud800"])
async def test_a_header_with_a_line_break_is_not_sent_and_not_shown(text: str) -> None:
    async with serving(answer()) as server:
        with pytest.raises(InvalidRequest) as caught:
            await client_for(server).send(Request(server.origin, headers=(("X-Key", text),)))

    assert server.heads == []
    assert "secret" not in caught.value.message


async def test_what_is_not_json_is_not_sent() -> None:
    with pytest.raises(InvalidRequest, match="not JSON"):
        await HttpClient(Rules()).send(Request("https://example.org/", json={"a": object()}))


@pytest.mark.parametrize(
    "status", [200, 201, 203, 204, 304, 400, 401, 403, 404, 418, 500, 501, 599]
)
async def test_send_returns_whatever_status(status: int) -> None:
    async with serving(
        answer(b"" if status in (204, 304) else b"x", status=f"{status} S")
    ) as server:
        response = await client_for(server).send(Request(server.origin))

    assert response.status == status
    assert server.connections == 1


async def test_a_part_is_not_taken_for_the_whole() -> None:
    async with serving(answer(b"half", status="206 Partial Content")) as server:
        with pytest.raises(NoAnswer, match="a part"):
            await client_for(server).send(Request(server.origin))


# Redirects


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_are_followed_in_our_own_loop(status: int) -> None:
    async with serving(
        {
            "/a": answer(b"", status=f"{status} Moved", headers=("Location: b?x#y",)),
            "/b?x": answer(b"there"),
        }
    ) as server:
        response = await client_for(server).send(Request(f"{server.origin}/a"))

    assert (response.body, response.url) == (b"there", f"{server.origin}/b?x")


async def test_a_location_in_utf8_is_understood() -> None:
    location = "Location: /größe".encode().decode("latin-1")
    async with serving(
        {"/": answer(b"", status="302 Found", headers=(location,)), "/gr%C3%B6%C3%9Fe": answer()}
    ) as server:
        response = await client_for(server).send(Request(server.origin))

    assert response.url == f"{server.origin}/gr%C3%B6%C3%9Fe"


async def test_a_location_in_latin_1_is_understood() -> None:
    async with serving(
        {
            "/": answer(b"", status="302 Found", headers=("Location: /gr\xf6\xdfe",)),
            "/gr%C3%B6%C3%9Fe": answer(b"there"),
        }
    ) as server:
        assert (await client_for(server).send(Request(server.origin))).body == b"there"


async def test_redirects_end_at_their_limit() -> None:
    async with serving(answer(b"", status="302 Found", headers=("Location: /again",))) as server:
        with pytest.raises(RedirectLimit, match="more than 3 times"):
            await client_for(server).send(Request(server.origin))

    assert server.connections == 4


async def test_a_redirect_status_without_a_location_is_an_answer() -> None:
    async with serving(answer(b"x", status="302 Found")) as server:
        assert (await client_for(server).send(Request(server.origin))).status == 302


async def test_a_post_becomes_a_get_after_303_and_stays_one_after_307() -> None:
    async with serving(
        {
            "/see": answer(b"", status="303 See", headers=("Location: /get",)),
            "/keep": answer(b"", status="307 Keep", headers=("Location: /post",)),
            "/get": answer(),
            "/post": answer(),
        }
    ) as server:
        client = client_for(server)
        await client.send(Request(f"{server.origin}/see", json=[1]))
        await client.send(Request(f"{server.origin}/keep", json=[1]))

    assert [head.split(" ")[0] for head in server.heads] == ["POST", "GET", "POST", "POST"]
    assert server.bodies == [b"[1]", b"", b"[1]", b"[1]"]
    assert server.header("content-type", of=1) is None


def _redirected(request: Request, *hops: str, status: int = 302) -> Asking:
    rules = Rules()
    asking = Asking.begin(request, rules.admit(request.url))
    for hop in hops:
        asking.follow(rules, hop, status)
    return asking


_WITH_KEYS = Request(
    "https://a.org/", headers=(("Authorization", "Bearer k"), ("X-Key", "k"), ("Accept", "a/b"))
)


@pytest.mark.parametrize(
    "hops",
    [
        ("https://b.org/",),
        ("https://www.a.org/",),
        ("https://a.org:80/",),
        ("https://b.org/", "https://a.org/"),
    ],
)
def test_keys_are_not_sent_to_another_origin_nor_back_again(hops: tuple[str, ...]) -> None:
    headers = _redirected(_WITH_KEYS, *hops).question.headers

    assert sorted(headers) == ["accept", "accept-encoding", "user-agent"]
    assert headers["accept"] == "a/b"


async def test_a_service_may_redirect_to_another_that_the_user_named() -> None:
    async with serving(answer(b"there")) as second:
        moved = answer(b"", status="302 Found", headers=(f"Location: {second.origin}/",))
        async with serving(moved) as first:
            request = Request(first.origin, headers=(("X-Key", "k"),))
            response = await client_for(first, second).send(request)
            with pytest.raises(UrlDenied):
                await client_for(first).send(request)

    assert response.body == b"there"
    assert (first.header("x-key"), second.header("x-key")) == ("k", None)
    assert second.header("referer") is None


def test_keys_stay_with_their_origin() -> None:
    question = _redirected(_WITH_KEYS, "/x", "https://A.org:443/y").question

    assert question.headers["x-key"] == "k"
    assert str(question.url) == "https://a.org/y"


def test_what_was_posted_is_not_sent_on_to_another_origin() -> None:
    with pytest.raises(UrlDenied, match="not sent on"):
        _redirected(Request("https://a.org/", json={"key": "k"}), "https://b.org/", status=307)


# Retries


@pytest.mark.parametrize("status", [429, 502, 503, 504])
async def test_a_busy_server_is_asked_twice_more(status: int) -> None:
    async with serving(answer(b"busy", status=f"{status} Busy")) as server:
        sleeps = Sleeps()
        response = await client_for(server, sleep=sleeps).send(Request(server.origin))

    assert (response.status, response.body, server.connections) == (status, b"busy", 3)
    assert sleeps == [0.5, 1.0]


async def test_a_retry_may_succeed() -> None:
    async with serving({"/": [answer(b"", status="503 Busy"), answer(b"good")]}) as server:
        assert (await client_for(server).send(Request(server.origin))).body == b"good"


async def test_retry_after_is_honoured_in_both_forms() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    date = format_datetime(now + timedelta(seconds=7), usegmt=True)
    async with serving(
        {
            "/": [
                answer(b"", status="429 Slow", headers=("Retry-After: 3",)),
                answer(b"", status="503 Busy", headers=(f"Retry-After: {date}",)),
                answer(b"good"),
            ]
        }
    ) as server:
        sleeps = Sleeps()
        client = HttpClient(Rules(services=(server.origin,)), sleep=sleeps, clock=now.timestamp)
        response = await client.send(Request(server.origin))

    assert response.body == b"good"
    assert sleeps == [3.0, 7.0]


@pytest.mark.parametrize("header", ["61", "99999999999999999999", "Fri, 01 Jan 2100 00:00:00 GMT"])
async def test_a_wait_that_is_too_long_is_told(header: str) -> None:
    async with serving(
        answer(b"", status="429 Slow", headers=(f"Retry-After: {header}",))
    ) as server:
        with pytest.raises(RejectedError) as caught:
            await client_for(server).send(Request(server.origin))

    assert caught.value.code == "RETRY_AFTER_EXCEEDS_BUDGET"
    assert server.connections == 1


async def test_a_wait_beyond_the_deadline_is_told() -> None:
    async with serving(answer(b"", status="429 Slow", headers=("Retry-After: 30",))) as server:
        with pytest.raises(RejectedError) as caught:
            await client_for(server).send(Request(server.origin))  # its deadline is 10 s

    assert caught.value.code == "RETRY_AFTER_EXCEEDS_BUDGET"


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        *(("5", 5.0), (" 0 ", 0.0), ("-1", None), ("soon", None), ("", None), ("²", None)),
        *(("Thu, 01 Jan 1970 00:01:40 GMT", 40.0), ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0)),
    ],
)
def test_a_retry_after_header_is_read(header: str, seconds: float | None) -> None:
    assert retry_after_s(header, now=60.0) == seconds


@given(st.text(max_size=60))
def test_any_retry_after_header_can_be_read(header: str) -> None:
    found = retry_after_s(header, now=0.0)

    assert found is None or found >= 0.0


@given(st.integers(0, 5), st.floats(0, 1, exclude_max=True))
def test_pauses_grow_and_stay_small(retry: int, chance: float) -> None:
    assert 0.25 * 2**retry <= pause_s(retry, chance) <= 0.75 * 2**retry


async def test_a_refused_connection_is_tried_again_and_told() -> None:
    async with serving(answer()) as server:
        gone = server
    sleeps = Sleeps()

    with pytest.raises(NoAnswer, match=r"127\.0\.0\.1.*(refused|Connect)") as caught:
        await client_for(gone, sleep=sleeps).send(Request(gone.origin))
    assert sleeps == [0.5, 1.0]
    assert caught.value.code == "PAGE_UNAVAILABLE"


# Servers that do not behave

_HEAD = b"HTTP/1.1 200 OK\r\n"
BROKEN = {
    "nothing": b"",
    "noise": b"\x00\x01\x02\x03" * 100,
    "another protocol": b"SSH-2.0-OpenSSH_9.0\r\n",
    "no status": b"HTTP/1.1\r\n\r\n",
    "status nonsense": b"HTTP/1.1 2x0 OK\r\n\r\n",
    "status 099": b"HTTP/1.1 099 OK\r\n\r\n",
    "status 000": b"HTTP/1.1 000 OK\r\n\r\n",
    "http/0.9": b"<html>hello</html>",
    "http/3.7": b"HTTP/3.7 200 OK\r\nContent-Length: 1\r\n\r\nx",
    "half a head": _HEAD + b"Content-Type: text/pl",
    "header nonsense": _HEAD + b"no colon here\r\n\r\n",
    "header name nonsense": _HEAD + b"a b: c\r\n\r\n",
    "negative length": _HEAD + b"Content-Length: -1\r\n\r\n",
    "length nonsense": _HEAD + b"Content-Length: 1e3\r\n\r\nx",
    "two lengths": _HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
    "too short": _HEAD + b"Content-Length: 10\r\n\r\nshort",
    "bad chunk size": _HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
    "negative chunk": _HEAD + b"Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n",
    "no last chunk": _HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
    "chunk too long": _HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n",
    "chunk line too long": _HEAD + b"Transfer-Encoding: chunked\r\n\r\n5;" + b"x" * 300_000,
    "other transfer coding": _HEAD + b"Transfer-Encoding: gzip\r\n\r\nx",
    "switching protocols": b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n",
    "10,000 headers": _HEAD + b"a: b\r\n" * 10_000 + b"\r\n",
    "a megabyte of header": _HEAD + b"a: " + b"b" * 1_000_000 + b"\r\n\r\n",
    "damaged gzip": answer(b"not gzip at all", headers=("Content-Encoding: gzip",)),
    "half of gzip": answer(gzip.compress(b"x" * 9999)[:-9], headers=("Content-Encoding: gzip",)),
    "gzip and more": answer(gzip.compress(b"x") + b"more", headers=("Content-Encoding: gzip",)),
    "half of deflate": answer(
        zlib.compress(b"x" * 99)[:-5], headers=("Content-Encoding: deflate",)
    ),
    "many gzip members": answer(gzip.compress(b"") * 5_000, headers=("Content-Encoding: gzip",)),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_a_broken_answer_is_told_and_never_half_taken(name: str) -> None:
    async with serving(BROKEN[name]) as server:
        with pytest.raises(NoAnswer) as caught:
            await client_for(server, max_retries=0).send(Request(server.origin))

    assert caught.value.code == "PAGE_UNAVAILABLE"
    assert "127.0.0.1" in caught.value.message
    assert caught.value.message.isprintable()


@pytest.mark.parametrize("encoding", ["br", "zstd", "compress", "gzip, gzip", "deflate, gzip", "x"])
async def test_an_encoding_that_was_not_asked_for_is_refused(encoding: str) -> None:
    async with serving(answer(b"x", headers=(f"Content-Encoding: {encoding}",))) as server:
        with pytest.raises(EncodingDenied, match="127"):
            await client_for(server).send(Request(server.origin))


@pytest.mark.parametrize(
    ("encoding", "compress"),
    [
        ("gzip", gzip.compress),
        ("x-gzip", gzip.compress),
        ("GZIP", lambda data: gzip.compress(data[:7]) + gzip.compress(data[7:]) + b"\0" * 9),
        ("deflate", zlib.compress),
        ("deflate", lambda data: zlib.compress(data, wbits=-15)),
        ("identity", bytes),
        ("", bytes),
    ],
)
async def test_what_was_asked_for_is_decoded(
    encoding: str, compress: Callable[[bytes], bytes]
) -> None:
    body = bytes(range(256)) * 1000
    async with serving(
        answer(compress(body), headers=(f"Content-Encoding: {encoding}",))
    ) as server:
        assert (await client_for(server).send(Request(server.origin))).body == body


@given(st.binary(max_size=3000), st.integers(1, 50), st.sampled_from(["gzip", "deflate"]))
def test_decoding_does_not_depend_on_how_the_bytes_come(
    body: bytes, step: int, encoding: str
) -> None:
    packed = gzip.compress(body) if encoding == "gzip" else zlib.compress(body)
    decoder = make_decoder(encoding, host="h", max_bytes=10_000)
    out = b""
    for start in range(0, len(packed), step):
        out += b"".join(decoder.feed(packed[start : start + step]))

    assert out + b"".join(decoder.finish()) == body


def _bomb(wbits: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits)
    zeros = b"\0" * 1_000_000
    return b"".join([*(packer.compress(zeros) for _ in range(100)), packer.flush()])


@pytest.mark.parametrize(("encoding", "wbits"), [("gzip", 31), ("deflate", 15), ("deflate", -15)])
async def test_a_bomb_does_not_go_off(encoding: str, wbits: int) -> None:
    bomb = _bomb(wbits)
    async with serving(answer(bomb, headers=(f"Content-Encoding: {encoding}",))) as server:
        started = time.monotonic()
        with pytest.raises(BodyLimit, match="1,000,000"):
            await client_for(server, max_bytes=1_000_000).send(Request(server.origin))

    assert time.monotonic() - started < 8.0


async def test_a_body_within_the_limit_passes_and_one_byte_more_does_not() -> None:
    async with serving({"/10": answer(b"x" * 10), "/11": answer(b"x" * 11)}) as server:
        client = client_for(server, max_bytes=10)
        assert len((await client.send(Request(f"{server.origin}/10"))).body) == 10
        with pytest.raises(BodyLimit):
            await client.send(Request(f"{server.origin}/11"))


async def test_a_length_that_is_too_large_is_refused_before_the_body_comes() -> None:
    head = _HEAD + b"Content-Length: 99999999999999999999\r\n\r\n"
    async with serving(head) as server:
        with pytest.raises(BodyLimit):
            await client_for(server).send(Request(server.origin))


def _endless(start: bytes, more: bytes, pause_s: float = 0.0) -> Script:
    async def script(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        while True:
            writer.write(more)
            await writer.drain()
            await asyncio.sleep(pause_s)

    return script


@pytest.mark.parametrize(
    ("start", "more"),
    [
        (_HEAD + b"\r\n", b"x" * 65_536),
        (_HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"400\r\n" + b"x" * 1024 + b"\r\n"),
        (_HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n" * 1000),
    ],
)
async def test_an_endless_body_is_cut_at_the_limit(start: bytes, more: bytes) -> None:
    async with serving(_endless(start, more)) as server:
        with pytest.raises(BodyLimit):
            await client_for(server, max_bytes=50_000).send(Request(server.origin))


@pytest.mark.parametrize(
    ("start", "more"),
    [
        (_HEAD, b"a: b\r\n" * 1000),
        (_HEAD + b"a: ", b"b" * 65_536),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
        (b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 1000),
        (b"", b"x" * 65_536),
        (_HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"a: b\r\n" * 1000),
    ],
)
async def test_an_endless_head_is_cut(start: bytes, more: bytes) -> None:
    async with serving(_endless(start, more)) as server:
        started = time.monotonic()
        with pytest.raises(NoAnswer):
            await client_for(server, max_retries=0).send(Request(server.origin))

    assert time.monotonic() - started < 10.0


@pytest.mark.parametrize(
    ("start", "more"),
    [
        (b"", b""),
        (_HEAD, b"a"),
        (_HEAD + b"Content-Length: 100\r\n\r\n", b"x"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
)
async def test_a_slow_drip_ends_with_the_attempt(start: bytes, more: bytes) -> None:
    script = _endless(start, more, pause_s=0.05)
    async with serving(script) as server:
        started = time.monotonic()
        with pytest.raises(NoAnswer, match=r"within 0\.4 s"):
            await client_for(server, wall_s=0.4).send(Request(server.origin))

    assert time.monotonic() - started < 6.0
    assert server.connections == 1


async def test_the_whole_request_has_a_deadline() -> None:
    async def slow_redirect(_: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.3)
        writer.write(answer(b"", status="302 Found", headers=("Location: /",)))

    async with serving(slow_redirect) as server:
        with pytest.raises(NoAnswer, match=r"within 0\.7 s"):
            await client_for(server, deadline_s=0.7, max_redirects=99).send(Request(server.origin))


async def test_what_comes_behind_an_answer_reaches_nobody() -> None:
    smuggled = answer(b"first") + answer(b"second") + b"\r\ngarbage"
    async with serving(smuggled) as server:
        client = client_for(server)
        bodies = [(await client.send(Request(server.origin))).body for _ in range(3)]

    assert bodies == [b"first"] * 3
    assert server.connections == 3


async def test_long_header_lines_within_the_limit_are_read() -> None:
    async with serving(answer(headers=("X-Long: " + "y" * 10_000,))) as server:
        response = await client_for(server).send(Request(server.origin))

    assert len(response.headers["x-long"]) == 10_000


async def test_a_cancelled_request_leaves_nothing_behind() -> None:
    async with serving(_endless(_HEAD, b"", pause_s=0.05)) as server:
        client = client_for(server)
        with anyio.move_on_after(0.2) as scope:
            await client.send(Request(server.origin))
        await anyio.sleep(0.05)

    assert scope.cancelled_caught
    assert len(asyncio.all_tasks()) <= 2


async def test_no_more_connections_are_open_at_once_than_allowed() -> None:
    open_now = most = 0

    async def count(_: bytes, writer: asyncio.StreamWriter) -> None:
        nonlocal open_now, most
        open_now += 1
        most = max(most, open_now)
        await asyncio.sleep(0.02)
        writer.write(answer())
        open_now -= 1

    async with serving(count) as server:
        client = HttpClient(Rules(services=(server.origin,)), max_connections=2)
        async with anyio.create_task_group() as group:
            for _ in range(8):
                group.start_soon(client.send, Request(server.origin))

    assert (most, server.connections) == (2, 8)


@given(st.binary(max_size=300))
async def test_any_bytes_are_an_answer_or_none(noise: bytes) -> None:
    async with serving(b"HTTP/1.1 200 OK\r\n" + noise) as server:
        # Any error but a RejectedError fails the test.
        with contextlib.suppress(RejectedError):
            await client_for(server, max_retries=0, wall_s=2.0).send(Request(server.origin))


async def test_a_host_is_asked_at_its_pace() -> None:
    sleeps, now = Sleeps(), 100.0
    pace = Pace(1.0, monotonic=lambda: now, sleep=sleeps)

    for host in ("a", "a", "b", "a"):
        await pace.turn(host)
    await pace.turn("c", at_least_s=5.0)
    await pace.turn("c")

    assert sleeps == [1.0, 2.0, 5.0]
