"""The state of a research run, as both the workspace's rules and the method's read and grow it."""

from collections.abc import Iterable
from dataclasses import dataclass

from immutables import Map

from state.errors import Refused
from state.method_events import (
    RecordedConflict,
    RecordedRow,
    ResearchClaimRecorded,
    ResearchEvidenceAccepted,
    ResearchPlanRecorded,
    ResearchReadingFrozen,
    ResearchScheduleFrozen,
    ResearchSourceSkipped,
    ResearchStopDecided,
    ResearchVerdictRecorded,
)
from state.research_events import (
    ArtifactRole,
    Handoff,
    ResearchArtifactRecorded,
    ResearchChecklistUpdated,
    ResearchCheckpointRecorded,
    ResearchCompleted,
    ResearchStarted,
    ResearchStepRecorded,
    Stage,
)
from state.values.evidence import Coverage
from state.values.profiles import Profile


@dataclass(frozen=True)  # no slots: see `state.copying`
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


def refuse_unless(condition: object, code: str, message: str) -> None:
    """Raise `Refused` with `code` when `condition` does not hold."""
    if not condition:
        raise Refused(message, code=code)


def require_artifacts(research: Research, ids: Iterable[str]) -> None:
    """Raise `Refused` unless all of `ids` are artifacts of this run."""
    for id_ in ids:
        if id_ not in research.artifacts:
            raise Refused(f"there is no artifact {id_!r} in this run", code="UNKNOWN_ARTIFACT")


def require_sources(research: Research, ids: Iterable[str]) -> None:
    """Raise `Refused` unless all of `ids` are sources of this run."""
    for id_ in ids:
        artifact = research.artifacts.get(id_)
        if artifact is None:
            raise Refused(f"there is no artifact {id_!r} in this run", code="UNKNOWN_ARTIFACT")
        if artifact.role is not ArtifactRole.SOURCE:
            raise Refused(f"{id_!r} is cited as a source and is none", code="NOT_A_SOURCE")
