"""One round of the knowledge base: search, read, assess, and write down what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import anyio

from adapters.models.port import AssessInput, Assessment, Selected
from flows.archive import archive_inventory, record_note, record_sources
from flows.at_once import in_order
from flows.consulting import consult
from flows.finding import freeze_reading, freeze_schedule, search_all, survey_unused, works_read
from flows.knowledge import Knowledge
from flows.step import Driver, StepFailed, Turn
from flows.stopping import next_queries
from flows.wiring import Tools
from state.errors import BudgetExceeded
from state.method_events import (
    RecordedConflict,
    RecordedQuote,
    RecordedRow,
    ResearchCoverageAssessed,
    ResearchEvidenceAccepted,
    ResearchSourceSkipped,
    ScheduledQuery,
)
from state.research_events import (
    InspectedRef,
    ResearchChecklistUpdated,
    ResearchCheckpointRecorded,
    ResearchStepRecorded,
)
from state.values.errors import RejectedError
from state.values.evidence import Coverage
from state.values.ids import content_hash
from state.values.money import Usage
from state.values.report import Failure, RoundEntry
from tasks.assess import assess as assess_task
from tasks.assess import choose_passages
from tasks.read import Reading, ReadInput
from tasks.read import read as read_task
from tasks.self_check import open_items

MAX_EVIDENCE = 8


async def research_round(driver: Driver, knowledge: Knowledge, tools: Tools) -> Knowledge:
    """Search, read and assess once; record what came of it; return the knowledge after it."""
    turn = Turn("knowledge_base", knowledge.number + 1)
    queries = await freeze_schedule(driver, turn, knowledge, tools)
    pages, search_failures = await search_all(driver, turn, queries, tools)
    unused = await survey_unused(driver, turn, tools) if turn.round == 1 else ()
    found = await freeze_reading(driver, turn, knowledge, pages)
    readings, read_failures = await read_all(driver, turn, found.locators, tools)
    added, duplicates = await record_sources(driver, turn, knowledge, readings)
    gave_nothing = [*search_failures, *found.unfit, *read_failures, *duplicates]
    met = {reading.display for reading in readings} | {entry.target for entry in gave_nothing}
    gave_nothing += [entry for entry in unused if entry.target not in met]
    after = replace(
        knowledge,
        sources=(*knowledge.sources, *added),
        used_queries=(*knowledge.used_queries, *[entry.query for entry in queries]),
        failures=(*knowledge.failures, *gave_nothing),
        works=knowledge.works | works_read(pages, [reading.locator for reading in readings]),
    )
    await record_failures(driver, turn, gave_nothing)
    if not after.source_ids:
        after = replace(after, inventory=await archive_inventory(driver, turn, tools))
    assessment, not_assessed = await assess_or_keep(driver, turn, after, queries, tools)
    after = replace(after, failures=(*after.failures, *not_assessed))
    entry = RoundEntry(turn.round, tuple(entry.query for entry in queries), found.locators, 0)
    return await close_round(driver, turn, after, assessment, entry)


async def read_all(
    driver: Driver, turn: Turn, locators: Sequence[str], tools: Tools
) -> tuple[list[Reading], list[Failure]]:
    """Read all `locators` at once; one that cannot be read stops none of the others."""
    calls = [
        partial(
            driver.step, turn, read_task, ReadInput(locator), Reading,
            reserve=Usage(pages=1), reader=tools.reader, converter=tools.converter,
            artifacts=driver.desk.artifacts, now=driver.desk.now,
        )
        for locator in locators
    ]  # fmt: skip
    results = await in_order(calls, at_once=driver.desk.settings.steps_at_once)
    readings, failures = [], []
    for locator, result in zip(locators, results, strict=True):
        if isinstance(result, RejectedError):
            failures.append(Failure("read", locator, result.code, result.message))
        else:
            readings.append(result)
    return readings, failures


async def record_failures(driver: Driver, turn: Turn, failures: Sequence[Failure]) -> None:
    """Record everything that gave no source, with its reason."""
    await driver.record(
        turn,
        *(
            ResearchSourceSkipped.model_validate(
                {
                    "round": turn.round,
                    "stage": failure.stage,
                    "locator": failure.target,
                    "code": failure.code[:80],
                    "reason": failure.reason[:2000],
                }
            )
            for failure in failures
        ),
    )


async def assess_or_keep(
    driver: Driver,
    turn: Turn,
    knowledge: Knowledge,
    queries: Sequence[ScheduledQuery],
    tools: Tools,
) -> tuple[Assessment, list[Failure]]:
    """Return the assessment of this round; where it failed, what was known, and the failure.

    So one bad answer, or the end of a budget, costs no report. Raises the `StepFailed` where
    nothing is known yet that a report could rest on: a retry goes on from there.
    """
    try:
        return await assess_round(driver, turn, knowledge, queries, tools), []
    except StepFailed as error:
        if not knowledge.assessment.selected:
            raise
        failure: RejectedError = error
    except BudgetExceeded as error:
        failure = error
    target = f"round {turn.round}"
    failed = Failure("assess", target, failure.code, failure.message)
    return _unassessed(knowledge.assessment, f"{target} was not assessed: {failure.message}"), [
        failed
    ]


def _unassessed(known: Assessment, why: str) -> Assessment:
    """Return what was known, its gaps left open for this reason."""
    rows = tuple(
        replace(row, gap=row.gap if known.selected else why, next_query="")
        if row.coverage is Coverage.GAP
        else row
        for row in known.rows
    )
    return replace(known, rows=rows)


async def assess_round(
    driver: Driver,
    turn: Turn,
    knowledge: Knowledge,
    queries: Sequence[ScheduledQuery],
    tools: Tools,
) -> Assessment:
    """Return what the evidence says after this round, every quote found in the archive."""
    request = driver.research.started.request
    asked = [s.question for s in knowledge.plan.subquestions]
    passages = [passage for source in knowledge.sources for passage in source.passages]
    given = AssessInput(
        plan=knowledge.plan,
        round=turn.round,
        passages=await anyio.to_thread.run_sync(
            choose_passages, [*asked, *[entry.query for entry in queries]], passages
        ),
        held=knowledge.assessment.selected,
        used_queries=knowledge.used_queries,
        cross_check=request.cross_check,
        max_evidence=MAX_EVIDENCE,
        per_subquestion=request.scope == "deep",
    )
    texts = {source.source_id: source.text for source in knowledge.sources}
    return await consult(
        driver, turn, assess_task, given, Assessment, tools=tools, about=given, texts=texts
    )


# ---- what is written down


async def close_round(
    driver: Driver, turn: Turn, knowledge: Knowledge, assessment: Assessment, entry: RoundEntry
) -> Knowledge:
    """Record evidence, note, coverage, the research step and the checkpoint of this round."""
    held = {choice.id for choice in knowledge.assessment.selected}
    fresh = [choice for choice in assessment.selected if choice.id not in held]
    by_id = {source.source_id: source.reading for source in knowledge.sources}
    await driver.record(turn, *_accepted(turn, fresh, by_id))
    note = await record_note(driver, turn, knowledge, assessment)
    await driver.record(turn, _coverage(turn, assessment, len(fresh)))
    after = replace(
        knowledge,
        assessment=assessment,
        rounds=(*knowledge.rounds, replace(entry, new_evidence=len(fresh))),
        notes=(*knowledge.notes, note),
    )
    await driver.record(turn, _research_step(driver, turn, after), *_checklist(driver, after))
    await driver.record(turn, _checkpoint(turn, after))
    return after


def _accepted(
    turn: Turn, fresh: Sequence[Selected], readings: Mapping[str, Reading]
) -> list[ResearchEvidenceAccepted]:
    return [
        ResearchEvidenceAccepted(
            evidence_id=choice.id,
            subquestion_id=choice.subquestion_id,
            round=turn.round,
            quote=RecordedQuote(
                source_id=choice.source_id,
                text_hash=readings[choice.source_id].text_hash,
                extractor=readings[choice.source_id].extractor,
                extractor_version=readings[choice.source_id].extractor_version,
                start=choice.start,
                end=choice.end,
                paragraph=choice.paragraph,
                page=choice.page,
            ),
            quote_hash=content_hash(choice.text),
        )
        for choice in fresh
    ]


def _coverage(turn: Turn, assessment: Assessment, fresh: int) -> ResearchCoverageAssessed:
    return ResearchCoverageAssessed(
        round=turn.round,
        rows=tuple(
            RecordedRow(
                subquestion_id=row.subquestion_id,
                coverage=row.coverage,
                evidence_ids=row.evidence_ids,
                gap=row.gap,
                next_query=row.next_query,
            )
            for row in assessment.rows
        ),
        missing=assessment.missing,
        conflicts=tuple(
            RecordedConflict(
                subquestion_id=conflict.subquestion_id,
                evidence_ids=conflict.evidence_ids,
                difference=conflict.difference,
            )
            for conflict in assessment.conflicts
        ),
        new_evidence=fresh,
    )


def _research_step(driver: Driver, turn: Turn, knowledge: Knowledge) -> ResearchStepRecorded:
    request = driver.research.started.request
    entry = knowledge.rounds[-1]
    ids = {source.reading.locator: source.source_id for source in knowledge.sources}
    read = [locator for locator in entry.read if locator in ids]
    return ResearchStepRecorded.model_validate(
        {
            "step_id": f"round-{turn.round}",
            "kind": "web_research" if request.uses_web else "local_exploration",
            "status": "completed",
            "objective": f"Round {turn.round}: {knowledge.plan.goal}"[:2000],
            "summary": (
                f"{len(entry.queries)} searches, {len(read)} of {len(entry.read)} sources "
                f"read, {entry.new_evidence} new quotes."
            ),
            "stopping_condition": "every scheduled search made and every chosen source read",
            "expected_evidence": "exact quotes that answer a subquestion",
            "roots": request.sources[:50],
            "keywords": entry.queries,
            "evidence_artifact_ids": [knowledge.notes[-1]],
            "inspected_refs": [
                InspectedRef.model_validate(
                    {
                        "kind": "url" if "://" in locator else "file",
                        "locator": locator,
                        "source_artifact_id": ids[locator],
                    }
                )
                for locator in read[:200]
            ],
        }
    )


def _checklist(driver: Driver, knowledge: Knowledge) -> list[ResearchChecklistUpdated]:
    """Report that every item is being worked on, once, in the first round."""
    if knowledge.number > 1:
        return []
    items = driver.research.profile.checklist
    return [
        ResearchChecklistUpdated.model_validate({"item_id": i, "status": "in_progress"})
        for i in items
    ]


def _checkpoint(turn: Turn, knowledge: Knowledge) -> ResearchCheckpointRecorded:
    rows = knowledge.assessment.rows
    covered = sum(row.coverage is Coverage.COVERED for row in rows)
    items = open_items(
        knowledge.plan, knowledge.assessment, [source.source_id for source in knowledge.sources]
    )
    return ResearchCheckpointRecorded(
        checkpoint_id=f"round-{turn.round}",
        round=turn.round,
        stage="knowledge_base",
        summary=f"{covered} of {len(rows)} subquestions covered by "
        f"{len(knowledge.assessment.selected)} quotes from {len(knowledge.sources)} sources.",
        open_questions=tuple(item[:1000] for item in items[:50]),
        next_steps=tuple(f"search: {entry.query}" for entry in next_queries(knowledge)[:50]),
        artifact_ids=knowledge.notes[-1:],
    )
