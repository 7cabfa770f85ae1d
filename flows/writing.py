"""Report writing: outline, sections, checks, and the sealed and published report."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import anyio

from adapters.exports.jsonfile import report_json
from adapters.exports.markdown import report_markdown, section_markdown
from adapters.models.port import CheckInput, OutlineItem, Paragraph, SectionDraft, WriteInput
from flows.archive import JSON, Body, record_artifact
from flows.knowledge import Knowledge
from flows.remarks import method_remarks
from flows.step import Driver, Turn, in_order
from flows.wiring import Tools
from state.completion import verify_completion
from state.durable import replace_file
from state.method_events import ResearchClaimRecorded, ResearchVerdictRecorded
from state.projection import Run
from state.research_events import (
    ArtifactRole,
    Handoff,
    ResearchChecklistUpdated,
    ResearchCheckpointRecorded,
    ResearchCompleted,
)
from state.run_events import RunCompleted
from state.values.claims import ClaimCheck, Verdict
from state.values.errors import RejectedError
from state.values.ids import content_hash
from state.values.money import Usage
from state.values.redaction import redact
from state.values.report import Report
from tasks.check import CheckTurn
from tasks.check import check as check_task
from tasks.compose import (
    answer_status,
    claims_of,
    compose_sections,
    handoff_lists,
    kept_checks,
    number_citations,
    report_citations,
    report_claims,
    report_conflicts,
    report_sources,
)
from tasks.outline import OutlineInput
from tasks.outline import outline as outline_task
from tasks.publish import Published, PublishInput
from tasks.publish import publish as publish_task
from tasks.settle_checklist import settle
from tasks.write import write_section as write_task

TURN = Turn("report_writing")
MAX_CLAIMS = 12


def _model_call(tools: Tools) -> Usage:
    return Usage(model_calls=int(tools.researcher.uses_model))


async def outline_report(
    driver: Driver, knowledge: Knowledge, tools: Tools
) -> tuple[OutlineItem, ...]:
    """Return what each section will rest on, archived before any section is written.

    An outline that failed, or that no budget was left for, leaves every section open.
    """
    sections = tuple((s.key, s.title) for s in driver.research.profile.sections)
    given = OutlineInput(sections, knowledge.plan, knowledge.assessment)
    call = partial(
        driver.step, TURN, outline_task, given, tuple[OutlineItem, ...],
        reserve=_model_call(tools), researcher=tools.researcher,
    )  # fmt: skip
    (made,) = await in_order([call])
    if isinstance(made, RejectedError):
        items = tuple(OutlineItem(key, title, "") for key, title in sections)
    else:
        items = made
    lines = ["# Outline", ""]
    for item in items:
        lines += [f"## {item.title}", "", item.intent or "(open)", ""]
        lines += [f"- {id_}" for id_ in item.evidence_ids]
    cited = knowledge.cited_ids or knowledge.source_ids
    body = Body(ArtifactRole.OUTLINE, "Outline", "outline", "\n".join(lines).encode(), cites=cited)
    await record_artifact(driver, TURN, body)
    return items


async def write_sections(
    driver: Driver, knowledge: Knowledge, outline: Sequence[OutlineItem], tools: Tools
) -> tuple[SectionDraft, ...]:
    """Return the sections a researcher writes, from the archive only, in the profile's order.

    A section that failed, or that no budget was left for, says so; when all did, the first error
    is raised.
    """
    planned = {item.section: item.evidence_ids for item in outline}
    inputs = [
        WriteInput(
            section=section.key,
            section_title=section.title,
            plan=knowledge.plan,
            assessment=knowledge.assessment,
            max_claims=MAX_CLAIMS,
            outline=planned.get(section.key, ()),
        )
        for section in driver.research.profile.sections
        if not section.computed
    ]
    calls = [
        partial(
            driver.step, TURN, write_task, given, SectionDraft,
            reserve=_model_call(tools), researcher=tools.researcher,
        )
        for given in inputs
    ]  # fmt: skip
    results = await in_order(calls, at_once=driver.desk.settings.steps_at_once)
    failures = [result for result in results if isinstance(result, RejectedError)]
    if len(failures) == len(results):
        raise failures[0]
    return tuple(
        _not_written(given, result) if isinstance(result, RejectedError) else result
        for given, result in zip(inputs, results, strict=True)
    )


def _not_written(given: WriteInput, failure: RejectedError) -> SectionDraft:
    remark = f"Incomplete: this section was not written ({failure.code}: {failure.message})."
    return SectionDraft(given.section, (Paragraph(remark=redact(remark)),))


async def check_claims(
    driver: Driver, knowledge: Knowledge, drafts: Sequence[SectionDraft], tools: Tools
) -> tuple[ClaimCheck, ...]:
    """Return one check for every claim; a check that failed leaves its claims unverified."""
    evidence = knowledge.assessment.selected
    turns = []
    for draft in drafts:
        cited = {id_ for claim in draft.claims for id_ in claim.evidence_ids}
        quotes = tuple(choice for choice in evidence if choice.id in cited)
        if draft.claims:
            turns.append(CheckTurn(draft.section, CheckInput(draft.claims, quotes)))
    calls = [
        partial(
            driver.step, TURN, check_task, turn, tuple[ClaimCheck, ...],
            reserve=_model_call(tools), researcher=tools.researcher,
        )
        for turn in turns
    ]  # fmt: skip
    results = await in_order(calls, at_once=driver.desk.settings.steps_at_once)
    checks: list[ClaimCheck] = []
    for turn, result in zip(turns, results, strict=True):
        checks += _unverified(turn, result) if isinstance(result, RejectedError) else result
    return tuple(checks)


def _unverified(turn: CheckTurn, failure: RejectedError) -> list[ClaimCheck]:
    reason = f"the check failed: {failure.message}"[:2000]
    return [
        ClaimCheck(claim.id, Verdict.UNVERIFIED, "engine", reason) for claim in turn.given.claims
    ]


# ---- sealing


@dataclass(frozen=True, slots=True)
class Sealed:
    """The report, and the content hashes of the files that show it."""

    report: Report
    markdown_hash: str
    json_hash: str


async def seal_report(
    driver: Driver,
    knowledge: Knowledge,
    drafts: Sequence[SectionDraft],
    checks: Sequence[ClaimCheck],
    tools: Tools,
) -> Sealed:
    """Compose and archive the report, record claims, verdicts, sections and handoff; complete."""
    report = compose_report(driver, knowledge, drafts, checks, tools)
    await _record_claims(driver, drafts, report)
    cited = knowledge.cited_ids or knowledge.source_ids
    bodies = [
        Body(
            ArtifactRole.REPORT_SECTION,
            section.title,
            f"section/{section.key}",
            section_markdown(report, section).encode(),
            cites=cited,
            section_key=section.key,
        )
        for section in report.sections
    ]
    sections = [await record_artifact(driver, TURN, body) for body in bodies]
    markdown, structured = report_markdown(report).encode(), report_json(report).encode()
    files = [
        Body(ArtifactRole.REPORT, "report.md", "report.md", markdown, cites=cited),
        Body(ArtifactRole.REPORT, "report.json", "report.json", structured, JSON, cites=cited),
    ]
    report_id, _ = [await record_artifact(driver, TURN, body) for body in files]
    handoff = await _record_handoff(driver, report, cited)
    await driver.record(TURN, *_closing(driver, knowledge, report, sections))
    completed = ResearchCompleted(report_artifact_id=report_id, handoff=handoff)
    if driver.research.completed is None:
        await anyio.to_thread.run_sync(
            verify_completion, driver.research, completed, driver.desk.artifacts
        )
    await driver.record(TURN, completed)
    return Sealed(report, content_hash(markdown), content_hash(structured))


def compose_report(
    driver: Driver,
    knowledge: Knowledge,
    drafts: Sequence[SectionDraft],
    checks: Sequence[ClaimCheck],
    tools: Tools,
) -> Report:
    """Return the report that these drafts and checks make; pure but for what the run was asked."""
    research, request = driver.research, driver.research.started.request
    assessment = knowledge.assessment
    kept = kept_checks(checks)
    numbering = number_citations(drafts, kept, assessment)
    claims, dropped = report_claims(drafts, checks, numbering, assessment)
    readings = {source.source_id: source.reading for source in knowledge.sources}
    citations = report_citations(numbering, assessment, readings)
    computed = [section.key for section in research.profile.sections if section.computed]
    remarks = method_remarks(knowledge, claims, dropped, tools.researcher.name, request.scope)
    return Report(
        request_id=request.id,
        question=request.question,
        research_type=request.research_type,
        audience=request.audience,
        boundaries=request.boundaries,
        scope=request.scope,
        profile=research.profile.name,
        researcher=tools.researcher.name,
        plan=knowledge.plan,
        rounds=knowledge.rounds,
        rows=assessment.rows,
        missing=assessment.missing,
        conflicts=report_conflicts(assessment, numbering),
        answer_status=answer_status(assessment, allow_partial=request.allow_partial),
        stop_reason=knowledge.stop or "",
        sections=compose_sections(
            [(s.key, s.title) for s in research.profile.sections],
            drafts,
            kept,
            dict.fromkeys(computed, remarks),
        ),
        claims=claims,
        dropped_claims=dropped,
        citations=citations,
        sources=report_sources(list(readings.items()), citations),
        failures=knowledge.failures,
        omitted=_never_read(knowledge),
    )


def _never_read(knowledge: Knowledge) -> tuple[str, ...]:
    opened = {source.reading.locator for source in knowledge.sources}
    opened |= {failure.target for failure in knowledge.failures}
    return tuple(locator for locator in knowledge.omitted if locator not in opened)


async def _record_claims(driver: Driver, drafts: Sequence[SectionDraft], report: Report) -> None:
    claims = claims_of(drafts)
    judged = {claim.id: claim for claim in (*report.claims, *report.dropped_claims)}
    await driver.record(
        TURN,
        *(
            ResearchClaimRecorded(
                claim_id=claim.id,
                section=claim.section,
                text_hash=content_hash(claim.text),
                evidence_ids=claim.evidence_ids,
            )
            for claim in claims
        ),
        *(
            ResearchVerdictRecorded(
                claim_id=claim.id,
                verdict=judged[claim.id].verdict,
                claim_status=judged[claim.id].status,
                method=judged[claim.id].method,
                reason=judged[claim.id].reason,
            )
            for claim in claims
        ),
    )


async def _record_handoff(driver: Driver, report: Report, cited: Sequence[str]) -> Handoff:
    lists = handoff_lists(report)
    body = json.dumps({"question": report.question, **lists}, indent=2, ensure_ascii=False)
    kept = Body(ArtifactRole.HANDOFF, "Handoff", "handoff", body.encode(), JSON, cites=cited)
    artifact = await record_artifact(driver, TURN, kept)
    return Handoff.model_validate({"artifact_id": artifact, **lists})


def _closing(
    driver: Driver, knowledge: Knowledge, report: Report, sections: Sequence[str]
) -> list[ResearchChecklistUpdated | ResearchCheckpointRecorded]:
    return [
        *settle(
            driver.research.profile,
            source_ids=knowledge.source_ids,
            archived=bool(knowledge.sources),
            note_ids=knowledge.notes,
            section_ids=sections,
            assessment=knowledge.assessment,
        ),
        ResearchCheckpointRecorded(
            checkpoint_id="report",
            round=max(knowledge.number, 1),
            stage="report_writing",
            summary=f"{len(report.claims)} claims in {len(report.sections)} sections; "
            f"{len(report.dropped_claims)} dropped.",
            open_questions=tuple(text[:1000] for text in report.missing[:50]),
            artifact_ids=tuple(sections),
        ),
    ]


# ---- publishing


async def publish_report(driver: Driver, sealed: Sealed) -> None:
    """Publish the sealed report once, and end the run."""
    report, run_id = sealed.report, driver.run.run_id
    async with driver.stage("publishing") as turn:
        given = PublishInput(
            str(report_folder(driver.desk.reports, run_id)),
            (("report.md", sealed.markdown_hash), ("report.json", sealed.json_hash)),
        )
        await driver.step(turn, publish_task, given, Published, artifacts=driver.desk.artifacts)
    await driver.record(
        turn,
        RunCompleted(answer_status=report.answer_status, stop_reason=report.stop_reason),
    )
    await anyio.to_thread.run_sync(write_manifest, driver.desk.reports, driver.run)


def report_folder(reports: Path, run_id: str) -> Path:
    """Return the folder that the report of `run_id` is published in."""
    return reports / run_id


def write_manifest(reports: Path, run: Run) -> None:
    """Write what is known of the finished run beside its report: times, usage, and the last event.

    The last position and hash let `verify` notice when the end of the journal was cut off.
    """
    manifest = {
        "run_id": run.run_id,
        "status": run.status,
        "answer_status": run.answer_status,
        "stop_reason": run.stop_reason,
        "attempt": run.attempt,
        "queued_at": run.queued_at,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "usage": asdict(run.spent),
        "last_position": run.position,
        "last_hash": run.head_hash,
    }
    folder = report_folder(reports, run.run_id)
    replace_file(folder / "manifest.json", (json.dumps(manifest, indent=2) + "\n").encode())
