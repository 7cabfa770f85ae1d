"""One round's judgement: which quotes are kept, what they cover, what is missing, what clashes."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from adapters.models.extractive.conflict import Clash, find_clashes
from adapters.models.extractive.cover import cover, is_statement
from adapters.models.extractive.focus import Focus
from adapters.models.extractive.gaps import tell_alone, tell_gap
from adapters.models.extractive.names import next_query
from adapters.models.extractive.needs import Need, need_of
from adapters.models.extractive.pool import Candidate, candidates, held_candidates, overlaps
from adapters.models.extractive.select import choose, reach
from adapters.models.extractive.weigh import ANCHOR, Scored, Weigher, unweighed
from adapters.models.port import AssessInput, Assessment
from state.values.evidence import Conflict, Coverage, CoverageRow

MAX_MISSING = 5
MAX_CONFLICTS = 5
_EACH = 4
_HELD_BONUS = 0.05
_LOOKED_AT = 14


@dataclass(frozen=True, slots=True)
class Finding:
    """What one subquestion got out of the pool."""

    focus: Focus
    chosen: tuple[Scored, ...]
    clashes: tuple[Clash, ...]


def assess(given: AssessInput) -> Assessment:
    """Return the whole selection over held and new text, with one row a subquestion."""
    pool = candidates(given.passages)
    findings = [_find(given, need_of(sub), pool) for sub in given.plan.subquestions]
    findings = findings if given.per_subquestion else _shared_out(findings, given.max_evidence)
    rows: list[CoverageRow] = []
    conflicts: list[Conflict] = []
    missing: list[str] = []
    asked = list(given.used_queries)
    for finding in findings:
        own = _conflicts(finding)[: MAX_CONFLICTS - len(conflicts)]
        row = _row(given, finding, pool, asked, is_conflict=bool(own))
        conflicts.extend(own)
        rows.append(row)
        asked.append(row.next_query)
        missing.extend([row.gap] if row.gap else [])
    selected = tuple(
        item.candidate.selected_for(finding.focus.need.subquestion.id)
        for finding in findings
        for item in finding.chosen
    )
    return Assessment(selected, tuple(rows), tuple(missing[:MAX_MISSING]), tuple(conflicts))


def _find(given: AssessInput, need: Need, pool: Sequence[Candidate]) -> Finding:
    mine = [item for item in given.held if item.subquestion_id == need.subquestion.id]
    held = {candidate.place: candidate for candidate in held_candidates(mine)}
    read = {candidate.place: candidate for candidate in pool}  # these know what is around them
    kept = [read.get(place, candidate) for place, candidate in held.items()]
    everything = [*kept, *(c for c in pool if c.place not in held)]
    weigher = Weigher(everything)
    focus = weigher.focus(need)
    ranked = [_favoured(item, held) for item in weigher.rank(focus)]
    ranked.sort(key=lambda item: -item.score)
    limit = given.max_evidence if given.per_subquestion else min(_EACH, given.max_evidence)
    if is_statement(need.subquestion.question):
        weighed = {item.candidate.place: item for item in ranked}
        found = cover(need.subquestion.question, everything, limit=limit)
        chosen = [weighed.get(one.place) or unweighed(one) for one in found]
        clashes = find_clashes(chosen, need)
        return Finding(focus, *_with_both_sides(chosen, clashes, limit, key=chosen.index))
    chosen = choose(
        ranked,
        focus,
        limit=limit,
        two_sources=given.cross_check,
        every_source=given.per_subquestion,
    )
    clashes = find_clashes(_worth_comparing(ranked, chosen), need)
    return Finding(focus, *_with_both_sides(chosen, clashes, limit, key=lambda item: item.order))


def _favoured(item: Scored, held: Iterable[tuple[str, int, int]]) -> Scored:
    if item.score > 0 and item.candidate.place in held:
        return replace(item, score=item.score + _HELD_BONUS)
    return item


def _worth_comparing(ranked: Sequence[Scored], chosen: Sequence[Scored]) -> list[Scored]:
    near = [item for item in ranked if item.within >= ANCHOR and item.answers][:_LOOKED_AT]
    return [*chosen, *(item for item in near if item not in chosen)]


def _with_both_sides(
    chosen: Sequence[Scored],
    clashes: Sequence[Clash],
    limit: int,
    *,
    key: Callable[[Scored], Any],
) -> tuple[tuple[Scored, ...], tuple[Clash, ...]]:
    """Keep both sides of the clashes that touch a chosen quote, then the rest; sorted by `key`."""
    kept = list(chosen)
    told: list[Clash] = []
    sides: list[Scored] = []
    for clash in clashes:
        if clash.first not in kept and clash.second not in kept:
            continue
        wanted = [side for side in (clash.first, clash.second) if side not in sides]
        if len(sides) + len(wanted) > limit or limit < 2:
            break
        if any(overlaps(new.candidate, side.candidate) for new in wanted for side in sides):
            continue  # told already, of the sentence alone
        sides.extend(wanted)
        told.append(clash)
    rest = [
        item
        for item in kept
        if not any(item is side or overlaps(item.candidate, side.candidate) for side in sides)
    ][: max(0, limit - len(sides))]
    order = sorted([*sides, *rest], key=key)
    return tuple(order), tuple(told)


def _shared_out(findings: Sequence[Finding], limit: int) -> list[Finding]:
    """Let the findings take turns, conflicts' sides first, until `limit` quotes are given out."""
    queues = [_by_need(finding) for finding in findings]
    turns = [item for turn in zip_longest(*queues) for item in enumerate(turn) if item[1]]
    given_out = turns[:limit]
    return [
        _only(finding, [item for at, item in given_out if at == place])
        for place, finding in enumerate(findings)
    ]


def _by_need(finding: Finding) -> list[Scored]:
    sides = [side for clash in finding.clashes for side in (clash.first, clash.second)]
    best = finding.chosen[:1]
    order = [*sides, *finding.chosen] if sides else [*best, *finding.chosen]
    return list(dict.fromkeys(order))


def _only(finding: Finding, kept: Sequence[Scored]) -> Finding:
    chosen = tuple(item for item in finding.chosen if item in kept)
    clashes = tuple(c for c in finding.clashes if c.first in chosen and c.second in chosen)
    return replace(finding, chosen=chosen, clashes=clashes)


def _conflicts(finding: Finding) -> list[Conflict]:
    """Return the finding's conflicts, each difference once."""
    told: dict[str, Conflict] = {}
    key = finding.focus.need.subquestion.id
    for clash in finding.clashes:
        ids = tuple(side.candidate.selected_for(key).id for side in (clash.first, clash.second))
        mirrored = " against ".join(reversed(clash.difference.split(" against ")))
        if mirrored not in told:
            told.setdefault(clash.difference, Conflict(key, ids, clash.difference))
    return list(told.values())


def _row(
    given: AssessInput,
    finding: Finding,
    pool: Sequence[Candidate],
    asked: Sequence[str],
    *,
    is_conflict: bool,
) -> CoverageRow:
    focus, need = finding.focus, finding.focus.need
    items = tuple(item.candidate.selected_for(need.subquestion.id) for item in finding.chosen)
    ids = tuple(item.id for item in items)
    if is_conflict:
        return CoverageRow(need.subquestion.id, Coverage.CONFLICT, ids)
    reached = reach(finding.chosen, focus)
    voices = {item.candidate.passage.locator for item in finding.chosen if item.answers}
    alone = given.cross_check and len(voices) < 2
    if reached.is_covered and not alone:
        return CoverageRow(need.subquestion.id, Coverage.COVERED, ids)
    uncovered = reached.uncovered or focus.relation or need.terms
    known = [*(item.candidate for item in finding.chosen), *pool]
    query = next_query(known, focus, uncovered, asked)
    gap = tell_alone(need, items) if reached.is_covered else tell_gap(focus, reached, items, pool)
    return CoverageRow(need.subquestion.id, Coverage.GAP, ids, gap, query)
