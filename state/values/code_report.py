"""What a Paper2Code run came to: plan and result side by side, criterion by criterion."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from state.values.code_plan import Ambiguity, PaperCitation, Quantity

Standing = Literal["shown", "failed", "not shown"]


@dataclass(frozen=True, slots=True)
class ReportedFile:
    """A planned file: `written`, `repaired` (so often) or `missing` with the reason."""

    path: str
    purpose: str
    status: Literal["written", "repaired", "missing"]
    repairs: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ReportedComponent:
    """A component and its acceptance criterion.

    It is `shown` when tests of its files were executed and the last verification passed, `failed`
    when that failed, and `not shown` when no test is about it or none was executed.
    """

    id: str
    name: str
    criterion: str
    standing: Standing
    why: str
    files: tuple[str, ...]
    tests: tuple[str, ...]
    citations: tuple[PaperCitation, ...]


@dataclass(frozen=True, slots=True)
class ReportedVerification:
    """One verification: what ran where, and what it showed."""

    attempt: int
    verdict: str
    level: str
    commands: tuple[str, ...]
    executed: int
    passed: int
    failed: int
    skipped: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ReportedRepair:
    """One repair: what was thought wrong, what was changed, what was not allowed."""

    attempt: int
    diagnosis: str
    changed: tuple[str, ...]
    refused: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CodeReport:
    """The report of one run; `outcome` is complete only if tests were executed and passed.

    `review` says who decided on the plan, or that nobody was asked. `made_from` is what the source
    is: a requirement, a repository, or a source of another kind, such as a paper. `dropped` files
    are of an attempt before, and the plan has them no more.
    """

    run_id: str
    title: str
    outcome: Literal["complete", "incomplete"]
    reasons: tuple[str, ...]
    source: str
    source_hash: str
    source_remarks: tuple[str, ...]
    licence: str
    requirement: str
    coder: str
    plan_version: int
    plan_hash: str
    review: str
    files: tuple[ReportedFile, ...]
    components: tuple[ReportedComponent, ...]
    quantities: tuple[Quantity, ...]
    ambiguities: tuple[Ambiguity, ...]
    language: str
    requirements: tuple[str, ...]
    installation: str
    verifications: tuple[ReportedVerification, ...]
    repairs: tuple[ReportedRepair, ...]
    ended: str = ""
    references: tuple[str, ...] = ()
    made_from: str = "source"
    dropped: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the report for programs."""
        return asdict(self)
