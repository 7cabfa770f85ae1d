"""Requests that Prefect would keep and never read again do not reach it."""

import asyncio
import json
from typing import Any

import pytest

from flows.server_bodies import MAX_BYTES, refuse_unreadable, unreadable

_DEEP = b'{"run": ' + b"[" * 150 + b"]" * 150 + b"}"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (rb'{"sources": ["\ud800"]}', "surrogate"),
        (rb'{"\udfff": 1}', "surrogate"),
        (b'{"sources": ["\xed\xa0\x80"]}', "surrogate"),
        ('{"sources": ["\\ud800"]}'.encode("utf-16"), "surrogate"),
        (b'{"max_tokens": 1000000000000000000000000000000}', "64 bits"),
        (b'{"max_tokens": [-9223372036854775809]}', "64 bits"),
        (_DEEP, "100 levels"),
        (b"[" * 100_000, "100 levels"),
        (rb'{"question": "a whole one: \ud83d\ude00"}', ""),
        (b'{"max_tokens": 9223372036854775807}', ""),
        (b'{"id": "1000000000000000000000000000000"}', ""),
        (json.dumps([{"many": [1]}] * 500).encode(), ""),
        (b"{12345678901234567890", ""),
        (b"", ""),
    ],
)
def test_what_could_not_be_written_again_is_told_from_all_else(body: bytes, why: str) -> None:
    said = unreadable(body)

    assert why in said
    assert bool(said) == bool(why)


def ask(*parts: bytes) -> tuple[list[bytes], int, bytes]:
    """Send a body in parts; return what the app read, and the status and body of the answer."""
    read: list[bytes] = []
    sent: list[dict[str, Any]] = []
    left = [
        {"type": "http.request", "body": part, "more_body": number < len(parts)}
        for number, part in enumerate(parts, start=1)
    ]

    async def app(scope: Any, receive: Any, send: Any) -> None:
        message = await receive()
        read.append(message["body"])
        assert not message["more_body"]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"taken", "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def receive() -> dict[str, Any]:
        return left.pop(0)

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def answer() -> None:
        await refuse_unreadable(app)({"type": "http"}, receive, send)

    asyncio.run(answer())
    return read, sent[0]["status"], b"".join(each["body"] for each in sent[1:])


def test_a_body_that_can_be_read_again_reaches_the_app_whole() -> None:
    assert ask(b'{"run": ', b'"\xc3\xa9"}') == ([b'{"run": "\xc3\xa9"}'], 200, b"taken")


def test_one_that_cannot_is_answered_and_the_app_gets_nothing_that_it_could_act_on() -> None:
    read, status, said = ask(rb'{"run_input": {"feedback": "\ud8', b'00"}}')

    assert (read, status) == ([b"{"], 422)
    assert "surrogate" in json.loads(said)["detail"]


def test_a_body_without_an_end_is_not_kept_in_memory() -> None:
    read, status, said = ask(b"x" * MAX_BYTES, b"y", b"z")

    assert (read, status) == ([b"{"], 422)
    assert "32 MB" in json.loads(said)["detail"]
