"""Semantic Scholar: papers of all fields, with their arXiv and PubMed ids and open PDFs."""

from collections.abc import Mapping
from dataclasses import dataclass

from adapters.search.answers import Malformed, Refused, json_object, mapping, position, said
from adapters.search.notices import notice_of_title
from adapters.search.port import SearchPage
from adapters.search.scholarly.records import Work, hits_of, inner, number, text
from adapters.search.web import Terms
from adapters.web.port import Request

_MOST_PER_PAGE = 100
_MOST_RESULTS = 1_000
_FIELDS = "title,abstract,tldr,url,externalIds,openAccessPdf"
_NAMES = {"DOI": "doi", "ArXiv": "arxiv", "PubMed": "pmid", "PubMedCentral": "pmcid"}

_TOO_MANY = (
    "too many requests; all who ask without a key in SEMANTIC_SCHOLAR_API_KEY share one allowance"
)


@dataclass(frozen=True, slots=True)
class SemanticScholar:
    """The Academic Graph API, at `url` when it is reached through another address."""

    url: str = "https://api.semanticscholar.org"

    @property
    def terms(self) -> Terms:
        """Return the terms: with a key one request a second, without a share in a common pool."""
        return Terms(
            name="semanticscholar",
            label="Semantic Scholar",
            url=self.url,
            interval_s=1.1,
            max_query=300,
            key="SEMANTIC_SCHOLAR_API_KEY",
            meanings=(("429", _TOO_MANY),),
        )

    def request(self, query: str, *, cursor: str | None, limit: int, key: str) -> Request:
        """Return the request. Hyphens are spaces to it: words with them match nothing."""
        start = position(cursor, most=_MOST_RESULTS - 1)
        return Request(
            self.url.rstrip("/") + "/graph/v1/paper/search",
            params=(
                ("query", " ".join(query.replace("-", " ").split())),
                ("offset", str(start)),
                ("limit", str(min(limit, _MOST_PER_PAGE, _MOST_RESULTS - start))),
                ("fields", _FIELDS),
            ),
            headers=(("x-api-key", key),) if key else (),
        )

    def parse(self, body: bytes, headers: Mapping[str, str], *, limit: int) -> SearchPage:
        """Return the papers found; when there are none, the answer has no `data`."""
        answer = json_object(body)
        if "total" not in answer and ("error" in answer or "message" in answer):
            raise Refused(said(body) or "an error without words")
        total, start = number(answer, "total"), number(answer, "offset")
        papers = answer.get("data")
        if papers is None and start >= total:
            papers = []
        if not isinstance(papers, list):
            raise Malformed("no list of `data`")
        hits, warnings = hits_of(papers[:limit], _work)
        end = start + min(limit, len(papers))
        more = end < _MOST_RESULTS and ("next" in answer or len(papers) > limit)
        return SearchPage(hits, str(end) if papers and more else None, warnings)


def _work(result: object) -> Work:
    paper = mapping(result, "a paper")
    title, ids = text(paper, "title"), inner(paper, "externalIds")
    names = [f"{kind}:{text(ids, name)}" for name, kind in _NAMES.items() if text(ids, name)]
    return Work(
        title,
        text(paper, "abstract") or text(inner(paper, "tldr"), "text"),
        texts=tuple(filter(None, [text(inner(paper, "openAccessPdf"), "url")])),
        records=tuple(filter(None, [text(paper, "url")])),
        names=names,
        notice=notice_of_title(title),
    )
