"""Searches over the web: what a provider is, and the one way all of them are asked."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from adapters.search.answers import Malformed, Refused, said
from adapters.search.hiding import Secret
from adapters.search.pace import SHARED, Pace
from adapters.search.paging import Place, next_cursor, read_cursor
from adapters.search.port import SearchPage
from adapters.search.tidying import plain, tidy
from adapters.web.port import Http, Request, Response
from state.values.errors import InvalidRequest, RejectedError
from state.values.ids import content_hash
from state.values.redaction import redact

__all__ = [
    "MORE",
    "Malformed",
    "Provider",
    "Refused",
    "SearchUnavailable",
    "Terms",
    "TwoStep",
    "WebSearch",
]

MORE = "more"
"""The `next_cursor` of a provider with numbered pages: there is a page after this one."""

_WORD = re.compile(r"[^\W_]")
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


@runtime_checkable
class TwoStep(Provider, Protocol):
    """A provider whose answer only names what was found, and has to be asked what that is."""

    def follow_up(self, body: bytes, *, key: str) -> Request | None:
        """Return the request for what the answer `body` names, or None when that is nothing.

        `parse` is given both answers: the first has cursor and warnings, the second the hits.
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
        self._secret = Secret(key.strip())
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
        place = read_cursor(cursor, pages=self._terms.pages)
        self._require_key()
        request = self._provider.request(
            asked, cursor=place.cursor, limit=limit, key=self._secret.key
        )
        response = await self._answer(request)
        page = self._page(response, place, limit, warnings)
        if isinstance(self._provider, TwoStep):
            further = self._provider.follow_up(response.body, key=self._secret.key)
            if further is not None:
                return _joined(page, self._page(await self._answer(further), place, limit, []))
        return page

    async def _answer(self, request: Request) -> Response:
        await self._pace.wait(self._terms.name, self._terms.interval_s)
        response = await self._send(request)
        if not 200 <= response.status < 300:
            raise self._refusal(response)
        return response

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

    def _require_key(self) -> None:
        terms = self._terms
        if terms.needs_key and not self._secret.key:
            raise RejectedError(
                f"{terms.label} needs a key; set {terms.key} to yours, or search elsewhere.",
                code="KEY_MISSING",
            )
        if not (self._secret.key.isascii() and self._secret.key.isprintable()):
            raise self._unavailable(
                f"what {terms.key} holds is no key of {terms.label}: it has characters no key has."
            )

    async def _send(self, request: Request) -> Response:
        try:
            return await self._http.send(request)
        except RejectedError as error:
            message = self._secret.hide(error.message)
            raise self._unavailable(
                f"{self._terms.label} cannot be asked: {message}"
            ) from self._secret.cause(error)

    def _refusal(self, response: Response) -> SearchUnavailable:
        terms, status = self._terms, response.status
        words = said(response.body)
        meaning = self._meaning(status, words)
        quoted = f" (it says: {self._secret.quote(words)})" if words else ""
        return self._unavailable(f"{terms.label} answered {status}: {meaning}{quoted}", status)

    def _meaning(self, status: int, words: str) -> str:
        terms = self._terms
        for sign, meaning in terms.meanings:
            if sign == str(status) or (not sign.isdecimal() and sign in words):
                return meaning
        if status in (401, 403) and terms.key and self._secret.key:
            return f"the key in {terms.key} is refused"
        if status in (401, 403):
            return "it refuses to answer" + (f" without a key; set {terms.key}" * bool(terms.key))
        if status == 429:
            return "too many requests"
        return "it is failing" if status >= 500 else "it refuses the request"

    def _page(
        self, response: Response, place: Place, limit: int, warnings: list[str]
    ) -> SearchPage:
        pages = self._terms.pages
        wanted = limit + place.skip + (1 if pages else 0)
        try:
            page = self._provider.parse(response.body, response.headers, limit=wanted)
            hits, unusable = tidy(self._secret.hide_in(hit) for hit in page.hits)
        except _UNREADABLE as error:
            told = isinstance(error, Malformed | Refused)
            what = self._secret.quote(str(error) if told else type(error).__name__)
            does = "reports" if isinstance(error, Refused) else "answered what it does not document"
            raise self._unavailable(
                f"{self._terms.label} {does}: {what}", response.status
            ) from self._secret.cause(error)
        notes = [self._secret.quote(warning) for warning in page.warnings]
        if unusable:
            notes.append(f"{unusable} found without a web address that can be opened, left out.")
        return SearchPage(
            hits=tuple(hits[place.skip : place.skip + limit]),
            next_cursor=next_cursor(
                place, page.next_cursor, pages=pages, found=len(hits), limit=limit
            ),
            warnings=tuple(warnings + [note for note in notes if note]),
            raw_hash=content_hash(response.body),
            cost_micro_usd=page.cost_micro_usd or self._terms.cost_micro_usd,
        )

    def _unavailable(self, message: str, status: int | None = None) -> SearchUnavailable:
        return SearchUnavailable(redact(message), provider=self._terms.name, status=status)


def _joined(named: SearchPage, described: SearchPage) -> SearchPage:
    return replace(
        described,
        next_cursor=named.next_cursor,
        warnings=named.warnings + described.warnings,
        raw_hash=content_hash(named.raw_hash + described.raw_hash),
        cost_micro_usd=named.cost_micro_usd + described.cost_micro_usd,
    )
