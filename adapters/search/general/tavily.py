"""Tavily: a search service for research programs, paid by the credit."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from adapters.search.answers import Refused, items, json_object, no_cursor, said, string
from adapters.search.port import Hit, SearchPage
from adapters.search.web import Terms
from adapters.web.port import Request

_MOST_PER_PAGE = 20


@dataclass(frozen=True, slots=True)
class Tavily:
    """Tavily's basic search, at `url` when it is reached through another address."""

    url: str = "https://api.tavily.com"

    @property
    def terms(self) -> Terms:
        """Return the terms: a basic search is one credit, at most 0.008 US dollars.

        The pace is that of a development key, 100 requests a minute.
        """
        return Terms(
            name="tavily",
            label="Tavily",
            url=self.url,
            interval_s=0.6,
            max_query=400,
            key="TAVILY_API_KEY",
            needs_key=True,
            cost_micro_usd=8_000,
            meanings=(
                ("432", "the plan's credits are used up"),
                ("433", "the limit set for paying as you go is reached"),
            ),
        )

    def request(self, query: str, *, cursor: str | None, limit: int, key: str) -> Request:
        """Return the request; there is only one page, of at most 20 results."""
        if cursor is not None:
            raise no_cursor(cursor)
        return Request(
            self.url.rstrip("/") + "/search",
            headers=(("Accept", "application/json"), ("Authorization", f"Bearer {key}")),
            json={
                "query": query,
                "search_depth": "basic",
                "max_results": min(limit, _MOST_PER_PAGE),
                "include_answer": False,
                "include_raw_content": False,
            },
        )

    def parse(self, body: bytes, headers: Mapping[str, str], *, limit: int) -> SearchPage:
        """Return the results, which Tavily ranks itself."""
        answer = json_object(body)
        if "results" not in answer and ("error" in answer or "detail" in answer):
            raise Refused(said(body) or "an error without words")
        return SearchPage(
            hits=tuple(
                Hit(
                    string(result, "url"),
                    string(result, "title"),
                    string(result, "content"),
                    0.0,
                )
                for result in items(answer, "results")[:limit]
            ),
            warnings=tuple(_failures(answer.get("failed_results"))),
        )


def _failures(failed: object) -> Iterator[str]:
    if isinstance(failed, list) and failed:
        yield f"Tavily could not read {len(failed)} of the pages it found."
