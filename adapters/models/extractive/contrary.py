"""Where two sentences oppose each other in other things than a value: fields, doers, denials."""

import re

from adapters.models.extractive.answers import Expected
from adapters.models.extractive.clauses import all_qualifiers, wording, years
from adapters.models.extractive.form import is_code
from adapters.models.extractive.lexicon import ANTONYMS
from adapters.models.extractive.needs import Need
from adapters.models.extractive.negation import is_negated
from adapters.models.extractive.pool import Candidate
from adapters.models.extractive.terms import fold, stem, stems

_VERSION = re.compile(r"\b([^\W\d_][\w-]*)[ \u00a0]v?(\d+(?:\.\d+)+)")
_CONTRAST = re.compile(
    r"\b(?:but|except|unless|instead|only if|whereas|however|aber|sondern|außer|sauf|mais|pero)\b"
    r"|但是?|除非|除了",
    re.IGNORECASE,
)
_FIELD = re.compile(r"(?:[-*+•][ \t]+)?(?P<name>[\w][\w -]{0,30}):[ \t]+(?P<value>[^\n]+)")
_AGENT = re.compile(
    r"\b(?P<done>[a-z]{3,})(?:\s+(?:in|on)\s+[\w ]{2,20}?)?\s+by\s+(?:the\s+)?"
    r"(?P<name>[A-ZÀ-ÖØ-Þ][\w’'.-]*\w(?:\s+(?:(?:&|and|of|de|van|von)\s+)?[A-ZÀ-ÖØ-Þ][\w’'-]*\w)*)"
)
_ANTONYMS = tuple((stem(a), stem(b)) for a, b in ANTONYMS)


def opposed(a: Candidate, b: Candidate, need: Need) -> str:
    """Return on what the two differ that cannot both be so, for people; '' where on nothing."""
    return (
        _fields_differ(a, b, need)
        or _agents_differ(a, b, need)
        or _versions_differ(a, b, need)
        or _denied(a, b, need)
    )


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
    shared, every = wording(a) & wording(b), wording(a) | wording(b)
    topic = {term.stem for term in need.terms if not term.is_name}
    alike = len(shared) >= 2 and len(shared) >= 0.6 * len(every) and bool(topic & shared)
    if named.lower() != named_too.lower() or not alike:
        return ""
    return f"{named} {first} against {named_too} {second}"


def _denied(one: Candidate, other: Candidate, need: Need) -> str:
    """Return on what one sentence denies the other: the same words, one of them negated."""
    if need.expected is not Expected.OPEN:
        return ""
    if any(is_code(side.text) or _CONTRAST.search(side.text) for side in (one, other)):
        return ""  # what holds here and not there denies nothing
    plain_a, plain_b = wording(one), wording(other)
    pair = next(
        (
            (one_word, its_opposite)
            for one_word, its_opposite in _ANTONYMS
            if (one_word in plain_a and its_opposite in plain_b)
            or (its_opposite in plain_a and one_word in plain_b)
        ),
        None,
    )
    if pair:
        plain_a, plain_b = plain_a - set(pair), plain_b - set(pair)
    if (is_negated(one.text) != is_negated(other.text)) == bool(pair):
        return ""
    shared = plain_a & plain_b
    alike = len(shared) / (len(plain_a | plain_b) or 1) >= 0.6 and len(shared) >= 2
    topic = {term.stem for term in need.terms if not term.is_name}
    if not alike or not topic & shared or all_qualifiers(one) != all_qualifiers(other):
        return ""
    if one.numbers != other.numbers or years(one) != years(other):
        return ""
    denying, stating = (one, other) if is_negated(one.text) else (other, one)
    return f"“{_brief(stating.text)}” against “{_brief(denying.text)}”"


def _brief(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= 120 else plain[:119] + "…"
