"""What may follow what in the method of a research run: plan, rounds, evidence, claims.

Pure: same research and event, same answer. Every rule that is broken raises `Refused` with a code.
"""

from state.copying import replace
from state.errors import Refused
from state.method_events import (
    RecordedConflict,
    RecordedRow,
    ResearchClaimRecorded,
    ResearchCoverageAssessed,
    ResearchEvidenceAccepted,
    ResearchPlanRecorded,
    ResearchReadingFrozen,
    ResearchScheduleFrozen,
    ResearchSourceSkipped,
    ResearchStopDecided,
    ResearchVerdictRecorded,
)
from state.research_state import Research, refuse_unless
from state.values.errors import RejectedError
from state.values.evidence import Coverage
from state.values.plan import check_plan

MethodEvent = (
    ResearchPlanRecorded
    | ResearchScheduleFrozen
    | ResearchReadingFrozen
    | ResearchSourceSkipped
    | ResearchEvidenceAccepted
    | ResearchCoverageAssessed
    | ResearchStopDecided
    | ResearchClaimRecorded
    | ResearchVerdictRecorded
)


def evolve_method(research: Research, event: MethodEvent) -> Research:
    """Return the research after `event`; raises `Refused` when its rules do not allow it."""
    match event:
        case ResearchPlanRecorded():
            return _plan(research, event)
        case ResearchScheduleFrozen():
            return _schedule(research, event)
        case ResearchReadingFrozen():
            return _reading(research, event)
        case ResearchSourceSkipped():
            _require_round(research, event.round)
            return replace(research, skipped=(*research.skipped, event))
        case ResearchEvidenceAccepted():
            return _evidence(research, event)
        case ResearchCoverageAssessed():
            return _coverage(research, event)
        case ResearchStopDecided():
            return _stop(research, event)
        case ResearchClaimRecorded():
            return _claim(research, event)
        case ResearchVerdictRecorded():
            return _verdict(research, event)


def _plan(research: Research, event: ResearchPlanRecorded) -> Research:
    expected = research.plan.version + 1 if research.plan else 1
    refuse_unless(
        event.version == expected,
        "PLAN_VERSION",
        f"the next version of the plan is {expected}, not {event.version}",
    )
    refuse_unless(
        not research.schedules and research.stop is None,
        "PLAN_FROZEN",
        "rounds have begun; the plan stands",
    )
    try:
        check_plan(event.plan)
    except RejectedError as error:
        raise Refused(error.message, code="PLAN") from error
    return replace(research, plan=event)


def _schedule(research: Research, event: ResearchScheduleFrozen) -> Research:
    plan, budgets = research.plan, research.started.request.budgets
    if plan is None or plan.clarification:
        raise Refused("there is no plan to schedule", code="NO_PLAN")
    refuse_unless(research.stop is None, "STOPPED", "the rounds have ended")
    expected = len(research.schedules) + 1
    refuse_unless(
        event.round == expected, "ROUND_ORDER", f"the next round is {expected}, not {event.round}"
    )
    refuse_unless(
        research.assessed_round == expected - 1,
        "ROUND_ORDER",
        f"round {expected - 1} is not assessed yet",
    )
    refuse_unless(
        event.round <= budgets.max_rounds, "LIMIT", f"at most {budgets.max_rounds} rounds are made"
    )
    refuse_unless(
        len(event.queries) <= budgets.max_queries,
        "LIMIT",
        f"a round makes at most {budgets.max_queries} searches",
    )
    for entry in event.queries:
        _require_subquestion(research, entry.subquestion_id)
    return replace(research, schedules=research.schedules.set(event.round, event))


def _reading(research: Research, event: ResearchReadingFrozen) -> Research:
    refuse_unless(
        event.round in research.schedules and event.round not in research.readings,
        "ROUND_ORDER",
        f"round {event.round} has no searches yet, or already knows what it reads",
    )
    limit = research.started.request.budgets.max_pages
    refuse_unless(len(event.locators) <= limit, "LIMIT", f"a round reads at most {limit} pages")
    return replace(research, readings=research.readings.set(event.round, event))


def _evidence(research: Research, event: ResearchEvidenceAccepted) -> Research:
    _require_round(research, event.round)
    _require_subquestion(research, event.subquestion_id)
    _require_in_archive(research, event)
    before = research.evidence.get(event.evidence_id)
    if before is not None:
        refuse_unless(
            (before.subquestion_id, before.quote, before.quote_hash)
            == (event.subquestion_id, event.quote, event.quote_hash),
            "DUPLICATE_EVIDENCE",
            f"evidence {event.evidence_id!r} is another quote",
        )
        return research
    return replace(
        research,
        evidence=research.evidence.set(event.evidence_id, event),
        evidence_order=(*research.evidence_order, event.evidence_id),
    )


def _require_in_archive(research: Research, event: ResearchEvidenceAccepted) -> None:
    quote = event.quote
    source = research.artifacts.get(quote.source_id)
    if source is None or source.rendition is None:
        raise Refused(
            f"evidence quotes {quote.source_id!r}, which is no readable source of this run",
            code="UNKNOWN_ARTIFACT",
        )
    text = source.rendition
    refuse_unless(
        (text.text_hash, text.extractor, text.extractor_version)
        == (quote.text_hash, quote.extractor, quote.extractor_version)
        and quote.end <= text.characters,
        "QUOTE_RANGE",
        f"the quote does not lie within the archived text of {quote.source_id!r}",
    )


def _coverage(research: Research, event: ResearchCoverageAssessed) -> Research:
    refuse_unless(
        event.round in research.readings and event.round == research.assessed_round + 1,
        "ROUND_ORDER",
        f"round {event.round} has read nothing yet, or is assessed already",
    )
    planned = [] if research.plan is None else [s.id for s in research.plan.subquestions]
    refuse_unless(
        [row.subquestion_id for row in event.rows] == planned,
        "COVERAGE_ROWS",
        f"coverage has exactly one row for each of {planned}, in order",
    )
    for row in event.rows:
        _require_evidence(research, row.evidence_ids, row.subquestion_id)
        _require_shown(row, event.conflicts)
    for conflict in event.conflicts:
        _require_evidence(research, conflict.evidence_ids, conflict.subquestion_id)
        sources = {research.evidence[id_].quote.source_id for id_ in conflict.evidence_ids}
        refuse_unless(len(sources) > 1, "CONFLICT_SOURCES", "a conflict needs two sources")
    return replace(
        research,
        rows=event.rows,
        missing=event.missing,
        conflicts=event.conflicts,
        assessed_round=event.round,
        new_evidence=event.new_evidence,
    )


def _require_shown(row: RecordedRow, conflicts: tuple[RecordedConflict, ...]) -> None:
    disputed = any(conflict.subquestion_id == row.subquestion_id for conflict in conflicts)
    shown = {
        Coverage.COVERED: bool(row.evidence_ids) and not row.gap,
        Coverage.CONFLICT: disputed and not row.gap,
        Coverage.GAP: True,
    }
    refuse_unless(
        shown[row.coverage],
        "COVERAGE_ROWS",
        f"{row.subquestion_id}: covered needs evidence and no gap, conflict a recorded conflict",
    )


def _stop(research: Research, event: ResearchStopDecided) -> Research:
    refuse_unless(research.stop is None, "STOPPED", "the rounds have ended already")
    refuse_unless(
        event.round == len(research.schedules) == research.assessed_round,
        "ROUND_ORDER",
        f"round {len(research.schedules)} is the last; a stop cannot name round {event.round}",
    )
    return replace(research, stop=event)


def _claim(research: Research, event: ResearchClaimRecorded) -> Research:
    _require_evidence(research, event.evidence_ids)
    refuse_unless(
        event.section in research.profile.section_keys,
        "UNKNOWN_SECTION",
        f"profile {research.profile.name} has no section {event.section!r}",
    )
    refuse_unless(
        event.claim_id not in research.claims,
        "DUPLICATE_CLAIM",
        f"claim {event.claim_id!r} is already recorded",
    )
    return replace(
        research,
        claims=research.claims.set(event.claim_id, event),
        claim_order=(*research.claim_order, event.claim_id),
    )


def _verdict(research: Research, event: ResearchVerdictRecorded) -> Research:
    refuse_unless(
        event.claim_id in research.claims, "UNKNOWN_CLAIM", f"there is no claim {event.claim_id!r}"
    )
    return replace(research, verdicts=research.verdicts.set(event.claim_id, event))


def _require_round(research: Research, number: int) -> None:
    refuse_unless(
        number in research.schedules, "ROUND_ORDER", f"round {number} has no searches yet"
    )


def _require_subquestion(research: Research, id_: str) -> None:
    known = () if research.plan is None else research.plan.subquestions
    refuse_unless(
        any(subquestion.id == id_ for subquestion in known),
        "UNKNOWN_SUBQUESTION",
        f"the plan has no subquestion {id_!r}",
    )


def _require_evidence(
    research: Research, ids: tuple[str, ...], subquestion_id: str | None = None
) -> None:
    for id_ in ids:
        found = research.evidence.get(id_)
        if found is None:
            raise Refused(f"there is no evidence {id_!r} in this run", code="UNKNOWN_EVIDENCE")
        refuse_unless(
            subquestion_id in (None, found.subquestion_id),
            "UNKNOWN_EVIDENCE",
            f"evidence {id_!r} was accepted for {found.subquestion_id}, not for {subquestion_id}",
        )
