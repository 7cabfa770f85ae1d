"""Words of a text as they are compared: tokens with their places, stems, and a question's terms."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from adapters.models.extractive.lexicon import (
    CALENDAR,
    ENGLISH,
    GERMAN,
    IRREGULAR,
    ROMANCE,
    STOP_WORDS,
    SYNONYMS,
    UNSPACED_STOPS,
    UNSPACED_WORDS,
    WEAK,
)

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003134f"
)
_TOKEN = re.compile(
    rf"[{_UNSPACED}]+|\d+(?:[.,]\d+)+|[^\W_{_UNSPACED}]+(?:['’](?:s|t|re|ve|ll|d|m)\b)?",
    re.IGNORECASE,
)
_URL = re.compile(r"[a-z]{2,10}://[^\s)>\]]+", re.IGNORECASE)
_UNSPACED_CHAR = re.compile(rf"[{_UNSPACED}]")
_KNOWN = re.compile("|".join(sorted(UNSPACED_WORDS, key=len, reverse=True)))
_CUTS = re.compile("|".join([*UNSPACED_WORDS, *UNSPACED_STOPS, "[\u3041-\u309f]+"]))
_SUFFIXES = (
    "ational isation ization izations ations ation ically ities ments ment ness ings ing edly ions "
    "ion ors or ers er ies ied ive ous able ible ances ance ences ence als al ed ungen ung "
    "keit heit "
    "lich en es ly ity e s y"
).split()
_ALTERNATIONS = (
    ("tention", "tain"), ("tenance", "tain"), ("scription", "scribe"), ("sumption", "sume"),
    ("duction", "duce"), ("ception", "ceive"), ("mission", "mit"), ("pulsion", "pel"),
    ("cision", "cide"), ("pansion", "pand"), ("vision", "vide"), ("clusion", "clude"),
    ("solution", "solve"), ("truction", "truct"), ("rupture", "rupt"), ("pleted", "plete"),
)  # fmt: skip
_PREFIX = 5
_INSIDE = 6


@dataclass(frozen=True, slots=True)
class Token:
    """A word at `text[start:end]`, and the stem it is compared by."""

    stem: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Term:
    """A word a question turns on. A name (or number) must be met; a weak word hardly counts."""

    stem: str
    surface: str
    weight: float
    is_name: bool


def fold(word: str) -> str:
    """Return `word` without case, compatibility forms and accents."""
    if word.isascii():
        return word.lower()
    plain = unicodedata.normalize("NFKD", word).casefold()
    return "".join(ch for ch in plain if not unicodedata.combining(ch))


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return what the inflected and derived forms of `word` have in common, synonyms unified."""
    return _UNIFIED.get(base := _strip(fold(word)), base)


def _strip(word: str) -> str:
    word = word.replace("’", "'").removesuffix("'s").removesuffix("'")
    word = IRREGULAR.get(word, word)
    if word.endswith("our") and len(word) > 5:  # behaviour, colour
        word = word[:-3] + "or"
    if len(word) < 4 or any(ch.isdigit() for ch in word):
        return word
    for ending, base in _ALTERNATIONS:
        for form in (ending, ending + "s"):
            if word.endswith(form):
                word = word[: -len(form)] + base
    for suffix in _SUFFIXES:
        rest = word[: -len(suffix)]
        if word.endswith(suffix) and len(rest) >= 3 and not (suffix == "s" and rest[-1] in "su"):
            return _undouble(rest)
    return word


def _undouble(rest: str) -> str:
    if len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "lse":
        return rest[:-1]
    return rest[:-1] if len(rest) > 3 and rest[-1] in "ei" else rest


_UNIFIED = {_strip(word): _strip(group[0]) for group in SYNONYMS for word in group}
_STOPS = frozenset(fold(word) for word in STOP_WORDS)
_WEAK_STEMS = frozenset(stem(word) for word in WEAK)


def is_weak(stemmed: str) -> bool:
    """Tell whether the stem carries a question without being what it is about."""
    return stemmed in _WEAK_STEMS


def words(text: str) -> list[Token]:
    """Return every word of `text` in order, function words too; unspaced scripts give pairs."""
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        token = match.group()
        if _UNSPACED_CHAR.match(token):
            found.extend(_pairs(token, match.start()))
        else:
            found.append(Token(stem(token), match.start(), match.end()))
    return found


def _pairs(run: str, offset: int) -> Iterable[Token]:
    start = 0
    for match in _KNOWN.finditer(run):
        english = UNSPACED_WORDS[match.group()]
        yield Token(stem(english), offset + match.start(), offset + match.end())
    for cut in [*(m.span() for m in _CUTS.finditer(run)), (len(run), len(run))]:
        piece = run[start : cut[0]]
        if len(piece) == 1:
            yield Token(piece, offset + start, offset + start + 1)
        for at in range(len(piece) - 1):
            yield Token(piece[at : at + 2], offset + start + at, offset + start + at + 2)
        start = cut[1]


@lru_cache(maxsize=65_536)
def is_content(word: str) -> bool:
    """Tell whether `word`, as it is written, is more than a function word."""
    plain = fold(word).replace("’", "'").removesuffix("'s")
    return (
        bool(plain)
        and plain not in _STOPS
        and (len(plain) > 1 or not plain.isascii() or plain.isdigit())
    )


def content(text: str) -> list[Token]:
    """Return the words of `text` that are not function words nor parts of a URL, in order."""
    found = [token for token in words(text) if is_content(text[token.start : token.end])]
    if "://" not in text:
        return found
    links = [match.span() for match in _URL.finditer(text)]
    return [t for t in found if not any(start <= t.start < end for start, end in links)]


def stems(text: str) -> frozenset[str]:
    """Return the stems of the content words of `text`."""
    return frozenset(token.stem for token in content(text))


def is_unspaced(text: str) -> bool:
    """Tell whether `text` has characters of a script that is written without spaces."""
    return not text.isascii() and _UNSPACED_CHAR.search(text) is not None


def is_capitalising(text: str) -> bool:
    """Tell whether `text` capitalises all nouns, as German does, so that capitals mark no names."""
    plain = [fold(word) for word in re.findall(r"[^\W\d_]+", text)]
    german = sum(word in GERMAN and word not in ENGLISH for word in plain)
    others = sum(word in ENGLISH or word in ROMANCE for word in plain)
    return german > others


def question_terms(question: str) -> tuple[Term, ...]:
    """Return the terms of `question`, each once, in order. Empty when it names no subject."""
    terms: dict[str, Term] = {}
    marks_names = not is_capitalising(question) and not question.isupper()
    for token in content(question):
        surface = question[token.start : token.end]
        initial = not question[: token.start].strip(" \t\"'“”‘’([{¿¡")
        named = _looks_named(surface, question, token.start) and marks_names and not initial
        named = named or any(ch.isdigit() for ch in surface)
        weight = 1.5 if named else 0.3 if token.stem in _WEAK_STEMS else 1.0
        terms.setdefault(token.stem, Term(token.stem, surface, weight, named))
    return tuple(terms.values())


def _looks_named(surface: str, text: str, start: int) -> bool:
    before, after = text[:start][-1:], text[start + len(surface) :][:1]
    joined = before in ("_", "/") or after == "_"
    if fold(surface) in CALENDAR:
        return False
    return surface[0].isupper() or any(ch.isupper() for ch in surface[1:]) or joined


def matches(term: str, vocabulary: Iterable[str]) -> frozenset[str]:
    """Return the stems of `vocabulary` that count as `term`: equal, derived, or compounded."""
    return frozenset(other for other in vocabulary if _is_match(term, other))


def _is_match(term: str, other: str) -> bool:
    if term == other:
        return True
    short, long = (term, other) if len(term) <= len(other) else (other, term)
    if not short or short[0].isdigit() or long[0].isdigit():
        return False
    if not short.isascii() and len(short) == 1:
        return short in long and len(long) == 2
    if len(short) >= _PREFIX and long.startswith(short):
        return True
    return len(short) >= _INSIDE and short in long
