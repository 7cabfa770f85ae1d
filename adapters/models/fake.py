"""A `Researcher` for tests: scripted answers, and every input remembered."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from adapters.models.port import (
    Answer,
    AssessInput,
    Assessment,
    CheckInput,
    OutlineItem,
    PlanInput,
    SectionDraft,
    WriteInput,
)
from state.values.claims import ClaimCheck
from state.values.errors import AssayError, RejectedError
from state.values.money import Usage
from state.values.plan import Plan

T = TypeVar("T")
Sections = tuple[tuple[str, str], ...]


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
    usage: Usage = field(default_factory=Usage)
    name: str = "fake"
    uses_model: bool = False
    asked_plan: list[PlanInput] = field(default_factory=list)
    asked_assess: list[AssessInput] = field(default_factory=list)
    asked_outline: list[tuple[Sections, Plan, Assessment]] = field(default_factory=list)
    asked_write: list[WriteInput] = field(default_factory=list)
    asked_check: list[CheckInput] = field(default_factory=list)

    async def plan(self, given: PlanInput) -> Answer[Plan]:
        """Remember `given`; return the next scripted plan."""
        self.asked_plan.append(given)
        return self._next(self.plans, len(self.asked_plan), "plan")

    async def assess(self, given: AssessInput) -> Answer[Assessment]:
        """Remember `given`; return the next scripted assessment."""
        self.asked_assess.append(given)
        return self._next(self.assessments, len(self.asked_assess), "assess")

    async def outline(
        self, sections: Sections, plan: Plan, assessment: Assessment
    ) -> Answer[tuple[OutlineItem, ...]]:
        """Remember what was given; return the next scripted outline."""
        self.asked_outline.append((sections, plan, assessment))
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

    def _next(self, script: Sequence[T | AssayError], turn: int, operation: str) -> Answer[T]:
        if not script:
            raise RejectedError(f"this fake has no script for {operation!r}; give it an answer")
        answer = script[min(turn, len(script)) - 1]
        if isinstance(answer, AssayError):
            raise answer
        return Answer(answer, self.usage)
