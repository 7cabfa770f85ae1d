"""Which sentences answer a subquestion: relevance, sort of answer, and novelty."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from adapters.models.extractive.answers import (
    Expected,
    holds_answer,
    stands_for,
)
from adapters.models.extractive.needs import Need
from adapters.models.extractive.negation import is_negated
from adapters.models.extractive.orders import gives_orders
from adapters.models.extractive.pool import Candidate, is_near_copy, overlaps, widened
from adapters.models.extractive.terms import Term, matches
from adapters.search.ranking import rank_passages

RELEVANT = 0.5
OWN = 0.25
ANCHOR = 0.6
WHOLE = 0.75
_WORTH_WIDENING = 8
_PASSAGE = 0.3  # what it counts that the whole passage is the best one
_NEAR = 0.6  # what a word counts that only the heading, title or file name has
_K1, _B = 1.2, 0.75
_CODE = re.compile(
    r"\A\s*(?:```|~~~|>>>|\$ |#!|[\w.]+\(.*\)\s*\Z|(?:from|import|def|class|return|const|let|var) )"
    r"|\w\(\w+=|\w = |[{}]|;\s*$",
    re.MULTILINE,
)
_URL = re.compile(r"https?://\S+")
_LINK = re.compile(r"\W*(?:\[[^\]]*\]\([^)]*\)|<?https?://\S+>?)\W*")


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate as it stands for one need. `own` and `within` are shares of the terms' weight."""

    candidate: Candidate
    score: float
    own: float
    within: float
    met: frozenset[str]
    answers: bool

    @property
    def order(self) -> tuple[bool, float]:
        """Return the key that sorts the best first: answers to most of the need, then by score."""
        return not (self.answers and self.within >= ANCHOR), -self.score


class Weigher:
    """Scores candidates for needs; holds the statistics of one pool of candidates."""

    def __init__(self, pool: Sequence[Candidate]) -> None:
        self._pool = pool
        sets = {id(s): s for c in pool for s in (c.stems, c.near, c.far)}  # most are shared
        self._vocabulary = frozenset().union(*sets.values())
        self._mean = sum(c.length for c in pool) / len(pool) if pool else 1.0

    def rank(self, need: Need) -> list[Scored]:
        """Return the candidates that touch `need`, best first; ties stay in reading order."""
        forms = {t.stem: matches(t.stem, self._vocabulary) for t in (*need.terms, *need.helpful)}
        rarity = {term: self._rarity(found) for term, found in forms.items()}

        about = self._passage_ranks(need)

        def weigh(candidate: Candidate) -> Scored:
            scored = self._score(candidate, need, forms, rarity)
            bonus = _PASSAGE * about.get(_passage_of(candidate), 0.0) if scored.score > 0 else 0.0
            return replace(scored, score=scored.score + bonus)

        kept = [item for item in map(weigh, self._pool) if item.score > 0]
        kept.sort(key=lambda item: -item.score)
        names = [term.stem for term in need.terms if term.is_name]
        wide = [
            weigh(wider)
            for item in kept[:_WORTH_WIDENING]
            if (missing := [forms[name] for name in names if name not in item.met])
            and (wider := widened(item.candidate, missing))
        ]
        return sorted([*wide, *kept], key=lambda item: -item.score)

    def _passage_ranks(self, need: Need) -> dict[tuple[str, int], float]:
        """Return how well each whole passage fits, from 0 to 1 for the best."""
        passages = {_passage_of(candidate): candidate.passage for candidate in self._pool}
        scores = rank_passages(need.question, list(passages.values()))
        best = max(scores, default=0.0) or 1.0
        return {key: score / best for key, score in zip(passages, scores, strict=True)}

    def _rarity(self, forms: frozenset[str]) -> float:
        having = sum(1 for candidate in self._pool if forms & candidate.stems)
        return math.log(1 + (len(self._pool) - having + 0.5) / (having + 0.5))

    def _score(
        self,
        candidate: Candidate,
        need: Need,
        forms: Mapping[str, frozenset[str]],
        rarity: Mapping[str, float],
    ) -> Scored:
        own = within = ranked = ceiling = 0.0
        met = set()
        damp = 2.2 / (1 + _K1 * (1 - _B + _B * candidate.length / max(self._mean, 1.0)))
        for term in need.terms:
            wanted = forms[term.stem]
            ceiling += term.weight * rarity[term.stem] * 2.2
            if wanted & candidate.stems or stands_for(term.stem, candidate.values):
                own += term.weight
                within += term.weight
                ranked += term.weight * rarity[term.stem] * damp
                met.add(term.stem)
            elif wanted & candidate.near:
                within += term.weight
                ranked += _NEAR * term.weight * rarity[term.stem] * damp
                met.add(term.stem)
            elif wanted & candidate.far:
                ranked += 0.2 * term.weight * rarity[term.stem] * damp
        if own == 0:
            return Scored(candidate, 0.0, 0.0, 0.0, frozenset(), False)
        helped = sum(
            1
            for term in need.helpful
            if forms[term.stem] & (candidate.stems | candidate.near | candidate.far)
        )
        total = need.total or 1.0
        answers = holds_answer(candidate.text, need.question, need.expected, list(candidate.values))
        score = 0.45 * ranked / (ceiling or 1.0) + 0.25 * own / total + 0.2 * within / total
        score += 0.2 * answers * (need.expected is not Expected.OPEN) * within / total
        score += 0.05 * min(helped, 2)
        score *= _form_factor(candidate)
        if candidate.is_ordering and not gives_orders(need.question):
            score *= 0.0 if gives_orders(candidate.text) else 0.5
        return Scored(candidate, score, own / total, within / total, frozenset(met), answers)


def _passage_of(candidate: Candidate) -> tuple[str, int]:
    return candidate.passage.source_id, candidate.passage.start


def _form_factor(candidate: Candidate) -> float:
    """Return how fit the form is for a quote: questions, headings, code and links say little."""
    text = candidate.text
    if text.endswith(("?", "？")):
        return 0.35
    if text.endswith((":", "：")) or text.startswith("#") or _LINK.fullmatch(text):
        return 0.5
    if candidate.length < 4 and text[-1:] not in ".!。！;|":
        return 0.5
    if _CODE.search(text) or sum(map(len, _URL.findall(text))) > 0.4 * len(text):
        return 0.6
    return 1.0 if candidate.length >= 3 else 0.8


def choose(
    ranked: Sequence[Scored], need: Need, *, limit: int, two_sources: bool = False
) -> list[Scored]:
    """Return up to `limit` of `ranked` by maximal marginal relevance, the best first.

    Stops where what is left is off the point or adds neither a term nor a second voice.
    """
    usable = [item for item in ranked if _is_usable(item, need)][:60]
    chosen: list[Scored] = []
    met: set[str] = set()
    while usable and len(chosen) < limit:
        if chosen:
            best = max(usable, key=lambda item: _marginal(item, chosen, met))
            if _marginal(best, chosen, met) < 0.55 * chosen[0].score:
                break
        else:
            best = min(usable, key=lambda item: item.order)
        chosen.append(best)
        met |= best.met
        usable = [
            item
            for item in usable
            if not overlaps(item.candidate, best.candidate)
            and not is_near_copy(item.candidate, best.candidate)
        ]
    if two_sources and chosen:
        chosen = _with_second_voice(chosen, ranked, limit)
    return chosen


def _is_usable(item: Scored, need: Need) -> bool:
    topic = [term for term in need.terms if term.weight >= 1 and not term.is_name]
    carrying = any(term.stem in item.met for term in topic or need.terms)
    total = need.total or 1.0
    relevant = item.within > min(RELEVANT, 1.6 / total)  # a long question is met in parts
    return carrying and relevant and item.own >= min(OWN, 0.9 / total)


def _marginal(item: Scored, chosen: Sequence[Scored], met: set[str]) -> float:
    closest = max(_likeness(item.candidate, other.candidate) for other in chosen)
    fresh = 0.1 * len(item.met - met)
    elsewhere = all(
        item.candidate.passage.locator != other.candidate.passage.locator for other in chosen
    )
    return item.score * (1 - 0.4 * closest) + fresh + 0.05 * elsewhere


def _likeness(a: Candidate, b: Candidate) -> float:
    if a.numbers != b.numbers or is_negated(a.text) != is_negated(b.text):
        return 0.0
    return len(a.stems & b.stems) / (len(a.stems | b.stems) or 1)


def _with_second_voice(chosen: list[Scored], ranked: Sequence[Scored], limit: int) -> list[Scored]:
    locators = {item.candidate.passage.locator for item in chosen}
    if len(locators) > 1:
        return chosen
    for item in ranked:
        is_other = item.candidate.passage.locator not in locators
        copied = any(is_near_copy(item.candidate, other.candidate) for other in chosen)
        if is_other and not copied and item.within >= ANCHOR and item.answers:
            return [*chosen[: max(1, limit - 1)], item][:limit]
    return chosen


@dataclass(frozen=True, slots=True)
class Reach:
    """How far quotes answer a need: whether they do, what they leave out, and why not."""

    is_covered: bool
    uncovered: tuple[Term, ...]
    lacks_answer: bool


def reach(chosen: Iterable[Scored], need: Need) -> Reach:
    """Return how far `chosen` covers `need`.

    Covered: one quote holds the sort of answer and ≥60 % of the terms' weight with every name, and
    all quotes together hold ≥75 %.
    """
    chosen = list(chosen)
    met = frozenset().union(*(item.met for item in chosen))
    names = {term.stem for term in need.terms if term.is_name}
    anchors = [item for item in chosen if item.within >= ANCHOR and names <= item.met]
    share = sum(term.weight for term in need.terms if term.stem in met) / (need.total or 1.0)
    uncovered = tuple(term for term in need.terms if term.stem not in met)
    answered = any(item.answers for item in anchors)
    covered = answered and share >= WHOLE
    if not covered and not uncovered and not anchors:
        uncovered = tuple(t for t in need.terms if t.stem not in chosen[0].met) if chosen else ()
    return Reach(covered, uncovered, bool(anchors) and not answered)
