"""The events of a research run: the six of the durable workspace, and those of its method."""

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from state.events import (
    Code,
    ContentHash,
    Count,
    Digest,
    Event,
    Ids,
    NotBlank,
    Round,
    StableId,
    Text2000,
    Text4000,
    Value,
)
from state.request import ResearchRequest, one_line
from state.values.claims import ClaimStatus, Verdict
from state.values.evidence import Coverage
from state.values.ids import sha256_hex
from state.values.plan import Plan, Subquestion


def _each_once(locators: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(locators)) != len(locators):
        raise ValueError("each is named once")
    return locators


Locator = Annotated[str, Field(max_length=4096), NotBlank]
Line2000 = Annotated[
    str,
    BeforeValidator(lambda text: one_line(text) if isinstance(text, str) else text),
    Field(min_length=1, max_length=2000),
]
Said2000 = Annotated[str, Field(max_length=2000), NotBlank]
Text1000 = Annotated[str, Field(max_length=1000), NotBlank]
Texts = Annotated[tuple[Text1000, ...], Field(max_length=50)]
Paths = Annotated[tuple[Locator, ...], Field(max_length=50)]


class ArtifactRole(StrEnum):
    """What an artifact is in a research run."""

    SOURCE = "source"
    EVIDENCE_NOTE = "evidence_note"
    OUTLINE = "outline"
    REPORT_SECTION = "report_section"
    REPORT = "report"
    HANDOFF = "handoff"


class ChecklistStatus(StrEnum):
    """How far a checklist item is; the last two are final."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    BLOCKED = "blocked"
    COMPLETED = "completed"
    SKIPPED = "skipped"


class StepStatus(StrEnum):
    """How a research step ended."""

    COMPLETED = "completed"
    BLOCKED = "blocked"
    STOPPED = "stopped"


Stage = Literal["knowledge_base", "report_writing", "completed"]
STAGES: tuple[Stage, ...] = ("knowledge_base", "report_writing", "completed")


class Rendition(Value):
    """The text of a source as one extractor read it; quotes point into it."""

    text_hash: ContentHash
    blocks_hash: ContentHash
    extractor: Code
    extractor_version: Code
    outcome: Annotated[str, Field(max_length=40)]
    characters: Count


class InspectedRef(Value):
    """Something a research step looked at."""

    kind: Literal["file", "symbol", "config", "test", "runtime", "url"]
    locator: Locator
    label: Annotated[str, Field(max_length=1000)] = ""
    source_artifact_id: StableId | None = None


# ---- the six events of the durable workspace


class ResearchStarted(Event):
    """The objective and everything that was asked for."""

    type = "research_started"
    paths = frozenset({"sources"})
    objective: Line2000
    scope: Literal["quick", "standard", "deep"]
    profile: StableId
    request: ResearchRequest

    @model_validator(mode="after")
    def _as_requested(self) -> Self:
        if (self.scope, self.profile) != (self.request.scope, self.request.profile):
            raise ValueError("scope and profile are those of the request")
        return self


class ResearchArtifactRecorded(Event):
    """Bytes joined the workspace, with their role and where they come from."""

    type = "research_artifact_recorded"
    identity = ("artifact_id",)
    artifact_id: StableId
    role: ArtifactRole
    name: Annotated[str, Field(max_length=240), NotBlank]
    summary: Text4000 = ""
    locator: Annotated[str, Field(max_length=4096)] = ""
    content_hash: ContentHash
    media_type: Annotated[str, Field(max_length=120)]
    size: Count
    source_artifact_ids: Ids = ()
    section_key: StableId | None = None
    section_status: Literal["drafted", "completed"] | None = None
    rendition: Rendition | None = None
    fetched_at: Annotated[str, Field(max_length=40)] = ""

    @model_validator(mode="after")
    def _role_fields(self) -> Self:
        source = self.role is ArtifactRole.SOURCE
        if source and not self.locator.strip():
            raise ValueError("a source needs a locator")
        if source and self.source_artifact_ids:
            raise ValueError("a source cites no other artifact")
        if not source and not self.source_artifact_ids:
            raise ValueError(f"{self.role} must cite at least one recorded source")
        if not source and self.rendition:
            raise ValueError("only a source has a rendition")
        section = self.role is ArtifactRole.REPORT_SECTION
        if section and (self.section_key is None or self.section_status is None):
            raise ValueError("a report section needs its key and status")
        if not section and (self.section_key is not None or self.section_status is not None):
            raise ValueError("only a report section has a section key and status")
        return self


def _reason_iff(status: str, reason: str, *, given: bool) -> None:
    if not (reason.strip() if given else not reason):
        raise ValueError(f"a {status}_reason is given if and only if the status is {status}")


class ResearchChecklistUpdated(Event):
    """A required item of the review progressed."""

    type = "research_checklist_updated"
    identity = ("item_id", "status")
    item_id: StableId
    status: ChecklistStatus
    evidence_artifact_ids: Ids = ()
    blocked_reason: Text4000 = ""
    skipped_reason: Text4000 = ""

    @model_validator(mode="after")
    def _reasons(self) -> Self:
        _reason_iff("blocked", self.blocked_reason, given=self.status is ChecklistStatus.BLOCKED)
        _reason_iff("skipped", self.skipped_reason, given=self.status is ChecklistStatus.SKIPPED)
        if self.status is ChecklistStatus.COMPLETED and not self.evidence_artifact_ids:
            raise ValueError("a completed item needs at least one evidence artifact")
        return self


class ResearchStepRecorded(Event):
    """A bounded piece of local or web work was done."""

    type = "research_step_recorded"
    identity = ("step_id",)
    step_id: StableId
    kind: Literal["local_exploration", "web_research"]
    status: StepStatus
    objective: Said2000
    summary: Text2000 = ""
    stopping_condition: Said2000
    expected_evidence: Said2000
    roots: Paths = ()
    ignored_paths: Paths = ()
    keywords: Texts = ()
    evidence_artifact_ids: Ids = ()
    inspected_refs: Annotated[tuple[InspectedRef, ...], Field(max_length=200)] = ()
    worker_run_ids: Ids = ()
    blocked_reason: Text4000 = ""

    @model_validator(mode="after")
    def _kind_and_status(self) -> Self:
        if self.kind == "local_exploration" and not self.roots:
            raise ValueError("local exploration needs at least one root")
        if self.kind == "web_research" and not self.keywords:
            raise ValueError("web research needs at least one keyword")
        if self.status is StepStatus.COMPLETED and not self.evidence_artifact_ids:
            raise ValueError("a completed step needs at least one evidence artifact")
        _reason_iff("blocked", self.blocked_reason, given=self.status is StepStatus.BLOCKED)
        return self


class ResearchCheckpointRecorded(Event):
    """A resumable point, summed up."""

    type = "research_checkpoint_recorded"
    identity = ("checkpoint_id",)
    checkpoint_id: StableId
    round: Round
    stage: Literal["knowledge_base", "report_writing"]
    status: Literal["active", "blocked"] = "active"
    summary: Text4000
    open_questions: Texts = ()
    next_steps: Texts = ()
    artifact_ids: Ids = ()
    task_ids: tuple[str, ...] = ()  # legacy: read, and written empty

    @field_validator("task_ids")
    @classmethod
    def _written_empty(cls, _: tuple[str, ...]) -> tuple[str, ...]:
        return ()


class Handoff(Value):
    """What an implementation would start from; it starts nothing by itself."""

    artifact_id: StableId
    implementation_tasks: Annotated[Texts, Field(min_length=1)]
    recommended_issues: Texts = ()
    recommended_pull_requests: Texts = ()
    verification_commands: Annotated[Texts, Field(min_length=1)]

    @model_validator(mode="after")
    def _recommends_something(self) -> Self:
        if not self.recommended_issues and not self.recommended_pull_requests:
            raise ValueError("a handoff recommends at least one issue or pull request")
        return self


class ResearchCompleted(Event):
    """The report and the handoff are sealed."""

    type = "research_completed"
    report_artifact_id: StableId
    handoff: Handoff


# ---- the method


Query = Annotated[str, Field(max_length=100), NotBlank]


class PlannedSubquestion(Value):
    """A subquestion as it is recorded."""

    id: StableId
    question: Annotated[str, Field(max_length=400), NotBlank]
    query: Query


class ResearchPlanRecorded(Event):
    """A version of the plan; nothing is researched before one stands."""

    type = "research_plan_recorded"
    identity = ("version",)
    version: Round
    origin: Literal["planned", "revised", "replaced"]
    goal: Said2000
    subquestions: Annotated[tuple[PlannedSubquestion, ...], Field(max_length=3)]
    clarification: Text2000 = ""
    plan_hash: Digest

    @property
    def plan(self) -> Plan:
        """Return the plan as a value."""
        asked = (Subquestion(s.id, s.question, s.query) for s in self.subquestions)
        return Plan(self.goal, tuple(asked), self.clarification)

    @model_validator(mode="after")
    def _plan_or_clarification(self) -> Self:
        if bool(self.subquestions) == bool(self.clarification.strip()):
            raise ValueError("a plan has either subquestions or a clarification")
        ids = [subquestion.id for subquestion in self.subquestions]
        if len(set(ids)) != len(ids):
            raise ValueError("subquestion ids must be unique")
        if self.plan_hash != self.plan.hash:
            raise ValueError("the plan_hash is not that of this plan")
        return self


class ScheduledQuery(Value):
    """One search of a round, and the subquestion it is for."""

    subquestion_id: StableId
    query: Query


class ResearchScheduleFrozen(Event):
    """The searches of a round, decided before the first is made."""

    type = "research_schedule_frozen"
    round: Round
    queries: Annotated[tuple[ScheduledQuery, ...], Field(min_length=1)]


class ResearchReadingFrozen(Event):
    """What a round reads, decided before the first is opened; `omitted` were found and left out."""

    type = "research_reading_frozen"
    paths = frozenset({"locators", "omitted"})
    round: Round
    locators: Annotated[tuple[Locator, ...], Field(max_length=100), AfterValidator(_each_once)]
    omitted: Annotated[tuple[Locator, ...], Field(max_length=200), AfterValidator(_each_once)] = ()


class ResearchSourceSkipped(Event):
    """Something that was opened and gave no source: what, and why."""

    type = "research_source_skipped"
    identity = ("locator_hash",)
    round: Round
    stage: Literal["search", "read"]
    locator: Locator
    code: Code
    reason: Text2000

    @property
    def locator_hash(self) -> str:
        """Return what stands for the locator in a call id: locators may be long, or private."""
        return sha256_hex(self.locator)[:16]


class RecordedQuote(Value):
    """Where a quote stands: a range of a source's archived text, in code points."""

    source_id: StableId
    text_hash: ContentHash
    extractor: Code
    extractor_version: Code
    start: Count
    end: Count
    paragraph: Count
    page: Round | None = None

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        if self.end <= self.start:
            raise ValueError("a quote ends after it starts")
        return self


class ResearchEvidenceAccepted(Event):
    """A quote that was found in the archive was accepted for a subquestion."""

    type = "research_evidence_accepted"
    identity = ("evidence_id",)
    evidence_id: StableId
    subquestion_id: StableId
    round: Round
    quote: RecordedQuote
    quote_hash: ContentHash


class RecordedRow(Value):
    """How far one subquestion is answered."""

    subquestion_id: StableId
    coverage: Coverage
    evidence_ids: Ids = ()
    gap: Text2000 = ""
    next_query: Annotated[str, Field(max_length=100)] = ""


class RecordedConflict(Value):
    """Evidence that cannot all be true."""

    subquestion_id: StableId
    evidence_ids: Annotated[Ids, Field(min_length=2)]
    difference: Text2000


class ResearchCoverageAssessed(Event):
    """The coverage matrix after a round: exactly one row a subquestion."""

    type = "research_coverage_assessed"
    round: Round
    rows: tuple[RecordedRow, ...]
    missing: Annotated[tuple[Text1000, ...], Field(max_length=5)] = ()
    conflicts: Annotated[tuple[RecordedConflict, ...], Field(max_length=5)] = ()
    new_evidence: Count = 0


StopReason = Literal[
    "coverage-complete", "no-progress", "round-budget", "search-budget", "page-budget",
    "model-budget", "deadline", "clarification",
]  # fmt: skip


class ResearchStopDecided(Event):
    """Why no further round is begun."""

    type = "research_stop_decided"
    round: Count
    reason: StopReason


class ResearchClaimRecorded(Event):
    """A sentence of the report and the evidence it rests on. Its words are in its section."""

    type = "research_claim_recorded"
    identity = ("claim_id",)
    claim_id: StableId
    section: StableId
    text_hash: ContentHash
    evidence_ids: Annotated[Ids, Field(min_length=1, max_length=8)]


class ResearchVerdictRecorded(Event):
    """What checking a claim gave, by which method, and why."""

    type = "research_verdict_recorded"
    identity = ("claim_id",)
    claim_id: StableId
    verdict: Verdict
    claim_status: ClaimStatus
    method: Annotated[str, Field(max_length=120)]
    reason: Text2000 = ""
