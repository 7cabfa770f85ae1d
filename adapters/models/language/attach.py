"""Which quotes a claim rests on: those it names, and where they lack its facts, those that have."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from adapters.models.extractive.negation import is_negated
from adapters.models.extractive.support import sentences_of, support
from adapters.models.extractive.terms import stems
from adapters.models.extractive.units import ValueKind
from adapters.models.extractive.values import Value, find_values
from adapters.models.port import Selected

MAX_CITATIONS = 8
_LIKELY = 0.5
_SAME_MATTER = 0.6
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_SMALL = 3


@dataclass(frozen=True, slots=True)
class Facts:
    """The values that a text states, and the figures it is written with."""

    values: frozenset[tuple[str, float]]
    figures: frozenset[str]

    def lacking(self, others: Sequence["Facts"]) -> frozenset[str | tuple[str, float]]:
        """Return what none of `others` has. A value is met by its amount, however it is written."""
        values = frozenset().union(*(other.values for other in others))
        figures = frozenset().union(*(other.figures for other in others))
        return frozenset(self.values - values) | (self.figures - figures)


def facts_of(text: str) -> Facts:
    """Return the facts of `text`; a figure that is part of a value is not told twice.

    One to three in words are none: "the two sources" state nothing that a quote must have.
    """
    found = find_values(text)
    values = [value for value in found if not _is_small_word(text, value)]
    inside = [(value.start, value.end) for value in found]
    figures = {
        match[0]
        for match in _FIGURE.finditer(text)
        if not any(start <= match.start() < end for start, end in inside)
    }
    return Facts(frozenset((v.kind.value, v.amount) for v in values), frozenset(figures))


def _is_small_word(text: str, value: Value) -> bool:
    written = any(character.isdigit() for character in text[value.start : value.end])
    return value.kind is ValueKind.NUMBER and value.amount <= _SMALL and not written


def attached(
    text: str, cited: Sequence[Selected], items: Sequence[Selected]
) -> tuple[Selected, ...]:
    """Return the quotes among `cited` and `items` that the claim `text` rests on, 8 at most.

    Where the cited ones lack a number, a date or the denial of the claim, those of `items` that
    have it are added. A claim that cites nothing gets the quote that most likely states it, if one
    does; else () is returned.
    """
    kept = list(dict.fromkeys(cited))
    wanted = facts_of(text)
    known = {item.id: facts_of(item.text) for item in (*items, *kept)}
    while lacking := wanted.lacking([known[item.id] for item in kept]):
        better = _best(text, lacking, wanted, [i for i in items if i not in kept], known)
        if better is None:
            break
        kept.append(better)
    if not lacking and kept:
        kept = _without_strangers(text, wanted, kept, known)
    if is_negated(text) and kept and not any(_denies(text, item) for item in kept):
        kept += [item for item in items if item not in kept and _denies(text, item)][:1]
    if not kept:
        kept = [item for item in items if support(text, [item.text]) >= _LIKELY][:1]
    return tuple(kept[:MAX_CITATIONS])


def _best(
    text: str,
    lacking: frozenset[str | tuple[str, float]],
    wanted: Facts,
    items: Sequence[Selected],
    known: dict[str, Facts],
) -> Selected | None:
    """Return the item that has most of `lacking` and speaks of the same matter."""

    def met(item: Selected) -> int:
        return len(lacking - wanted.lacking([known[item.id]]))

    able = [item for item in items if met(item) and len(stems(text) & stems(item.text)) > 1]
    return max(able, key=lambda item: (met(item), support(text, [item.text])), default=None)


def _without_strangers(
    text: str, wanted: Facts, kept: list[Selected], known: dict[str, Facts]
) -> list[Selected]:
    """Leave out what has neither a fact nor a word of the claim, if others have all its facts."""
    near = [
        item
        for item in kept
        if stems(text) & stems(item.text)
        or (wanted.values & known[item.id].values)
        or (wanted.figures & known[item.id].figures)
    ]
    states = bool(wanted.values or wanted.figures) and not wanted.lacking(
        [known[item.id] for item in near]
    )
    return near if near and states else kept


def _denies(text: str, item: Selected) -> bool:
    said = stems(text)
    return any(
        is_negated(part) and len(said & stems(part)) >= _SAME_MATTER * len(said)
        for part in sentences_of(item.text)
    )
