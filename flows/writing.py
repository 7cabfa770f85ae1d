"""Report writing, from the archive only: write, check every claim, repair once, look again."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from adapters.models.port import (
    CheckInput,
    OutlineInput,
    OutlineItem,
    Paragraph,
    Reopened,
    RepairInput,
    ReportCheckInput,
    SectionDraft,
    SynthesisInput,
    WriteInput,
)
from flows.archive import Body, record_artifact
from flows.at_once import in_order
from flows.consulting import consult
from flows.knowledge import Knowledge
from flows.step import Driver, Turn
from flows.wiring import Tools
from state.errors import BudgetExceeded
from state.research_events import ArtifactRole
from state.values.claims import FAILED, ClaimCheck, Verdict
from state.values.errors import RejectedError
from state.values.redaction import redact
from tasks.check import CheckTurn
from tasks.check import check as check_task
from tasks.check_report import check_report as check_report_task
from tasks.outline import outline as outline_task
from tasks.repair import repair as repair_task
from tasks.synthesise import synthesise as synthesise_task
from tasks.write import write_section as write_task

TURN = Turn("report_writing")
AGAIN = Turn("report_writing", 2)
MAX_CLAIMS = 12


@dataclass(frozen=True, slots=True)
class Written:
    """The sections as they stand, and one check for each of their claims.

    `replaced` are claims that did not hold and that a repair took out, by section, under ids of
    their own; they are checked, too.
    """

    drafts: tuple[SectionDraft, ...]
    checks: tuple[ClaimCheck, ...] = ()
    replaced: tuple[SectionDraft, ...] = ()


async def write_report(driver: Driver, knowledge: Knowledge, tools: Tools) -> Written:
    """Return the report's sections, written and checked, from the archive only.

    A model writes a quick or standard report at once; otherwise an outline comes first, then one
    section at a time. Claims that did not hold get one repair. In scope deep the whole is looked
    at in the end, which can reopen a section once. Where nothing was accepted as evidence, no model
    is asked.
    """
    request = driver.research.started.request
    if tools.researcher.uses_model and not knowledge.assessment.selected:
        return Written(await write_nothing(driver, knowledge))
    if tools.researcher.uses_model and request.scope != "deep":
        drafts = await synthesise_report(driver, knowledge, tools)
    else:
        outline = await outline_report(driver, knowledge, tools)
        drafts = await write_sections(driver, section_inputs(driver, knowledge, outline), tools)
    written = Written(drafts, await check_claims(driver, TURN, knowledge, drafts, tools))
    written = await repair_once(driver, knowledge, written, tools)
    if request.scope == "deep":
        written = await rewrite_reopened(driver, knowledge, written, tools)
    return written


def _written_sections(driver: Driver) -> tuple[tuple[str, str], ...]:
    """Return key and title of the sections that a researcher writes."""
    sections = driver.research.profile.sections
    return tuple((section.key, section.title) for section in sections if not section.computed)


async def write_nothing(driver: Driver, knowledge: Knowledge) -> tuple[SectionDraft, ...]:
    """Return sections that say that there is no evidence; their outline is archived before."""
    sections = _written_sections(driver)
    items = [OutlineItem(key, title, "") for key, title in sections]
    await _archive_outline(driver, knowledge, items)
    return tuple(_without_evidence(key) for key, _ in sections)


async def synthesise_report(
    driver: Driver, knowledge: Knowledge, tools: Tools
) -> tuple[SectionDraft, ...]:
    """Return all sections, written at once. What they may rest on is archived before.

    Without budget for that, every section says so; raises the `StepFailed` that it ended in.
    """
    sections = _written_sections(driver)
    evidence = tuple(choice.id for choice in knowledge.assessment.selected)
    await _archive_outline(
        driver,
        knowledge,
        [OutlineItem(key, title, "", evidence_ids=evidence) for key, title in sections],
    )
    given = SynthesisInput(sections, knowledge.plan, knowledge.assessment, MAX_CLAIMS)
    try:
        form = tuple[SectionDraft, ...]
        return await consult(driver, TURN, synthesise_task, given, form, tools=tools, about=given)
    except BudgetExceeded as failure:
        return tuple(_not_written(key, failure) for key, _ in sections)


def _without_evidence(section: str) -> SectionDraft:
    remark = "No quote was accepted as evidence, so nothing is claimed here."
    return SectionDraft(section, (Paragraph(remark=remark),))


async def outline_report(
    driver: Driver, knowledge: Knowledge, tools: Tools
) -> tuple[OutlineItem, ...]:
    """Return what each section will rest on, archived before any section is written.

    An outline that failed, or that no budget was left for, leaves every section open.
    """
    sections = tuple((s.key, s.title) for s in driver.research.profile.sections)
    given = OutlineInput(sections, knowledge.plan, knowledge.assessment)
    form = tuple[OutlineItem, ...]
    call = partial(consult, driver, TURN, outline_task, given, form, tools=tools, about=given)
    (made,) = await in_order([call])
    if isinstance(made, RejectedError):
        items = tuple(OutlineItem(key, title, "") for key, title in sections)
    else:
        items = made
    await _archive_outline(driver, knowledge, items)
    return items


async def _archive_outline(
    driver: Driver, knowledge: Knowledge, items: Sequence[OutlineItem]
) -> None:
    lines = ["# Outline", ""]
    for item in items:
        lines += [f"## {item.title}", "", item.intent or "(open)", ""]
        lines += [f"- {id_}" for id_ in item.evidence_ids]
    cited = knowledge.cited_ids or knowledge.source_ids
    body = Body(ArtifactRole.OUTLINE, "Outline", "outline", "\n".join(lines).encode(), cites=cited)
    await record_artifact(driver, TURN, body)


def section_inputs(
    driver: Driver, knowledge: Knowledge, outline: Sequence[OutlineItem]
) -> list[WriteInput]:
    """Return what each section is written from, in the profile's order."""
    planned = {item.section: item.evidence_ids for item in outline}
    return [
        WriteInput(
            section=key,
            section_title=title,
            plan=knowledge.plan,
            assessment=knowledge.assessment,
            max_claims=MAX_CLAIMS,
            outline=planned.get(key, ()),
        )
        for key, title in _written_sections(driver)
    ]


async def write_sections(
    driver: Driver, inputs: Sequence[WriteInput], tools: Tools
) -> tuple[SectionDraft, ...]:
    """Return the sections of `inputs`, written at the same time, in their order.

    A section that failed, or that no budget was left for, says so; when all did, the first error
    is raised.
    """
    calls = [
        partial(consult, driver, TURN, write_task, given, SectionDraft, tools=tools, about=given)
        for given in inputs
    ]
    results = await in_order(calls, at_once=driver.desk.settings.steps_at_once)
    failures = [result for result in results if isinstance(result, RejectedError)]
    if failures and len(failures) == len(results):
        raise failures[0]
    return tuple(
        _not_written(given.section, result) if isinstance(result, RejectedError) else result
        for given, result in zip(inputs, results, strict=True)
    )


def _not_written(section: str, failure: RejectedError) -> SectionDraft:
    remark = f"Incomplete: this section was not written ({failure.code}: {failure.message})."
    return SectionDraft(section, (Paragraph(remark=redact(remark)),))


async def check_claims(
    driver: Driver,
    turn: Turn,
    knowledge: Knowledge,
    drafts: Sequence[SectionDraft],
    tools: Tools,
) -> tuple[ClaimCheck, ...]:
    """Return one check for every claim; a check that failed leaves its claims unverified.

    Claims are checked apart from their writing, section by section; those of a report that was
    written at once, all together.
    """
    deep = driver.research.started.request.scope == "deep"
    at_once = tools.researcher.uses_model and not deep
    groups = [("all", drafts)] if at_once else [(draft.section, [draft]) for draft in drafts]
    turns = [_check_turn(name, group, knowledge) for name, group in groups]
    form = tuple[ClaimCheck, ...]
    calls = [
        partial(consult, driver, turn, check_task, each, form, tools=tools, about=each.given)
        for each in turns
        if each.given.claims
    ]
    results = await in_order(calls, at_once=driver.desk.settings.steps_at_once)
    checks: list[ClaimCheck] = []
    for each, result in zip([t for t in turns if t.given.claims], results, strict=True):
        checks += _unverified(each, result) if isinstance(result, RejectedError) else result
    return tuple(checks)


def _check_turn(name: str, drafts: Sequence[SectionDraft], knowledge: Knowledge) -> CheckTurn:
    claims = tuple(claim for draft in drafts for claim in draft.claims)
    cited = {id_ for claim in claims for id_ in claim.evidence_ids}
    quotes = tuple(choice for choice in knowledge.assessment.selected if choice.id in cited)
    return CheckTurn(name, CheckInput(claims, quotes))


def _unverified(turn: CheckTurn, failure: RejectedError) -> list[ClaimCheck]:
    reason = f"the check failed: {failure.message}"[:2000]
    return [
        ClaimCheck(claim.id, Verdict.UNVERIFIED, "engine", reason) for claim in turn.given.claims
    ]


# ---- a second look


async def repair_once(
    driver: Driver, knowledge: Knowledge, written: Written, tools: Tools
) -> Written:
    """Give the claims that did not hold one repair, and check the sections that it changed.

    A repair that failed, or that no budget was left for, changes nothing: what did not hold is
    dropped from the report, which says so.
    """
    failed = {check.claim_id for check in written.checks if check.verdict in FAILED}
    broken = [d for d in written.drafts if any(claim.id in failed for claim in d.claims)]
    if not (broken and tools.researcher.uses_model):  # what quotes exactly has nothing to reword
        return written
    ids = {claim.id for draft in broken for claim in draft.claims}
    given = RepairInput(
        tuple(broken),
        tuple(check for check in written.checks if check.claim_id in ids),
        knowledge.plan,
        knowledge.assessment,
        MAX_CLAIMS,
    )
    form = tuple[SectionDraft, ...]
    call = partial(consult, driver, AGAIN, repair_task, given, form, tools=tools, about=given)
    (made,) = await in_order([call])
    if isinstance(made, RejectedError):
        return written
    return await _replaced(driver, knowledge, written, made, tools)


async def rewrite_reopened(
    driver: Driver, knowledge: Knowledge, written: Written, tools: Tools
) -> Written:
    """Look at the whole report, and write the sections again that are not good enough, once."""
    given = ReportCheckInput(written.drafts, knowledge.plan, knowledge.assessment)
    form = tuple[Reopened, ...]
    call = partial(consult, driver, AGAIN, check_report_task, given, form, tools=tools, about=given)
    (reopened,) = await in_order([call])
    if isinstance(reopened, RejectedError) or not reopened:
        return written
    why = {entry.section: entry.reason for entry in reopened}
    inputs = [
        replace(given_, feedback=why[given_.section])
        for given_ in section_inputs(driver, knowledge, ())
        if given_.section in why
    ]
    calls = [
        partial(consult, driver, AGAIN, write_task, each, SectionDraft, tools=tools, about=each)
        for each in inputs
    ]
    results = await in_order(calls, at_once=driver.desk.settings.steps_at_once)
    made = tuple(result for result in results if not isinstance(result, RejectedError))
    return await _replaced(driver, knowledge, written, made, tools)


async def _replaced(
    driver: Driver,
    knowledge: Knowledge,
    written: Written,
    made: Sequence[SectionDraft],
    tools: Tools,
) -> Written:
    """Return `written` with the sections in `made` in place of theirs, checked anew."""
    by_key = {draft.section: draft for draft in made}
    changed = [d for d in written.drafts if by_key.get(d.section, d) != d]
    if not changed:
        return written
    fresh = [by_key[draft.section] for draft in changed]
    checks = await check_claims(driver, AGAIN, knowledge, fresh, tools)
    stale = {claim.id for draft in changed for claim in draft.claims}
    kept = [check for check in written.checks if check.claim_id not in stale]
    gone, their_checks = _taken_out(changed, fresh, written.checks)
    return Written(
        tuple(by_key.get(draft.section, draft) for draft in written.drafts),
        (*kept, *checks, *their_checks),
        (*written.replaced, *gone),
    )


def _taken_out(
    before: Sequence[SectionDraft], after: Sequence[SectionDraft], checks: Sequence[ClaimCheck]
) -> tuple[list[SectionDraft], list[ClaimCheck]]:
    """Return the claims that did not hold and are said no more, each under an id of its own."""
    failed = {check.claim_id: check for check in checks if check.verdict in FAILED}
    said = {claim.text for draft in after for claim in draft.claims}
    gone, kept = [], []
    for draft in before:
        claims = [c for c in draft.claims if c.id in failed and c.text not in said]
        renamed = tuple(replace(claim, id=f"{claim.id}-replaced") for claim in claims)
        kept += [replace(failed[c.id], claim_id=f"{c.id}-replaced") for c in claims]
        if renamed:
            gone.append(SectionDraft(draft.section, (Paragraph(renamed),)))
    return gone, kept
