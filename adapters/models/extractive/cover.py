"""Which sentences together bear out a statement: each is chosen for what the others leave open."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adapters.models.extractive.pool import Candidate, overlaps
from adapters.search.ranking import term_counts

_K1, _B = 1.2, 0.5
_AGAIN = 0.4  # what a term counts each further time that it is met
_NUMBER = 1.5  # what a number counts against a word as rare
_BESIDE = 0.1  # what a sentence counts that stands beside a good one
_LENT, _LENDERS, _LENT_TERMS = 0.1, 3, 10  # what terms count that the best sentences lend
_BEARS = 0.05  # the share of the statement's weight that a sentence must have
_DIGIT = re.compile(r"\d")
_ASKED = re.compile(
    r"\W*(?:please|list|describe|explain|compare|contrast|find|summari[sz]e|tell|give|show|name|"
    r"outline|discuss|define|identify|report|research|investigate|analy[sz]e|look|check|cover|"
    r"provide|help|write|include|consider|focus|(?:i|we)(?: am| are| would|'d)? (?:want|need|like|"
    r"wish|looking|interested|writing|trying)|ich (?:möchte|will|brauche|suche)|"
    r"beschreibe|erkl[äa]re|vergleiche|nenne|zeige|d[ée]cris|explique|describe|explica)\b",
    re.IGNORECASE,
)


def is_statement(text: str) -> bool:
    """Tell whether `text` claims something, rather than asking for it or naming a subject."""
    closed = text.rstrip("\"'”’» ").endswith((".", "!", "。", "！"))
    return closed and not _ASKED.match(text) and len(term_counts(text)) >= 3


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A candidate, what each term in it weighs, and what its neighbours add."""

    candidate: Candidate
    terms: Mapping[str, float]
    beside: float


def cover(statement: str, pool: Sequence[Candidate], *, limit: int) -> list[Candidate]:
    """Return up to `limit` of `pool` that together have the most of `statement`, the best first.

    A greedy set cover: a term counts by its rarity, and less each time it is met again. Sentences
    beside good ones count a little, and so do the words that the best sentences share with others.
    Nothing is returned that has hardly any of the statement.
    """
    rest = _weighed(statement, _smallest(pool))
    chosen: list[Candidate] = []
    met: Counter[str] = Counter()
    while rest and len(chosen) < limit:
        worth = [_worth(one, met) for one in rest]
        best = rest[worth.index(max(worth))]
        chosen.append(best.candidate)
        met.update(best.terms.keys())
        rest = [one for one in rest if not overlaps(one.candidate, best.candidate)]
    return chosen


def _worth(one: _Sentence, met: Mapping[str, int]) -> float:
    fresh = sum(weight * _AGAIN ** met.get(term, 0) for term, weight in one.terms.items())
    return round(fresh + one.beside, 9)


def _smallest(pool: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates in reading order, without those that hold another one whole."""
    ordered = sorted(pool, key=lambda c: (c.passage.source_id, c.start, -c.end), reverse=True)
    kept: list[Candidate] = []
    for candidate in ordered:
        last = kept[-1] if kept else None
        if last is None or not overlaps(candidate, last) or candidate.end < last.end:
            kept.append(candidate)
    return [one for one in reversed(kept) if not one.is_ordering]


def _weighed(statement: str, sentences: Sequence[Candidate]) -> list[_Sentence]:
    bodies = [term_counts(one.text) for one in sentences]
    having = Counter(term for body in bodies for term in body)
    mean = max(1.0, sum(body.total() for body in bodies) / max(1, len(bodies)))
    norms = [_K1 * (1 - _B + _B * body.total() / mean) for body in bodies]

    def rarity(term: str) -> float:
        return math.log(1 + (len(bodies) - having[term] + 0.5) / (having[term] + 0.5))

    wanted = {
        term: rarity(term) * (_NUMBER if _DIGIT.search(term) else 1.0)
        for term in term_counts(statement)
    }
    met = [_met(wanted, body, norm) for body, norm in zip(bodies, norms, strict=True)]
    base = [sum(terms.values()) for terms in met]
    best = sorted(range(len(base)), key=lambda place: (-base[place], place))[:_LENDERS]
    lent = Counter(term for place in best for term in bodies[place] if term not in wanted)
    offered = {term: rarity(term) * count for term, count in lent.items()}
    taken = sorted(offered, key=lambda term: (-offered[term], term))[:_LENT_TERMS]
    extra = {term: _LENT * rarity(term) for term in taken}
    found = []
    least = _BEARS * sum(wanted.values())
    for place, one in enumerate(sentences):
        if sum(wanted[term] for term in met[place]) < least:
            continue
        added = {} if place in best else _met(extra, bodies[place], norms[place])
        beside = _BESIDE * sum(base[other] for other in _neighbours(sentences, place))
        found.append(_Sentence(one, {**met[place], **added}, beside))
    return found


def _met(weights: Mapping[str, float], body: Mapping[str, int], norm: float) -> dict[str, float]:
    return {
        term: weight * body[term] * (_K1 + 1) / (body[term] + norm)
        for term, weight in weights.items()
        if term in body
    }


def _neighbours(sentences: Sequence[Candidate], place: int) -> list[int]:
    source = sentences[place].passage.source_id
    return [
        other
        for other in (place - 1, place + 1)
        if 0 <= other < len(sentences) and sentences[other].passage.source_id == source
    ]
