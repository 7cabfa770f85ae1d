"""OpenAlex: a catalogue of the world's scholarly works, and of where their texts are open."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from adapters.search.answers import Malformed, Refused, json_object, mapping, position, said
from adapters.search.notices import RETRACTED, RETRACTION_NOTICE, Notice, notice_of_title
from adapters.search.port import SearchPage
from adapters.search.scholarly.records import Work, hits_of, inner, listed, number, text
from adapters.search.scholarly.wording import quoted, terms
from adapters.search.web import Terms
from adapters.web.port import Request

_MOST_PER_PAGE = 100
_MOST_RESULTS = 10_000
_MOST_LOCATIONS = 8
_MOST_WORDS = 100
_FIELDS = (
    "id,doi,title,type,ids,is_retracted,open_access,best_oa_location,primary_location,locations,"
    "abstract_inverted_index"
)

_NO_ALLOWANCE = (
    "the day's allowance is used up, or there were too many requests; a free key in "
    "OPENALEX_API_KEY has ten times the allowance of none"
)


@dataclass(frozen=True, slots=True)
class OpenAlex:
    """OpenAlex's works, at `url` when they are reached through another address."""

    url: str = "https://api.openalex.org"

    @property
    def terms(self) -> Terms:
        """Return the terms: 0.001 US dollars a search, of which 0.10 a day are free without a key.

        With a free key 1 a day is; 100 requests a second are allowed.
        """
        return Terms(
            name="openalex",
            label="OpenAlex",
            url=self.url,
            interval_s=0.1,
            max_query=300,
            key="OPENALEX_API_KEY",
            cost_micro_usd=1_000,
            meanings=(("429", _NO_ALLOWANCE),),
        )

    def request(self, query: str, *, cursor: str | None, limit: int, key: str) -> Request:
        """Return the request for works that have all the words.

        Wildcards and operators, which are refused in a plain search, are not sent.
        """
        start = position(cursor, most=_MOST_RESULTS - 1)
        size = _page_size(start, limit)
        return Request(
            self.url.rstrip("/") + "/works",
            params=(
                ("search", " ".join(quoted(term) for term in terms(query))),
                ("per_page", str(size)),
                ("page", str(start // size + 1)),
                ("select", _FIELDS),
                *((("api_key", key),) if key else ()),
            ),
        )

    def parse(self, body: bytes, headers: Mapping[str, str], *, limit: int) -> SearchPage:
        """Return the works found, each at its best open address."""
        answer = json_object(body)
        if "results" not in answer and "error" in answer:
            raise Refused(said(body) or "an error without words")
        results = answer.get("results")
        if not isinstance(results, list):
            raise Malformed("no list of `results`")
        meta = mapping(answer.get("meta"), "a `meta`")
        total = min(number(meta, "count"), _MOST_RESULTS)
        start = max(0, number(meta, "page") - 1) * number(meta, "per_page")
        hits, warnings = hits_of(results[:limit], _work)
        end = start + min(limit, len(results))
        more = results and end < total
        return SearchPage(hits, str(end) if more else None, warnings)


def _page_size(start: int, limit: int) -> int:
    """Return the size of pages of which one begins at `start`: OpenAlex counts in pages."""
    most = min(limit, _MOST_PER_PAGE)
    if start == 0:
        return most
    sizes = [size for size in range(1, _MOST_PER_PAGE + 1) if start % size == 0]
    return next((size for size in sizes if size >= most), sizes[-1])


def _work(result: object) -> Work:
    work = mapping(result, "a work")
    title, ids = text(work, "title"), inner(work, "ids")
    best, primary = inner(work, "best_oa_location"), inner(work, "primary_location")
    locations = [best, primary, *listed(work, "locations")[:_MOST_LOCATIONS]]
    open_texts = [text(inner(work, "open_access"), "oa_url"), *_open_addresses(locations)]
    records = [text(place, "landing_page_url") for place in locations]
    doi = text(work, "doi") or text(ids, "doi")
    return Work(
        title,
        _abstract(inner(work, "abstract_inverted_index")),
        texts=tuple(filter(None, open_texts)),
        records=tuple(filter(None, [text(ids, "pmid"), text(ids, "pmcid"), *records])),
        names=(f"doi:{doi}",),
        notice=_notice(title, work),
    )


def _open_addresses(locations: list[Mapping[str, object]]) -> Iterator[str]:
    for name in ("pdf_url", "landing_page_url"):
        for place in locations:
            if place.get("is_oa") is True:
                yield text(place, name)


def _notice(title: str, work: Mapping[str, object]) -> Notice:
    said_by_title = notice_of_title(title)
    if text(work, "type") == "retraction" or said_by_title == RETRACTION_NOTICE:
        return RETRACTION_NOTICE
    return RETRACTED if work.get("is_retracted") is True else said_by_title


def _abstract(places: Mapping[str, object]) -> str:
    """Return the beginning of the abstract, of which `places` has the positions of each word."""
    words: dict[int, str] = {}
    for word, positions in places.items():
        if not isinstance(positions, list):
            raise Malformed("an `abstract_inverted_index` that is none")
        for place in positions:
            if isinstance(place, int):
                words[place] = word
    return " ".join(words[place] for place in sorted(words)[:_MOST_WORDS])
