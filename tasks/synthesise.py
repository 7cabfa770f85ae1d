"""Synthesise: write a whole report in one go, from the archive only."""

from dataclasses import replace

from prefect import task

from adapters.models.port import Answer, Researcher, SectionDraft, SynthesisInput, WriteInput
from tasks.policy import POLICY
from tasks.write import accept_draft


async def write_at_once(
    given: SynthesisInput, researcher: Researcher
) -> Answer[tuple[SectionDraft, ...]]:
    """Return one draft for each section, in order, none with claims beyond what is allowed.

    A section that the researcher left out says that the archive holds nothing for it.
    """
    answer = await researcher.synthesise(given)
    said = {draft.section: draft for draft in reversed(answer.value)}
    drafts: list[SectionDraft] = []
    left = given.max_claims
    for key, title in given.sections:
        asked = WriteInput(key, title, given.plan, given.assessment, left)
        draft = accept_draft(said.get(key, SectionDraft(key, ())), asked)
        left -= len(draft.claims)
        drafts.append(draft)
    return replace(answer, value=tuple(drafts))


@task(name="synthesise", task_run_name="synthesise", **POLICY)
async def synthesise(
    given: SynthesisInput, *, researcher: Researcher
) -> Answer[tuple[SectionDraft, ...]]:
    """Write the report."""
    return await write_at_once(given, researcher)
