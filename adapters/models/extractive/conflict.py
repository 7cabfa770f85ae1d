"""Where two sources state different values of one thing, or one denies what the other states.

Precision comes first: a false conflict misleads more than a missed one. Two values clash only if
the words around them are the same, the subject is the same, and no qualifier or year sets them
apart.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from adapters.models.extractive.answers import Expected
from adapters.models.extractive.editions import is_newer
from adapters.models.extractive.form import is_code
from adapters.models.extractive.lexicon import (
    ANTONYMS,
    BOUNDS,
    QUALIFIERS,
)
from adapters.models.extractive.needs import Need
from adapters.models.extractive.negation import is_negated
from adapters.models.extractive.numbered import names_apart
from adapters.models.extractive.pool import Candidate, is_near_copy
from adapters.models.extractive.terms import (
    content,
    fold,
    is_capitalising,
    is_content,
    stem,
    stems,
)
from adapters.models.extractive.units import ValueKind
from adapters.models.extractive.values import Value
from adapters.models.extractive.voices import count_voices
from adapters.models.extractive.weigh import Scored

_WINDOW = 7
_SHARED = 0.5
_NAME = re.compile(r"\b[A-ZÀ-ÖØ-Þ][\w’'-]*[^\W\d_]|\b[A-Z]{2,}\b|\b[A-Za-z]+[-_]?\d+\b")
_VERSION = re.compile(r"\b([^\W\d_][\w-]*)[ \u00a0]v?(\d+(?:\.\d+)+)")
_BREAK = re.compile(r"[,;:—()]\s|[.!?]\s|[，；：。（）]|\n\s*\n")
_STOP = re.compile(r"(?<=[^\W\d_]{2}[.!?])\s|(?<=\d[.!?])\s+(?=[A-ZÀ-ÖØ-Þ])|[。！？]|\n\s*\n")
_LEANING = re.compile(r"(?:It|They|This|These|That|Those|Both)\b")
_CONTRAST = re.compile(
    r"\b(?:but|except|unless|instead|only if|whereas|however|aber|sondern|außer|sauf|mais|pero)\b"
    r"|但是?|除非|除了",
    re.IGNORECASE,
)
_FIELD = re.compile(r"(?:[-*+•][ \t]+)?(?P<name>[\w][\w -]{0,30}):[ \t]+(?P<value>[^\n]+)")
_CLAUSE = re.compile(
    r"\b(?:and|but|und|aber|et)\s+(?:is|are|was|were|has|have|had|can|will|ist|war)\b"
)
_AGENT = re.compile(
    r"\b(?P<done>[a-z]{3,})(?:\s+(?:in|on)\s+[\w ]{2,20}?)?\s+by\s+(?:the\s+)?"
    r"(?P<name>[A-ZÀ-ÖØ-Þ][\w’'.-]*\w(?:\s+(?:(?:&|and|of|de|van|von)\s+)?[A-ZÀ-ÖØ-Þ][\w’'-]*\w)*)"
)
_COUNTING = (Expected.COUNT, Expected.MEASURE, Expected.VERSION)
_ANTONYMS = tuple((stem(a), stem(b)) for a, b in ANTONYMS)


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
        difference = (
            _values_differ(a.candidate, b.candidate, need, items)
            or _fields_differ(a.candidate, b.candidate, need)
            or _agents_differ(a.candidate, b.candidate, need)
            or _versions_differ(a.candidate, b.candidate, need)
            or _denied(a, b, need)
        )
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
    return not names_apart(a.text, b.text) and _share_subject(a, b, need)


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
        if any(not _differ(x, y) for x in peers_a for y in peers_b):
            continue
        if _same_thing(a, one, b, other, need, alone=len(peers_a) == len(peers_b) == 1):
            return f"{_voiced(a, one, items)} against {_voiced(b, other, items)}"
    return ""


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


def _fields_differ(a: Candidate, b: Candidate, need: Need) -> str:
    """Return on what two fields of one name differ that stand under the same heading."""
    one, other = _FIELD.fullmatch(a.text.strip()), _FIELD.fullmatch(b.text.strip())
    if one is None or other is None or not a.passage.heading:
        return ""
    same = fold(one["name"]) == fold(other["name"])
    same = same and fold(a.passage.heading) == fold(b.passage.heading)
    asked = {term.stem for term in need.terms} | stems(need.question)
    if not same or not stems(one["name"]) & asked or not stems(a.passage.heading) & asked:
        return ""
    if fold(one["value"]).strip("\"'`. ") == fold(other["value"]).strip("\"'`. "):
        return ""
    return f"{_brief(one['value'])} against {_brief(other['value'])}"


def _agents_differ(a: Candidate, b: Candidate, need: Need) -> str:
    """Return on whom two sentences differ that say by whom the same was done."""
    if need.expected is not Expected.PERSON:
        return ""
    asked = {term.stem for term in need.terms if not term.is_name}
    for one in _AGENT.finditer(a.text):
        for other in _AGENT.finditer(b.text):
            done = asked & stems(one["done"]) & stems(other["done"])
            mine, theirs = stems(one["name"]), stems(other["name"])
            if done and mine and theirs and not mine & theirs:
                return f"{_brief(one['name'])} against {_brief(other['name'])}"
    return ""


def _versions_differ(a: Candidate, b: Candidate, need: Need) -> str:
    """Return on which version two sentences differ that are otherwise worded alike."""
    if need.expected is not Expected.VERSION:
        return ""
    one, other = _VERSION.findall(a.text), _VERSION.findall(b.text)
    if len(one) != 1 or len(other) != 1 or one[0] == other[0]:
        return ""
    (named, first), (named_too, second) = one[0], other[0]
    shared, every = _wording(a) & _wording(b), _wording(a) | _wording(b)
    topic = {term.stem for term in need.terms if not term.is_name}
    alike = len(shared) >= 2 and len(shared) >= 0.6 * len(every) and bool(topic & shared)
    if named.lower() != named_too.lower() or not alike:
        return ""
    return f"{named} {first} against {named_too} {second}"


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


def _differ(one: Value, other: Value) -> bool:
    """Tell whether two values of one kind differ by more than rounding."""
    if one.kind is ValueKind.DATE:
        step = max(one.step, other.step)
        if min(one.amount, other.amount) < 10_000:  # a day without a year
            return False
        return one.amount // step != other.amount // step
    rounded = one.step != other.step and one.kind is not ValueKind.MONEY  # prices are not rounded
    slack = max(one.step, other.step) / 2 if rounded else 0.0
    if one.approximate or other.approximate:
        slack = max(slack, 0.15 * max(one.amount, other.amount))
    if one.kind is ValueKind.DURATION and one.step != other.step:
        slack = max(slack, 0.04 * max(one.amount, other.amount))  # a month is 30 or 31 days
    elif one.kind in (ValueKind.LENGTH, ValueKind.MASS) and one.step != other.step:
        slack = max(slack, 0.02 * max(one.amount, other.amount))  # 138 feet are 42 metres
    return abs(one.amount - other.amount) > slack + 1e-9


def _same_thing(
    a: Candidate, one: Value, b: Candidate, other: Value, need: Need, *, alone: bool
) -> bool:
    if _qualifiers(a, one) != _qualifiers(b, other) or not _same_time(a, one, b, other):
        return False
    near_a, near_b = _window(a, one), _window(b, other)
    topic = {term.stem for term in need.terms if not term.is_name}
    here = near_a & near_b
    alike = _alike(_clause(a, one, need), _clause(b, other, need)) or _alike(
        _wording(a), _wording(b)
    )
    if not here - {one.unit}:
        return False
    bare = one.kind is ValueKind.NUMBER and not one.unit
    if bare and need.expected not in _COUNTING:
        return False
    if one.kind is ValueKind.DATE or bare or not alone:
        verb_a, verb_b = _governor(a, one), _governor(b, other)
        if verb_a != verb_b or not verb_a:
            return False
    names = {term.stem for term in need.terms if term.is_name}
    on_topic = bool(topic & (here | {one.unit})) if topic else len(here - names) >= 2
    return on_topic and alike


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    shared = len(one & other)
    return shared >= 2 and shared >= _SHARED * min(len(one), len(other))


def _clause(candidate: Candidate, value: Value, need: Need) -> frozenset[str]:
    """Return the words of the clause that holds `value`, the value's own left out.

    Where the clause leaves its subject unsaid ("It …", "… and is …") what is asked about and was
    said before counts as said.
    """
    text = candidate.text
    begin = max((m.end() for m in _BREAK.finditer(text, 0, value.start)), default=0)
    cut = max((m.start() for m in _CLAUSE.finditer(text, begin, value.start)), default=begin)
    stops = [m.start() for p in (_BREAK, _CLAUSE) if (m := p.search(text, value.end))]
    said = stems(text[cut : value.start]) | stems(text[value.end : min(stops, default=None)])
    if cut > begin or _LEANING.match(text, begin):
        said |= stems(text[:cut]) & {term.stem for term in need.terms}
    return said


def _qualifiers(candidate: Candidate, value: Value) -> frozenset[str]:
    text = candidate.text
    start = max(text.rfind(mark, 0, value.start) for mark in ";—") + 1
    sentence = _sentence(text, value)[0]
    if not _LEANING.match(text, sentence):
        start = max(start, sentence)
    start = max((m.start() for m in _CLAUSE.finditer(text, start, value.start)), default=start)
    stop = _CLAUSE.search(text, value.end)
    end = min(value.end + 45, stop.start() if stop else len(text))
    around = text[max(start, value.start - 70) : end]
    plain = {fold(word) for word in re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", around)}
    close = {fold(word) for word in text[max(0, value.start - 20) : value.start].split()}
    per = re.findall(
        r"\b(?:per|a|an|each|every|pro)\s+([^\W\d_]+)", text[value.end : value.end + 20]
    )
    return frozenset(plain & QUALIFIERS | close & BOUNDS | {"per " + stem(word) for word in per})


def _same_time(a: Candidate, one: Value, b: Candidate, other: Value) -> bool:
    """Tell whether no year, nor any date, says that the values belong to different times."""
    if one.kind is ValueKind.DATE:
        return True
    stated_a, stated_b = _years(a, one), _years(b, other)
    titled_a, titled_b = _titled_years(a), _titled_years(b)
    if titled_a and titled_b and not titled_a & titled_b:
        return False
    return stated_a == stated_b or bool(stated_a & stated_b)


def _years(candidate: Candidate, beside: Value | None = None) -> frozenset[int]:
    """Return the years that are stated, only those in one clause with `beside` if given."""
    start, end = 0, len(candidate.text)
    if beside is not None:
        start, end = _sentence(candidate.text, beside)
        cuts = [match.start() for match in _CLAUSE.finditer(candidate.text, start, end)]
        start = max((cut for cut in cuts if cut <= beside.start), default=start)
        end = min((cut for cut in cuts if cut > beside.start), default=end)
    dates = [
        value
        for value in candidate.values
        if value.kind is ValueKind.DATE and start <= value.start < end
    ]
    return frozenset(int(date.amount) // 10_000 for date in dates) - {0}


def _sentence(text: str, value: Value) -> tuple[int, int]:
    """Return where the sentence that holds `value` begins and ends."""
    start = max((m.end() for m in _STOP.finditer(text, 0, value.start)), default=0)
    stop = _STOP.search(text, value.end)
    return start, stop.start() if stop else len(text)


def _titled_years(candidate: Candidate) -> frozenset[str]:
    around = f"{candidate.passage.heading} {candidate.passage.title or ''}"
    return frozenset(re.findall(r"\b(?:19|20)\d\d\b", around))


def _window(candidate: Candidate, value: Value) -> frozenset[str]:
    tokens = content(candidate.text)
    before = [t.stem for t in tokens if t.end <= value.start][-_WINDOW:]
    after = [t.stem for t in tokens if t.start >= value.end][:_WINDOW]
    return frozenset(before) | frozenset(after)


def _wording(candidate: Candidate) -> frozenset[str]:
    return frozenset(
        token.stem
        for token in content(candidate.text)
        if not any(v.start <= token.start < v.end for v in candidate.values)
    )


def _governor(candidate: Candidate, value: Value) -> str:
    before = [token.stem for token in content(candidate.text) if token.end <= value.start]
    return before[-1] if before else ""


def _shown(candidate: Candidate, value: Value) -> str:
    return " ".join(candidate.text[value.start : value.end].split())


def _denied(a: Scored, b: Scored, need: Need) -> str:
    """Return on what one sentence denies the other: the same words, one of them negated."""
    if need.expected is not Expected.OPEN:
        return ""
    one, other = a.candidate, b.candidate
    if any(is_code(side.text) or _CONTRAST.search(side.text) for side in (one, other)):
        return ""  # what holds here and not there denies nothing
    plain_a, plain_b = _wording(one), _wording(other)
    opposed = next(
        (
            pair
            for pair in _ANTONYMS
            if (pair[0] in plain_a and pair[1] in plain_b)
            or (pair[1] in plain_a and pair[0] in plain_b)
        ),
        None,
    )
    if opposed:
        plain_a, plain_b = plain_a - set(opposed), plain_b - set(opposed)
    if (is_negated(one.text) != is_negated(other.text)) == bool(opposed):
        return ""
    shared = plain_a & plain_b
    alike = len(shared) / (len(plain_a | plain_b) or 1) >= 0.6 and len(shared) >= 2
    topic = {term.stem for term in need.terms if not term.is_name}
    if not alike or not topic & shared or _all_qualifiers(one) != _all_qualifiers(other):
        return ""
    if one.numbers != other.numbers or _years(one) != _years(other):
        return ""
    denying, stating = (one, other) if is_negated(one.text) else (other, one)
    return f"“{_brief(stating.text)}” against “{_brief(denying.text)}”"


def _brief(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= 120 else plain[:119] + "…"


def _all_qualifiers(candidate: Candidate) -> frozenset[str]:
    plain = {fold(word) for word in re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", candidate.text)}
    return frozenset(plain & QUALIFIERS)
