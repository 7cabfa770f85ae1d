"""A finished report: everything it says, shows and admits. Pure content: no times of the run."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from state.values.claims import AnswerStatus, ClaimStatus, Verdict
from state.values.evidence import CoverageRow
from state.values.plan import Plan
from state.values.statements import form


@dataclass(frozen=True, slots=True)
class Citation:
    """One numbered quote and everything needed to find it again. Offsets are code points.

    `quote` is `redact(archived text[start:end])`: secrets stay in the archive.
    """

    number: int
    evidence_id: str
    source_id: str
    locator: str
    display: str
    title: str | None
    quote: str
    start: int
    end: int
    paragraph: int
    page: int | None
    content_hash: str
    text_hash: str
    extractor: str
    extractor_version: str
    fetched_at: str
    modified_at: str


@dataclass(frozen=True, slots=True)
class ReportClaim:
    """A sentence of the report, the numbers it cites, and how checking it ended."""

    id: str
    section: str
    text: str
    citations: tuple[int, ...]
    verdict: Verdict
    status: ClaimStatus
    method: str
    reason: str


@dataclass(frozen=True, slots=True)
class ReportParagraph:
    """Claims, by id, or a remark about the research; under `heading` or ''."""

    heading: str
    claim_ids: tuple[str, ...]
    remark: str


@dataclass(frozen=True, slots=True)
class ReportSection:
    """One section in the order of the profile."""

    key: str
    title: str
    paragraphs: tuple[ReportParagraph, ...]


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """A source that was archived, and whether the report cites it."""

    source_id: str
    locator: str
    display: str
    title: str | None
    content_hash: str
    fetched_at: str
    modified_at: str
    cited: bool


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that could not be searched or read: where, with which code, and why."""

    stage: str
    target: str
    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class RoundEntry:
    """What one round searched for, read, and learned."""

    round: int
    queries: tuple[str, ...]
    read: tuple[str, ...]
    new_evidence: int


@dataclass(frozen=True, slots=True)
class ConflictEntry:
    """Quotes that cannot all be true, by citation number, and on what they differ."""

    subquestion_id: str
    citations: tuple[int, ...]
    difference: str


@dataclass(frozen=True, slots=True)
class Report:
    """The content of a report. Citation numbers run from 1; each is cited and each cited exists.

    `failures` could not be searched or read, `omitted` were found and never opened, and why.
    """

    request_id: str
    question: str
    research_type: str
    audience: str
    boundaries: str
    scope: str
    profile: str
    researcher: str
    plan: Plan
    rounds: tuple[RoundEntry, ...]
    rows: tuple[CoverageRow, ...]
    missing: tuple[str, ...]
    conflicts: tuple[ConflictEntry, ...]
    answer_status: AnswerStatus
    stop_reason: str
    sections: tuple[ReportSection, ...]
    claims: tuple[ReportClaim, ...]
    dropped_claims: tuple[ReportClaim, ...]
    citations: tuple[Citation, ...]
    sources: tuple[SourceEntry, ...]
    failures: tuple[Failure, ...]
    omitted: tuple[Failure, ...]

    @property
    def coverage(self) -> float:
        """Return the share of subquestions that are covered, 0 to 1."""
        covered = sum(row.coverage == "covered" for row in self.rows)
        return covered / len(self.rows) if self.rows else 0.0

    @property
    def distinct_claims(self) -> tuple[ReportClaim, ...]:
        """Return each claim once, however many sections make it."""
        return made_once(self.claims)


def made_once(claims: Iterable[ReportClaim]) -> tuple[ReportClaim, ...]:
    """Return each claim once, as the first section makes it, with the quotes of all."""
    made: dict[str, ReportClaim] = {}
    for claim in claims:
        said = form(claim.text)
        first = made.setdefault(said, claim)
        numbers = tuple(sorted({*first.citations, *claim.citations}))
        made[said] = replace(first, citations=numbers)
    return tuple(made.values())
