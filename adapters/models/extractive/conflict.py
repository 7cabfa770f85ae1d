"""Where two sources state different values of one thing, or one denies what the other states.

Precision comes first: a false conflict misleads more than a missed one. Two values clash only if
the words around them are the same, the subject is the same, and no qualifier or year sets them
apart.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isinf

from adapters.models.extractive.answers import Expected
from adapters.models.extractive.clauses import (
    clause_of,
    governor,
    qualifiers,
    window,
    wording,
    years,
)
from adapters.models.extractive.contrary import opposed
from adapters.models.extractive.editions import is_newer
from adapters.models.extractive.extents import extent_of
from adapters.models.extractive.kinds import is_of_another_kind
from adapters.models.extractive.needs import Need
from adapters.models.extractive.numbered import names_apart
from adapters.models.extractive.pool import Candidate, is_near_copy
from adapters.models.extractive.settle import Stated, settle
from adapters.models.extractive.terms import (
    is_capitalising,
    is_content,
    stem,
)
from adapters.models.extractive.units import ValueKind
from adapters.models.extractive.values import Value
from adapters.models.extractive.voices import are_copies, are_versions, count_voices
from adapters.models.extractive.weigh import Scored

_SHARED = 0.5
_MONTH_S = 28 * 86_400
_NAME = re.compile(r"\b[A-ZÀ-ÖØ-Þ][\w’'-]*[^\W\d_]|\b[A-Z]{2,}\b|\b[A-Za-z]+[-_]?\d+\b")
_COUNTING = (Expected.COUNT, Expected.MEASURE, Expected.VERSION)


@dataclass(frozen=True, slots=True)
class Clash:
    """Two quotes that cannot both be true, and on what they differ, for people."""

    first: Scored
    second: Scored
    difference: str


def find_clashes(items: Sequence[Scored], need: Need) -> list[Clash]:
    """Return the clashes between `items` that bear on `need`, those of the best quotes first."""
    found: list[Clash] = []
    for a, b in combinations(items, 2):
        if not _are_comparable(a.candidate, b.candidate, need):
            continue
        difference = _values_differ(a.candidate, b.candidate, need, items)
        difference = difference or opposed(a.candidate, b.candidate, need)
        if difference:
            found.append(Clash(a, b, difference))
    return found


def _are_comparable(a: Candidate, b: Candidate, need: Need) -> bool:
    if a.passage.source_id == b.passage.source_id or a.passage.locator == b.passage.locator:
        return False
    if is_newer(a.passage, b.passage) or is_newer(b.passage, a.passage):
        return False
    if (
        is_near_copy(a, b)
        or _holds(a, b)
        or _holds(b, a)
        or a.text.endswith("?")
        or b.text.endswith("?")
    ):
        return False
    if a.is_ordering or b.is_ordering:  # it speaks to whoever reads it, and states nothing
        return False
    if names_apart(a.text, b.text) or is_of_another_kind(a, b, need):
        return False
    return _share_subject(a, b, need)


def _holds(whole: Candidate, part: Candidate) -> bool:
    return " ".join(part.text.split()) in " ".join(whole.text.split())


def _share_subject(a: Candidate, b: Candidate, need: Need) -> bool:
    """Tell whether nothing named on one side only makes it a statement about something else."""
    names = {t.stem for t in need.terms if t.is_name and not t.surface[0].isdigit()}
    for one, other in ((a, b), (b, a)):
        if not names <= one.stems | one.near | one.far:
            return False
        if _foreign(one, other, need):
            return False
    return True


def _foreign(one: Candidate, other: Candidate, need: Need) -> bool:
    """Tell whether `one` opens with a name that neither the question nor `other`'s source has."""
    if is_capitalising(one.text):
        return False
    known = other.stems | other.near | other.far | {term.stem for term in need.terms}
    lead = max(24, len(one.text) // 3)
    return any(
        stem(name.group()) not in known and (name.start() > 0 or stem(name.group()) in one.near)
        for name in _NAME.finditer(one.text)
        if name.start() < lead and is_content(name.group())
    )


def _values_differ(a: Candidate, b: Candidate, need: Need, items: Sequence[Scored]) -> str:
    pairs = [
        (one, other)
        for one in _bearing(a, need)
        for other in _bearing(b, need)
        if one.kind is other.kind and one.unit == other.unit
    ]
    for one, other in pairs:
        peers_a = [v for v in a.values if v.kind is one.kind and v.unit == one.unit]
        peers_b = [v for v in b.values if v.kind is one.kind and v.unit == one.unit]
        if any(agree(a.text, x, b.text, y) for x in peers_a for y in peers_b):
            continue
        if _same_thing(a, one, b, other, need, alone=len(peers_a) == len(peers_b) == 1):
            altered = _altered((a, one), (b, other), items)
            sides = (
                _voiced(side, value, items) + (" (in an altered copy)" if side in altered else "")
                for side, value in ((a, one), (b, other))
            )
            return " against ".join(sides)
    return ""


def _altered(
    first: tuple[Candidate, Value], second: tuple[Candidate, Value], items: Sequence[Scored]
) -> list[Candidate]:
    """Return which of the sides stands in a copy of another's text that was altered there."""
    kind, unit = first[1].kind, first[1].unit
    others = (
        (item.candidate, value)
        for item in items
        for value in item.candidate.values[:1]
        if value.kind is kind and value.unit == unit
    )
    sides = [first, second, *others]
    stated = [Stated(_shown(side, value), side.passage.text) for side, value in sides]
    stands = settle(stated)
    texts = first[0].passage.text, second[0].passage.text
    both = are_versions(*texts) and are_copies(*texts)
    return [
        side
        for (side, _), is_sound in zip(sides[:2], stands, strict=False)
        if both and not is_sound
    ]


def _voiced(candidate: Candidate, value: Value, items: Sequence[Scored]) -> str:
    """Return the value as it is shown, with how many independent sources state it if several do."""
    sources = {
        item.candidate.passage.source_id: item.candidate.passage.text
        for item in items
        if any(
            other.kind is value.kind and other.unit == value.unit and not _differ(value, other)
            for other in item.candidate.values
        )
    }
    voices = count_voices(sources.values())
    shown = _shown(candidate, value)
    return f"{shown} ({voices} independent sources)" if voices > 1 else shown


def _bearing(candidate: Candidate, need: Need) -> list[Value]:
    """Return the values that are of the sort the question asks for."""
    sorts: dict[Expected, set[ValueKind]] = {
        Expected.DATE: {ValueKind.DATE},
        Expected.TIME: {ValueKind.DATE, ValueKind.CLOCK, ValueKind.DURATION},
        Expected.MONEY: {ValueKind.MONEY},
        Expected.DURATION: {ValueKind.DURATION},
        Expected.PERSON: set(),
        Expected.PLACE: set(),
        Expected.REASON: set(),
    }
    counts = set(ValueKind) - {ValueKind.DATE, ValueKind.CLOCK}
    kinds = sorts.get(need.expected, counts)
    return [value for value in candidate.values if value.kind in kinds]


def agree(text: str, one: Value, other_text: str, other: Value) -> bool:
    """Tell whether two values of one kind can both be right, as they stand in their texts.

    Ranges and limits are met by what is within them; two limits of one sort ("up to 30 days", "up
    to 40 days") have to be the same.
    """
    mine, theirs = extent_of(text, one), extent_of(other_text, other)
    points = one.kind is ValueKind.DATE or (mine.is_point and theirs.is_point)
    limits = mine.is_limit and theirs.is_limit and isinf(mine.low) == isinf(theirs.low)
    if points or limits:
        return not _differ(one, other)
    return not mine.misses(theirs, _slack(one, other))


def _differ(one: Value, other: Value) -> bool:
    """Tell whether two values of one kind differ by more than rounding."""
    if one.kind is ValueKind.DATE:
        step = max(one.step, other.step)
        if min(one.amount, other.amount) < 10_000:  # a day without a year
            return False
        return one.amount // step != other.amount // step
    return abs(one.amount - other.amount) > _slack(one, other)


def _slack(one: Value, other: Value) -> float:
    """Return how far apart two values of one kind may be, and be one that was rounded."""
    rounded = one.step != other.step and one.kind is not ValueKind.MONEY  # prices are not rounded
    slack = max(one.step, other.step) / 2 if rounded else 0.0
    if one.approximate or other.approximate:
        slack = max(slack, 0.15 * max(one.amount, other.amount))
    months = max(one.step, other.step) >= _MONTH_S
    if one.kind is ValueKind.DURATION and one.step != other.step and months:
        slack = max(slack, 0.04 * max(one.amount, other.amount))  # a month is 30 or 31 days
    elif one.kind in (ValueKind.LENGTH, ValueKind.MASS) and one.step != other.step:
        slack = max(slack, 0.02 * max(one.amount, other.amount))  # 138 feet are 42 metres
    return slack + 1e-9


def _same_thing(
    a: Candidate, one: Value, b: Candidate, other: Value, need: Need, *, alone: bool
) -> bool:
    if qualifiers(a, one) != qualifiers(b, other) or not _same_time(a, one, b, other):
        return False
    near_a, near_b = window(a, one), window(b, other)
    topic = {term.stem for term in need.terms if not term.is_name}
    here = near_a & near_b
    alike = _alike(clause_of(a, one, need), clause_of(b, other, need)) or _alike(
        wording(a), wording(b)
    )
    if not here - {one.unit}:
        return False
    bare = one.kind is ValueKind.NUMBER and not one.unit
    if bare and need.expected not in _COUNTING:
        return False
    if one.kind is ValueKind.DATE or bare or not alone:
        verb_a, verb_b = governor(a, one), governor(b, other)
        if verb_a != verb_b or not verb_a:
            return False
    names = {term.stem for term in need.terms if term.is_name}
    on_topic = bool(topic & (here | {one.unit})) if topic else len(here - names) >= 2
    return on_topic and alike


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    shared = len(one & other)
    return shared >= 2 and shared >= _SHARED * min(len(one), len(other))


def _same_time(a: Candidate, one: Value, b: Candidate, other: Value) -> bool:
    """Tell whether no year, nor any date, says that the values belong to different times."""
    if one.kind is ValueKind.DATE:
        return True
    stated_a, stated_b = years(a, one), years(b, other)
    titled_a, titled_b = _titled_years(a), _titled_years(b)
    if titled_a and titled_b and not titled_a & titled_b:
        return False
    return stated_a == stated_b or bool(stated_a & stated_b)


def _titled_years(candidate: Candidate) -> frozenset[str]:
    around = f"{candidate.passage.heading} {candidate.passage.title or ''}"
    return frozenset(re.findall(r"\b(?:19|20)\d\d\b", around))


def _shown(candidate: Candidate, value: Value) -> str:
    return " ".join(candidate.text[value.start : value.end].split())
