"""Repair: one chance to reword claims that did not hold; what still does not hold is dropped."""

from dataclasses import replace

from prefect import task

from adapters.models.port import Answer, RepairInput, Researcher, SectionDraft, WriteInput
from tasks.policy import POLICY
from tasks.write import accept_draft


async def repair_sections(
    given: RepairInput, researcher: Researcher
) -> Answer[tuple[SectionDraft, ...]]:
    """Return the same sections in their order; one that came back as nothing is as it was."""
    answer = await researcher.repair(given)
    said = {draft.section: draft for draft in reversed(answer.value)}
    repaired = tuple(_accept(said.get(draft.section), draft, given) for draft in given.drafts)
    return replace(answer, value=repaired)


def _accept(made: SectionDraft | None, before: SectionDraft, given: RepairInput) -> SectionDraft:
    if made is None or not made.paragraphs:
        return before
    most = min(given.max_claims, len(before.claims))  # a repair adds nothing
    return accept_draft(
        made, WriteInput(before.section, "", given.plan, given.assessment, max_claims=most)
    )


@task(name="repair", task_run_name="repair", **POLICY)
async def repair(given: RepairInput, *, researcher: Researcher) -> Answer[tuple[SectionDraft, ...]]:
    """Reword or leave out what did not hold."""
    return await repair_sections(given, researcher)
