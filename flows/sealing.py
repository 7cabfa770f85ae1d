"""The end of a run: what was written becomes a report that is sealed, and published once."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import anyio

from adapters.exports.jsonfile import report_json
from adapters.exports.markdown import report_markdown, section_markdown
from adapters.models.port import SectionDraft
from flows.archive import JSON, Body, record_artifact
from flows.knowledge import Knowledge
from flows.remarks import method_remarks
from flows.step import Driver
from flows.unread import unread
from flows.wiring import Tools
from flows.writing import TURN, Written
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
from state.values.ids import content_hash
from state.values.report import Report
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
from tasks.publish import Published, PublishInput
from tasks.publish import publish as publish_task
from tasks.settle_checklist import settle


@dataclass(frozen=True, slots=True)
class Sealed:
    """The report, and the content hashes of the files that show it."""

    report: Report
    markdown_hash: str
    json_hash: str


async def seal_report(
    driver: Driver, knowledge: Knowledge, written: Written, tools: Tools
) -> Sealed:
    """Compose and archive the report, record claims, verdicts, sections and handoff; complete."""
    report = compose_report(driver, knowledge, written, tools)
    await _record_claims(driver, (*written.drafts, *written.replaced), report)
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


def compose_report(driver: Driver, knowledge: Knowledge, written: Written, tools: Tools) -> Report:
    """Return the report that was written; pure but for what the run was asked."""
    drafts, checks = written.drafts, written.checks
    research, request = driver.research, driver.research.started.request
    assessment = knowledge.assessment
    kept = kept_checks(checks)
    numbering = number_citations(drafts, kept, assessment)
    claims, dropped = report_claims((*drafts, *written.replaced), checks, numbering, assessment)
    readings = {source.source_id: source.reading for source in knowledge.sources}
    citations = report_citations(numbering, assessment, readings)
    computed = [section.key for section in research.profile.sections if section.computed]
    remarks = method_remarks(
        knowledge,
        claims,
        dropped,
        tools.researcher.name,
        request.scope,
        ranking=request.ranking,
    )
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
        omitted=unread(research, driver.desk.settings.services),
    )


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
            summary=f"{len(report.distinct_claims)} claims in {len(report.sections)} sections; "
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
