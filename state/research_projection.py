"""What is known about a research run, and which research event may follow which.

Pure: same research and event, same answer. Every rule that is broken raises `Refused` with a code.
"""

from dataclasses import dataclass, replace

from immutables import Map

from state.errors import Refused
from state.research_events import (
    STAGES,
    ArtifactRole,
    ChecklistStatus,
    Handoff,
    RecordedConflict,
    RecordedRow,
    ResearchArtifactRecorded,
    ResearchChecklistUpdated,
    ResearchCheckpointRecorded,
    ResearchClaimRecorded,
    ResearchCompleted,
    ResearchCoverageAssessed,
    ResearchEvidenceAccepted,
    ResearchPlanRecorded,
    ResearchReadingFrozen,
    ResearchScheduleFrozen,
    ResearchSourceSkipped,
    ResearchStarted,
    ResearchStepRecorded,
    ResearchStopDecided,
    ResearchVerdictRecorded,
    Stage,
    StepStatus,
)
from state.values.claims import Verdict
from state.values.evidence import Coverage
from state.values.profiles import Profile, profile_named

MAX_ARTIFACTS = 2000
MAX_STEPS = 500
MAX_CHECKPOINTS = 500
MAX_CHECKLIST_ITEMS = 50

ResearchEvent = (
    ResearchStarted
    | ResearchArtifactRecorded
    | ResearchChecklistUpdated
    | ResearchStepRecorded
    | ResearchCheckpointRecorded
    | ResearchCompleted
    | ResearchPlanRecorded
    | ResearchScheduleFrozen
    | ResearchReadingFrozen
    | ResearchSourceSkipped
    | ResearchEvidenceAccepted
    | ResearchCoverageAssessed
    | ResearchStopDecided
    | ResearchClaimRecorded
    | ResearchVerdictRecorded
)

_FINAL_ITEM = (ChecklistStatus.COMPLETED, ChecklistStatus.SKIPPED)


@dataclass(frozen=True, slots=True)
class Research:
    """A research run as its events describe it. Maps keep no order; the tuples beside them do."""

    started: ResearchStarted
    profile: Profile
    stage: Stage = "knowledge_base"
    round: int = 0
    artifacts: Map[str, ResearchArtifactRecorded] = Map()
    artifact_order: tuple[str, ...] = ()
    sections: Map[str, str] = Map()  # section key → its latest artifact
    checklist: Map[str, ResearchChecklistUpdated] = Map()
    steps: Map[str, ResearchStepRecorded] = Map()
    step_order: tuple[str, ...] = ()
    steps_recorded: int = 0
    checkpoints: tuple[ResearchCheckpointRecorded, ...] = ()
    blockers: Map[str, str] = Map()  # what is blocked → why
    plan: ResearchPlanRecorded | None = None
    schedules: Map[int, ResearchScheduleFrozen] = Map()
    readings: Map[int, ResearchReadingFrozen] = Map()
    skipped: tuple[ResearchSourceSkipped, ...] = ()
    evidence: Map[str, ResearchEvidenceAccepted] = Map()
    evidence_order: tuple[str, ...] = ()
    rows: tuple[RecordedRow, ...] = ()
    missing: tuple[str, ...] = ()
    conflicts: tuple[RecordedConflict, ...] = ()
    assessed_round: int = 0
    new_evidence: int = 0
    stop: ResearchStopDecided | None = None
    claims: Map[str, ResearchClaimRecorded] = Map()
    claim_order: tuple[str, ...] = ()
    verdicts: Map[str, ResearchVerdictRecorded] = Map()
    completed: ResearchCompleted | None = None

    @property
    def status(self) -> str:
        """Return active, blocked or completed, derived from what is open."""
        if self.completed:
            return "completed"
        return "blocked" if self.blockers else "active"

    @property
    def coverage(self) -> float:
        """Return the share of subquestions that are covered, 0 to 1."""
        covered = sum(row.coverage is Coverage.COVERED for row in self.rows)
        return covered / len(self.rows) if self.rows else 0.0

    @property
    def sources(self) -> tuple[ResearchArtifactRecorded, ...]:
        """Return the sources in the order they were archived."""
        return self.of_role(ArtifactRole.SOURCE)

    @property
    def used_queries(self) -> tuple[str, ...]:
        """Return every query of every frozen schedule, oldest first."""
        rounds = sorted(self.schedules)
        return tuple(entry.query for number in rounds for entry in self.schedules[number].queries)

    @property
    def handoff(self) -> Handoff | None:
        """Return the sealed handoff, if the research is completed."""
        return self.completed.handoff if self.completed else None

    def of_role(self, role: ArtifactRole) -> tuple[ResearchArtifactRecorded, ...]:
        """Return the artifacts of `role`, oldest first."""
        every = (self.artifacts[id_] for id_ in self.artifact_order)
        return tuple(artifact for artifact in every if artifact.role is role)

    def supported_claims(self) -> int:
        """Return how many claims were found supported."""
        return sum(verdict.verdict is Verdict.SUPPORTED for verdict in self.verdicts.values())


def start(event: ResearchStarted) -> Research:
    """Return the research that `event` begins, its profile's checklist pending."""
    profile = profile_named(event.profile)
    pending = {
        item: ResearchChecklistUpdated(item_id=item, status=ChecklistStatus.PENDING)
        for item in profile.checklist
    }
    return Research(started=event, profile=profile, checklist=Map(pending))


def evolve_research(research: Research, event: ResearchEvent) -> Research:
    """Return the research after `event`; raises `Refused` when its rules do not allow it."""
    if research.completed:
        raise Refused("the research is completed; start a new run", code="TERMINAL")
    match event:
        case ResearchStarted():
            raise Refused("the research has already started", code="ALREADY_STARTED")
        case ResearchArtifactRecorded():
            return _artifact(research, event)
        case ResearchChecklistUpdated():
            return _checklist(research, event)
        case ResearchStepRecorded():
            return _step(research, event)
        case ResearchCheckpointRecorded():
            return _checkpoint(research, event)
        case ResearchCompleted():
            return _completed(research, event)
        case ResearchPlanRecorded():
            return _plan(research, event)
        case ResearchScheduleFrozen():
            return _schedule(research, event)
        case ResearchReadingFrozen():
            return _reading(research, event)
        case ResearchSourceSkipped():
            return replace(research, skipped=(*research.skipped, event))
        case ResearchEvidenceAccepted():
            return _evidence(research, event)
        case ResearchCoverageAssessed():
            return _coverage(research, event)
        case ResearchStopDecided():
            return replace(research, stop=event)
        case ResearchClaimRecorded():
            return _claim(research, event)
        case ResearchVerdictRecorded():
            return _verdict(research, event)


def _refuse_unless(condition: object, code: str, message: str) -> None:
    if not condition:
        raise Refused(message, code=code)


def _known_artifacts(research: Research, ids: tuple[str, ...]) -> None:
    for id_ in ids:
        _refuse_unless(
            id_ in research.artifacts,
            "UNKNOWN_ARTIFACT",
            f"there is no artifact {id_!r} in this run",
        )


def _artifact(research: Research, event: ResearchArtifactRecorded) -> Research:
    _refuse_unless(
        len(research.artifacts) < MAX_ARTIFACTS,
        "LIMIT",
        f"a run holds at most {MAX_ARTIFACTS} artifacts",
    )
    _refuse_unless(
        event.artifact_id not in research.artifacts,
        "DUPLICATE_ARTIFACT",
        f"artifact {event.artifact_id!r} is already recorded",
    )
    _known_artifacts(research, event.source_artifact_ids)
    for id_ in event.source_artifact_ids:
        _refuse_unless(
            research.artifacts[id_].role is ArtifactRole.SOURCE,
            "NOT_A_SOURCE",
            f"{event.role} cites {id_!r}, which is no source",
        )
    sections = research.sections
    if key := event.section_key:
        _refuse_unless(
            key in research.profile.section_keys,
            "UNKNOWN_SECTION",
            f"profile {research.profile.name} has no section {key!r}",
        )
        before = sections.get(key)
        _refuse_unless(
            before is None
            or research.artifacts[before].section_status != "completed"
            or event.section_status == "completed",
            "SECTION_REGRESSION",
            f"section {key!r} is completed and cannot go back to drafted",
        )
        sections = sections.set(key, event.artifact_id)
    return replace(
        research,
        artifacts=research.artifacts.set(event.artifact_id, event),
        artifact_order=(*research.artifact_order, event.artifact_id),
        sections=sections,
    )


def _checklist(research: Research, event: ResearchChecklistUpdated) -> Research:
    before = research.checklist.get(event.item_id)
    _refuse_unless(
        before is not None or len(research.checklist) < MAX_CHECKLIST_ITEMS,
        "LIMIT",
        f"a run holds at most {MAX_CHECKLIST_ITEMS} checklist items",
    )
    _refuse_unless(
        before is None or before.status not in _FINAL_ITEM or before.status is event.status,
        "CHECKLIST_FINAL",
        f"item {event.item_id!r} is {before.status if before else ''} and stays so",
    )
    _known_artifacts(research, event.evidence_artifact_ids)
    return replace(
        research,
        checklist=research.checklist.set(event.item_id, event),
        blockers=_blocked(research, f"checklist:{event.item_id}", event.blocked_reason),
    )


def _blocked(research: Research, what: str, why: str) -> Map[str, str]:
    if why:
        return research.blockers.set(what, why)
    return research.blockers.delete(what) if what in research.blockers else research.blockers


def _step(research: Research, event: ResearchStepRecorded) -> Research:
    _refuse_unless(
        research.steps_recorded < MAX_STEPS, "LIMIT", f"a run holds at most {MAX_STEPS} steps"
    )
    before = research.steps.get(event.step_id)
    _refuse_unless(
        before is None or before.status is not StepStatus.COMPLETED,
        "DUPLICATE_STEP",
        f"step {event.step_id!r} is already completed",
    )
    _known_artifacts(research, event.evidence_artifact_ids)
    _known_artifacts(
        research,
        tuple(ref.source_artifact_id for ref in event.inspected_refs if ref.source_artifact_id),
    )
    return replace(
        research,
        steps=research.steps.set(event.step_id, event),
        step_order=research.step_order if before else (*research.step_order, event.step_id),
        steps_recorded=research.steps_recorded + 1,
        blockers=_blocked(research, f"step:{event.step_id}", event.blocked_reason),
    )


def _checkpoint(research: Research, event: ResearchCheckpointRecorded) -> Research:
    _refuse_unless(
        len(research.checkpoints) < MAX_CHECKPOINTS,
        "LIMIT",
        f"a run holds at most {MAX_CHECKPOINTS} checkpoints",
    )
    _refuse_unless(
        all(event.checkpoint_id != earlier.checkpoint_id for earlier in research.checkpoints[-1:]),
        "DUPLICATE_CHECKPOINT",
        f"checkpoint {event.checkpoint_id!r} is already recorded",
    )
    _refuse_unless(
        STAGES.index(event.stage) >= STAGES.index(research.stage),
        "STAGE_REGRESSION",
        f"the stage is {research.stage} and cannot go back to {event.stage}",
    )
    _refuse_unless(
        event.round >= research.round,
        "ROUND_REGRESSION",
        f"round {research.round} was reached; a checkpoint cannot name round {event.round}",
    )
    _known_artifacts(research, event.artifact_ids)
    why = event.summary if event.status == "blocked" else ""
    return replace(
        research,
        stage=event.stage,
        round=event.round,
        checkpoints=(*research.checkpoints, event),
        blockers=_blocked(research, "checkpoint", why),
    )


def _completed(research: Research, event: ResearchCompleted) -> Research:
    for problem in completion_problems(research, event):
        raise Refused(f"the research cannot be completed: {problem}", code="INCOMPLETE")
    return replace(research, stage="completed", completed=event)


def completion_problems(research: Research, event: ResearchCompleted) -> list[str]:
    """Return what stands between `research` and its completion by `event`; empty when nothing."""
    problems = []
    if research.stage != "report_writing":
        problems.append(f"the stage is {research.stage}, not report_writing")
    if not research.sources:
        problems.append("no source is archived")
    if not research.of_role(ArtifactRole.OUTLINE):
        problems.append("there is no outline")
    problems += [
        f"checklist item {item_id!r} is {item.status}"
        for item_id, item in sorted(research.checklist.items())
        if item.status not in _FINAL_ITEM
    ]
    for key in research.profile.section_keys:
        latest = research.sections.get(key)
        if latest is None or research.artifacts[latest].section_status != "completed":
            problems.append(f"section {key!r} is not completed")
    problems += [f"{what} is blocked: {why}" for what, why in sorted(research.blockers.items())]
    for role, id_ in (
        (ArtifactRole.REPORT, event.report_artifact_id),
        (ArtifactRole.HANDOFF, event.handoff.artifact_id),
    ):
        recorded = research.artifacts.get(id_)
        if recorded is None or recorded.role is not role:
            problems.append(f"{id_!r} is not a recorded {role}")
    return problems


def _plan(research: Research, event: ResearchPlanRecorded) -> Research:
    expected = research.plan.version + 1 if research.plan else 1
    _refuse_unless(
        event.version == expected,
        "PLAN_VERSION",
        f"the next version of the plan is {expected}, not {event.version}",
    )
    _refuse_unless(not research.schedules, "PLAN_FROZEN", "rounds have begun; the plan stands")
    return replace(research, plan=event)


def _schedule(research: Research, event: ResearchScheduleFrozen) -> Research:
    _refuse_unless(research.plan, "NO_PLAN", "there is no plan to schedule")
    expected = len(research.schedules) + 1
    _refuse_unless(
        event.round == expected, "ROUND_ORDER", f"the next round is {expected}, not {event.round}"
    )
    return replace(research, schedules=research.schedules.set(event.round, event))


def _reading(research: Research, event: ResearchReadingFrozen) -> Research:
    _refuse_unless(
        event.round in research.schedules and event.round not in research.readings,
        "ROUND_ORDER",
        f"round {event.round} has no searches yet, or already knows what it reads",
    )
    return replace(research, readings=research.readings.set(event.round, event))


def _evidence(research: Research, event: ResearchEvidenceAccepted) -> Research:
    source = research.artifacts.get(event.quote.source_id)
    _refuse_unless(
        source is not None and source.rendition is not None,
        "UNKNOWN_ARTIFACT",
        f"evidence quotes {event.quote.source_id!r}, which is no readable source of this run",
    )
    assert source is not None and source.rendition is not None  # noqa: PT018, S101 - for mypy
    _refuse_unless(
        source.rendition.text_hash == event.quote.text_hash
        and event.quote.end <= source.rendition.characters,
        "QUOTE_RANGE",
        f"the quote does not lie within the archived text of {event.quote.source_id!r}",
    )
    order = research.evidence_order
    if event.evidence_id not in research.evidence:
        order = (*order, event.evidence_id)
    return replace(
        research,
        evidence=research.evidence.set(event.evidence_id, event),
        evidence_order=order,
    )


def _known_evidence(research: Research, ids: tuple[str, ...]) -> None:
    for id_ in ids:
        _refuse_unless(
            id_ in research.evidence,
            "UNKNOWN_EVIDENCE",
            f"there is no evidence {id_!r} in this run",
        )


def _coverage(research: Research, event: ResearchCoverageAssessed) -> Research:
    planned = [] if research.plan is None else [s.id for s in research.plan.subquestions]
    _refuse_unless(
        [row.subquestion_id for row in event.rows] == planned,
        "COVERAGE_ROWS",
        f"coverage has exactly one row for each of {planned}, in order",
    )
    for row in event.rows:
        _known_evidence(research, row.evidence_ids)
    for conflict in event.conflicts:
        _known_evidence(research, conflict.evidence_ids)
    return replace(
        research,
        rows=event.rows,
        missing=event.missing,
        conflicts=event.conflicts,
        assessed_round=event.round,
        new_evidence=event.new_evidence,
    )


def _claim(research: Research, event: ResearchClaimRecorded) -> Research:
    _known_evidence(research, event.evidence_ids)
    _refuse_unless(
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
    _refuse_unless(
        event.claim_id in research.claims, "UNKNOWN_CLAIM", f"there is no claim {event.claim_id!r}"
    )
    return replace(research, verdicts=research.verdicts.set(event.claim_id, event))
