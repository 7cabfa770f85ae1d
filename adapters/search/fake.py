"""A search for tests: serves pages from a mapping and remembers what it was asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from adapters.search.port import Hit, SearchPage
from state.values.errors import AssayError, InvalidRequest
from state.values.ids import canonical_json, content_hash


@dataclass(slots=True)
class FakeSearch:
    """Answers each query with its hits, best first, and any other query with an empty page.

    An error in place of hits is raised.
    """

    results: Mapping[str, Sequence[Hit] | AssayError]
    name: str = "fake"
    cost_micro_usd: int = 0
    asked: list[str] = field(default_factory=list[str])

    async def search(self, query: str, *, cursor: str | None = None, limit: int = 6) -> SearchPage:
        """Return the page of `query` at `cursor`."""
        self.asked.append(query)
        if limit < 1:
            raise InvalidRequest(f"limit is {limit}; ask for at least one hit.")
        if cursor is not None and not cursor.isdecimal():
            raise InvalidRequest(
                f"{cursor!r} is no cursor of this search; pass back the one it gave."
            )
        found = self.results.get(query, ())
        if isinstance(found, AssayError):
            raise found
        hits = sorted(found, key=lambda hit: (-hit.score, hit.locator))
        start = int(cursor or 0)
        return SearchPage(
            hits=tuple(hits[start : start + limit]),
            next_cursor=str(start + limit) if start + limit < len(hits) else None,
            raw_hash=content_hash(canonical_json([[hit.locator, hit.score] for hit in hits])),
        )
