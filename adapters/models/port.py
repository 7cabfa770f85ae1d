"""The `Researcher` port: the operations of the method that take judgement."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeVar

from state.values.claims import FAILED, Claim, ClaimCheck
from state.values.evidence import Conflict, CoverageRow, Passage
from state.values.ids import canonical_json, sha256_hex
from state.values.money import Usage
from state.values.plan import Plan

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What an operation gave, and what it used up.

    `model` and `prompt` (name, version and hash) are what was asked for it, '' without a model.
    """

    value: T
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    prompt: str = ""

    def giving(self, value: U) -> "Answer[U]":
        """Return the same answer with what was made of its value."""
        return Answer(value, self.usage, self.model, self.prompt)


@dataclass(frozen=True, slots=True)
class PlanInput:
    """What a plan is made from; `feedback` and `previous` are set when a person asked to revise."""

    question: str
    audience: str = ""
    boundaries: str = ""
    research_type: str = ""
    feedback: str = ""
    previous: Plan | None = None


@dataclass(frozen=True, slots=True)
class Selected:
    """A range of a source chosen as evidence for a subquestion; `text` is exactly that range.

    `start` and `end` are code points of the source's archived text. The other fields say where it
    stands, as in `Passage`.
    """

    subquestion_id: str
    source_id: str
    locator: str
    title: str | None
    text: str
    start: int
    end: int
    paragraph: int
    page: int | None = None
    heading: str = ""
    modified_at: str = ""

    @property
    def id(self) -> str:
        """Return the evidence id, which depends on nothing but what was chosen and for what."""
        key = canonical_json([self.subquestion_id, self.source_id, self.start, self.end])
        return "ev-" + sha256_hex(key)[:12]


@dataclass(frozen=True, slots=True)
class AssessInput:
    """One round's passages, and what is held from earlier rounds.

    `max_evidence` bounds the whole selection (`per_subquestion` True: for each subquestion).
    `used_queries` were already searched; a next query must be new. With `cross_check` a
    subquestion with evidence from fewer than two distinct locators is a gap.
    """

    plan: Plan
    round: int
    passages: tuple[Passage, ...]
    held: tuple[Selected, ...] = ()
    used_queries: tuple[str, ...] = ()
    cross_check: bool = False
    max_evidence: int = 8
    per_subquestion: bool = False


@dataclass(frozen=True, slots=True)
class Assessment:
    """What the evidence says so far: the whole selection (held and new), one row a subquestion.

    `missing` (≤5) are sentences for people. Every evidence id in `rows` and `conflicts` is the id
    of one of `selected`. At most five conflicts, each with ≥2 sources.
    """

    selected: tuple[Selected, ...]
    rows: tuple[CoverageRow, ...]
    missing: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True, slots=True)
class SynthesisInput:
    """What a whole report is written from in one go; `sections` are (key, title), in order.

    `max_claims` bounds the claims of all sections together.
    """

    sections: tuple[tuple[str, str], ...]
    plan: Plan
    assessment: Assessment
    max_claims: int = 12


@dataclass(frozen=True, slots=True)
class OutlineInput:
    """The sections to lay out (key, title), and what is known."""

    sections: tuple[tuple[str, str], ...]
    plan: Plan
    assessment: Assessment


@dataclass(frozen=True, slots=True)
class WriteInput:
    """What a section is written from: the archive's quotes, never the web.

    `outline` are the ids of the evidence it is to rest on. `feedback` says why an earlier version
    of it was not good enough, or is ''.
    """

    section: str
    section_title: str
    plan: Plan
    assessment: Assessment
    max_claims: int = 12
    outline: tuple[str, ...] = ()
    feedback: str = ""


@dataclass(frozen=True, slots=True)
class OutlineItem:
    """What a section will say: its key, and the evidence it will rest on."""

    section: str
    title: str
    intent: str
    evidence_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A run of prose in a section: claims with evidence, or text that claims nothing of the world.

    Exactly one of `claims` and `remark` is set. A remark is about the research itself ("No source
    states …"). `heading` opens a subsection, or is ''.
    """

    claims: tuple[Claim, ...] = ()
    remark: str = ""
    heading: str = ""


@dataclass(frozen=True, slots=True)
class SectionDraft:
    """A section as written: paragraphs in order. Claim ids are `<section>-1`, `<section>-2`, …"""

    section: str
    paragraphs: tuple[Paragraph, ...]

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Return the section's claims in order."""
        return tuple(claim for paragraph in self.paragraphs for claim in paragraph.claims)


def keep_supported(draft: SectionDraft, checks: Sequence[ClaimCheck]) -> SectionDraft:
    """Return `draft` without the claims that checking found unsupported, and what they leave empty.

    A claim that could not be checked stays.
    """
    failed = {check.claim_id for check in checks if check.verdict in FAILED}
    paragraphs = []
    for paragraph in draft.paragraphs:
        claims = tuple(claim for claim in paragraph.claims if claim.id not in failed)
        if claims or not paragraph.claims:
            paragraphs.append(replace(paragraph, claims=claims))
    return SectionDraft(draft.section, tuple(paragraphs))


@dataclass(frozen=True, slots=True)
class CheckInput:
    """Claims, and the evidence that their ids point at."""

    claims: tuple[Claim, ...]
    evidence: tuple[Selected, ...]


@dataclass(frozen=True, slots=True)
class RepairInput:
    """Sections with claims that did not hold, what checking all of their claims gave, and why."""

    drafts: tuple[SectionDraft, ...]
    checks: tuple[ClaimCheck, ...]
    plan: Plan
    assessment: Assessment
    max_claims: int = 12


@dataclass(frozen=True, slots=True)
class ReportCheckInput:
    """A whole report as it is written so far, and what it rests on."""

    drafts: tuple[SectionDraft, ...]
    plan: Plan
    assessment: Assessment


@dataclass(frozen=True, slots=True)
class Reopened:
    """A section that is to be written again, and why."""

    section: str
    reason: str


Given = (
    PlanInput
    | AssessInput
    | SynthesisInput
    | OutlineInput
    | WriteInput
    | CheckInput
    | RepairInput
    | ReportCheckInput
)
"""What an operation works on; each has its own."""


class Researcher(Protocol):
    """Plans, assesses, writes and checks. What it returns is checked by the engine before use.

    Raises `TransientError` when a retry may help, `RejectedError` when not. Operations are pure
    with respect to Assay's state: they get everything they may know as input.
    """

    @property
    def name(self) -> str:
        """Return who this is, as a report names it: `extractive`, `model:<name>`."""
        ...

    @property
    def uses_model(self) -> bool:
        """Tell whether operations count as model calls."""
        ...

    async def plan(self, given: PlanInput) -> Answer[Plan]:
        """Return the goal and one to three subquestions, or a clarification."""
        ...

    async def assess(self, given: AssessInput) -> Answer[Assessment]:
        """Choose evidence from the passages and say how far each subquestion is answered."""
        ...

    def price(self, given: Given) -> Usage:
        """Return the most that the operation on `given` takes: it is reserved before the call."""
        ...

    async def synthesise(self, given: SynthesisInput) -> Answer[tuple[SectionDraft, ...]]:
        """Write all sections at once, in their order, from the evidence."""
        ...

    async def outline(self, given: OutlineInput) -> Answer[tuple[OutlineItem, ...]]:
        """Return one item for each of the sections, in their order."""
        ...

    async def write_section(self, given: WriteInput) -> Answer[SectionDraft]:
        """Write one section from the evidence."""
        ...

    async def check_claims(self, given: CheckInput) -> Answer[tuple[ClaimCheck, ...]]:
        """Return one check for each claim, in order, made independently of the writing."""
        ...

    async def repair(self, given: RepairInput) -> Answer[tuple[SectionDraft, ...]]:
        """Return the same sections with the claims that did not hold reworded or left out."""
        ...

    async def check_report(self, given: ReportCheckInput) -> Answer[tuple[Reopened, ...]]:
        """Return the sections that have to be written again, if any."""
        ...
