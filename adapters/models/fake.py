"""A `Researcher` for tests: scripted answers, and every input remembered."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from adapters.models.port import (
    Answer,
    AssessInput,
    Assessment,
    CheckInput,
    Given,
    OutlineInput,
    OutlineItem,
    PlanInput,
    Reopened,
    RepairInput,
    ReportCheckInput,
    SectionDraft,
    SynthesisInput,
    WriteInput,
    keep_supported,
)
from state.values.claims import ClaimCheck
from state.values.errors import AssayError, RejectedError
from state.values.money import Usage
from state.values.plan import Plan

T = TypeVar("T")


@dataclass(slots=True)
class FakeResearcher:
    """Gives the scripted answers of each operation in turn, the last one again and again.

    An `AssayError` among the answers is raised instead of given. Each answer costs `usage`. What
    was asked is kept, in order, in the lists that begin with `asked_`. An operation without a
    script raises `RejectedError`.
    """

    plans: Sequence[Plan | AssayError] = ()
    assessments: Sequence[Assessment | AssayError] = ()
    outlines: Sequence[tuple[OutlineItem, ...] | AssayError] = ()
    drafts: Sequence[SectionDraft | AssayError] = ()
    checks: Sequence[tuple[ClaimCheck, ...] | AssayError] = ()
    repairs: Sequence[tuple[SectionDraft, ...] | AssayError] = ()
    reopened: Sequence[tuple[Reopened, ...] | AssayError] = ()
    usage: Usage = field(default_factory=Usage)
    name: str = "fake"
    uses_model: bool = False
    asked_plan: list[PlanInput] = field(default_factory=list)
    asked_assess: list[AssessInput] = field(default_factory=list)
    asked_synthesise: list[SynthesisInput] = field(default_factory=list)
    asked_outline: list[OutlineInput] = field(default_factory=list)
    asked_write: list[WriteInput] = field(default_factory=list)
    asked_check: list[CheckInput] = field(default_factory=list)
    asked_repair: list[RepairInput] = field(default_factory=list)
    asked_check_report: list[ReportCheckInput] = field(default_factory=list)

    async def plan(self, given: PlanInput) -> Answer[Plan]:
        """Remember `given`; return the next scripted plan."""
        self.asked_plan.append(given)
        return self._next(self.plans, len(self.asked_plan), "plan")

    async def assess(self, given: AssessInput) -> Answer[Assessment]:
        """Remember `given`; return the next scripted assessment."""
        self.asked_assess.append(given)
        return self._next(self.assessments, len(self.asked_assess), "assess")

    def price(self, given: Given) -> Usage:
        """Return what each answer costs."""
        return self.usage

    async def synthesise(self, given: SynthesisInput) -> Answer[tuple[SectionDraft, ...]]:
        """Remember `given`; return the drafts scripted for its sections."""
        self.asked_synthesise.append(given)
        keys = [key for key, _ in given.sections]
        drafts = [draft for draft in self.drafts if isinstance(draft, SectionDraft)]
        return Answer(tuple(draft for draft in drafts if draft.section in keys), self.usage)

    async def outline(self, given: OutlineInput) -> Answer[tuple[OutlineItem, ...]]:
        """Remember what was given; return the next scripted outline."""
        self.asked_outline.append(given)
        return self._next(self.outlines, len(self.asked_outline), "outline")

    async def write_section(self, given: WriteInput) -> Answer[SectionDraft]:
        """Remember `given`; return the draft scripted for its section, else the next one."""
        self.asked_write.append(given)
        for draft in self.drafts:
            if isinstance(draft, SectionDraft) and draft.section == given.section:
                return Answer(draft, self.usage)
        return self._next(self.drafts, len(self.asked_write), "write_section")

    async def check_claims(self, given: CheckInput) -> Answer[tuple[ClaimCheck, ...]]:
        """Remember `given`; return the next scripted checks."""
        self.asked_check.append(given)
        return self._next(self.checks, len(self.asked_check), "check_claims")

    async def repair(self, given: RepairInput) -> Answer[tuple[SectionDraft, ...]]:
        """Remember `given`; return the next scripted repair, or leave out what did not hold."""
        self.asked_repair.append(given)
        if self.repairs:
            return self._next(self.repairs, len(self.asked_repair), "repair")
        kept = tuple(keep_supported(draft, given.checks) for draft in given.drafts)
        return Answer(kept, self.usage)

    async def check_report(self, given: ReportCheckInput) -> Answer[tuple[Reopened, ...]]:
        """Remember `given`; return the next scripted list, by default an empty one."""
        self.asked_check_report.append(given)
        if not self.reopened:
            return Answer((), self.usage)
        return self._next(self.reopened, len(self.asked_check_report), "check_report")

    def _next(self, script: Sequence[T | AssayError], turn: int, operation: str) -> Answer[T]:
        if not script:
            raise RejectedError(f"this fake has no script for {operation!r}; give it an answer")
        answer = script[min(turn, len(script)) - 1]
        if isinstance(answer, AssayError):
            raise answer
        return Answer(answer, self.usage)
