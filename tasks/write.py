"""Write: one section at a time, from the archive only, every claim resting on accepted evidence."""

import re
from dataclasses import replace

from prefect import task

from adapters.models.port import Answer, Paragraph, Researcher, SectionDraft, WriteInput
from state.values.claims import Claim
from state.values.redaction import redact
from tasks.policy import POLICY

MAX_CLAIM = 800
MAX_CITATIONS = 8
MAX_REMARK = 2000
# what a remark about the research itself has no use for: a citation of its own, or a link
_IMITATES = re.compile(r"\[\s*\d+[\s\d,;–-]*\]|://|\bwww\.", re.IGNORECASE)


async def write_one_section(given: WriteInput, researcher: Researcher) -> Answer[SectionDraft]:
    """Return the section, with claims renumbered and those without evidence left out.

    What is left out is said in a remark, never silently lost.
    """
    answer = await researcher.write_section(given)
    return replace(answer, value=accept_draft(answer.value, given))


def accept_draft(draft: SectionDraft, given: WriteInput) -> SectionDraft:
    """Return `draft` with at most `max_claims` claims, each citing 1 to 8 accepted quotes.

    A remark may speak of the research only: one with a citation or a link of its own is left out.
    Secrets are redacted.
    """
    known = {choice.id for choice in given.assessment.selected}
    paragraphs: list[Paragraph] = []
    count = lost = 0
    for paragraph in draft.paragraphs:
        claims = []
        for claim in paragraph.claims:
            ids = tuple(dict.fromkeys(id_ for id_ in claim.evidence_ids if id_ in known))
            text = redact(" ".join(claim.text.split()))
            if not ids or not text or len(text) > MAX_CLAIM or count >= given.max_claims:
                lost += 1
                continue
            count += 1
            claims.append(
                Claim(f"{given.section}-{count}", given.section, text, ids[:MAX_CITATIONS])
            )
        remark = redact(" ".join(paragraph.remark.split()))
        heading = redact(paragraph.heading)
        if not claims and (len(remark) > MAX_REMARK or _IMITATES.search(remark)):
            lost += 1
            remark = ""
        if claims:
            paragraphs.append(Paragraph(tuple(claims), "", heading))
        elif remark:
            paragraphs.append(Paragraph((), remark, heading))
    if lost:
        left_out = (
            f"{lost} sentence{'s' if lost > 1 else ''} left out: without accepted evidence, or "
            "beyond what a section may hold."
        )
        paragraphs.append(Paragraph(remark=left_out))
    if not paragraphs:
        paragraphs.append(Paragraph(remark="The archive holds nothing for this section."))
    return SectionDraft(given.section, tuple(paragraphs))


@task(name="write", task_run_name="write {given.section}", **POLICY)
async def write_section(given: WriteInput, *, researcher: Researcher) -> Answer[SectionDraft]:
    """Write one section."""
    return await write_one_section(given, researcher)
