"""The `Search` port: where sources are looked for."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Hit:
    """A source that may help. Its snippet is for discovery only and is never evidence.

    `locator` is what a reader opens: an absolute path, or a URL. `ids` are names of the same work
    elsewhere, each `doi:…`, `arxiv:…`, `pmid:…` or `url:…`. `notice` is '' or why it is no
    evidence: `retracted`, or `retraction-notice` for the notice itself.
    """

    locator: str
    title: str | None
    snippet: str
    score: float
    ids: tuple[str, ...] = ()
    notice: str = ""


@dataclass(frozen=True, slots=True)
class SearchPage:
    """One page of hits, best first, ties in the order of their locators. Empty is a success.

    `next_cursor` is None at the end. `raw_hash` is a hash of what the provider answered, and
    `cost_micro_usd` what it charges for that.
    """

    hits: tuple[Hit, ...]
    next_cursor: str | None = None
    warnings: tuple[str, ...] = ()
    raw_hash: str = ""
    cost_micro_usd: int = 0


class Search(Protocol):
    """Finds sources. The same query over the same sources gives the same page."""

    @property
    def name(self) -> str:
        """Return the provider's name, as reports and settings spell it."""
        ...

    @property
    def cost_micro_usd(self) -> int:
        """Return what one search costs at most, in millionths of a US dollar."""
        ...

    async def search(self, query: str, *, cursor: str | None = None, limit: int = 6) -> SearchPage:
        """Return the page of hits for `query` at `cursor` (None: the first).

        Raises `TransientError` when a retry may help, `RejectedError` when not.
        """
        ...
