"""What a question is about by its grammar, and whether it asks for a definition or for a way."""

import re
from enum import StrEnum

from adapters.models.extractive.lexicon import (
    ASKING,
    AUXILIARIES,
    CLASS_NOUNS,
    IRREGULAR,
    OF_WORDS,
    PERSONAL,
)
from adapters.models.extractive.terms import fold, is_content, is_weak, stem

_WORD = re.compile(r"[^\W_](?:[\w'’./+-]*[^\W])?|_\w+")
_LIMIT = re.compile(r"[,;:?!？！。(]|\.\s|\.\Z")
_QUOTED = re.compile(r"[\"“„«`]([^“”„«»`\"\n]{2,80})[\"”“»`]")
_SUPPORT = frozenset("do does did can could should must may will would".split())
_DOERS = ["who"], ["wer"], ["quien"], ["qui"]
_TAIL = re.compile(r"(?:[a-z]+ly|[a-z]{3,}ed|[a-z]{3,}ing|ge[a-zäöü]+t|veröffentlicht)\Z")
_ABOUT = re.compile(r"\(about: ([^)]*)\)\Z")
_COMPARED = re.compile(r"([^:()]+?)(?::[^()]*)? \(compared with: ")
_WAY = re.compile(
    r"^\W*(?:how (?:can|do|does|should|could|would|must|may) "
    r"(?:i|you|we|one|somebody|people|a user|users)"
    r"|how (?:to|is|are)\b.{1,80}\b(?:installed|configured|set up|enabled|used|run|built|called)"
    r"|how to|wie (?:kann|muss|soll) (?:ich|man)|comment (?:puis-je|peut-on)"
    r"|c[oó]mo (?:puedo|se puede))\b",
    re.IGNORECASE,
)
_WHAT_IS = re.compile(
    r"^\W*(?:what|who|was|wer|qu['’]est[- ]ce que?(?: c['’]est que)?|qué|quién|cosa|che cosa)\s+"
    r"(?:is|are|was|were|ist|sind|est|es|son|è)\b|^\W*(?:define|explain|describe)\b"
    r"|(?:是什么|とは何|とは)",
    re.IGNORECASE,
)
_WHAT_DOES = re.compile(
    r"^\W*what\s+(?:does|do|did|can)\s.*"
    r"\b(?:do|provide|offer|mean|stand for|refer to|contain|implement)\b\s*[?]?"
    r"|^\W*what\s+(?:does|do)\s.*\bdo\b|^\W*was (?:macht|bietet|bedeutet|tut)\b"
    r"|^\W*que (?:fait|signifie)\b|^\W*qué (?:hace|significa)\b",
    re.IGNORECASE,
)


# What a definition tells of a thing: "the profession of X" is answered by "X is a poet".
_ATTRIBUTE = re.compile(
    r"^\W*(?:what|which)\s+(?:(?:is|was|are|were)\s+the\s+)?(?:profession|occupation|genre|sport|"
    r"nationality|format|kind|field|industry|category|species|breed)s?\b",
    re.IGNORECASE,
)


class Manner(StrEnum):
    """How a question wants to be answered."""

    DEFINE = "what it is or does"
    WAY = "how to do it"
    OTHER = "a fact"


def manner_of(question: str) -> Manner:
    """Return whether `question` asks what something is or does, or how to do something."""
    if _WAY.search(question):
        return Manner.WAY
    if _WHAT_DOES.search(question) or _ATTRIBUTE.search(question):
        return Manner.DEFINE
    if _WHAT_IS.search(question) and not _OF.search(_first_clause(question)):
        return Manner.DEFINE
    return Manner.OTHER


_OF = re.compile(r"\b(?:of|by default|von|des|de|du|del|when|if)\b", re.IGNORECASE)


def _first_clause(question: str) -> str:
    return _ABOUT.sub("", question)


def topic_phrase(question: str) -> str:
    """Return the words that `question` is about by its grammar, as they are written, or ''.

    That is the subject of "does X support …", the object of "who maintains X", the last noun of
    "the timeout of X"; a thing in quotation marks comes first, and what "(about: …)" carries over.
    """
    if match := _ABOUT.search(question):
        return match[1].strip()
    if match := _QUOTED.search(question):
        return match[1].strip()
    if match := _COMPARED.match(question):
        return match[1].strip()
    end = _LIMIT.search(question)
    clause = question[: end.start()] if end else question
    found = list(_WORD.finditer(clause))
    words = [match.group() for match in found]
    at, is_verb_after = _start(words)
    if at is None:
        return ""
    first, last = _noun_phrase(words, at, drops_verb=is_verb_after)
    if is_verb_after:
        last = _end_of_name(words, first, last)
    if last - first == 1 and not _is_noun(words[first]):
        return ""
    return clause[found[first].start() : found[last - 1].end()] if first < last else ""


def _end_of_name(words: list[str], first: int, last: int) -> int:
    """Return where a name ends that opens the phrase: its verb and object are no part of it."""
    at = first
    while at < last and (_is_named(words[at]) or (at > first and fold(words[at]) in CLASS_NOUNS)):
        at += 1
    return at if at > first else last


def _is_named(word: str) -> bool:
    return any(char.isupper() or char.isdigit() or char in "._" for char in word)


def _is_noun(word: str) -> bool:
    return not word.islower() or not (is_weak(stem(word)) or _TAIL.match(fold(word)))


def _start(words: list[str]) -> tuple[int | None, bool]:
    """Return where the noun phrase begins, and whether the main verb follows it."""
    plain = [fold(word) for word in words]
    asking = next((i for i, word in enumerate(plain[:4]) if word in ASKING), None)
    first = 0 if asking is None else asking
    reach = first + (2 if plain[first : first + 1] in _DOERS else 8)
    helpers = (i for i in range(first, min(len(plain), reach)) if plain[i] in AUXILIARIES)
    helper = next(helpers, None)
    if helper is None:
        if asking is None:
            return None, False
        if plain[asking : asking + 1] in _DOERS:
            return asking + 2, False  # "who maintains X"
        return (asking + 3 if plain[asking] in ("which", "what") else None), False
    if asking is None and helper > 0:
        return None, False
    start = helper + 1
    if start < len(plain) and plain[start] in PERSONAL:
        return start + 2, False  # "how do I install X"
    return start, plain[helper] in _SUPPORT


def _noun_phrase(words: list[str], start: int, *, drops_verb: bool) -> tuple[int, int]:
    first = last = start
    stopped = ""
    for place in range(start, len(words)):
        plain = fold(words[place])
        if is_content(words[place]) and plain not in AUXILIARIES:
            last = place + 1
            continue
        if first == last:  # articles and the like before the noun
            first = last = place + 1
            continue
        if plain in OF_WORDS and place + 1 < len(words):
            first = last = place + 1
            drops_verb = drops_verb and place + 2 < len(words)
            continue
        stopped = plain
        break
    if drops_verb and last - first > 1 and stopped not in _SUPPORT:
        last -= 1
    return first, _without_tail(words, first, last)


def _without_tail(words: list[str], first: int, last: int) -> int:
    """Drop participles, adverbs and words such as "package" from the end of a noun phrase."""
    while last - first > 1:
        word = fold(words[last - 1])
        kind = word in CLASS_NOUNS or word in IRREGULAR or is_weak(stem(word))
        if not (kind or (words[last - 1].islower() and _TAIL.match(word))):
            break
        last -= 1
    return last
