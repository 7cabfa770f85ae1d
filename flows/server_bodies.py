"""What Assay's own server refuses of requests: values that Prefect would keep and never read again.

Python's JSON takes more than can be written: half a surrogate pair, integers beyond 64 bits, any
depth. Prefect stores such a value, and from then on every list that it is in is an error 500: one
request would end all serving, for good.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from flows.server_pages import App, Message

MAX_BYTES = 32_000_000
MAX_DEPTH = 100
_REFUSED_STATUS = 422
# Nearly no body has any of it, and only those that do are parsed here as well.
_SUSPECT = re.compile(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]|[0-9]{19}|\x00")


def unreadable(body: bytes) -> str:
    """Return why `body`, if it is JSON, could never be read again; '' for what could be."""
    nests = body.count(b"[") + body.count(b"{") > MAX_DEPTH
    if not nests and not _SUSPECT.search(body):
        return ""
    try:
        value = json.loads(body)
        deepest = max(depth for _, depth in _walk(value))
        if deepest <= MAX_DEPTH:
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "a text holds half of a character (a lone surrogate)"
    except RecursionError:
        deepest = MAX_DEPTH + 1
    except ValueError:
        return ""  # no JSON: Prefect says so itself
    if deepest > MAX_DEPTH:
        return f"JSON may be {MAX_DEPTH} levels deep"
    if any(type(each) is int and not -(2**63) <= each < 2**63 for each, _ in _walk(value)):
        return "an integer is beyond 64 bits"
    return ""


def refuse_unreadable(app: App) -> App:
    """Return `app`, but that requests which it could never read again are answered with 422.

    A body is looked at when the app asks for it, which it does once it knows who sends it.
    """

    async def guarded(scope: Message, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        body = _Body(receive, send)
        await app(scope, body.receive, body.send)

    return guarded


class _Body:
    """The body of one request, read as a whole; `why` says why it is refused."""

    def __init__(self, receive: Any, send: Any) -> None:
        self._receive = receive
        self._send = send
        self._is_read = False
        self._is_answered = False
        self._why = ""

    async def receive(self) -> Message:
        if self._is_read:
            message: Message = await self._receive()
            return message
        parts: list[bytes] = []
        length = 0
        while True:
            message = await self._receive()
            if message["type"] != "http.request":
                return message
            length += len(message.get("body", b""))
            if length > MAX_BYTES:
                self._why = f"a request may have {MAX_BYTES // 1_000_000} MB"
            else:
                parts.append(message.get("body", b""))
            if not message.get("more_body", False):
                break
        self._is_read = True
        whole = b"".join(parts)
        self._why = self._why or unreadable(whole)
        # What is no JSON reaches nothing that acts; an empty body might.
        return {"type": "http.request", "body": b"{" if self._why else whole, "more_body": False}

    async def send(self, message: Message) -> None:
        if not self._why:
            await self._send(message)
        elif not self._is_answered:
            self._is_answered = True
            said = json.dumps({"detail": f"refused: {self._why}"}).encode()
            headers = [
                (b"content-type", b"application/json"),
                (b"content-length", str(len(said)).encode()),
            ]
            await self._send(
                {"type": "http.response.start", "status": _REFUSED_STATUS, "headers": headers}
            )
            await self._send({"type": "http.response.body", "body": said})


def _walk(value: Any) -> Iterator[tuple[Any, int]]:
    """Return each value within `value` and how deep it is, without recursion."""
    left = [(value, 0)]
    while left:
        one, depth = left.pop()
        yield one, depth
        if isinstance(one, dict | list):
            inner = one.values() if isinstance(one, dict) else one
            left.extend((each, depth + 1) for each in inner)
