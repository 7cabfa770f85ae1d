"""Which of the weighed sentences are chosen: relevance and novelty, and how far they reach."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from adapters.models.extractive.answers import Expected
from adapters.models.extractive.asking import Manner
from adapters.models.extractive.focus import Focus
from adapters.models.extractive.form import is_code
from adapters.models.extractive.negation import is_negated
from adapters.models.extractive.pool import Candidate, is_near_copy, overlaps
from adapters.models.extractive.terms import Term
from adapters.models.extractive.voices import are_copies, are_versions
from adapters.models.extractive.weigh import ANCHOR, STATED, Scored

_THIS = re.compile(
    r"(?:This|That|The above|The command|Dies|Das)\s+(?:\w+\s+)?(?:will|command|install|run|create|"
    r"start|add|set|give|print|show|build|wird)", re.IGNORECASE,
)  # fmt: skip
RELEVANT = 0.5
OWN = 0.25
WHOLE = 0.75
ASKED = 0.3
FLOOR = 0.55  # of the best one's score, below which nothing more is chosen
_LOOSE_FLOOR = 0.45  # … where nothing says for sure what the question is about
_OTHER_SOURCE, _LOOSE_OTHER_SOURCE = 0.05, 0.25  # what a second source counts


def choose(
    ranked: Sequence[Scored],
    focus: Focus,
    *,
    limit: int,
    two_sources: bool = False,
    every_source: bool = False,
) -> list[Scored]:
    """Return up to `limit` of `ranked` by maximal marginal relevance, the best first.

    Stops where what is left is off the point or adds neither a term nor a second voice. With
    `every_source` the best answer of each source follows, since a name may stand for several
    things and each source be right about its own.
    """
    usable = [item for item in ranked if _is_usable(item, focus)][:60]
    if focus.is_firm and focus.need.expected is not Expected.OPEN:
        usable = [item for item in usable if item.answers and item.within >= ANCHOR] or usable
    floor = FLOOR if focus.is_firm else _LOOSE_FLOOR
    voice = _OTHER_SOURCE if focus.is_firm else _LOOSE_OTHER_SOURCE
    chosen: list[Scored] = []
    met: set[str] = set()
    while usable and len(chosen) < limit:
        if chosen:
            worth = [_marginal(item, chosen, met, voice) for item in usable]
            if max(worth) < floor * chosen[0].score:
                break
            best = usable[worth.index(max(worth))]
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
    if every_source:
        chosen = _with_every_source(chosen, ranked, focus)[:limit]
    if focus.manner is Manner.WAY:
        chosen = _with_lead_ins(chosen, ranked)[:limit]
    if two_sources and chosen:
        chosen = _with_second_voice(chosen, ranked, limit)
    return chosen


def _with_every_source(
    chosen: Sequence[Scored], ranked: Sequence[Scored], focus: Focus
) -> list[Scored]:
    """Return `chosen`, and of each other source its best answer; of altered copies the likelier."""
    defining = focus.manner is Manner.DEFINE
    found: list[Scored] = []
    places = {item.candidate.place for item in chosen}
    for item in (*chosen, *(o for o in ranked if o.candidate.place not in places)):
        told = item.relation >= STATED if defining else item.answers and item.within >= ANCHOR
        if item not in chosen and not told:
            continue
        copy = next((other for other in found if _are_altered(item, other)), None)
        if copy is not None:
            if _votes(item, copy, ranked) > _votes(copy, item, ranked):
                found[found.index(copy)] = item
        elif item in chosen or not any(_repeats(item, other) for other in found):
            found.append(item)
    return found


def _repeats(one: Scored, other: Scored) -> bool:
    same = one.candidate.passage.source_id == other.candidate.passage.source_id
    return same or is_near_copy(one.candidate, other.candidate)


def _are_altered(one: Scored, other: Scored) -> bool:
    """Tell whether two sentences differ that stand in two versions of one text."""
    a, b = one.candidate, other.candidate
    if a.passage.source_id == b.passage.source_id or a.text == b.text:
        return False
    texts = a.passage.text, b.passage.text
    return are_versions(*texts) and are_copies(*texts)


def _votes(one: Scored, other: Scored, ranked: Sequence[Scored]) -> int:
    """Return how many other sources have the words that `one` has and `other` has not."""
    own = one.candidate.stems - other.candidate.stems
    mine = {one.candidate.passage.source_id, other.candidate.passage.source_id}
    known = {item.candidate.passage.source_id: item.candidate.far for item in ranked}
    return sum(bool(own) and own <= known[key] for key in known.keys() - mine)


def _with_lead_ins(chosen: Sequence[Scored], ranked: Sequence[Scored]) -> list[Scored]:
    """Return `chosen`, each code followed by the sentence that leads into it.

    What says what "this" does is followed by the code before it.
    """
    found: dict[Scored, None] = {}
    for item in chosen:
        found[item] = None
        if item.candidate.lead:
            beside = (o for o in ranked if _stands_before(o, item))
            wanted = (o for o in beside if o.candidate.text.endswith((":", "：")))
        elif _THIS.match(item.candidate.text):
            wanted = (o for o in ranked if _stands_before(o, item) and is_code(o.candidate.text))
        else:
            continue
        found.update(dict.fromkeys(islice(wanted, 1)))
    return list(found)


def _stands_before(one: Scored, other: Scored) -> bool:
    before, after = one.candidate.passage, other.candidate.passage
    return before.source_id == after.source_id and before.paragraph + 1 == after.paragraph


def _is_usable(item: Scored, focus: Focus) -> bool:
    need = focus.need
    if focus.manner is Manner.DEFINE:
        return item.relation >= ASKED
    topic = [term for term in need.terms if term.weight >= 1 and not term.is_name]
    carrying = any(term.stem in item.met for term in topic or need.terms)
    total = need.total or 1.0
    relevant = item.within > min(RELEVANT, 1.6 / total)  # a long question is met in parts
    told = item.own >= min(OWN, 0.9 / total) or (item.own > 0 and _is_of_its_own(item, focus))
    return carrying and relevant and told and _is_asked(item, focus)


def _is_of_its_own(item: Scored, focus: Focus) -> bool:
    """Tell whether the source bears the subject as its name, so that quotes can leave it unsaid."""
    named = focus.subject is not None and focus.subject.is_own(item.candidate.passage)
    return named and focus.is_firm and item.within >= WHOLE


def _is_asked(item: Scored, focus: Focus) -> bool:
    """Tell whether the quote bears on what is asked of a firm subject, not only on the subject."""
    if not focus.is_firm:
        return True
    told = focus.is_proper and focus.defines(item.candidate) >= STATED
    if item.answers or focus.need.expected is Expected.OPEN:
        return not focus.relation or item.relation >= ASKED or told
    return bool(focus.relation) and item.relation >= WHOLE


def _marginal(item: Scored, chosen: Sequence[Scored], met: set[str], voice: float) -> float:
    closest = max(_likeness(item.candidate, other.candidate) for other in chosen)
    fresh = 0.1 * len(item.met - met)
    elsewhere = all(
        item.candidate.passage.locator != other.candidate.passage.locator for other in chosen
    )
    return item.score * (1 - 0.4 * closest) + fresh + voice * elsewhere


def _likeness(a: Candidate, b: Candidate) -> float:
    if a.numbers != b.numbers or is_negated(a.text) != is_negated(b.text):
        return 0.0
    return len(a.stems & b.stems) / (len(a.stems | b.stems) or 1)


def _with_second_voice(chosen: list[Scored], ranked: Sequence[Scored], limit: int) -> list[Scored]:
    """Return `chosen` with one answer of another source whose text is no copy.

    That two sources say it in much the same words makes none a copy: short facts are told alike.
    """
    locators = {item.candidate.passage.locator for item in chosen}
    if len(locators) > 1:
        return chosen
    for item in ranked:
        is_other = item.candidate.passage.locator not in locators
        text = item.candidate.passage.text
        copied = any(are_copies(text, other.candidate.passage.text) for other in chosen)
        if is_other and not copied and item.within >= ANCHOR and item.answers:
            return [*chosen[: max(1, limit - 1)], item][:limit]
    return chosen


@dataclass(frozen=True, slots=True)
class Reach:
    """How far quotes answer a need: whether they do, what they leave out, and why not."""

    is_covered: bool
    uncovered: tuple[Term, ...]
    lacks_answer: bool


def reach(chosen: Iterable[Scored], focus: Focus) -> Reach:
    """Return how far `chosen` covers the need.

    Covered: one quote is about the subject, holds the sort of answer, half of what is asked of the
    subject and ≥60 % of the terms' weight with every name, and all quotes together hold ≥75 %.
    """
    chosen, need = list(chosen), focus.need
    met = frozenset().union(*(item.met for item in chosen))
    names = {term.stem for term in need.terms if term.is_name}
    anchors = [item for item in chosen if item.within >= ANCHOR and names <= item.met]
    share = sum(term.weight for term in need.terms if term.stem in met) / (need.total or 1.0)
    uncovered = tuple(term for term in need.terms if term.stem not in met)
    if need.expected is Expected.REASON:  # a reason is one for nothing but what stands beside it
        anchors = [item for item in anchors if item.within >= WHOLE]
    answered = any(item.answers for item in anchors)
    stated = any(item.answers and item.relation >= STATED for item in anchors)
    covered = stated and share >= WHOLE
    if not covered and not uncovered and not anchors:
        uncovered = tuple(t for t in need.terms if t.stem not in chosen[0].met) if chosen else ()
    lacking = not answered and not any(item.holds for item in chosen)
    return Reach(covered, uncovered, bool(anchors) and lacking)
