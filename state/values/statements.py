"""When two sentences, written at different times, are one statement, and on what they differ."""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from state.values.normal_form import normalise

_SAME_STATEMENT = 0.5
_SAME_REST = 0.8
_SAME_MATTER = 0.3
_MAX_SHOWN = 12

_CJK = "[\u3001-\u30ff\u3400-\u9fff\uf900-\ufaff]"
_NUMBER = r"(?:[<>≤≥±~$€£¥] ?)?(?:(?<!\w)[-+])?\d+(?:[.,:/]\d+)*%?"
_TOKEN = re.compile(rf"{_NUMBER}|{_CJK}|(?:(?!{_CJK})[^\W\d_])+(?:'[^\W\d_]+)*")
_DASHES = str.maketrans({**dict.fromkeys("‐‑‒–—−", "-"), **dict.fromkeys("‘’ʼ", "'")})
_MONTHS = frozenset(
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec".split()
)
_DENYING = frozenset(
    "no not never none without neither nor cannot nobody nothing "
    "nicht kein keine keinen keiner keines nie niemals ohne ne pas jamais sans aucun aucune "
    "sin ningún ninguna nunca non senza mai não sem niet geen 不 没 没有 未 无".split()
)
# What stands behind a number and says of what it is one.
_UNIT = re.compile(
    r"\s?(?:°(?:\s?[CFK]\b)?|[%‰€£¥$]"
    r"|(?:km/h|m/s|rpm|mph|[kmµcd]?m[23]?|[kmµ]?g|[mµn]?s|[mc]?l|min|h|ha|t"
    r"|[kMGTm]?(?:W|Wh|Hz|V|A|Pa|J|bit|bps)|[kKMGT]i?B|B|K|USD|EUR|GBP"
    r"|(?:second|minute|hour|day|week|month|year|byte|dollar|euro|metre|meter|mile)s?|percent)\b)"
)
_SMALL = 3  # a sentence's first word is a name only if it is longer: "The", "In", "Die"


class Fact(StrEnum):
    """What of a statement was changed; `WORDING` is everything that is none of the others."""

    NUMBER = "number"
    NAME = "name"
    NEGATION = "negation"
    WORDING = "wording"


def form(text: str) -> str:
    """Return what two texts share that differ only as copies do: the normal form, end marks off."""
    return normalise(text).form.strip(" .。")


@dataclass(frozen=True, slots=True)
class _Word:
    folded: str
    fact: Fact
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence taken apart once: its words in order, and the facts among them."""

    text: str
    words: tuple[_Word, ...]

    def of(self, *facts: Fact) -> Counter[str]:
        """Return the words of these kinds, folded, with how often each occurs."""
        return Counter(word.folded for word in self.words if word.fact in facts)

    def shown(self, start: int, end: int) -> str:
        """Return the words from `start` to `end` as they stand there, a last number with its unit.

        Many are cut short; none are `(nothing)`.
        """
        words = self.words[start:end][:_MAX_SHOWN]
        if not words:
            return "(nothing)"
        last = words[-1]
        unit = _UNIT.match(self.text, last.end) if last.fact is Fact.NUMBER else None
        text = self.text[words[0].start : unit.end() if unit else last.end]
        return f"{text} …" if end - start > _MAX_SHOWN else text


def take_apart(text: str) -> Statement:
    """Return the statement that `text` makes.

    Months of the calendar count as numbers, so that a date is one kind of fact. Words that deny
    are known in a few languages; elsewhere a denial counts as wording.
    """
    plain = unicodedata.normalize("NFKC", text).translate(_DASHES)
    words = tuple(
        _Word(found[0].casefold(), _fact(found[0], is_first=not number), found.start(), found.end())
        for number, found in enumerate(_TOKEN.finditer(plain))
    )
    return Statement(plain, words)


def _fact(word: str, *, is_first: bool) -> Fact:
    folded = word.casefold()
    if any(map(str.isdigit, word)) or (word[0].isupper() and folded in _MONTHS):
        return Fact.NUMBER
    if folded in _DENYING or folded.endswith("n't"):
        return Fact.NEGATION
    if word[0].isupper() and not (is_first and len(word) <= _SMALL and not word.isupper()):
        return Fact.NAME
    return Fact.WORDING


def likeness(before: Statement, after: Statement) -> float:
    """Return the share of words that two statements have in common, 0 to 1, whatever the order."""
    return _overlap(before.of(*Fact), after.of(*Fact))


def is_same_changed(before: Statement, after: Statement) -> bool:
    """Tell whether one statement is the other with another number, date, name or negation.

    At least half of all words are shared, and four fifths of those that are no such fact. With
    other names *and* other numbers it is a statement about something else.
    """
    rest = _overlap(before.of(Fact.WORDING), after.of(Fact.WORDING))
    if likeness(before, after) < _SAME_STATEMENT or rest < _SAME_REST:
        return False
    names, numbers = (
        before.of(fact) - after.of(fact) and after.of(fact) - before.of(fact)
        for fact in (Fact.NAME, Fact.NUMBER)
    )
    return not (names and numbers)


def is_same_reworded(before: Statement, after: Statement) -> bool:
    """Tell whether two statements on the *same quotes* say the same in other words.

    Their numbers and negations are equal, each has the other's names, and they share three tenths
    of their words.
    """
    agree = all(before.of(fact) == after.of(fact) for fact in (Fact.NUMBER, Fact.NEGATION))
    named = before.of(Fact.NAME) <= after.of(*Fact) and after.of(Fact.NAME) <= before.of(*Fact)
    return agree and named and likeness(before, after) >= _SAME_MATTER


def _overlap(one: Counter[str], other: Counter[str]) -> float:
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 1.0


def difference(before: str, after: str) -> str:
    """Return what was put for what, for people: `30 → 90; Berg → Klein`; '' when no word was.

    Something added or taken away stands beside `(nothing)`.
    """
    one, two = take_apart(before), take_apart(after)
    matcher = SequenceMatcher(
        None,
        [word.folded for word in one.words],
        [word.folded for word in two.words],
        autojunk=False,
    )
    return "; ".join(
        f"{one.shown(a, b)} → {two.shown(c, d)}"
        for kind, a, b, c, d in matcher.get_opcodes()
        if kind != "equal"
    )
