"""How well each candidate answers a need: its words, its subject, its sort of answer, its form."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from adapters.models.extractive.answers import Expected, holds_answer, stands_for
from adapters.models.extractive.asking import Manner
from adapters.models.extractive.editions import superseded
from adapters.models.extractive.focus import Focus, focus_on
from adapters.models.extractive.form import form_factor, is_code
from adapters.models.extractive.needs import Need
from adapters.models.extractive.pool import Candidate, widened
from adapters.models.extractive.subject import Sources
from adapters.models.extractive.terms import Term, matches, stem, stems
from adapters.search.ranking import rank_passages
from state.values.orders import gives_orders

_CONTRAST = re.compile(
    r"\b(?:similar to|unlike|whereas|differ\w*|instead of|compared (?:to|with)|rather than|"
    r"in contrast|anders als|im gegensatz|contrairement)\b",
    re.IGNORECASE,
)
_BORN = stem("born")
_LIFE = re.compile(
    r"\((?:[^()]{0,40}[;,]\s)?\s*(?:born\b|\*|(?:\d{1,2}\s+)?[^\W\d_]*\s?(?:\d{1,2},\s)?\d{4}\b[^()]{0,80}[–−-])"
)
ANCHOR = 0.6
STATED = 0.5
_WORTH_WIDENING = 8
_PASSAGE = 0.3  # what it counts that the whole passage is the best one
_NEAR = 0.6  # what a word counts that only the heading, title or file name has
_DEFINED = 0.5  # what it counts that a quote says what the subject is
_ASKED = 0.2  # … that it has what is asked of the subject
_OWN_SOURCE = 0.08  # … that its source is named after the subject
_SHOWN = 0.25  # … that it shows the way as code, where that is asked for
_ELSEWHERE = 0.85  # what is left where the subject may be another
_CONTRASTED = 0.3  # … that it sets the thing against the one it is to be compared with
_OLD = 0.8  # what is left where a newer edition of the source was read
_UNSAID = 0.3  # what a quote has of its own that answers with the question's word of measure alone
_K1, _B = 1.2, 0.75


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate as it stands for one need. `own` and `within` are shares of the terms' weight.

    `relation` is the share of what is asked of the subject that the text and its heading have; for
    a definition, how far the text gives one. `answers` tells whether it is about the subject and
    holds the sort of answer, `holds` the latter alone.
    """

    candidate: Candidate
    score: float
    own: float
    within: float
    met: frozenset[str]
    answers: bool
    relation: float = 1.0
    holds: bool = False

    @property
    def order(self) -> tuple[bool, float]:
        """Return the key that sorts the best first: answers to most of the need, then by score."""
        return not (self.answers and self.within >= ANCHOR), -self.score


@dataclass(slots=True)
class _Met:
    """What a candidate has of a need's terms: sums of weights, and the stems that are met."""

    own: float = 0.0
    within: float = 0.0
    ranked: float = 0.0
    ceiling: float = 0.0
    met: set[str] = field(default_factory=set)

    def add(self, term: Term, *, own: float, ranked: float) -> None:
        """Count a term as met, with the share of it that the text itself has."""
        self.own += own * term.weight
        self.within += term.weight
        self.ranked += ranked
        self.met.add(term.stem)


class Weigher:
    """Scores candidates for needs; holds the statistics of one pool of candidates."""

    def __init__(self, pool: Sequence[Candidate]) -> None:
        self._pool = pool
        sets = {id(s): s for c in pool for s in (c.stems, c.near, c.far)}  # most are shared
        self._vocabulary = frozenset().union(*sets.values())
        self._mean = sum(c.length for c in pool) / len(pool) if pool else 1.0
        self._sources = Sources(pool)

    def focus(self, need: Need) -> Focus:
        """Return what `need` is about, as far as this pool tells."""
        return focus_on(need, self._sources)

    def rank(self, focus: Focus) -> list[Scored]:
        """Return the candidates that touch the need, best first; ties stay in reading order.

        With a firm subject, none that is not about it.
        """
        need = focus.need
        forms = {t.stem: matches(t.stem, self._vocabulary) for t in (*need.terms, *need.helpful)}
        if focus.subject and focus.is_firm:
            names = zip(focus.subject.terms, focus.subject.forms, strict=True)
            forms.update({term.stem: form for term, form in names})
        rarity = {term: self._rarity(found) for term, found in forms.items()}
        about = self._passage_ranks(need)
        old = superseded((c.passage for c in self._pool), need.question)

        def weigh(candidate: Candidate) -> Scored:
            scored = self._score(candidate, focus, forms, rarity)
            bonus = _PASSAGE * about.get(_passage_of(candidate), 0.0) if scored.score > 0 else 0.0
            bonus *= form_factor(candidate, focus) if focus.is_firm else 1.0
            age = _OLD if candidate.passage.source_id in old else 1.0
            return replace(scored, score=(scored.score + bonus) * age)

        kept = [item for item in map(weigh, self._pool) if item.score > 0]
        kept.sort(key=lambda item: -item.score)
        wanted = [term.stem for term in need.terms if term.is_name]
        wanted += focus.subject.stems if focus.subject else ()
        wide = [
            weigh(wider)
            for item in kept[:_WORTH_WIDENING]
            if (missing := [forms[name] for name in wanted if name in forms.keys() - item.met])
            and (wider := widened(item.candidate, missing))
        ]
        ranked = [item for item in (*wide, *kept) if self._counts(item, focus)]
        return sorted(ranked, key=lambda item: -item.score)

    def _counts(self, item: Scored, focus: Focus) -> bool:
        return item.score > 0 and not (focus.is_firm and not focus.concerns(item.candidate))

    def _passage_ranks(self, need: Need) -> dict[tuple[str, int], float]:
        """Return how well each whole passage fits, from 0 to 1 for the best."""
        passages = {_passage_of(candidate): candidate.passage for candidate in self._pool}
        scores = rank_passages(need.question, list(passages.values()))
        best = max(scores, default=0.0) or 1.0
        return {key: score / best for key, score in zip(passages, scores, strict=True)}

    def _rarity(self, forms: frozenset[str]) -> float:
        having = sum(1 for candidate in self._pool if forms & candidate.stems)
        return math.log(1 + (len(self._pool) - having + 0.5) / (having + 0.5))

    def _meet(
        self,
        candidate: Candidate,
        focus: Focus,
        forms: Mapping[str, frozenset[str]],
        rarity: Mapping[str, float],
    ) -> _Met:
        """Return which terms the candidate has: in its text, before it, or only around it."""
        found = _Met()
        is_about = focus.is_about(candidate)
        subject = focus.subject.stems if focus.subject and focus.is_firm else frozenset()
        beside = bool(subject) and not is_about and focus.concerns(candidate)
        damp = 2.2 / (1 + _K1 * (1 - _B + _B * candidate.length / max(self._mean, 1.0)))
        for term in focus.need.terms:
            wanted, worth = forms[term.stem], term.weight * rarity[term.stem]
            found.ceiling += worth * 2.2
            if wanted & candidate.stems or _is_told(term, candidate):
                found.add(term, own=1.0, ranked=worth * damp)
            elif wanted & candidate.lead:
                found.add(term, own=_NEAR, ranked=_NEAR * worth * damp)
            elif beside and term.stem in subject:
                found.within += _NEAR * term.weight
            elif wanted & candidate.near or (is_about and term.stem in subject):
                found.add(term, own=0.0, ranked=_NEAR * worth * damp)
            elif wanted & candidate.far:
                found.ranked += 0.2 * worth * damp
        return found

    def _score(
        self,
        candidate: Candidate,
        focus: Focus,
        forms: Mapping[str, frozenset[str]],
        rarity: Mapping[str, float],
    ) -> Scored:
        need, total = focus.need, focus.need.total or 1.0
        found = self._meet(candidate, focus, forms, rarity)
        defines = focus.defines(candidate) if focus.manner is Manner.DEFINE else 0.0
        holds = holds_answer(candidate.text, need.question, need.expected, list(candidate.values))
        if found.own == 0 and holds and found.within and need.implied & candidate.stems:
            found.own = _UNSAID  # "The work will cost 18,000 euro."
        if found.own == 0 and defines == 0:
            return unweighed(candidate)
        defining = focus.manner is Manner.DEFINE
        relation = defines if defining else _relation(candidate, focus, forms)
        own, within = found.own / total, found.within / total
        score = 0.45 * found.ranked / (found.ceiling or 1.0) + 0.25 * own + 0.2 * within
        score += 0.2 * holds * (need.expected is not Expected.OPEN) * within
        score += 0.05 * min(_helped(candidate, need, forms), 2) + _DEFINED * defines
        if focus.subject and focus.is_firm and focus.relation:
            score += _ASKED * relation + _OWN_SOURCE * focus.subject.is_own(candidate.passage)
        if need.compared and need.compared <= candidate.stems and _CONTRAST.search(candidate.text):
            score += _CONTRASTED
        if focus.manner is Manner.WAY and relation >= STATED and is_code(candidate.text):
            score += _SHOWN
        score *= form_factor(candidate, focus) * (1.0 if focus.is_about(candidate) else _ELSEWHERE)
        if candidate.is_ordering and not gives_orders(need.question):
            score *= 0.0 if gives_orders(candidate.text) else 0.5
        answers = holds and (not focus.is_firm or focus.concerns(candidate))
        met = frozenset(found.met)
        return Scored(candidate, score, own, within, met, answers, relation, holds)


def _is_told(term: Term, candidate: Candidate) -> bool:
    """Tell whether a value stands for the term: 18 °C for "temperature", a life span for "born"."""
    if term.stem == _BORN:
        return _LIFE.search(candidate.text) is not None
    return stands_for(term.stem, candidate.values)


def _helped(candidate: Candidate, need: Need, forms: Mapping[str, frozenset[str]]) -> int:
    known = candidate.stems | candidate.near | candidate.far
    return sum(1 for term in need.helpful if forms[term.stem] & known)


def unweighed(candidate: Candidate) -> Scored:
    """Return `candidate` as one that has nothing of what is asked."""
    return Scored(candidate, 0.0, 0.0, 0.0, frozenset(), False, 0.0)


def _relation(candidate: Candidate, focus: Focus, forms: Mapping[str, frozenset[str]]) -> float:
    """Return the share of what is asked of the subject that the text or its heading has."""
    total = sum(term.weight for term in focus.relation)
    if not total:
        return 1.0
    passage = candidate.passage
    heading = _stems_of(passage.heading) | candidate.lead
    if focus.subject and focus.subject.is_own(passage):
        heading |= _stems_of(passage.title or "")
    return (
        sum(
            term.weight
            for term in focus.relation
            if forms[term.stem] & candidate.stems
            or forms[term.stem] & heading
            or _is_told(term, candidate)
        )
        / total
    )


@lru_cache(maxsize=2048)
def _stems_of(text: str) -> frozenset[str]:
    return stems(text)


def _passage_of(candidate: Candidate) -> tuple[str, int]:
    return candidate.passage.source_id, candidate.passage.start
