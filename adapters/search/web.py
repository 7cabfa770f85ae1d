"""Searches over the web: what a provider is, and the one way all of them are asked."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol
from urllib.parse import quote

from adapters.search.answers import Malformed, Refused, no_cursor, said
from adapters.search.pace import SHARED, Pace
from adapters.search.port import Hit, SearchPage
from adapters.search.tidying import clean_text, plain, tidy
from adapters.web.port import Http, Request, Response
from state.values.errors import InvalidRequest, RejectedError
from state.values.ids import content_hash
from state.values.redaction import REDACTED, redact

__all__ = ["MORE", "Malformed", "Provider", "Refused", "SearchUnavailable", "Terms", "WebSearch"]

MORE = "more"
"""The `next_cursor` of a provider with numbered pages: there is a page after this one."""

_MAX_SAID = 200
_MAX_CURSOR = 1_000
_WORD = re.compile(r"[^\W_]")
_NUMBERED = re.compile(r"([1-9][0-9]{0,3})(?:\+([1-9][0-9]{0,3}))?\Z")
# What reading a foreign format raises where it is not as it should be, XML's errors included.
_UNREADABLE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    SyntaxError,
    TypeError,
    ValueError,
)


@dataclass(frozen=True, slots=True)
class Terms:
    """How a provider wants to be asked.

    `interval_s` is the least time between two requests, `max_query` the longest query in code
    points and `max_words` in words (0: any number), `key` the environment variable that holds its
    key ('' when it takes none), and `cost_micro_usd` the price of one request in millionths of a
    US dollar. `pages` is 0 for a service whose answers say where they go on; for one whose pages
    are asked for by number, from 1, it is how many there are: then `request` is given None or a
    number as its cursor, and the `next_cursor` that `parse` returns is `MORE` or None. `meanings`
    explains a status, or a word of an error's text, where the service's own words do not.
    """

    name: str
    label: str
    url: str
    interval_s: float = 1.0
    max_query: int = 300
    key: str = ""
    needs_key: bool = False
    cost_micro_usd: int = 0
    max_words: int = 0
    pages: int = 0
    meanings: tuple[tuple[str, str], ...] = ()


class Provider(Protocol):
    """One search service, as pure functions: what to ask it, and what its answer means."""

    @property
    def terms(self) -> Terms:
        """Return how it wants to be asked."""
        ...

    def request(self, query: str, *, cursor: str | None, limit: int, key: str) -> Request:
        """Return the request for `query`, already within `max_query`, at `cursor`.

        Raises `InvalidRequest` for a cursor it cannot have given.
        """
        ...

    def parse(self, body: bytes, headers: Mapping[str, str], *, limit: int) -> SearchPage:
        """Return the page that a successful answer holds, best first; no hits is a success.

        Titles and snippets may hold markup, hits may repeat and addresses be unusable: all that
        is mended after. Raises `Malformed` when it is not what the provider documents, and
        `Refused` when it says that something went wrong.
        """
        ...


class SearchUnavailable(RejectedError):
    """A provider gave no answer that can be used; another may.

    `provider` is its name, and `status` the HTTP status it answered with, or None.
    """

    code = "SEARCH_UNAVAILABLE"

    def __init__(self, message: str, *, provider: str, status: int | None = None) -> None:
        super().__init__(message)
        self.provider = provider
        self.status = status


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a page begins: the provider's own cursor, and for numbered pages how much to skip."""

    cursor: str | None
    number: int = 1
    skip: int = 0


class WebSearch:
    """A `Search` that asks `provider` over `http`, with `key` if it takes one.

    `pace` keeps the provider's interval; by default it is that of this process.
    """

    def __init__(
        self, provider: Provider, http: Http, *, key: str = "", pace: Pace = SHARED
    ) -> None:
        self._provider = provider
        self._terms = provider.terms
        self._http = http
        self._key = key.strip()
        self._pace = pace

    @property
    def name(self) -> str:
        """Return the provider's name."""
        return self._terms.name

    @property
    def cost_micro_usd(self) -> int:
        """Return what one search costs at most."""
        return self._terms.cost_micro_usd

    async def search(self, query: str, *, cursor: str | None = None, limit: int = 6) -> SearchPage:
        """Return the page of hits for `query` at `cursor`.

        Raises `SearchUnavailable`, `RejectedError` with the code KEY_MISSING, and
        `InvalidRequest` for a limit below 1 or a cursor that this search did not give.
        """
        if limit < 1:
            raise InvalidRequest(f"limit is {limit}; ask for at least one hit.")
        asked, warnings = self._fit(query)
        if not asked:
            return SearchPage(hits=(), warnings=("The query holds no word to search for.",))
        place = self._place(cursor)
        self._require_key()
        request = self._provider.request(asked, cursor=place.cursor, limit=limit, key=self._key)
        await self._pace.wait(self._terms.name, self._terms.interval_s)
        response = await self._send(request)
        if not 200 <= response.status < 300:
            raise self._refusal(response)
        return self._page(response, place, limit, warnings)

    def _fit(self, query: str) -> tuple[str, list[str]]:
        """Return the query as it is sent ('' when it holds no word), and what was left out."""
        text = plain(query)
        most, words = self._terms.max_query, self._terms.max_words
        fitting = " ".join(text.split()[:words]) if words else text
        if len(fitting) > most:
            head = fitting[: most + 1].rsplit(" ", 1)[0] if " " in fitting[: most + 1] else fitting
            fitting = head[:most]
        if not _WORD.search(fitting):
            return "", []
        if fitting == text:
            return text, []
        bound = f"{most} characters" + (f" and {words} words" if words else "")
        cut = f"of the {len(text)} characters of this one, {len(fitting)} were sent."
        return fitting, [f"{self._terms.label} takes queries of up to {bound}; {cut}"]

    def _place(self, cursor: str | None) -> _Place:
        if cursor is None:
            return _Place(None)
        if len(cursor) > _MAX_CURSOR or not cursor.isprintable():
            raise no_cursor(cursor)
        if not self._terms.pages:
            return _Place(cursor)
        match = _NUMBERED.match(cursor)
        if match is None or int(match[1]) > self._terms.pages:
            raise no_cursor(cursor)
        return _Place(None if match[1] == "1" else match[1], int(match[1]), int(match[2] or 0))

    def _require_key(self) -> None:
        terms = self._terms
        if terms.needs_key and not self._key:
            raise RejectedError(
                f"{terms.label} needs a key; set {terms.key} to yours, or search elsewhere.",
                code="KEY_MISSING",
            )
        if not (self._key.isascii() and self._key.isprintable()):
            raise self._unavailable(
                f"what {terms.key} holds is no key of {terms.label}: it has characters no key has."
            )

    async def _send(self, request: Request) -> Response:
        try:
            return await self._http.send(request)
        except RejectedError as error:
            message = self._hide(error.message)
            raise self._unavailable(
                f"{self._terms.label} cannot be asked: {message}"
            ) from self._cause(error)

    def _refusal(self, response: Response) -> SearchUnavailable:
        terms, status = self._terms, response.status
        words = said(response.body)
        meaning = self._meaning(status, words)
        quoted = f" (it says: {self._quoted(words)})" if words else ""
        return self._unavailable(f"{terms.label} answered {status}: {meaning}{quoted}", status)

    def _meaning(self, status: int, words: str) -> str:
        terms = self._terms
        for sign, meaning in terms.meanings:
            if sign == str(status) or (not sign.isdecimal() and sign in words):
                return meaning
        if status in (401, 403) and terms.key and self._key:
            return f"the key in {terms.key} is refused"
        if status in (401, 403):
            return "it refuses to answer" + (f" without a key; set {terms.key}" * bool(terms.key))
        if status == 429:
            return "too many requests"
        return "it is failing" if status >= 500 else "it refuses the request"

    def _page(
        self, response: Response, place: _Place, limit: int, warnings: list[str]
    ) -> SearchPage:
        wanted = limit + place.skip + (1 if self._terms.pages else 0)
        try:
            page = self._provider.parse(response.body, response.headers, limit=wanted)
            hits, unusable = tidy(self._hidden(hit) for hit in page.hits)
        except _UNREADABLE as error:
            told = isinstance(error, Malformed | Refused)
            what = self._quoted(str(error) if told else type(error).__name__)
            does = "reports" if isinstance(error, Refused) else "answered what it does not document"
            raise self._unavailable(
                f"{self._terms.label} {does}: {what}", response.status
            ) from self._cause(error)
        notes = [self._quoted(warning) for warning in page.warnings]
        if unusable:
            notes.append(f"{unusable} found without a web address that can be opened, left out.")
        return SearchPage(
            hits=tuple(hits[place.skip : place.skip + limit]),
            next_cursor=self._next(page, place, limit, len(hits)),
            warnings=tuple(warnings + [note for note in notes if note]),
            raw_hash=content_hash(response.body),
            cost_micro_usd=page.cost_micro_usd or self._terms.cost_micro_usd,
        )

    def _next(self, page: SearchPage, place: _Place, limit: int, found: int) -> str | None:
        if not self._terms.pages:
            given = page.next_cursor
            usable = given and len(given) <= _MAX_CURSOR and given.isprintable()
            return given if usable else None
        if found > place.skip + limit:
            return f"{place.number}+{place.skip + limit}"
        more = page.next_cursor is not None and place.number < self._terms.pages
        return str(place.number + 1) if more else None

    def _hidden(self, hit: Hit) -> Hit:
        """Return `hit` without the key; an address that holds it comes back unusable."""
        if not self._key:
            return hit
        return replace(
            hit,
            locator="" if self._hide(hit.locator) != hit.locator else hit.locator,
            title=None if hit.title is None else self._hide(hit.title),
            snippet=self._hide(hit.snippet),
            ids=tuple(each for each in hit.ids if self._key not in each),
        )

    def _quoted(self, text: str) -> str:
        return clean_text(redact(self._hide(text)), most=_MAX_SAID)

    def _hide(self, text: str) -> str:
        if self._key:
            for spelled in (self._key, quote(self._key, safe="")):
                text = text.replace(spelled, REDACTED)
        return text

    def _cause(self, error: Exception) -> Exception | None:
        """Return `error`, or None when it quotes the key: a cause is printed with its effect."""
        return error if self._hide(str(error)) == str(error) else None

    def _unavailable(self, message: str, status: int | None = None) -> SearchUnavailable:
        return SearchUnavailable(redact(message), provider=self._terms.name, status=status)
