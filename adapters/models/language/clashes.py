"""What comparing finds by itself: values, dates and denials that differ, and names to ask after."""

from collections.abc import Sequence
from itertools import combinations

from adapters.models.extractive.conflict import find_clashes
from adapters.models.extractive.names import next_query
from adapters.models.extractive.needs import Need, need_of
from adapters.models.extractive.negation import is_negated
from adapters.models.extractive.pool import Candidate, candidates, held_candidates, overlaps
from adapters.models.extractive.terms import stems
from adapters.models.extractive.values import find_values
from adapters.models.extractive.weigh import ANCHOR, Scored, Weigher, unweighed
from adapters.models.port import AssessInput, Selected
from state.values.plan import Subquestion

_LOOKED_AT = 14

Clashing = tuple[tuple[Selected, ...], str]
"""The two sides of a conflict, and on what they differ."""


class Compared:
    """All that a round offers and holds, read once, to be compared with what a model chose."""

    def __init__(self, given: AssessInput) -> None:
        offered = {candidate.place: candidate for candidate in candidates(given.passages)}
        for candidate in held_candidates(given.held):
            offered.setdefault(candidate.place, candidate)
        self._by_place = offered
        self._pool = list(offered.values())
        self._weigher = Weigher(self._pool)

    def clashes(self, subquestion: Subquestion, chosen: Sequence[Selected]) -> list[Clashing]:
        """Return the conflicts of `chosen` with each other, and with sentences as near to the need.

        So a model hides no conflict by leaving one of its sides out.
        """
        need = need_of(subquestion)
        mine = [unweighed(self._candidate(item)) for item in chosen]
        near = [item for item in self._near(need) if not _among(item.candidate, mine)]
        places = {side.candidate.place for side in mine}
        made: list[Clashing] = []
        told: list[frozenset[str]] = []
        for clash in find_clashes([*mine, *near], need):
            pair = (clash.first, clash.second)
            words = frozenset(clash.difference.split(" against "))
            if not any(side.candidate.place in places for side in pair) or words in told:
                continue
            told.append(words)
            sides = tuple(side.candidate.selected_for(subquestion.id) for side in pair)
            made.append((sides, clash.difference))
        return made

    def next_query(self, subquestion: Subquestion, used: Sequence[str]) -> str:
        """Return a query not used yet that follows the names the sources point at, or ''."""
        need = need_of(subquestion)
        focus = self._weigher.focus(need)
        return next_query(self._pool, focus, focus.relation or need.terms, used)

    def _near(self, need: Need) -> list[Scored]:
        """Return what answers `need`; what stands among orders is no statement to differ from."""
        ranked = self._weigher.rank(self._weigher.focus(need))
        stated = [item for item in ranked if not item.candidate.is_ordering]
        return [item for item in stated if item.within >= ANCHOR and item.answers][:_LOOKED_AT]

    def _candidate(self, item: Selected) -> Candidate:
        known = self._by_place.get((item.source_id, item.start, item.end))
        return known or held_candidates([item])[0]


def _among(candidate: Candidate, chosen: Sequence[Scored]) -> bool:
    return any(overlaps(candidate, other.candidate) for other in chosen)


def are_compatible(sides: Sequence[Selected]) -> bool:
    """Tell whether every two of `sides` state the same values and deny the same: no conflict."""
    return all(_same(one.text, other.text) for one, other in combinations(sides, 2))


def _same(one: str, other: str) -> bool:
    mine, theirs = _values(one), _values(other)
    if mine or theirs:
        shared = mine & theirs
        return bool(shared) and is_negated(one) == is_negated(other)
    return stems(one) == stems(other)


def _values(text: str) -> set[tuple[str, float]]:
    return {(value.kind.value, value.amount) for value in find_values(text)}
