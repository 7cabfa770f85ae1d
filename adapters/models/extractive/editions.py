"""Which of two sources is the newer edition of one document, by the years and versions named."""

import re
from collections.abc import Iterable
from functools import lru_cache

from adapters.models.extractive.pool import place_name
from adapters.models.extractive.terms import fold
from adapters.models.port import Selected
from state.values.evidence import Passage

_MARK = re.compile(
    r"\b(?:(?P<date>(?:19|20)\d\d[-_. ]\d\d(?:[-_. ]\d\d)?)|(?P<year>(?:19|20)\d\d)"
    r"|(?:version|edition|revision|rev|ver|auflage|ausgabe|v|r)[ ._-]*(?P<version>\d+(?:\.\d+)*))\b"
    r"|第(?P<place>\d+)版",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")


def edition_of(source: Passage | Selected) -> tuple[str, tuple[int, ...]] | None:
    """Return what the source is an edition of, and a mark that grows with each; None without one.

    Both are read from the title, or else from the file's name: "Handbook 2024", `policy-v2.md`.
    """
    return _edition(source.title or "") or _edition(_file_name(source.locator))


def is_newer(one: Passage | Selected, other: Passage | Selected) -> bool:
    """Tell whether `one` is a newer edition of the document that `other` is an edition of."""
    mine, theirs = edition_of(one), edition_of(other)
    if mine is None or theirs is None or mine[0] != theirs[0]:
        return False
    return len(mine[1]) == len(theirs[1]) and mine[1] > theirs[1]


def superseded(sources: Iterable[Passage], question: str) -> frozenset[str]:
    """Return the ids of the sources of which there is a newer edition among `sources`.

    None where `question` names an edition of its own.
    """
    if _MARK.search(question):
        return frozenset()
    by_id = {source.source_id: source for source in sources}
    dated = [source for source in by_id.values() if edition_of(source)]
    return frozenset(one.source_id for one in dated for other in dated if is_newer(other, one))


def _file_name(locator: str) -> str:
    return re.sub(r"\.[a-z]{1,5}\d?\Z", "", place_name(locator), flags=re.IGNORECASE)


@lru_cache(maxsize=4096)
def _edition(name: str) -> tuple[str, tuple[int, ...]] | None:
    matches = list(_MARK.finditer(name))
    if len(matches) != 1:
        return None
    said = next(group for group in matches[0].groups() if group)
    rest = name[: matches[0].start()] + name[matches[0].end() :]
    base = " ".join(_WORD.findall(fold(rest)))
    return (base, tuple(int(part) for part in re.findall(r"\d+", said))) if base else None
