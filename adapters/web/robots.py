"""What sites ask of programs in their robots.txt (RFC 9309)."""

import re
import time
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass

import anyio
from anyio import to_thread
from protego import Protego

from adapters.web.asking import AGENT
from adapters.web.client import HttpClient
from adapters.web.errors import EncodingDenied, RedirectLimit, RobotsDenied, UrlDenied
from adapters.web.exchange import Answer
from adapters.web.port import Request
from adapters.web.urls import Url, shown

_MOST_READ = 500 * 1024  # RFC 9309 §2.5: at least that much has to be read
_KEPT_S = 24 * 3600.0  # §2.4
_FAILURE_KEPT_S = 60.0
_LONGEST_DELAY_S = 20.0
_AGENT_LINE = re.compile(r"\s*user[\s-]*agent\b\s*:?(?P<name>.*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of one origin: its rules, or the status that stood in their way."""

    until: float
    rules: Protego | None
    status: int = 200


class Robots:
    """Reads each origin's robots.txt once, through `client`, and keeps it for a day.

    A file that is not there (4xx) allows everything; one that cannot be had (5xx) forbids
    everything until it can. `monotonic` is in seconds.
    """

    def __init__(
        self, client: HttpClient, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = client
        self._monotonic = monotonic
        self._known: dict[str, _Known] = {}
        self._locks: dict[str, anyio.Lock] = {}

    async def delay_s(self, url: Url) -> float:
        """Return how many seconds the site wants between two requests.

        Raises `RobotsDenied` when it does not want `url` to be read, and as `HttpClient.ask` when
        the server cannot be reached.
        """
        known = await self._of(url)
        if known.status >= 500:
            raise RobotsDenied(
                f"{url.origin}/robots.txt answers {known.status}, so nobody knows what {url.host} "
                "allows; try again later."
            )
        if known.rules is None:
            return 0.0
        if not known.rules.can_fetch(str(url), AGENT):
            raise RobotsDenied(
                f"{shown(url)} is not read: the robots.txt of {url.host} asks programs not to. "
                "Save the page yourself and give it as a file, or use another source."
            )
        return min(known.rules.crawl_delay(AGENT) or 0.0, _LONGEST_DELAY_S)

    async def _of(self, url: Url) -> _Known:
        async with self._locks.setdefault(url.origin, anyio.Lock()):
            known = self._known.get(url.origin)
            if known is None or known.until <= self._monotonic():
                known = self._known[url.origin] = await self._fetch(url.origin)
            return known

    async def _fetch(self, origin: str) -> _Known:
        try:
            status, text = await self._client.ask(Request(f"{origin}/robots.txt"), _read)
        except (UrlDenied, RedirectLimit, EncodingDenied):
            status, text = 404, ""  # it leads where we do not go: §2.3.1.2, "unavailable"
        if status >= 500:
            return _Known(self._monotonic() + _FAILURE_KEPT_S, None, status)
        rules = await to_thread.run_sync(_parse, text) if 200 <= status < 300 else None
        return _Known(self._monotonic() + _KEPT_S, rules)


async def _read(answer: Answer) -> tuple[int, str]:
    body = bytearray()
    if 200 <= answer.status < 300:
        async with aclosing(answer.pieces()) as pieces:
            async for piece in pieces:
                body += piece
                if len(body) >= _MOST_READ:
                    break
    return answer.status, body[:_MOST_READ].decode("utf-8", "replace")


def _parse(text: str) -> Protego:
    """Read the rules, with every program that is not us under one name.

    Protego keeps a copy of a group's rules for each name above it: 20,000 names above as many
    rules would not fit into memory.
    """
    lines = text.removeprefix("\ufeff").splitlines()
    return Protego.parse("\n".join(_ours(line) for line in lines))


def _ours(line: str) -> str:
    found = _AGENT_LINE.match(line)
    if found is None:
        return line
    name = found["name"].partition("#")[0].partition("/")[0].strip(" \t*").lower()
    if not name and "*" in found["name"]:
        return "User-agent: *"
    return f"User-agent: {AGENT if name == AGENT.lower() else 'other'}"
