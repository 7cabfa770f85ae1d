"""Runs as a library: start, resume, retry, cancel and read them, from any Python program.

    from flows.runs import ask, open_desk
    result = ask(open_desk(), "What is …?", sources=["notes/"])

Nothing here imports Prefect until a run is executed.
"""

import asyncio
import json
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from time import monotonic, sleep
from typing import Any, TypedDict

from flows.composing import compose_request, micro_usd, new_run_id, principal
from flows.engine_trouble import engine_trouble
from flows.kinds import kind_of, request_of_run
from flows.queueing import Asked, requeue_asked, submit_asked
from flows.wiring import Desk, at_desk, open_desk
from state.envelope import utc_text
from state.errors import LeaseHeld, Refused, Withheld
from state.events import Event, Limits, draft
from state.projection import Run
from state.request import ResearchRequest, as_invalid_request, make_request
from state.research_events import ArtifactRole, ResearchStarted
from state.run_events import RunCancelled, RunCancelRequested, RunInterrupted
from state.values.errors import AssayError, InvalidRequest, RejectedError
from state.working_time import seconds_between

__all__ = [
    "RunResult",
    "ask",
    "cancel",
    "compose_request",
    "execute",
    "make_request",
    "micro_usd",
    "new_run_id",
    "open_desk",
    "principal",
    "read_result",
    "refuse_ended",
    "request_of",
    "retry",
    "submit",
]


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run came to. `coverage` is the share of subquestions covered, 0 to 1.

    `claims` and `citations` are those of the report, `report` maps file names to paths; all empty
    before the report is sealed and after it was forgotten. `clarification` is the question that has
    to be put back, or ''. Of the `duration_s` seconds from its start to its end (or until now where
    it waits, else to what was last heard of it) it was worked on for `worked_s` and waited for a
    person for `waited_s`; in the rest it lay interrupted.
    """

    run_id: str
    status: str
    answer_status: str
    stop_reason: str
    coverage: float
    claims: list[dict[str, Any]] = field(default_factory=list)
    citations: list[dict[str, Any]] = field(default_factory=list)
    report: dict[str, str] = field(default_factory=dict)
    usage: dict[str, int] = field(default_factory=dict)
    duration_s: float = 0.0
    worked_s: float = 0.0
    waited_s: float = 0.0
    code: str = ""
    reason: str = ""
    clarification: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the result for programs."""
        return asdict(self)


def request_of(
    desk: Desk, question: str, *, sources: Sequence[str | Path] = (), **options: Any
) -> ResearchRequest:
    """Return the request to answer `question` from `sources`; `options` as in `compose_request`."""
    return compose_request(question, sources=sources, now=desk.now(), **options)


def submit(desk: Desk, request: ResearchRequest, *, flow_run_id: str | None = None) -> Run:
    """Record `request` as a queued run, once; see `flows.queueing.submit_asked`."""
    return submit_asked(desk, _asked(request), flow_run_id=flow_run_id)


def _asked(request: ResearchRequest) -> Asked:
    budgets = request.budgets
    limits = Limits(
        searches=budgets.max_searches,
        pages=budgets.max_read_pages,
        model_calls=budgets.max_model_calls,
        tokens=budgets.max_tokens,
        cost_micro_usd=budgets.max_cost_micro_usd,
    )
    started = ResearchStarted(
        objective=request.question, scope=request.scope, profile=request.profile, request=request
    )
    return Asked("research", request, started, limits)


def execute(
    desk: Desk, run_id: str, *, runner: Callable[[Coroutine[Any, Any, Any]], Any] = asyncio.run
) -> RunResult:
    """Carry the run to its end, or to where it waits; return what it came to.

    A completed run is authorised and published again, with nothing done twice. Raises `NotFound`,
    `LeaseHeld` when another process executes it, and `RejectedError` when it failed or was
    cancelled before. Of the Prefect server it raises `TransientError` (ENGINE) when that cannot do
    its part, and `InvalidRequest` when it wants a login; the run can go on then. Prefect must be
    configured (see `flows.engine_session`). `runner` runs the coroutine that does the work, as
    `asyncio.run` would.
    """
    run = existing_run(desk, run_id)
    if run.status == "completed":
        return republish(desk, run)
    refuse_ended(run)
    _refuse_other_stop(desk, run)
    with at_desk(desk):
        try:
            problem = runner(_carry(run_id))
        except Exception as error:
            if (trouble := engine_trouble(error)) is None:
                raise
            raise trouble from error
    if isinstance(problem, LeaseHeld):
        raise problem
    if isinstance(problem, BaseException) and not isinstance(problem, AssayError):
        raise engine_trouble(problem) or problem
    result = read_result(desk, run_id)
    if isinstance(problem, AssayError) and result.status == "running":
        # Not even the interruption could be recorded, on a full disk say.
        return replace(result, status="interrupted", code=problem.code, reason=problem.message)
    return result


def _refuse_other_stop(desk: Desk, run: Run) -> None:
    stops = kind_of(run).stops
    if desk.stop_after is not None and desk.stop_after not in stops:
        raise InvalidRequest(
            f"a {run.kind} run is not stopped after the {desk.stop_after}; "
            f"choose one of {', '.join(stops)}"
        )


async def _carry(run_id: str) -> object:
    """Return what executing the run gave: the error that ended it, if one did."""
    flow = kind_of(existing_run(open_desk(), run_id)).flow()
    state = await flow(run_id, return_state=True)
    return await state.aresult(raise_on_failure=False)


def refuse_ended(run: Run) -> None:
    """Raise `RejectedError` (TERMINAL) when the run failed or was cancelled: then it is retried."""
    if run.status in ("failed", "cancelled"):
        raise RejectedError(
            f"run {run.run_id!r} is {run.status}; 'assay retry {run.run_id}' goes on in a new run",
            code="TERMINAL",
        )


def ask(
    desk: Desk, question: str, *, sources: Sequence[str | Path] = (), **options: Any
) -> RunResult:
    """Answer `question` from `sources`, start to end; on Assay's own Prefect server by default.

    PREFECT_API_URL names another server. Raises as `request_of`, `submit` and `execute` do.
    """
    from flows.engine_session import engine_for

    request = request_of(desk, question, sources=sources, **options)
    with engine_for(desk.settings) as engine:
        run = submit(desk, request)
        engine.ready()
        return execute(desk, run.run_id)


def existing_run(desk: Desk, run_id: str) -> Run:
    """Return the run; raises `NotFound` when there is none."""
    return desk.ledger.project(run_id)


def republish(desk: Desk, run: Run) -> RunResult:
    """Authorise a completed run again, check its citations, and put its report back in place.

    Raises `Withheld` when the report was forgotten on purpose.
    """
    from flows.audit import check_citations
    from flows.sealing import write_manifest
    from tasks.publish import PublishInput, publish_files

    desk.policy.authorise(request_of_run(run))
    if run.paper2code and run.paper2code.sealed:
        from flows.delivering import published_files

        files = published_files(run.paper2code)
        publish_files(PublishInput(str(desk.reports / run.run_id), files), desk.artifacts)
        write_manifest(desk.reports, run)
    if run.research:
        files = tuple(
            (artifact.name, artifact.content_hash)
            for artifact in run.research.of_role(ArtifactRole.REPORT)
        )
        for _, body_hash in files:
            if reason := run.withheld.get(body_hash):
                raise Withheld(f"the report of run {run.run_id!r} is withheld: {reason}")
        if files:
            check_citations(desk.artifacts, run)
            publish_files(PublishInput(str(desk.reports / run.run_id), files), desk.artifacts)
            write_manifest(desk.reports, run)
    return read_result(desk, run.run_id)


def retry(desk: Desk, run_id: str) -> Run:
    """Queue a new run that goes on from a failed or cancelled one; nothing settled is repaid."""
    parent = existing_run(desk, run_id)
    if parent.status not in ("failed", "cancelled"):
        raise InvalidRequest(
            f"run {run_id!r} is {parent.status}; only a failed or cancelled run is retried"
            + ("; 'assay resume' goes on with it" if not parent.is_terminal else "")
        )
    desk.policy.authorise(request_of_run(parent))
    new_id = next_attempt_id(parent)
    if desk.ledger.exists(new_id):
        return desk.ledger.project(new_id)
    return kind_of(parent).requeue(desk, parent, new_id)


def next_attempt_id(run: Run) -> str:
    """Return the id of the run that a retry of `run` is."""
    return f"{run.task_id[:110]}-attempt-{run.attempt + 1}"


def requeue_research(desk: Desk, parent: Run, run_id: str) -> Run:
    """Queue the retry of the research run `parent` under `run_id`."""
    if parent.research is None:
        raise Refused(f"run {parent.run_id!r} is no research run", code="KIND")
    request = parent.research.started.request.model_copy(update={"id": run_id})
    return requeue_asked(desk, _asked(request), parent)


def cancel(desk: Desk, run_id: str, reason: str) -> Run:
    """Ask for the run's end; where nobody executes it, end it.

    A process that executes it notices within seconds, and ends what is in flight. Raises
    `RejectedError` when it has already ended, and `InvalidRequest` for a reason that cannot be
    recorded.
    """
    run = existing_run(desk, run_id)
    if run.is_terminal:
        raise RejectedError(f"run {run_id!r} is already {run.status}", code="TERMINAL")
    with as_invalid_request():
        event = RunCancelRequested(reason=reason or "cancelled", by=principal())
    desk.ledger.append(run_id, [draft(event)])
    try:
        with desk.ledger.lease(run_id, command="assay cancel"):
            run = desk.ledger.project(run_id)
            if run.is_terminal:
                return run
            ended: list[Event] = [RunCancelled(reason=event.reason)]
            return desk.ledger.append(run_id, [draft(each) for each in ended]).state
    except LeaseHeld:
        return desk.ledger.project(run_id)


def await_end(desk: Desk, run_id: str, *, within_s: float, poll_s: float = 0.2) -> Run:
    """Return the run once it has ended, or as it stands after `within_s` seconds."""
    give_up_at = monotonic() + within_s
    while not (run := desk.ledger.project(run_id)).is_terminal and monotonic() < give_up_at:
        sleep(poll_s)
    return run


def mark_interrupted(desk: Desk, run_id: str) -> bool:
    """Record that a running run whose process is gone was interrupted; tell whether it was one.

    One whose end is wanted is cancelled.
    """
    run = desk.ledger.project(run_id)
    if run.status != "running" or desk.ledger.holder(run_id) is not None:
        return False
    try:
        with desk.ledger.lease(run_id, command="assay recovery"):
            run = desk.ledger.project(run_id)
            if run.status != "running":
                return False
            event: Event
            if run.cancel_reason is not None:
                event = RunCancelled(reason=run.cancel_reason)
            else:
                reason = "the process that executed the run is gone"
                event = RunInterrupted(code="WORKFLOW_INTERRUPTED", reason=reason)
            desk.ledger.append(run_id, [draft(event)], expected_position=run.position)
            return True
    except (LeaseHeld, Refused):
        return False


def read_result(desk: Desk, run_id: str) -> RunResult:
    """Return what is known of the run now, from the ledger and the archive alone."""
    run = existing_run(desk, run_id)
    if run.paper2code is not None:
        from flows.code_runs import read_code_result

        return read_code_result(desk, run)
    research = run.research
    content: dict[str, Any] = {}
    report: dict[str, str] = {}
    if research and research.completed:
        for artifact in research.of_role(ArtifactRole.REPORT):
            if artifact.content_hash in run.withheld:
                continue
            if artifact.name == "report.json":
                content = json.loads(desk.artifacts.get(artifact.content_hash))["content"]
            report[artifact.name] = str(desk.reports / run_id / artifact.name)
        if report:
            report["manifest.json"] = str(desk.reports / run_id / "manifest.json")
    usage = asdict(run.spent)
    return RunResult(
        run_id=run_id,
        status=run.status,
        answer_status=run.answer_status,
        stop_reason=run.stop_reason,
        coverage=round(research.coverage, 4) if research else 0.0,
        claims=content.get("claims", []),
        citations=content.get("citations", []),
        report=report if run.status == "completed" else {},
        usage=usage,
        **run_times(run, desk.now()),
        code=run.code,
        reason=run.cancel_reason or run.reason if run.status != "completed" else "",
        clarification=research.plan.clarification if research and research.plan else "",
    )


class RunTimes(TypedDict):
    """How long a run took, in seconds; see `RunResult`."""

    duration_s: float
    worked_s: float
    waited_s: float


def run_times(run: Run, now: datetime) -> RunTimes:
    """Return how long the run took so far, and how much of it was work and how much waiting."""
    if not run.started_at:
        return RunTimes(duration_s=0.0, worked_s=0.0, waited_s=0.0)
    heard = utc_text(now) if run.status == "waiting" else run.updated_at
    return RunTimes(
        duration_s=round(seconds_between(run.started_at, run.ended_at or heard), 3),
        worked_s=run.time.worked(run.status),
        waited_s=run.time.waited(run.status, until=heard),
    )
