"""One question to one server, over a connection of its own.

A connection is never used twice: what a server sends behind its answer reaches nobody.
"""

import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager

import anyio
import httpcore

from adapters.web.asking import Question
from adapters.web.backend import Allowance, PinnedBackend
from adapters.web.decoding import body_limit, make_decoder
from adapters.web.errors import NoAnswer
from adapters.web.urls import IpAddress, Url
from state.values.errors import InvalidRequest

_HEAD_BYTES = 192 * 1024
_MOST_HEADERS = 256
_NO_BODY = (204, 205, 304)


class Answer:
    """A head that has come, and a body that may be read once, piece by piece."""

    def __init__(
        self, url: Url, response: httpcore.Response, backend: PinnedBackend, max_bytes: int
    ) -> None:
        self.url = url
        self.status = response.status
        self.headers = _read_headers(url, response.headers)
        self._response = response
        self._backend = backend
        self._max_bytes = max_bytes

    async def pieces(self, *, max_bytes: int | None = None) -> AsyncGenerator[bytes, None]:
        """Yield the decoded body; raises `BodyLimit` past `max_bytes`, on the wire or decoded.

        Raises `NoAnswer` when it ends before its end.
        """
        if self.status in _NO_BODY:
            return
        host = self.url.host
        limit = self._max_bytes if max_bytes is None else min(max_bytes, self._max_bytes)
        decoder = make_decoder(self.headers.get("content-encoding", ""), host=host, max_bytes=limit)
        if int(self.headers.get("content-length", "0")) > limit:
            raise body_limit(host, limit)
        # Chunks have frames, and a few servers send very small ones.
        self._backend.allowance = Allowance(2 * limit + _HEAD_BYTES, body_limit(host, limit))
        received = 0
        async with aclosing(self._raw()) as raw:
            async for piece in raw:
                received += len(piece)
                if received > limit:
                    raise body_limit(host, limit)
                for decoded in decoder.feed(piece):
                    yield decoded
        for decoded in decoder.finish():
            yield decoded

    async def whole(self, *, max_bytes: int | None = None) -> bytes:
        """Return the whole body; raises as `pieces`."""
        body = bytearray()
        async with aclosing(self.pieces(max_bytes=max_bytes)) as pieces:
            async for piece in pieces:
                body += piece
        return bytes(body)

    async def _raw(self) -> AsyncGenerator[bytes, None]:
        try:
            async for piece in self._response.aiter_stream():
                yield piece
        except httpcore.ProtocolError as error:
            raise NoAnswer(f"{self.url.host} sent a broken body ({error}).", again=True) from error


@asynccontextmanager
async def exchange(
    question: Question,
    addresses: Sequence[IpAddress],
    *,
    tls: ssl.SSLContext | None,
    max_bytes: int,
) -> AsyncIterator[Answer]:
    """Ask at one of `addresses` and give the answer; the connection ends with the block.

    Raises `NoAnswer` when there is none, `BodyLimit` for one that is too large. It knows no
    deadline: whoever calls sets one around it.
    """
    url = question.url
    head = Allowance(_HEAD_BYTES, NoAnswer(f"{url.host} sent a head that does not end."))
    backend = PinnedBackend(url.host, url.port, addresses, head)
    connection = httpcore.AsyncHTTPConnection(
        origin=_core_url(url).origin, ssl_context=tls, network_backend=backend
    )
    try:
        response = await _ask(connection, question)
        yield Answer(url, response, backend, max_bytes)
    finally:
        with anyio.CancelScope(shield=True):
            await backend.aclose()


async def _ask(connection: httpcore.AsyncHTTPConnection, question: Question) -> httpcore.Response:
    url = question.url
    headers = {"host": url.authority, **question.headers, "connection": "close"}
    if question.content:
        headers["content-length"] = str(len(question.content))
    try:
        request = httpcore.Request(
            question.method,
            _core_url(url),
            headers=[(name.encode("ascii"), text.encode()) for name, text in headers.items()],
            content=question.content or None,
        )
        response = await connection.handle_async_request(request)
        version = response.extensions["http_version"]
    except (httpcore.LocalProtocolError, UnicodeError) as error:
        # Its text may hold a key.
        raise InvalidRequest(f"A header for {url.host} holds what no header may.") from error
    except httpcore.ProtocolError as error:
        raise NoAnswer(f"{url.host} did not answer in HTTP ({error}).", again=True) from error
    if response.status < 200 or not version.startswith(b"HTTP/1."):
        raise NoAnswer(f"{url.host} wants to speak another protocol.")
    return response


def _core_url(url: Url) -> httpcore.URL:
    return httpcore.URL(scheme=url.scheme, host=url.host, port=url.port, target=url.target)


def _read_headers(url: Url, raw: Sequence[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return the headers by lower-case name, repeated ones joined as RFC 9110 §5.3 has it."""
    if len(raw) > _MOST_HEADERS:
        raise NoAnswer(f"{url.host} sent {len(raw)} headers; {_MOST_HEADERS} are read.")
    headers: dict[str, str] = {}
    for raw_name, raw_text in raw:
        name, text = raw_name.decode("ascii").lower(), raw_text.decode("latin-1")
        headers[name] = f"{headers[name]}, {text}" if name in headers else text
    return headers
