"""The end of a Paper2Code run: the report, the workspace with its history, and what is missing."""

from collections.abc import Sequence
from dataclasses import dataclass

import anyio

from adapters.exports.code_report import code_report_json, code_report_markdown
from flows.code_tools import CodeTools
from flows.designing import Agreed
from flows.implementing import NotWritten, recorded_in
from flows.sealing import report_folder, write_manifest
from flows.sourcing import spell_plan
from flows.step import Driver, Turn
from flows.verifying import Verified
from state.code_events import CodeFileRecorded, CodeSealed, FileHash
from state.code_stages import CodeStage
from state.code_state import VERIFIED, Paper2Code
from state.completion import verify_seal
from state.projection import Run
from state.run_events import RunCompleted
from state.values.code_plan import CodePlan, Component, FileRole
from state.values.code_report import (
    CodeReport,
    ReportedComponent,
    ReportedFile,
    ReportedRepair,
    ReportedVerification,
    Standing,
)
from state.values.errors import RejectedError
from state.values.verification import Verdict, Verification
from tasks.deliver import CommitInput, Delivered, DeliverInput
from tasks.deliver import deliver as deliver_task
from tasks.publish import Published, PublishInput
from tasks.publish import publish as publish_task

INCOMPLETE = "WORKFLOW_INCOMPLETE"
REPORT = "REPORT.md"
PLAN = "PLAN.json"


@dataclass(frozen=True, slots=True)
class Result:
    """What was agreed, what of it was not written, and how the rest was verified."""

    agreed: Agreed
    missing: tuple[NotWritten, ...]
    verified: Verified


async def deliver_code(driver: Driver, result: Result, tools: CodeTools) -> None:
    """Report, deliver and seal the code; complete the run, or raise what is missing.

    Raises `RejectedError` (WORKFLOW_INCOMPLETE) after everything there is was delivered.
    """
    async with driver.stage(CodeStage.FINALIZING) as turn:
        dropped = dropped_files(driver)
        report = compose_code_report(driver.run, result, tools.coder.name, dropped=dropped)
        files = {
            REPORT: await _archived(driver, code_report_markdown(report).encode()),
            "report.json": await _archived(driver, code_report_json(report).encode()),
            PLAN: await _archived(driver, spell_plan(result.agreed.plan.as_json())),
        }
        commit = await _deliver(driver, turn, result, files)
        code = driver.paper2code
        sealed = CodeSealed(
            outcome=report.outcome,
            plan_hash=result.agreed.plan.hash,
            files=tuple(
                FileHash(path=path, content_hash=address)
                for path, address in code.file_hashes.items()
            ),
            missing=code.missing,
            report_hash=files[REPORT],
            report_json_hash=files["report.json"],
            commit=commit,
            reason_code="" if report.outcome == "complete" else INCOMPLETE,
        )
        if code.sealed is None:
            await anyio.to_thread.run_sync(verify_seal, code, sealed, driver.desk.artifacts)
        await driver.record(turn, sealed)
        folder = report_folder(driver.desk.reports, driver.run.run_id)
        given = PublishInput(str(folder), published_files(driver.paper2code))
        await driver.step(turn, publish_task, given, Published, artifacts=driver.desk.artifacts)
    if report.outcome == "incomplete":
        raise RejectedError("; ".join(report.reasons), code=INCOMPLETE)
    await driver.record(turn, RunCompleted(answer_status=VERIFIED, stop_reason="tests-passed"))
    await anyio.to_thread.run_sync(write_manifest, driver.desk.reports, driver.run)


def published_files(code: Paper2Code) -> tuple[tuple[str, str], ...]:
    """Return the files of a sealed run's report, by name and content hash."""
    files = []
    if code.sealed:
        files += [(REPORT, code.sealed.report_hash), ("report.json", code.sealed.report_json_hash)]
    if code.plan:
        files.append((PLAN, code.plan.body_hash))
    return tuple(files)


async def _archived(driver: Driver, body: bytes) -> str:
    return await anyio.to_thread.run_sync(driver.archive, body)


async def _deliver(driver: Driver, turn: Turn, result: Result, files: dict[str, str]) -> str:
    """Put the code into its workspace, one commit a stage; return the last one."""
    code = driver.paper2code
    given = DeliverInput(
        run_id=driver.run.run_id,
        workspace=code.request.workspace,
        commits=tuple(_commits(driver.run, result, files)),
        ours=await _ours(driver),
        dropped=dropped_files(driver),
    )
    delivered = await driver.step(
        turn, deliver_task, given, Delivered, artifacts=driver.desk.artifacts
    )
    return delivered.commit


def _commits(run: Run, result: Result, files: dict[str, str]) -> list[CommitInput]:
    """Return the plan, the files as first written, each repair, and the report as commits."""
    code = run.paper2code
    assert code is not None  # the caller has it  # noqa: S101
    at = run.started_at
    commits = [CommitInput("Plan", at, ((PLAN, files[PLAN]),))]
    first = tuple((event.path, event.content_hash) for event in recorded_in(run, 0))
    if first:
        commits.append(CommitInput("Implement the plan", at, first))
    for repair in result.verified.repairs:
        changed = tuple((e.path, e.content_hash) for e in recorded_in(run, repair.attempt))
        if changed:
            message = f"Repair {repair.attempt}\n\n{repair.diagnosis}".strip()
            commits.append(CommitInput(message, at, changed))
    commits.append(CommitInput("Report", at, ((REPORT, files[REPORT]),)))
    return commits


def dropped_files(driver: Driver) -> tuple[str, ...]:
    """Return the paths that an attempt before wrote and the present plan has no more."""
    plan = driver.paper2code.plan
    planned = set(plan.paths_planned) if plan else set()
    written = {
        event.path
        for run in driver.ancestors
        for event in run.calls.values()
        if isinstance(event, CodeFileRecorded)
    }
    return tuple(sorted(written - planned))


async def _ours(driver: Driver) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return what may stand in the workspace and be overwritten: all that this task ever wrote."""
    hashes: dict[str, set[str]] = {}
    for run in (driver.run, *driver.ancestors):
        for event in run.calls.values():
            if isinstance(event, CodeFileRecorded):
                hashes.setdefault(event.path, set()).add(event.content_hash)
        # Not this run's own: what the step is given is the same before the seal and after.
        if run is not driver.run and run.paper2code and run.paper2code.sealed:
            hashes.setdefault(REPORT, set()).add(run.paper2code.sealed.report_hash)
        if run.paper2code:
            bodies = (plan.body_hash for plan in run.paper2code.plans)
            hashes.setdefault(PLAN, set()).update(bodies)
    return tuple((path, tuple(sorted(known))) for path, known in sorted(hashes.items()))


# ---- the report


def compose_code_report(
    run: Run, result: Result, coder: str, *, dropped: Sequence[str] = ()
) -> CodeReport:
    """Return the report; pure but for nothing: it says what the events of the run say."""
    code = run.paper2code
    assert code is not None  # a run of this kind  # noqa: S101
    plan, material = result.agreed.plan, result.agreed.material
    verifications = tuple(
        _reported(number, each) for number, each in enumerate(result.verified.verifications)
    )
    last = result.verified.verifications[-1] if result.verified.verifications else None
    dependencies = code.dependencies
    return CodeReport(
        run_id=run.run_id,
        title=plan.title,
        outcome="complete" if code.is_complete else "incomplete",
        reasons=tuple(_reasons(run, result)),
        source=material.locator,
        source_hash=material.text_hash,
        source_remarks=material.remarks,
        licence=material.licence,
        requirement=material.requirement,
        coder=coder,
        plan_version=code.plan.version if code.plan else 0,
        plan_hash=plan.hash,
        review=_review(run),
        files=tuple(_files(run, result)),
        components=tuple(
            _component(plan, part, last, result.missing) for part in plan.implementation_components
        ),
        quantities=plan.quantities,
        ambiguities=plan.ambiguities,
        language=plan.environment_setup.language,
        requirements=tuple(f"{r.name}{r.specifier}" for r in plan.environment_setup.requirements),
        installation=f"{dependencies.outcome}. {dependencies.reason}".strip()
        if dependencies
        else "",
        verifications=verifications,
        repairs=tuple(
            ReportedRepair(each.attempt, each.diagnosis, each.changed, each.refused)
            for each in result.verified.repairs
        ),
        ended=result.verified.ended,
        references=tuple(
            f"{each.locator}: {each.outcome} {each.reason}".strip() for each in code.references
        ),
        made_from=code.request.made_from,
        dropped=tuple(dropped),
    )


def _reasons(run: Run, result: Result) -> list[str]:
    """Return why the code is not complete; nothing for one that is."""
    code = run.paper2code
    if code is None or code.is_complete:
        return []
    reasons = [
        f"{path} is missing" + (f": {why}" if (why := _why(result.missing, path)) else "")
        for path in code.missing
    ]
    last = result.verified.verifications[-1] if result.verified.verifications else None
    if last is None:
        reasons.append(f"no test was run: {result.verified.ended or 'nothing was verified'}")
    elif last.verdict is not Verdict.PASSED:
        counts = last.counts
        reasons.append(
            f"the last verification says {last.verdict.value}: {counts.executed} tests executed, "
            f"{counts.passed} passed, {counts.failed} failed"
            + (f" ({last.reason})" if last.reason else "")
        )
        if result.verified.ended:
            reasons.append(result.verified.ended)
    return reasons


def _why(missing: Sequence[NotWritten], path: str) -> str:
    return next((each.reason for each in missing if each.path == path), "")


def _review(run: Run) -> str:
    answer = run.reviews[-1].answer if run.reviews else None
    if answer is None:
        return "carried out without a review, as asked"
    done = {"approve": "approved", "replace": "replaced"}.get(answer.action, answer.action)
    return f"{done} by {answer.by} at {run.reviews[-1].answered_at}"


def _files(run: Run, result: Result) -> list[ReportedFile]:
    repaired: dict[str, int] = {}
    for repair in result.verified.repairs:
        for path in repair.changed:
            repaired[path] = repaired.get(path, 0) + 1
    code = run.paper2code
    present = code.files if code else {}
    return [
        ReportedFile(
            file.path,
            file.purpose,
            "missing"
            if file.path not in present
            else "repaired"
            if file.path in repaired
            else "written",
            repaired.get(file.path, 0),
            _why(result.missing, file.path),
        )
        for file in result.agreed.plan.file_structure
    ]


def _component(
    plan: CodePlan, part: Component, last: Verification | None, missing: Sequence[NotWritten]
) -> ReportedComponent:
    own = [f for f in plan.file_structure if f.component == part.id and f.role is FileRole.SOURCE]
    paths = {file.path for file in own}
    tests = [
        file.path
        for file in plan.file_structure
        if file.role is FileRole.TEST
        and (file.component == part.id or paths & set(file.depends_on))
    ]
    standing, why = _standing(tests, last, [m.path for m in missing if m.path in paths])
    return ReportedComponent(
        part.id, part.name, part.criterion, standing, why,
        tuple(file.path for file in own), tuple(tests), part.citations,
    )  # fmt: skip


def _standing(
    tests: Sequence[str], last: Verification | None, missing: Sequence[str]
) -> tuple[Standing, str]:
    if missing:
        return "failed", f"Not all of its files are there: {', '.join(missing)} is missing."
    if not tests:
        return "not shown", "No test is about it."
    if last is None or not last.counts.executed:
        return "not shown", "Its tests were not executed."
    failing = [name for result in last.commands for name in result.tests]
    if any(name.startswith(test) for name in failing for test in tests):
        return "failed", "Some of its tests fail."
    if last.verdict is not Verdict.PASSED:
        return "not shown", "None of its tests is named among those that fail, but not all passed."
    return "shown", "The tests that are about it were executed and passed."


def _reported(number: int, found: Verification) -> ReportedVerification:
    counts = found.counts
    return ReportedVerification(
        number,
        found.verdict.value,
        found.level,
        tuple(result.name for result in found.commands),
        counts.executed,
        counts.passed,
        counts.failed,
        counts.skipped,
        found.reason,
    )
