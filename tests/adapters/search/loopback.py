"""A server on loopback that answers as search services do, and a way to have them asked there."""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from adapters.web.client import HttpClient
from adapters.web.port import Http, Request, Response
from adapters.web.rules import Rules

JSON = "application/json; charset=utf-8"
HTML = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Canned:
    """One answer. `after_s` is how long it takes; `breaks_off` closes the connection halfway.

    `then` are the answers, by path, to requests that follow from this one.
    """

    body: bytes = b""
    status: int = 200
    media_type: str = JSON
    headers: tuple[tuple[str, str], ...] = ()
    after_s: float = 0.0
    breaks_off: bool = False
    then: Mapping[str, "Canned"] = field(default_factory=dict[str, "Canned"])


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
    given: Canned = field(default_factory=Canned)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def next_answer(self, path: str) -> Canned:
        if path in self.given.then:
            return self.given.then[path]
        self.given = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return self.given


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
            canned = loopback.next_answer(parts.path)
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


def client_for(origin: str, *, wall_s: float = 5.0) -> Http:
    """Return the real client, allowed to ask `origin`, that waits for nothing between tries."""
    return HttpClient(Rules(services=(origin,), wall_s=wall_s), sleep=no_sleep)


async def no_sleep(seconds: float) -> None:
    """Wait for nothing."""
