"""The `Researcher` that needs no model: it quotes, compares and abstains."""

from adapters.models.extractive.assess import assess
from adapters.models.extractive.check import check_claims
from adapters.models.extractive.decompose import make_plan
from adapters.models.extractive.revise import revise
from adapters.models.extractive.write import outline, write_section
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
from state.values.money import Usage
from state.values.plan import Plan


class ExtractiveResearcher:
    """Answers with the sources' own sentences. Same input, same answer; no network, no chance.

    Text of the sources is data to it: it can be quoted, and can order nothing.
    """

    @property
    def name(self) -> str:
        """Return `extractive`."""
        return "extractive"

    @property
    def uses_model(self) -> bool:
        """Return False: nothing is spent."""
        return False

    async def plan(self, given: PlanInput) -> Answer[Plan]:
        """Split the question by its structure; with feedback, change the previous plan."""
        plan = given.previous or make_plan(given.question)
        return Answer(revise(plan, given.feedback) if given.feedback.strip() else plan)

    async def assess(self, given: AssessInput) -> Answer[Assessment]:
        """Choose quotes by relevance and novelty; say covered only where terms and sort are met."""
        return Answer(assess(given))

    def price(self, given: Given) -> Usage:
        """Return nothing: no operation costs anything."""
        return Usage()

    async def synthesise(self, given: SynthesisInput) -> Answer[tuple[SectionDraft, ...]]:
        """Write the sections one after the other, while claims are left."""
        drafts: list[SectionDraft] = []
        left = given.max_claims
        for key, title in given.sections:
            draft = write_section(WriteInput(key, title, given.plan, given.assessment, left))
            left -= len(draft.claims)
            drafts.append(draft)
        return Answer(tuple(drafts))

    async def outline(self, given: OutlineInput) -> Answer[tuple[OutlineItem, ...]]:
        """Say for each section which quotes it will give."""
        return Answer(outline(given.sections, given.plan, given.assessment))

    async def write_section(self, given: WriteInput) -> Answer[SectionDraft]:
        """Write a section out of exact quotes."""
        return Answer(write_section(given))

    async def check_claims(self, given: CheckInput) -> Answer[tuple[ClaimCheck, ...]]:
        """Compare each claim with its quotes word for word."""
        return Answer(check_claims(given))

    async def repair(self, given: RepairInput) -> Answer[tuple[SectionDraft, ...]]:
        """Leave out the claims that did not hold: a quote cannot be reworded."""
        return Answer(tuple(keep_supported(draft, given.checks) for draft in given.drafts))

    async def check_report(self, given: ReportCheckInput) -> Answer[tuple[Reopened, ...]]:
        """Reopen nothing: the same evidence would give the same section."""
        return Answer(())
