"""What is deployed on a Prefect server: a run from a form, a run that goes on, and the recovery.

A deployed run is the parent of its stages. It may wait for a person for days, suspended, without
a process; and it starts over whenever Prefect starts it again: the ledger tells what is left to do.
"""

import os
from typing import Any
from uuid import UUID

import anyio
from prefect import Flow, flow
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun, State
from prefect.context import FlowRunContext
from prefect.states import Cancelled, Completed, Crashed, Failed

from flows import execution
from flows.asking import decide_in_prefect
from flows.code_form import PaperForm
from flows.code_runs import submit_code
from flows.forms import ResearchForm, in_words_of
from flows.kinds import kind_of
from flows.publishing import Publisher, publishing
from flows.runs import cancel, mark_interrupted, republish, submit
from flows.serving_record import knock
from flows.settings import load_settings
from flows.terminal import one_line, talk
from flows.wiring import Desk, at_desk, open_desk
from state.code_request import CodeRequest
from state.errors import LeaseHeld, NotFound
from state.projection import Run
from state.request import ResearchRequest
from state.values.errors import AssayError, InvalidRequest

TAG = "assay"
STOPPED_WITH_THE_SERVER = "the server that executed the run was stopped"
_LONGEST_NAME = 90
_SECRETS = ("PREFECT_API_AUTH_STRING", "PREFECT_API_KEY")


def end_with_flow_run(
    flow: Flow[..., Any],  # noqa: ARG001 - Prefect's form
    flow_run: FlowRun,
    state: State[Any],
) -> None:
    """End the run in the ledger as well when a person cancels its flow run in Prefect."""
    desk = open_desk()
    run_id = run_id_of(flow_run)
    try:
        cancel(desk, run_id, state.message or "cancelled in Prefect")
    except AssayError:
        return  # it has ended already, or never began


def look_at_once(
    flow: Flow[..., Any],  # noqa: ARG001 - Prefect's form
    flow_run: FlowRun,  # noqa: ARG001
    state: State[Any],  # noqa: ARG001
) -> None:
    """Have the recovery look now rather than in a minute, when a flow run's process is gone."""
    knock(load_settings().home)


@flow(
    name="assay-run",
    persist_result=False,
    on_cancellation=[end_with_flow_run],
    on_crashed=[look_at_once],
    description="Answer a question; every claim of the report is tied to an exact quote.",
)
async def assay_run(run: ResearchForm) -> State[str]:
    """Start the research that the form asks for, and carry it to its end."""
    return await _start(run)


@flow(
    name="assay-code",
    persist_result=False,
    on_cancellation=[end_with_flow_run],
    on_crashed=[look_at_once],
    description="Make code of a paper, and run its tests, after a person approved the plan.",
)
async def assay_code(run: PaperForm) -> State[str]:
    """Start the Paper2Code run that the form asks for, and carry it to its end."""
    return await _start(run)


@flow(
    name="assay-resume",
    persist_result=False,
    on_cancellation=[end_with_flow_run],
    on_crashed=[look_at_once],
    description="Go on with a run where it stands; nothing that had settled is done again.",
)
async def assay_resume(run_id: str) -> State[str]:
    """Go on with the run, whoever began it."""
    return await carry(open_desk(), run_id, _this_flow_run())


@flow(
    name="assay-recovery",
    flow_run_name="recovery",
    persist_result=False,
    description="Find runs whose process is gone, answers given elsewhere, and slots that are due.",
)
async def assay_recovery() -> State[str]:
    """Go over all runs and schedules once; see `flows.sweeping` and `flows.scheduled`."""
    from flows.scheduled import look_once
    from flows.sweeping import sweep

    desk = open_desk()
    done = await sweep(desk)
    return Completed(message="; ".join([done.told(), *await look_once(desk)]))


async def _start(form: ResearchForm | PaperForm) -> State[str]:
    flow_run = _this_flow_run()
    run_id = run_id_of(flow_run)
    desk = open_desk()
    try:
        if not await anyio.to_thread.run_sync(was_submitted_by, desk, run_id, flow_run.id):
            request: ResearchRequest | CodeRequest
            request = await anyio.to_thread.run_sync(form.request, desk, run_id)
            if isinstance(request, CodeRequest):
                submit_code(desk, request, flow_run_id=str(flow_run.id))
            else:
                submit(desk, request, flow_run_id=str(flow_run.id))
    except AssayError as error:
        return await _refused(flow_run, form.subject, in_words_of(type(form), error.message))
    return await carry(desk, run_id, flow_run)


async def _refused(flow_run: FlowRun, what: str, why: str) -> State[str]:
    """Return the state of what became no run, and name the flow run so that it is known again."""
    name = one_line(f"refused · {what}", _LONGEST_NAME)
    _say(f"{name}: {why}")
    await _name(flow_run, name, flow_run.tags)
    return Failed(message=why)


async def carry(desk: Desk, run_id: str, flow_run: FlowRun) -> State[str]:
    """Carry the run to its end, waiting for a person where it has to; return how that ended."""
    for name in _SECRETS:  # Prefect has read them; no child of this process is to inherit them
        os.environ.pop(name, None)
    try:
        run = await _project(desk, run_id)
    except NotFound as error:
        return await _refused(flow_run, run_id, error.message)
    await label(flow_run, run)
    _say(f"run {run_id} is taken up: {one_line(kind_of(run).subject(run), 60)}")
    async with publishing(desk, flow_run.id) as publisher:
        desk.observe = publisher.observe
        with at_desk(desk):
            ended = await _carry(desk, run, flow_run, publisher)
    _say(f"run {run_id} ended as {ended.name}: {ended.message}")
    return ended


def _say(text: str) -> None:
    """Say something to whoever looks at what serves: this process writes where that one does."""
    talk(f"assay: {one_line(text)}")


async def _carry(desk: Desk, run: Run, flow_run: FlowRun, publisher: Publisher) -> State[str]:
    run_id = run.run_id
    if not flow_run.empirical_policy.pause_keys:
        publisher.show_plan(run)  # a flow run that starts over after its suspension has shown it
    try:
        if run.is_terminal and flow_run.deployment_id is not None:
            await decide_in_prefect(desk, run_id, flow_run, publisher)  # shows what came too late
        while not run.is_terminal:
            await anyio.to_thread.run_sync(mark_interrupted, desk, run_id)
            await label(flow_run, run)  # with a plan, code has a better name
            if flow_run.deployment_id is not None:
                await decide_in_prefect(desk, run_id, flow_run, publisher)
            execution.interrupted_because.set(STOPPED_WITH_THE_SERVER)
            state: State[str] = await kind_of(run).flow().fn(run_id)
            run = await _project(desk, run_id)
            if run.status != "waiting" or flow_run.deployment_id is None:
                return state
            if run.cancel_reason is not None:
                run = cancel(desk, run_id, run.cancel_reason)
        return await _shown_again(desk, run, publisher)
    except LeaseHeld as error:
        return Completed(name="Executed elsewhere", message=error.message)
    except AssayError as error:
        return _ended_by(error, await _project(desk, run_id))


async def _shown_again(desk: Desk, run: Run, publisher: Publisher) -> State[str]:
    """Return the state of a run that has ended; publish a completed one again."""
    if run.status == "cancelled":
        return Cancelled(message=run.cancel_reason or run.reason)
    if run.status == "failed":
        return Failed(message=f"{run.reason}; go on in a new run with: assay retry {run.run_id}")
    await anyio.to_thread.run_sync(republish, desk, run)
    publisher.show_report(run)
    return Completed(message=f"{run.answer_status}: {run.stop_reason}")


def _ended_by(error: AssayError, run: Run) -> State[str]:
    """Return the state that shows what ended the execution of `run`, and what to do."""
    if run.status == "failed":
        message = f"{error.message}; go on in a new run with: assay retry {run.run_id}"
        return Failed(message=message)
    message = f"{error.message}; once that is mended, go on with: assay resume {run.run_id}"
    return Crashed(name="Interrupted", message=message)


async def label(flow_run: FlowRun, run: Run) -> None:
    """Name the flow run after its run, and tag it so that it is found by it."""
    await _name(flow_run, name_of(run), sorted({*flow_run.tags, TAG, run.kind, tag_of(run.run_id)}))


async def _name(flow_run: FlowRun, name: str, tags: list[str]) -> None:
    if (flow_run.name, sorted(flow_run.tags)) != (name, tags):
        async with get_client() as client:
            await client.update_flow_run(flow_run.id, name=name, tags=tags)
        flow_run.name, flow_run.tags = name, tags


def name_of(run: Run) -> str:
    """Return the name of all flow runs that execute the run."""
    return one_line(f"{run.run_id} · {kind_of(run).subject(run)}", _LONGEST_NAME)


def tag_of(run_id: str) -> str:
    """Return the tag of all flow runs that execute the run."""
    return f"run:{run_id}"


def run_id_of(flow_run: FlowRun) -> str:
    """Return the id of the run that a flow run of ours executes; always the same one.

    It is the one that was asked for, else one made of when the flow run was, and of its id.
    """
    parameters = flow_run.parameters or {}
    asked = parameters.get("run")
    named = parameters.get("run_id") or (asked.get("run_id") if isinstance(asked, dict) else None)
    if named:
        return str(named)
    if flow_run.created is None:
        raise InvalidRequest(f"flow run {flow_run.id} was never recorded by a server")
    return f"{flow_run.created:%Y%m%d-%H%M%S}-{flow_run.id.hex[:8]}"


def was_submitted_by(desk: Desk, run_id: str, flow_run_id: UUID) -> bool:
    """Tell whether this flow run submitted the run before: then what it asked for is recorded."""
    if not desk.ledger.exists(run_id):
        return False
    first = desk.ledger.read(run_id)[:2]
    return len(first) == 2 and first[1].envelope.refs.flow_run_id == str(flow_run_id)


def _this_flow_run() -> FlowRun:
    context = FlowRunContext.get()
    if context is None or context.flow_run is None:
        raise InvalidRequest("only Prefect executes this: deploy it, or call it as a flow")
    return context.flow_run


async def _project(desk: Desk, run_id: str) -> Run:
    return await anyio.to_thread.run_sync(desk.ledger.project, run_id)
