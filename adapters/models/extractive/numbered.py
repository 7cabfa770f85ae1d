"""Numbers that are part of a name: they say which one is meant, and measure or count nothing."""

import re
from collections.abc import Iterable
from functools import lru_cache

from adapters.models.extractive.lexicon import APPROXIMATIONS, BOUNDS
from adapters.models.extractive.terms import fold, is_content, stem
from adapters.models.extractive.units import NUMBERS

_CLAUSE_START = re.compile(
    r"[.,;:!?()—\n|]\s*|\b(?:and|but|while|that|where|when|whereas)\s+", re.IGNORECASE
)
_NUMBERED = re.compile(r"(?P<noun>[^\W\d_][\w’'-]*)(?: (?:no|nr|number)\.?)?[ \u00a0]#?\Z")
_PAST = frozenset(
    "fell ran held kept built sold bought made wrote drew sent began grew led won gave took chose "
    "lost met spent rose sank ground cut put set shed spun fed struck bred bore hit saw got went "
    "did came burnt dealt dug drank ate fought found froze hung heard laid lent let lit read rode "
    "rang sang sat shot shut slept stood swam tore understood wound wove left paid said told "
    "taught has had have is are was were".split()
)
_VERB_NEXT = re.compile(
    r"(?:['’]s)?\s+(?:\w+ly\s+)?"
    r"(?:(?:does|can|could|will|would|must|may|should|"
    rf"{'|'.join(sorted(_PAST))})\b|[a-z]+ed\b|[a-z]+[^sui]s\s+"
    r"(?:(?:at|in|on|by|for|from|to|with|over|under|up|down|into|through|after|before|about|around|"
    r"nearly|almost|the|an?|its|their|his|her|our|only|more|less|no|every|each)\b|\d|[A-Z]))"
)
_PLACED = frozenset("in at near from to by since until".split())
_FIGURE = re.compile(r"(?<![\w.,])\d{1,6}(?![\w,]|\.\d)")


def is_part_of_name(text: str, start: int, end: int) -> bool:
    """Tell whether a number says which one, not how many: "Farm 185 fell", "the lathe 3 turns".

    It follows the noun that the clause opens with, and the clause's verb follows it.
    """
    return _VERB_NEXT.match(text, end) is not None and bool(_head(text, start))


@lru_cache(maxsize=4096)
def numbered_names(text: str) -> dict[str, frozenset[str]]:
    """Return the numbers that are parts of names in `text`, by the stem of the noun they follow."""
    found: dict[str, set[str]] = {}
    for match in _FIGURE.finditer(text):
        if is_part_of_name(text, match.start(), match.end()):
            found.setdefault(stem(_head(text, match.start())), set()).add(match.group())
    return {noun: frozenset(numbers) for noun, numbers in found.items()}


def names_apart(one: str, other: str) -> bool:
    """Tell whether the texts speak of things of one sort with different numbers."""
    mine, theirs = numbered_names(one), numbered_names(other)
    return any(not mine[noun] & theirs[noun] for noun in mine.keys() & theirs.keys())


def _head(text: str, start: int) -> str:
    """Return the noun before a number where the two are the subject of a clause, or ''."""
    clause = _CLAUSE_START.split(text[max(0, start - 90) : start])[-1]
    match = _NUMBERED.search(clause)
    if match is None:
        return ""
    noun, before = match["noun"], clause[: match.start()].split()
    plain = fold(noun)
    if not is_content(noun) or plain in APPROXIMATIONS | BOUNDS | NUMBERS.keys() | _PAST:
        return ""
    if before and fold(before[-1]) in _PLACED:
        return ""  # "in Marnby 40 died"
    if noun[0].isupper():
        return noun
    is_verb = re.search(r"(?:[^s]s|ed)\Z", noun) is not None  # "the hall seats 40"
    return noun if before and not is_verb and _is_subject(before) else ""


def _is_subject(words: Iterable[str]) -> bool:
    """Tell whether nothing but an opening article comes with the words before a noun."""
    return all(
        fold(word) not in _PAST and (place == 0 or is_content(word))
        for place, word in enumerate(words)
    )
