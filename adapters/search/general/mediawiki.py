"""MediaWiki's Action API (list=search): Wikipedia in any language, and any other wiki."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from adapters.search.answers import Refused, items, json_object, mapping, position, string
from adapters.search.port import Hit, SearchPage
from adapters.search.web import Terms
from adapters.web.port import Request

_MOST_PER_PAGE = 50
# CirrusSearch goes no further; other engines may stop before.
_MOST_OFFSET = 9_999


@dataclass(frozen=True, slots=True)
class MediaWiki:
    """The wiki whose `api.php` is at `url`; a wiki's bare origin stands for its /w/api.php."""

    url: str = "https://en.wikipedia.org/w/api.php"

    @property
    def terms(self) -> Terms:
        """Return Wikimedia's terms: one request after the other, 300 characters at most."""
        api = self._api
        return Terms(
            name="mediawiki",
            label=f"MediaWiki at {urlsplit(api).netloc}",
            url=api,
            interval_s=0.5,
            max_query=300,
        )

    def request(self, query: str, *, cursor: str | None, limit: int, key: str) -> Request:
        """Return the request; it asks for the site's page addresses in the same breath."""
        offset = position(cursor, most=_MOST_OFFSET)
        return Request(
            self._api,
            params=(
                ("action", "query"),
                ("format", "json"),
                ("formatversion", "2"),
                ("list", "search"),
                ("srsearch", query),
                ("srlimit", str(min(limit, _MOST_PER_PAGE))),
                ("sroffset", str(offset)),
                ("srprop", "snippet"),
                ("srinfo", "suggestion|rewrittenquery"),
                ("meta", "siteinfo"),
                ("siprop", "general"),
            ),
        )

    def parse(self, body: bytes, headers: Mapping[str, str], *, limit: int) -> SearchPage:
        """Return the pages found. An `error` in the answer, which comes with 200, is `Refused`."""
        answer = json_object(body)
        if refusal := _refusal(answer):
            raise Refused(refusal)
        query = mapping(answer.get("query"), "a `query`")
        address = self._address(query.get("general"))
        hits = tuple(
            Hit(address + _spelled(title) if title else "", title, string(found, "snippet"), 0.0)
            for found in items(query, "search")
            for title in [string(found, "title")]
        )
        return SearchPage(
            hits=hits[:limit],
            next_cursor=_offset(answer.get("continue")),
            warnings=(*_warnings(answer.get("warnings")), *_remarks(query.get("searchinfo"))),
        )

    @property
    def _api(self) -> str:
        url = self.url.rstrip("/")
        if url.endswith(".php"):
            return url
        return url + ("/api.php" if urlsplit(url).path else "/w/api.php")

    def _address(self, general: object) -> str:
        """Return what comes before a page's title: as the wiki says, else as most have it."""
        site = general if isinstance(general, dict) else {}
        server, path = string(site, "server"), string(site, "articlepath")
        if server and path.endswith("$1"):
            scheme = urlsplit(self._api).scheme
            return (f"{scheme}:{server}" if server.startswith("//") else server) + path[:-2]
        root = self._api.removesuffix("api.php")
        if root.endswith("/w/"):
            return root.removesuffix("w/") + "wiki/"
        return f"{root}index.php?title="


def _spelled(title: str) -> str:
    return quote(title.replace(" ", "_"), safe=";@$!*(),/~:", errors="replace")


def _refusal(answer: Mapping[str, object]) -> str:
    error = answer.get("error")
    if error is None and isinstance(errors := answer.get("errors"), list):
        error = next(iter(errors), None)
    if error is None:
        return ""
    facts = error if isinstance(error, dict) else {}
    text = string(facts, "info") or string(facts, "text") or "an error without words"
    return f"{text} [{string(facts, 'code') or 'no code'}]"


def _offset(further: object) -> str | None:
    offset = further.get("sroffset") if isinstance(further, dict) else None
    return str(offset) if isinstance(offset, int) and 0 < offset <= _MOST_OFFSET else None


def _warnings(warnings: object) -> Iterator[str]:
    """Yield the warnings of each module, as both versions of the format spell them."""
    for warning in warnings.values() if isinstance(warnings, dict) else ():
        facts = warning if isinstance(warning, dict) else {}
        if text := string(facts, "warnings") or string(facts, "*"):
            yield f"MediaWiki warns: {text}"


def _remarks(searchinfo: object) -> Iterator[str]:
    info = searchinfo if isinstance(searchinfo, dict) else {}
    if rewritten := string(info, "rewrittenquery"):
        yield f"MediaWiki searched for “{rewritten}” instead."
    if suggestion := string(info, "suggestion"):
        yield f"MediaWiki suggests to search for “{suggestion}”."
