"""Brave Search: an independent index of the web, by subscription."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from adapters.search.answers import Malformed, Refused, items, json_object, mapping, said, string
from adapters.search.port import Hit, SearchPage
from adapters.search.web import MORE, Terms
from adapters.web.port import Request

_MOST_PER_PAGE = 20


@dataclass(frozen=True, slots=True)
class Brave:
    """Brave's web search, at `url` when it is reached through another address."""

    url: str = "https://api.search.brave.com"

    @property
    def terms(self) -> Terms:
        """Return the terms of the Search plan: 5 US dollars for a thousand requests.

        The pace is that of the older free plan; today's plans allow 50 requests a second.
        """
        return Terms(
            name="brave",
            label="Brave Search",
            url=self.url,
            interval_s=1.1,
            max_query=400,
            max_words=50,
            key="BRAVE_API_KEY",
            needs_key=True,
            cost_micro_usd=5_000,
            pages=10,
            meanings=(
                ("SUBSCRIPTION_TOKEN_INVALID", "the key in BRAVE_API_KEY is refused"),
                ("SUBSCRIPTION_NOT_FOUND", "the key in BRAVE_API_KEY has no subscription"),
                ("QUOTA_LIMITED", "the plan's requests of this month are used up"),
                ("RATE_LIMITED", "more requests a second than the plan allows"),
            ),
        )

    def request(self, query: str, *, cursor: str | None, limit: int, key: str) -> Request:
        """Return the request for web results alone; `offset` counts pages, from 0 to 9."""
        return Request(
            self.url.rstrip("/") + "/res/v1/web/search",
            params=(
                ("q", query),
                ("count", str(min(limit, _MOST_PER_PAGE))),
                ("offset", str(int(cursor or "1") - 1)),
                ("result_filter", "web"),
                ("text_decorations", "false"),
            ),
            headers=(("Accept", "application/json"), ("X-Subscription-Token", key)),
        )

    def parse(self, body: bytes, headers: Mapping[str, str], *, limit: int) -> SearchPage:
        """Return the web results; an answer without `web` has none."""
        answer = json_object(body)
        if answer.get("type") == "ErrorResponse" or "error" in answer:
            raise Refused(said(body) or "an error without words")
        if answer.get("type") != "search":
            raise Malformed("an answer whose `type` is not `search`")
        web = answer.get("web")
        results = [] if web is None else items(mapping(web, "`web`"), "results")
        query = answer.get("query")
        facts = query if isinstance(query, dict) else {}
        return SearchPage(
            hits=tuple(
                Hit(
                    string(result, "url"),
                    string(result, "title"),
                    string(result, "description"),
                    0.0,
                )
                for result in results[:limit]
            ),
            next_cursor=MORE if results and facts.get("more_results_available") is True else None,
            warnings=tuple(_warnings(facts)),
        )


def _warnings(query: Mapping[str, object]) -> Iterator[str]:
    altered = string(query, "altered")
    if altered and altered != string(query, "original"):
        yield f"Brave Search searched for “{altered}” instead."
    if query.get("show_strict_warning") is True:
        yield "Brave Search left out results that its filter for adult content withholds."
