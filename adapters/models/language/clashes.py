"""What comparing finds by itself: values, dates and denials that differ, and names to ask after."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from adapters.models.extractive.answers import holds_answer
from adapters.models.extractive.conflict import agree, find_clashes
from adapters.models.extractive.decompose import decompose, own_and_compared
from adapters.models.extractive.names import next_query
from adapters.models.extractive.needs import Need, need_of
from adapters.models.extractive.negation import is_negated
from adapters.models.extractive.pool import Candidate, candidates, held_candidates, overlaps
from adapters.models.extractive.terms import is_capitalising, is_content, stem, stems
from adapters.models.extractive.values import find_values
from adapters.models.extractive.weigh import ANCHOR, Scored, Weigher, unweighed
from adapters.models.port import AssessInput, Selected
from state.values.plan import Subquestion

_LOOKED_AT = 14
_LEAST_WITHIN = 0.34
_NAMES = re.compile(r"\b[A-ZÀ-ÖØ-Þ][\w’'-]+(?:[ \u00a0][A-ZÀ-ÖØ-Þ][\w’'-]+)*")

Clashing = tuple[tuple[Selected, ...], str]
"""The two sides of a conflict, and on what they differ."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked, with the stems of the names that were left out because a quote lacks them."""

    need: Need
    unnamed: frozenset[str] = frozenset()


class Compared:
    """All that a round offers and holds, read once, to be compared with what a model chose."""

    def __init__(self, given: AssessInput) -> None:
        offered = {candidate.place: candidate for candidate in candidates(given.passages)}
        for candidate in held_candidates(given.held):
            offered.setdefault(candidate.place, candidate)
        self._by_place = offered
        self._pool = list(offered.values())
        self._weigher = Weigher(self._pool)
        self._followed = stems(" ".join((given.plan.goal, *given.used_queries)))

    def clashes(self, subquestion: Subquestion, chosen: Sequence[Selected]) -> list[Clashing]:
        """Return the conflicts of `chosen` with each other, and with sentences as near to the need.

        So a model hides no conflict by leaving one of its sides out. A name that neither side has
        sets them not apart: that the chosen one answers what is asked of it, the model has said.
        """
        mine = [unweighed(self._candidate(item)) for item in chosen]
        places = {side.candidate.place for side in mine}
        made: list[Clashing] = []
        told: list[frozenset[str]] = []
        for asked in _all_asked(subquestion, [side.candidate for side in mine]):
            near = self._near(asked.need, mine)
            near = [item for item in near if not _among(item.candidate, mine)]
            for clash in find_clashes([*mine, *near], asked.need):
                pair = clash.first.candidate, clash.second.candidate
                words = frozenset(clash.difference.split(" against "))
                touched = [side for side in pair if side.place in places]
                if not touched or words in told or not self._is_of_one(pair, asked, len(touched)):
                    continue
                told.append(words)
                sides = tuple(side.selected_for(subquestion.id) for side in pair)
                made.append((sides, clash.difference))
        return made

    def answers(self, subquestion: Subquestion) -> list[Selected]:
        """Return what answers `subquestion` by its words, of each source the best sentence."""
        need = need_of(subquestion)
        found: dict[str, Candidate] = {}
        for item in self._weigher.rank(self._weigher.focus(need)):
            candidate = item.candidate
            if item.answers and item.within >= ANCHOR and not candidate.is_ordering:
                found.setdefault(candidate.passage.source_id, candidate)
        return [candidate.selected_for(subquestion.id) for candidate in found.values()]

    def next_query(self, subquestion: Subquestion, used: Sequence[str]) -> str:
        """Return a query not used yet that follows the names the sources point at, or ''."""
        need = need_of(subquestion)
        focus = self._weigher.focus(need)
        return next_query(self._pool, focus, focus.relation or need.terms, used)

    def _near(self, need: Need, mine: Sequence[Scored]) -> list[Scored]:
        """Return what answers `need` as nearly as what was chosen does, the best first.

        What stands among orders is no statement to differ from.
        """
        places = {side.candidate.place for side in mine}
        ranked = self._weigher.rank(self._weigher.focus(need))
        chosen = [item.within for item in ranked if item.candidate.place in places]
        if not chosen:  # by its words it answers nothing: what says the same of the need is as near
            return self._alike(need, mine)
        least = max(_LEAST_WITHIN, min([ANCHOR, *chosen]))
        stated = [item for item in ranked if not item.candidate.is_ordering]
        return [item for item in stated if item.within >= least and item.answers][:_LOOKED_AT]

    def _alike(self, need: Need, mine: Sequence[Scored]) -> list[Scored]:
        terms = frozenset(term.stem for term in need.terms)
        said = [shared for side in mine if len(shared := terms & side.candidate.stems) > 1]
        found = [
            unweighed(candidate)
            for candidate in self._pool
            if any(shared <= candidate.stems for shared in said)
            and not candidate.is_ordering
            and holds_answer(candidate.text, need.question, need.expected, list(candidate.values))
        ]
        return found[:_LOOKED_AT]

    def _is_of_one(self, pair: tuple[Candidate, Candidate], asked: _Asked, chosen: int) -> bool:
        """Tell whether both sides can be of the thing whose name was left out.

        Neither has that name, and unless both were chosen none has another one that is unknown to
        the other, to the question and to all queries.
        """
        if not asked.unnamed:
            return True
        one, other = pair
        if any(asked.unnamed & _known(side) for side in pair):
            return False
        return chosen > 1 or not (self._is_strange(one, other) or self._is_strange(other, one))

    def _is_strange(self, one: Candidate, other: Candidate) -> bool:
        known = _known(other) | self._followed
        return any(not stems(name) & known for name in _names(one))

    def _candidate(self, item: Selected) -> Candidate:
        known = self._by_place.get((item.source_id, item.start, item.end))
        return known or held_candidates([item])[0]


def _all_asked(subquestion: Subquestion, chosen: Sequence[Candidate]) -> list[_Asked]:
    """Return what is asked: as it is, in its parts, and without the names that a quote lacks."""
    texts = [subquestion.question]
    if own_and_compared(subquestion.question)[0] == subquestion.question:
        parts = [part.text for part in decompose(subquestion.question)]
        texts += parts if len(parts) > 1 else []
    made: list[_Asked] = []
    for text in texts:
        whole = replace(subquestion, question=text)
        need = need_of(whole)
        made.append(_Asked(need))
        names = {term.stem: term.surface for term in need.terms if _is_plain_name(term.surface)}
        named = {key: name for key, name in names.items() if not need.question.startswith(name)}
        lacking = [frozenset(named.keys() - _known(side)) for side in chosen]
        for left_out in dict.fromkeys(each for each in lacking if each):
            bare = text
            for key in left_out:
                bare = re.sub(rf"\b{re.escape(named[key])}(?:['’]s)?\s*", "", bare)
            if stems(bare):
                made.append(_Asked(need_of(replace(whole, question=bare)), left_out))
    return made


def _is_plain_name(surface: str) -> bool:
    return surface[0].isupper() and not any(character.isdigit() for character in surface)


def _known(side: Candidate) -> frozenset[str]:
    return side.stems | side.near | side.far


def _names(side: Candidate) -> list[str]:
    """Return the names in a text, its heading and title; a sentence's first word is none."""
    texts = [side.passage.heading, side.passage.title or ""]
    found = [name for text in texts for name in _NAMES.findall(text)]
    if not is_capitalising(side.text):
        found += [match.group() for match in _NAMES.finditer(side.text) if match.start()]
    return [name for name in found if is_content(name) and stem(name)]


def _among(candidate: Candidate, chosen: Sequence[Scored]) -> bool:
    return any(overlaps(candidate, other.candidate) for other in chosen)


def are_compatible(sides: Sequence[Selected]) -> bool:
    """Tell whether every two of `sides` state the same values and deny the same: no conflict."""
    return all(_same(one.text, other.text) for one, other in combinations(sides, 2))


def _same(one: str, other: str) -> bool:
    mine, theirs = find_values(one), find_values(other)
    if mine or theirs:
        shared = any(
            a.kind is b.kind and a.unit == b.unit and agree(one, a, other, b)
            for a in mine
            for b in theirs
        )
        return shared and is_negated(one) == is_negated(other)
    return stems(one) == stems(other)
