"""An OpenAI-compatible server on loopback that answers as real ones do, well and badly."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from adapters.models.chat.tokens import estimate

KEY = "sk-secretsecretsecret0123456789"
Usage = tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Say:
    """Answer with `text`, in pieces when streamed. `usage` (in, out) None leaves it out.

    `truth` counts the prompt as it came; `pause_s` comes before each piece.
    """

    text: str = "Paris."
    finish: str | None = "stop"
    usage: Usage = None
    truth: bool = False
    model: str = "served-model"
    refusal: str = ""
    thought: str = ""
    pause_s: float = 0.0
    piece: int = 12
    cached: int = 0
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Refuse:
    """Answer with an error status; the body is the JSON error object that providers send."""

    status: int
    message: str = "no"
    code: str | None = None
    kind: str = "error"
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Body:
    """Answer with these bytes, whatever was asked for."""

    data: bytes
    media_type: str = "application/json"
    status: int = 200


@dataclass(frozen=True, slots=True)
class Hang:
    """Take the request and never answer."""


@dataclass(frozen=True, slots=True)
class Reset:
    """Hang up; after the first `pieces` of a streamed answer."""

    pieces: int = 0


Behaviour = Say | Refuse | Body | Hang | Reset


def retry_after_seconds(seconds: int) -> Refuse:
    return Refuse(429, "slow down", "rate_limit_exceeded", headers=(("Retry-After", str(seconds)),))


def retry_after_date(seconds: int) -> Refuse:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)
    return Refuse(429, "slow down", "rate_limit_exceeded", headers=(("Retry-After", date),))


@dataclass(slots=True)
class OpenAiServer:
    """What the server does, request by request, the last again and again; and what it was asked."""

    script: Sequence[Behaviour] | Callable[[dict[str, Any]], Behaviour] = (Say(),)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)
    base_url: str = ""
    models: dict[str, Any] | None = None
    pieces_sent: int = 0
    at_once: int = 0
    most_at_once: int = 0
    closing: threading.Event = field(default_factory=threading.Event)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def next(self, body: dict[str, Any]) -> Behaviour:
        with self.guard:
            self.bodies.append(body)
            self.starts.append(time.monotonic())
            if callable(self.script):
                return self.script(body)
            return self.script[min(len(self.bodies), len(self.script)) - 1]


@contextmanager
def serving(
    *script: Behaviour, answer: Callable[[dict[str, Any]], Behaviour] | None = None
) -> Iterator[OpenAiServer]:
    """Serve `script` on 127.0.0.1 while the block runs."""
    server = OpenAiServer(answer or script or (Say(),))

    class Handler(_Handler):
        told = server

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        http.block_on_close = False
        server.base_url = f"http://127.0.0.1:{http.server_address[1]}/v1"
        threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield server
        finally:
            server.closing.set()
            http.shutdown()


class _Handler(BaseHTTPRequestHandler):
    told: OpenAiServer
    protocol_version = "HTTP/1.1"

    def log_request(self, code: object = "-", size: object = "-") -> None:
        pass

    def do_GET(self) -> None:
        if self.told.models is None:
            self._send(404, b"{}")
        else:
            self._send(200, json.dumps({"object": "list", "data": [self.told.models]}).encode())

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body: dict[str, Any] = json.loads(self.rfile.read(length))
        self.told.keys.append(self.headers.get("Authorization", ""))
        with self.told.guard:
            self.told.at_once += 1
            self.told.most_at_once = max(self.told.most_at_once, self.told.at_once)
        try:
            self._behave(self.told.next(body), body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            with self.told.guard:
                self.told.at_once -= 1

    def _behave(self, behaviour: Behaviour, body: dict[str, Any]) -> None:
        match behaviour:
            case Say():
                self._say(behaviour, body)
            case Refuse(status=status, headers=headers):
                error = {
                    "message": behaviour.message,
                    "code": behaviour.code,
                    "type": behaviour.kind,
                }
                self._send(status, json.dumps({"error": error}).encode(), headers=headers)
            case Body(data=data, media_type=media_type, status=status):
                self._send(status, data, media_type)
            case Hang():
                self.told.closing.wait(30)
                self.close_connection = True
            case Reset(pieces=pieces):
                if pieces:
                    self._open_stream()
                    for _ in range(pieces):
                        self._chunk({"content": "word "})
                self.close_connection = True
                self.connection.close()

    def _send(
        self,
        status: int,
        data: bytes,
        media_type: str = "application/json",
        headers: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _say(self, say: Say, body: dict[str, Any]) -> None:
        usage = _usage(say, body)
        if not body.get("stream"):
            message = {"role": "assistant", "content": say.text, "refusal": say.refusal or None}
            choice = {"index": 0, "message": message, "finish_reason": say.finish}
            whole = {
                "id": "c1",
                "object": "chat.completion",
                "created": 1_700_000_000,
                "model": say.model,
                "choices": [choice],
                **({"usage": usage} if usage else {}),
            }
            self._send(200, json.dumps(whole).encode())
            return
        self._open_stream()
        if say.thought:
            self._chunk({"reasoning_content": say.thought}, model=say.model)
        if say.refusal:
            self._chunk({"refusal": say.refusal}, model=say.model)
        for at in range(0, len(say.text), say.piece):
            if self.told.closing.wait(say.pause_s) if say.pause_s else False:
                break
            self._chunk({"content": say.text[at : at + say.piece]}, model=say.model)
            self.told.pieces_sent += 1
        if say.is_cut:
            self._event(b'{"id": "c1", "choices": [{"ind')
            self.wfile.write(b"0\r\n\r\n")
            return
        self._chunk({}, finish=say.finish, model=say.model)
        if usage and body.get("stream_options", {}).get("include_usage"):
            self._event(json.dumps(_part(say.model, [], usage)).encode())
        self._event(b"[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def _open_stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _chunk(
        self, delta: dict[str, Any], *, finish: str | None = None, model: str = "served-model"
    ) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        self._event(json.dumps(_part(model, [choice], None)).encode())

    def _event(self, data: bytes) -> None:
        event = b"data: " + data + b"\n\n"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
        self.wfile.flush()


def _part(model: str, choices: list[Any], usage: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": model,
        "choices": choices,
        **({"usage": usage} if usage else {}),
    }


def _usage(say: Say, body: dict[str, Any]) -> dict[str, Any] | None:
    counts = say.usage
    if say.truth:
        counts = (sum(estimate(each["content"]) for each in body["messages"]), estimate(say.text))
    if counts is None:
        return None
    return {
        "prompt_tokens": counts[0],
        "completion_tokens": counts[1],
        "total_tokens": sum(counts),
        "prompt_tokens_details": {"cached_tokens": say.cached},
    }
