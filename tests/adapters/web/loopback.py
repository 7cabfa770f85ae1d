"""Servers on loopback that answer byte for byte what a test wants, and count who connects."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio

from adapters.web.client import HttpClient
from adapters.web.rules import Rules

Script = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]


@dataclass(slots=True)
class Server:
    """A running server: its port, and the heads of the requests it has had."""

    port: int
    heads: list[str] = field(default_factory=list[str])
    bodies: list[bytes] = field(default_factory=list[bytes])
    connections: int = 0

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def paths(self) -> list[str]:
        return [head.split(" ")[1] for head in self.heads]

    def header(self, name: str, *, of: int = -1) -> str | None:
        for line in self.heads[of].split("\r\n")[1:]:
            key, _, text = line.partition(":")
            if key.lower() == name:
                return text.strip()
        return None


def answer(
    body: bytes = b"hello",
    *,
    status: str = "200 OK",
    media_type: str = "text/plain",
    headers: tuple[str, ...] = (),
) -> bytes:
    """Return a well-formed answer."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {media_type}", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, *headers, "", ""]).encode("latin-1") + body


@asynccontextmanager
async def serving(
    answers: dict[str, bytes | list[bytes]] | bytes | Script,
    *,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[Server]:
    """Serve `answers`: raw bytes for a path (a list: one after the other), or a script's doing."""
    server = Server(0)
    tasks: set[asyncio.Task[None]] = set()

    def pick(path: str) -> bytes:
        if isinstance(answers, bytes):
            return answers
        assert isinstance(answers, dict)
        found = answers.get(path, answer(b"not here", status="404 Not Found"))
        if isinstance(found, list):
            return found.pop(0) if len(found) > 1 else found[0]
        return found

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.connections += 1
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            server.heads.append(head)
            length = server.header("content-length")
            server.bodies.append(await reader.readexactly(int(length)) if length else b"")
            if callable(answers):
                await answers(head.encode(), writer)
            else:
                writer.write(pick(head.split(" ")[1]))
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client has had enough, which is what some tests are about
        finally:
            writer.close()
            tasks.discard(task)

    listener = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=tls)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await listener.wait_closed()


class Sleeps(list[float]):
    """A sleep that returns at once and remembers how long it was to be."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)
        await anyio.lowlevel.checkpoint()


def client_for(*servers: Server, sleep: Sleeps | None = None, **rules: float) -> HttpClient:
    """Return a client that may ask `servers`, and whose pauses take no time."""
    given: dict[str, Any] = {"wall_s": 5.0, "deadline_s": 10.0, **rules}
    return HttpClient(
        Rules(services=tuple(server.origin for server in servers), **given),
        sleep=Sleeps() if sleep is None else sleep,
        chance=lambda: 0.5,
    )
