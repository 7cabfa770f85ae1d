"""Outline: decide what each section will rest on before any is written."""

from dataclasses import replace

from prefect import task

from adapters.models.port import Answer, OutlineInput, OutlineItem, Researcher
from tasks.policy import POLICY


async def make_outline(
    given: OutlineInput, researcher: Researcher
) -> Answer[tuple[OutlineItem, ...]]:
    """Return exactly one item a section, in order, resting on accepted evidence only."""
    answer = await researcher.outline(given)
    known = {choice.id for choice in given.assessment.selected}
    said = {item.section: item for item in answer.value}
    items = tuple(
        replace(
            said.get(key, OutlineItem(key, title, "")),
            section=key,
            title=title,
            evidence_ids=tuple(dict.fromkeys(id_ for id_ in said[key].evidence_ids if id_ in known))
            if key in said
            else (),
        )
        for key, title in given.sections
    )
    return replace(answer, value=items)


@task(name="outline", task_run_name="outline", **POLICY)
async def outline(
    given: OutlineInput, *, researcher: Researcher
) -> Answer[tuple[OutlineItem, ...]]:
    """Lay out the report."""
    return await make_outline(given, researcher)
