"""The `Search` port: where sources are looked for."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Hit:
    """A source that may help. Its snippet is for discovery only and is never evidence.

    `locator` is what a reader opens: an absolute path, or a URL.
    """

    locator: str
    title: str | None
    snippet: str
    score: float


@dataclass(frozen=True, slots=True)
class SearchPage:
    """One page of hits, best first, ties in the order of their locators. Empty is a success.

    `next_cursor` is None at the end. `raw_hash` is a hash of what the provider answered.
    """

    hits: tuple[Hit, ...]
    next_cursor: str | None = None
    warnings: tuple[str, ...] = ()
    raw_hash: str = ""


class Search(Protocol):
    """Finds sources. The same query over the same sources gives the same page."""

    @property
    def name(self) -> str:
        """Return the provider's name, as reports and settings spell it."""
        ...

    async def search(self, query: str, *, cursor: str | None = None, limit: int = 6) -> SearchPage:
        """Return the page of hits for `query` at `cursor` (None: the first).

        Raises `TransientError` when a retry may help, `RejectedError` when not.
        """
        ...
