"""The `Reader` port over the web: pages and documents, read as a polite guest."""

from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

from anyio import to_thread

from adapters.documents import sniff
from adapters.documents.port import Opened
from adapters.web.blocked import find_wall
from adapters.web.client import HttpClient
from adapters.web.decoding import body_limit
from adapters.web.errors import NoAnswer, PageBlocked
from adapters.web.exchange import Answer
from adapters.web.kinds import declared, is_document, kind_of, refuse_unreadable
from adapters.web.memory import PageMemory, Remembered
from adapters.web.places import reading_place
from adapters.web.port import Request
from adapters.web.robots import Robots
from adapters.web.rules import MIB
from adapters.web.urls import Url, shown
from adapters.web.waiting import Pace
from state.values.errors import RejectedError

# Wikipedia's longest articles are 2 to 3 MB of HTML, specifications up to 5: 1 MiB loses them.
_MOST_TEXT = 5 * MIB
_MOST_DOCUMENT = 20 * MIB
_MOST_OF_AN_ERROR = 256 * 1024
_GONE = (404, 410)  # whatever the page says besides
_ACCEPT = (
    "text/html,application/xhtml+xml,application/pdf;q=0.9,text/markdown;q=0.9,text/plain;q=0.9,"
    "application/json;q=0.8,application/xml;q=0.8,*/*;q=0.5"
)


class WebReader:
    """Opens pages through `client`, no faster than `pace`, where `robots` lets it.

    With a `memory`, a page that was read before is asked for only if it is another by now.
    """

    def __init__(
        self, client: HttpClient, *, robots: Robots, pace: Pace, memory: PageMemory | None = None
    ) -> None:
        self._client = client
        self._robots = robots
        self._pace = pace
        self._memory = memory

    async def open(self, locator: str) -> Opened:
        """Return the page at the URL `locator`; its `display` is where redirects ended.

        HTML and text are read up to 5 MiB, PDF and DOCX up to 20. Raises `RejectedError` with a
        code of adapters.web.errors, or HTTP_<status>.
        """
        url = self._client.rules.admit(str(reading_place(self._client.rules.admit(locator))))
        await self._pace.turn(url.host, at_least_s=await self._robots.delay_s(url))
        known = await self._memory.recall(url) if self._memory else None
        page = await self._fetch(url, known[0] if known else None)
        if page.status == 304 and known:
            version, data = known
            if page.url == version.final_url:
                return Opened(data, version.final_url, version.media_type, version.modified_at)
            page = await self._fetch(url, None)
        opened = await to_thread.run_sync(_judge, page)  # a long page takes a moment
        if self._memory and page.may_be_kept:
            await self._memory.remember(
                url, opened, etag=page.header("etag"), last_modified=page.header("last-modified")
            )
        return opened

    async def _fetch(self, url: Url, known: Remembered | None) -> "_Page":
        request = Request(
            str(url),
            headers=(("accept", _ACCEPT),),
            conditions=known.conditions if known else (),
            conditions_for=known.final_url if known else "",
        )
        return await self._client.ask(request, _read, before_hop=self._before_hop)

    async def _before_hop(self, url: Url) -> None:
        await self._robots.delay_s(url)


@dataclass(frozen=True, slots=True)
class _Page:
    place: Url
    status: int
    headers: dict[str, str]
    body: bytes = b""

    @property
    def url(self) -> str:
        return str(self.place)

    @property
    def may_be_kept(self) -> bool:
        """Whether the validators hold for whoever asks as we do (RFC 9111 §4.1, §5.2.2.5)."""
        return "no-store" not in self.header("cache-control").lower() and "*" not in self.header(
            "vary"
        )

    def header(self, name: str) -> str:
        return self.headers.get(name, "")


async def _read(answer: Answer) -> _Page:
    if answer.status >= 400:
        return _Page(answer.url, answer.status, answer.headers, await _read_error(answer))
    if answer.status in (200, 203):
        refuse_unreadable(answer.url, answer.headers.get("content-type", ""))
        return _Page(answer.url, answer.status, answer.headers, await _read_body(answer))
    return _Page(answer.url, answer.status, answer.headers)


async def _read_body(answer: Answer) -> bytes:
    body = bytearray()
    async with aclosing(answer.pieces(max_bytes=_MOST_DOCUMENT)) as pieces:
        async for piece in pieces:
            body += piece
            if len(body) > _MOST_TEXT and not is_document(bytes(body[:1024])):
                raise body_limit(answer.url.host, _MOST_TEXT)
    return bytes(body)


async def _read_error(answer: Answer) -> bytes:
    """Return as much of a refusal as tells what kind it is; its loss is no loss."""
    body = bytearray()
    try:
        async with aclosing(answer.pieces()) as pieces:
            async for piece in pieces:
                body += piece
                if len(body) > _MOST_OF_AN_ERROR:
                    break
    except RejectedError:
        return bytes(body)
    return bytes(body)


def _judge(page: _Page) -> Opened:
    """Return what was read, or raise why it is no source."""
    if page.status not in (200, 203):
        raise _refusal(page)
    if not page.body.strip():
        raise NoAnswer(f"{shown(page.url)} is an empty page.")
    media_type = page.header("content-type")
    kind = kind_of(page.place, page.body, media_type)
    if kind == sniff.HTML:
        _refuse_wall(page)
    return Opened(
        data=page.body,
        display=page.url,
        media_type=declared(kind, media_type),
        modified_at=_moment(page.header("last-modified")),
    )


def _refusal(page: _Page) -> RejectedError:
    if page.status not in _GONE:
        _refuse_wall(page)
    if page.status in (204, 205):
        return NoAnswer(f"{shown(page.url)} has no content.")
    return RejectedError(
        f"{shown(page.url)} answers {page.status}; use another source.",
        code=f"HTTP_{page.status}",
    )


def _refuse_wall(page: _Page) -> None:
    wall = find_wall(page.status, page.headers, page.body)
    if wall:
        raise PageBlocked(
            f"{shown(page.url)} is {wall}, not the page. Open it in a browser, save it and give it "
            "as a file, or use another source."
        )


def _moment(http_date: str) -> str:
    """Return an HTTP date as UTC in ISO 8601, '' when it is none."""
    try:
        moment = parsedate_to_datetime(http_date)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    except (ValueError, OverflowError):
        return ""
