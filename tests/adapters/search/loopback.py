"""A server on loopback that answers as search services do, and a way to have them asked there."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from email.message import Message
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.error import HTTPError, URLError
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, build_opener
from urllib.request import Request as UrllibRequest

from adapters.web.port import Http, Request, Response
from state.values.errors import RejectedError

JSON = "application/json; charset=utf-8"
HTML = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Canned:
    """One answer. `after_s` is how long it takes; `breaks_off` closes the connection halfway."""

    body: bytes = b""
    status: int = 200
    media_type: str = JSON
    headers: tuple[tuple[str, str], ...] = ()
    after_s: float = 0.0
    breaks_off: bool = False


def as_json(value: object, *, status: int = 200) -> Canned:
    """Return `value` as a JSON answer."""
    return Canned(json.dumps(value).encode(), status)


ERROR_PAGE = Canned(
    b"<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head>"
    b"<body><h1>Bad Gateway</h1><p>ray id 4f1c</p></body></html>",
    media_type=HTML,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the server was asked for."""

    method: str
    path: str
    params: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    at: float

    @property
    def json(self) -> object:
        return json.loads(self.body)


@dataclass
class Loopback:
    """Gives its answers one after the other, the last one again and again."""

    answers: list[Canned] = field(default_factory=lambda: [Canned(b"{}")])
    asked: list[Asked] = field(default_factory=list[Asked])
    port: int = 0

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def next_answer(self) -> Canned:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def serving(*answers: Canned) -> Iterator[Loopback]:
    """Serve `answers` on loopback."""
    loopback = Loopback(list(answers) or [Canned(b"{}")])

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            """Keep quiet."""

        def answer(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            loopback.asked.append(
                Asked(
                    self.command,
                    parts.path,
                    dict(parse_qsl(parts.query, keep_blank_values=True)),
                    {name.lower(): value for name, value in self.headers.items()},
                    body,
                    time.monotonic(),
                )
            )
            canned = loopback.next_answer()
            time.sleep(canned.after_s)
            self.send_response(canned.status)
            self.send_header("Content-Type", canned.media_type)
            self.send_header("Content-Length", str(len(canned.body)))
            self.send_header("Connection", "close")
            for name, value in canned.headers:
                self.send_header(name, value)
            self.end_headers()
            half = len(canned.body) // 2 if canned.breaks_off else len(canned.body)
            self.wfile.write(canned.body[:half])
            self.close_connection = True

        do_GET = do_POST = answer  # noqa: N815 - the names the standard library looks for

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    loopback.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield loopback
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass(slots=True)
class Diverted:
    """An `Http` that asks `origin` whatever the host, so that services keep their real URLs."""

    http: Http
    origin: str
    meant: list[Request] = field(default_factory=list[Request])

    async def send(self, request: Request) -> Response:
        self.meant.append(request)
        here, parts = urlsplit(self.origin), urlsplit(request.url)
        url = urlunsplit((here.scheme, here.netloc, parts.path, parts.query, ""))
        return await self.http.send(replace(request, url=url))

    async def aclose(self) -> None:
        await self.http.aclose()


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *args: object, **more: object) -> None:
        """Follow nothing."""


class PlainHttp:
    """An `Http` without rules and retries, for tests on loopback alone."""

    def __init__(self, timeout_s: float = 5.0) -> None:
        self._timeout_s = timeout_s

    async def send(self, request: Request) -> Response:
        return await asyncio.to_thread(self._send, request)

    async def aclose(self) -> None:
        """Close nothing: each connection was closed after its answer."""

    def _send(self, request: Request) -> Response:
        url = request.url + ("?" + urlencode(request.params) if request.params else "")
        data = None if request.json is None else json.dumps(request.json).encode()
        sent = UrllibRequest(url, data=data, headers=dict(request.headers))
        if data is not None:
            sent.add_header("Content-Type", "application/json")
        opener = build_opener(ProxyHandler({}), _NoRedirect)
        try:
            with opener.open(sent, timeout=self._timeout_s) as answer:
                return _response(url, answer.status, answer.headers, answer.read())
        except HTTPError as error:
            with error:
                return _response(url, error.code, error.headers, error.read())
        except (URLError, OSError, HTTPException) as error:
            raise RejectedError(f"no whole answer: {error}", code="PAGE_UNAVAILABLE") from error


def _response(url: str, status: int, headers: Message, body: bytes) -> Response:
    return Response(url, status, {name.lower(): value for name, value in headers.items()}, body)
