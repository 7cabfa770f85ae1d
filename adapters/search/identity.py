"""Names of works, so that one work reached in several ways is read once."""

from collections.abc import Sequence

from adapters.search.port import Hit, SearchPage


def identities(locator: str, ids: Sequence[str] = ()) -> frozenset[str]:
    """Return every name of the work at `locator`."""
    return frozenset((locator, *ids))


def merge_hits(pages: Sequence[SearchPage]) -> tuple[Hit, ...]:
    """Return the hits of `pages`, which take turns, each work once."""
    found: dict[str, Hit] = {}
    for rank in range(max((len(page.hits) for page in pages), default=0)):
        for page in pages:
            if rank < len(page.hits):
                found.setdefault(page.hits[rank].locator, page.hits[rank])
    return tuple(found.values())
