"""The events of the research method: plan, schedule, evidence, coverage, claims and verdicts."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

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
    Value,
)
from state.research_events import Locator, Said2000, Text1000
from state.values.claims import ClaimStatus, Verdict
from state.values.evidence import Coverage
from state.values.ids import sha256_hex
from state.values.plan import Plan, Subquestion


def _each_once(locators: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(locators)) != len(locators):
        raise ValueError("each is named once")
    return locators


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
    """A search, or something that was found, that gave no source: what, and why."""

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
    "model-budget", "token-budget", "cost-budget", "deadline", "clarification",
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
