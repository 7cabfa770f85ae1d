"""Crossref: what publishers register with their DOIs, retractions included."""

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from adapters.search.answers import Malformed, Refused, json_object, mapping, position, said
from adapters.search.names import doi_name
from adapters.search.notices import RETRACTED, RETRACTION_NOTICE, Notice, notice_of_title
from adapters.search.port import SearchPage
from adapters.search.scholarly.records import Work, hits_of, inner, listed, number, text
from adapters.search.web import Terms
from adapters.web.port import Request

_MOST_PER_PAGE = 100
_MOST_RESULTS = 10_000
_FIELDS = "DOI,title,abstract,URL,link,license,relation,update-to,updated-by,type"
_TAKES_BACK = frozenset(
    "retraction partial_retraction withdrawal removal retracted_article "
    "retraction_and_replacement".split()
)
_DOUBTS = frozenset({"expression_of_concern"})
# One work in two stages; other relations join works that are not the same.
_SAME_WORK = ("is-preprint-of", "has-preprint", "is-same-as", "is-identical-to")
_HEADING = re.compile(
    r"<(?:jats:)?title>\s*(?:abstract|summary)\s*</(?:jats:)?title>", re.IGNORECASE
)
# For licensed mining: they answer a reader without a token with an error.
_GATES = ("api.elsevier.com", "api.wiley.com")


@dataclass(frozen=True, slots=True)
class Crossref:
    """Crossref's REST API, at `url` when it is reached through another address.

    With `mailto`, an address of the person who asks, requests go to the better-served polite pool.
    """

    url: str = "https://api.crossref.org"
    mailto: str = ""

    @property
    def terms(self) -> Terms:
        """Return the terms of the public pool: a list a second (of the polite one: three)."""
        return Terms(name="crossref", label="Crossref", url=self.url, interval_s=1.1, max_query=300)

    def request(self, query: str, *, cursor: str | None, limit: int, key: str) -> Request:
        """Return the request, for works ranked by how much of the query they have."""
        start = position(cursor, most=_MOST_RESULTS - 1)
        return Request(
            self.url.rstrip("/") + "/works",
            params=(
                ("query.bibliographic", query),
                ("rows", str(min(limit, _MOST_PER_PAGE, _MOST_RESULTS - start))),
                ("offset", str(start)),
                ("select", _FIELDS),
                *((("mailto", self.mailto),) if self.mailto else ()),
            ),
        )

    def parse(self, body: bytes, headers: Mapping[str, str], *, limit: int) -> SearchPage:
        """Return the works found. An answer whose `status` is not ok is `Refused`."""
        answer = json_object(body)
        if answer.get("status") != "ok":
            raise Refused(said(body)) if said(body) else Malformed("an answer without `status`")
        if answer.get("message-type") != "work-list":
            raise Malformed("an answer that is no `work-list`")
        message = mapping(answer.get("message"), "a `message`")
        items = message.get("items")
        if not isinstance(items, list):
            raise Malformed("no list of `items`")
        total = min(number(message, "total-results"), _MOST_RESULTS)
        start = number(inner(message, "query"), "start-index")
        hits, warnings = hits_of(items[:limit], _work)
        end = start + min(limit, len(items))
        more = items and end < total
        return SearchPage(hits, str(end) if more else None, warnings)


def _work(item: object) -> Work:
    work = mapping(item, "a work")
    doi = doi_name(text(work, "DOI"))
    if not doi:
        raise Malformed("no DOI")
    title = _title(work)
    return Work(
        title,
        _unescaped(_HEADING.sub("", text(work, "abstract"))),
        texts=_open_texts(work),
        records=tuple(filter(None, [text(work, "URL")])),
        names=(doi, *_related(inner(work, "relation"))),
        notice=_notice(doi, title, work),
    )


def _title(work: Mapping[str, object]) -> str:
    titles = work.get("title")
    if titles is None:
        return ""
    if not isinstance(titles, list) or not all(isinstance(title, str) for title in titles):
        raise Malformed("a `title` that is no list of texts")
    return _unescaped(titles[0]).strip() if titles else ""


def _unescaped(markup: str) -> str:
    """Return `markup` with tags that were escaped once too often as tags."""
    return html.unescape(markup) if "&lt;" in markup else markup


def _open_texts(work: Mapping[str, object]) -> tuple[str, ...]:
    """Return the full texts that anybody may read: their license is a Creative Commons one."""
    licenses = [text(each, "URL") for each in listed(work, "license")]
    if not any("creativecommons.org/" in each for each in licenses):
        return ()
    links = [
        (text(link, "content-type") != "application/pdf", text(link, "URL"))
        for link in listed(work, "link")
        if text(link, "content-type") in {"application/pdf", "text/html", "unspecified"}
    ]
    return tuple(url for _, url in sorted(links) if _host(url) not in _GATES)


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _related(relation: Mapping[str, object]) -> list[str]:
    """Return the DOIs under which this same work is registered in another stage."""
    return [
        f"doi:{text(other, 'id')}"
        for kind in _SAME_WORK
        for other in listed(relation, kind)
        if text(other, "id-type") == "doi"
    ]


def _notice(doi: str, title: str, work: Mapping[str, object]) -> Notice:
    own = {text(update, "type") for update in listed(work, "updated-by")}
    others: set[str] = set()
    for update in listed(work, "update-to"):
        # Some publishers retract in place: the notice is then the work itself.
        in_place = doi_name(text(update, "DOI")) == doi
        (own if in_place else others).add(text(update, "type"))
    if others & (_TAKES_BACK | _DOUBTS):
        return RETRACTION_NOTICE
    return RETRACTED if own & _TAKES_BACK else notice_of_title(title)
