"""The six events of the durable research workspace, and the values they are made of."""

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from state.events import (
    Code,
    ContentHash,
    Count,
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
    """The text of a source as one extractor read it; quotes point into it.

    `declared_type` is the media type that the source was sent with, or ''.
    """

    text_hash: ContentHash
    blocks_hash: ContentHash
    extractor: Code
    extractor_version: Code
    outcome: Annotated[str, Field(max_length=40)]
    characters: Count
    declared_type: Annotated[str, Field(max_length=240)] = ""


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
