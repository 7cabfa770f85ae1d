"""What stands around a value in a sentence: its clause, its qualifiers, its time, its wording."""

import re

from adapters.models.extractive.extents import bound_before
from adapters.models.extractive.lexicon import BOUNDS, QUALIFIERS
from adapters.models.extractive.needs import Need
from adapters.models.extractive.pool import Candidate
from adapters.models.extractive.terms import content, fold, stem, stems
from adapters.models.extractive.units import ValueKind
from adapters.models.extractive.values import Value

_WINDOW = 7
_BREAK = re.compile(r"[,;:—()]\s|[.!?]\s|[，；：。（）]|\n\s*\n")
_STOP = re.compile(r"(?<=[^\W\d_]{2}[.!?])\s|(?<=\d[.!?])\s+(?=[A-ZÀ-ÖØ-Þ])|[。！？]|\n\s*\n")
_LEANING = re.compile(r"(?:It|They|This|These|That|Those|Both)\b")
_CLAUSE = re.compile(
    r"\b(?:and|but|und|aber|et)\s+(?:is|are|was|were|has|have|had|can|will|ist|war)\b"
)


def clause_of(candidate: Candidate, value: Value, need: Need) -> frozenset[str]:
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


def qualifiers(candidate: Candidate, value: Value) -> frozenset[str]:
    """Return the words that say which of several values is meant, near `value`."""
    text = candidate.text
    start = max(text.rfind(mark, 0, value.start) for mark in ";—") + 1
    sentence = _sentence(text, value)[0]
    if not _LEANING.match(text, sentence):
        start = max(start, sentence)
    start = max((m.start() for m in _CLAUSE.finditer(text, start, value.start)), default=start)
    stop = _CLAUSE.search(text, value.end)
    end = min(value.end + 45, stop.start() if stop else len(text))
    begin = value.start - len(bound_before(text, value))  # a bound is told by its extent
    around = text[max(start, value.start - 70) : begin] + " " + text[value.end : end]
    plain = {fold(word) for word in re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", around)}
    close = {fold(word) for word in text[max(0, begin - 20) : begin].split()}
    per = re.findall(
        r"\b(?:per|a|an|each|every|pro)\s+([^\W\d_]+)", text[value.end : value.end + 20]
    )
    return frozenset(plain & QUALIFIERS | close & BOUNDS | {"per " + stem(word) for word in per})


def all_qualifiers(candidate: Candidate) -> frozenset[str]:
    """Return the words of the text that say which of several values is meant."""
    plain = {fold(word) for word in re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", candidate.text)}
    return frozenset(plain & QUALIFIERS)


def years(candidate: Candidate, beside: Value | None = None) -> frozenset[int]:
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


def window(candidate: Candidate, value: Value) -> frozenset[str]:
    """Return the content words near `value`."""
    tokens = content(candidate.text)
    before = [t.stem for t in tokens if t.end <= value.start][-_WINDOW:]
    after = [t.stem for t in tokens if t.start >= value.end][:_WINDOW]
    return frozenset(before) | frozenset(after)


def wording(candidate: Candidate) -> frozenset[str]:
    """Return the words of the text, its values left out."""
    return frozenset(
        token.stem
        for token in content(candidate.text)
        if not any(v.start <= token.start < v.end for v in candidate.values)
    )


def governor(candidate: Candidate, value: Value) -> str:
    """Return the content word before `value`, or an empty text."""
    before = [token.stem for token in content(candidate.text) if token.end <= value.start]
    return before[-1] if before else ""
