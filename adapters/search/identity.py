"""Makes one hit of all that are the same work, whoever found them and under whatever address."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from adapters.search.addresses import canonical_url, is_web
from adapters.search.names import WORK_KINDS, identities
from adapters.search.notices import notice_of_title
from adapters.search.port import Hit, SearchPage

__all__ = ["canonical_url", "identities", "merge_hits", "notice_of_title", "openness"]

# Of arXiv's hosts, the mirrors keep robots out.
_OPEN_ARCHIVE = re.compile(
    r"https?://(?:www\.)?arxiv\.org/(?:pdf|html)/"
    r"|https?://pmc\.ncbi\.nlm\.nih\.gov/articles/"
    r"|https?://(?:www\.)?ncbi\.nlm\.nih\.gov/pmc/articles/"
    r"|https?://(?:www\.)?europepmc\.org/articles?/(?:pmc/)?pmc",
    re.IGNORECASE,
)
_PDF = re.compile(r"[^?#]*(?:\.pdf(?:[?#]|\Z)|/pdf/|/e?pdf(?:[?#]|\Z))", re.IGNORECASE)
_RECORD = re.compile(
    r"https?://(?:(?:dx\.|www\.)?doi\.org|(?:[a-z]+\.)?arxiv\.org/abs|pubmed\.ncbi\.nlm\.nih\.gov"
    r"|(?:www\.)?semanticscholar\.org|openalex\.org|europepmc\.org/abstract)/",
    re.IGNORECASE,
)
_ARXIV_VERSION = re.compile(r"arxiv\.org/(?:pdf|html)/.+v\d+(?:\.pdf)?\Z", re.IGNORECASE)
_NOTICES = ("retracted", "retraction-notice")


def openness(locator: str) -> int:
    """Return how far `locator` is from a text that anybody can read whole.

    0 is a file, 1 a text in an open archive, 2 a PDF, 3 some page, and 4 the record of a work in a
    catalogue.
    """
    if not is_web(locator):
        return 0
    if _OPEN_ARCHIVE.match(locator):
        return 1
    if _PDF.match(locator):
        return 2
    return 4 if _RECORD.match(locator) else 3


@dataclass(frozen=True, slots=True)
class _Found:
    """A hit where it was found: the `rank` in its page, and the place of the `page`, from 0."""

    hit: Hit
    rank: int
    page: int
    names: frozenset[str]

    @property
    def works(self) -> frozenset[str]:
        return frozenset(name for name in self.names if name.partition(":")[0] in WORK_KINDS)

    @property
    def preference(self) -> tuple[int, float, str, str, str]:
        """What decides between hits of one work; the order of the pages must not."""
        hit = self.hit
        return self.rank, -hit.score, hit.locator, hit.title or "", hit.snippet


def merge_hits(
    pages: Sequence[SearchPage], *, prefer: Callable[[str], bool] | None = None
) -> tuple[Hit, ...]:
    """Return the works of `pages`, each once, at the place of its best-ranked hit.

    Hits are one work when they share an identity, directly or through others. An address alone
    does not join works whose names disagree, such as the papers of one volume; of those that were
    found at this address only, the best is kept.

    The best hit gives title and snippet where it has them, all of them give the `ids`, and a work
    that any of them calls retracted is. The locator is one that `prefer` is true of, if there is
    any, then https before http, then the most open one, with its version if it has any; none comes
    twice. In another order of pages only hits of equal rank change places.
    """
    found = [
        _Found(hit, rank, place, identities(hit.locator, hit.ids))
        for place, page in enumerate(pages)
        for rank, hit in enumerate(page.hits)
    ]
    merged: dict[str, tuple[tuple[int, int, str], Hit]] = {}
    for group in sorted(_works(found), key=_standing):
        free = [one.hit.locator for one in group if one.hit.locator not in merged]
        if free:
            locator = min(free, key=lambda free: _reach(free, prefer))
            merged[locator] = _place(group), _merged(group, locator)
    return tuple(hit for _, hit in sorted(merged.values(), key=lambda entry: entry[0]))


def _reach(locator: str, prefer: Callable[[str], bool] | None) -> tuple[bool, bool, int, bool]:
    preferred = prefer is None or prefer(locator)
    is_lasting = _ARXIV_VERSION.search(locator) is not None
    return not preferred, locator.startswith("http:"), openness(locator), not is_lasting


def _works(found: Sequence[_Found]) -> list[list[_Found]]:
    """Group `found` by the names of works, and then by the addresses that contradict none."""
    joined = _Groups(found)
    for sharing in _by_name(found, works=True).values():
        joined.join(sharing)
    for _, sharing in sorted(_by_name(found, works=False).items()):
        if joined.agree(sharing):
            joined.join(sharing)
        else:
            joined.join(place for place in sharing if not joined.kinds(place))
    return joined.groups()


def _by_name(found: Sequence[_Found], *, works: bool) -> dict[str, list[int]]:
    sharing: defaultdict[str, list[int]] = defaultdict(list)
    for place, one in enumerate(found):
        for name in one.works if works else one.names - one.works:
            sharing[name].append(place)
    return sharing


class _Groups:
    """Disjoint sets of `found`, by place."""

    def __init__(self, found: Sequence[_Found]) -> None:
        self._found = found
        self._root = list(range(len(found)))
        self._names = [set(one.works) for one in found]

    def join(self, places: Iterable[int]) -> None:
        """Make one group of the groups of `places`."""
        first: int | None = None
        for place in places:
            root = self._find(place)
            if first is None:
                first = root
            elif root != first:
                self._root[root] = first
                self._names[first] |= self._names[root]

    def agree(self, places: Iterable[int]) -> bool:
        """Tell whether the groups of `places` can be one: no two name it in different ways."""
        roots = sorted({self._find(place) for place in places})
        named = [self._by_kind(root) for root in roots]
        return all(
            one.get(kind, names) & names
            for place, other in enumerate(named)
            for one in named[:place]
            for kind, names in other.items()
        )

    def kinds(self, place: int) -> dict[str, set[str]]:
        """Return the names of the work at `place`, by kind."""
        return self._by_kind(self._find(place))

    def groups(self) -> list[list[_Found]]:
        """Return the groups, each in the order of preference."""
        members: defaultdict[int, list[_Found]] = defaultdict(list)
        for place, one in enumerate(self._found):
            members[self._find(place)].append(one)
        return [sorted(group, key=lambda one: one.preference) for group in members.values()]

    def _find(self, place: int) -> int:
        while self._root[place] != place:
            self._root[place] = self._root[self._root[place]]
            place = self._root[place]
        return place

    def _by_kind(self, root: int) -> dict[str, set[str]]:
        kinds: defaultdict[str, set[str]] = defaultdict(set)
        for name in self._names[root]:
            kinds[name.partition(":")[0]].add(name)
        return kinds


def _place(group: Sequence[_Found]) -> tuple[int, int, str]:
    return min((one.rank, one.page, one.hit.locator) for one in group)


def _standing(group: Sequence[_Found]) -> tuple[object, ...]:
    """Return what decides which of several works at one address is shown: a named one, the best."""
    named = any(one.works for one in group)
    return not named, group[0].preference, _names(group)


def _names(group: Sequence[_Found]) -> list[str]:
    return sorted(frozenset[str]().union(*(one.names for one in group)))


def _merged(group: Sequence[_Found], locator: str) -> Hit:
    hits = [one.hit for one in group]
    locators = {hit.locator for hit in hits}
    return replace(
        hits[0],
        locator=locator,
        title=next((hit.title for hit in hits if hit.title), None),
        snippet=next((hit.snippet for hit in hits if hit.snippet), ""),
        ids=tuple(name for name in _names(group) if name not in locators),
        notice=next((notice for notice in _NOTICES if any(h.notice == notice for h in hits)), ""),
    )
