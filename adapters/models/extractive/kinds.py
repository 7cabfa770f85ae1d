"""Where two sentences speak of things of two kinds: audit logs in one, access logs in the other."""

from functools import lru_cache
from itertools import pairwise

from adapters.models.extractive.needs import Need
from adapters.models.extractive.pool import Candidate
from adapters.models.extractive.terms import content, words


def is_of_another_kind(a: Candidate, b: Candidate, need: Need) -> bool:
    """Tell whether one side has two words of the question side by side, the other a third before.

    What only a name sets apart is not judged here: it may stand elsewhere in the source.
    """
    names = {term.stem for term in need.terms if term.is_name}
    asked = [pair for pair in _side_by_side(need.question) if not names & set(pair)]
    known = {term.stem for term in need.terms} | names
    return any(
        pair[0] not in other.stems
        and pair in _side_by_side(one.text)
        and _has_others(other, pair[1], known)
        for one, other in ((a, b), (b, a))
        for pair in asked
    )


def _has_others(side: Candidate, thing: str, known: set[str]) -> bool:
    """Tell whether the thing stands in `side`, each time after a word that is not asked about."""
    before = [first for first, second in _side_by_side(side.text) if second == thing]
    count = sum(token.stem == thing for token in content(side.text))
    return bool(before) and len(before) == count and not known & set(before)


@lru_cache(maxsize=4096)
def _side_by_side(text: str) -> tuple[tuple[str, str], ...]:
    """Return the stems of content words that follow each other with nothing in between."""
    carrying = {token.start for token in content(text)}
    return tuple(
        (one.stem, other.stem)
        for one, other in pairwise(words(text))
        if {one.start, other.start} <= carrying and text[one.end : other.start] in (" ", "-", "\n")
    )
