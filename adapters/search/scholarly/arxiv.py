"""arXiv: preprints of physics, mathematics, computer science and their neighbours."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lxml.etree import _Element

from adapters.search.answers import Malformed, Refused, position
from adapters.search.names import arxiv_name
from adapters.search.notices import RETRACTED, Notice, notice_of_title
from adapters.search.port import SearchPage
from adapters.search.scholarly.records import Work, content, hits_of, number, xml_root
from adapters.search.scholarly.wording import FEW, quoted, terms
from adapters.search.web import Terms
from adapters.web.port import Request

_MOST_PER_PAGE = 100
_MOST_RESULTS = 30_000
_ATOM = "{http://www.w3.org/2005/Atom}"
_ARXIV = "{http://arxiv.org/schemas/atom}"
_OPENSEARCH = "{http://a9.com/-/spec/opensearch/1.1/}"
_ID = re.compile(r"https?://arxiv\.org/abs/(\S+)\Z")
_WITHDRAWN = re.compile(
    r"\W*(?:(?:this|the)\s+(?:paper|article|manuscript|submission|preprint|work|version)\s+"
    r"(?:has\s+been|is|was)\s+(?:\w+\s+)?withdrawn\b|withdrawn\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Arxiv:
    """arXiv's API, at `url` when it is reached through another address.

    Hits are PDFs of the version found, so that what is quoted can be opened again as it was read;
    their `ids` have no version.
    """

    url: str = "https://export.arxiv.org"

    @property
    def terms(self) -> Terms:
        """Return the terms of use of the legacy API: one request every three seconds."""
        return Terms(name="arxiv", label="arXiv", url=self.url, interval_s=3.0, max_query=300)

    def request(self, query: str, *, cursor: str | None, limit: int, key: str) -> Request:
        """Return the request for what has all words of a short query, or most of a long one."""
        start = position(cursor, most=_MOST_RESULTS - 1)
        wanted = [f"all:{quoted(term)}" for term in terms(query)]
        return Request(
            self.url.rstrip("/") + "/api/query",
            params=(
                ("search_query", (" AND " if len(wanted) <= FEW else " OR ").join(wanted)),
                ("start", str(start)),
                ("max_results", str(min(limit, _MOST_PER_PAGE))),
                ("sortBy", "relevance"),
                ("sortOrder", "descending"),
            ),
        )

    def parse(self, body: bytes, headers: Mapping[str, str], *, limit: int) -> SearchPage:
        """Return the entries of the feed. An entry that tells of an error is `Refused`.

        A page without entries where there should be some, which arXiv gives when it is overloaded,
        is `Malformed`: nothing follows from it.
        """
        feed = xml_root(body)
        if feed.tag != f"{_ATOM}feed":
            raise Malformed("XML that is no Atom feed")
        entries = feed.findall(f"{_ATOM}entry")
        if entries and "/api/errors" in content(entries[0].find(f"{_ATOM}id")):
            raise Refused(content(entries[0].find(f"{_ATOM}summary")) or "an error without words")
        counts = {
            name: content(feed.find(_OPENSEARCH + name)) for name in ("totalResults", "startIndex")
        }
        total, start = number(counts, "totalResults"), number(counts, "startIndex")
        if not entries and start < total:
            raise Malformed(f"no entries, though it has {total}")
        hits, warnings = hits_of(entries[:limit], _work)
        end = start + min(limit, len(entries))
        more = entries and end < min(total, _MOST_RESULTS)
        return SearchPage(hits, str(end) if more else None, warnings)


def _work(entry: _Element) -> Work:
    match = _ID.match(content(entry.find(f"{_ATOM}id")))
    if match is None or not arxiv_name(match[1]):
        raise Malformed("no arXiv id")
    title = content(entry.find(f"{_ATOM}title"))
    abstract = content(entry.find(f"{_ATOM}summary"))
    doi = content(entry.find(f"{_ARXIV}doi"))
    return Work(
        title,
        abstract,
        texts=(f"https://arxiv.org/pdf/{match[1]}",),
        names=(f"arxiv:{match[1]}", f"doi:{doi}"),
        notice=_notice(title, abstract, content(entry.find(f"{_ARXIV}comment"))),
    )


def _notice(title: str, abstract: str, comment: str) -> Notice:
    if _WITHDRAWN.match(comment) or _WITHDRAWN.match(abstract):
        return RETRACTED
    return notice_of_title(title)
