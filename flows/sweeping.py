"""The recovery: brings Prefect's flow runs to where the ledger says that their runs are.

It marks runs whose process is gone and lets them go on, tells suspended flow runs of answers that
were given elsewhere, and ends flow runs whose run has ended. The ledger is read and Prefect told,
never the other way round, but that a person may cancel a run by its suspended flow run. Doing it
twice, or in two places at once, does nothing twice: flow runs are started under a key that names
the run's position, and the lease decides who executes.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime

import anyio
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.filters import FlowRunFilter
from prefect.client.schemas.objects import FlowRun, State, StateType
from prefect.exceptions import ObjectNotFound, PrefectException, PrefectHTTPStatusError
from prefect.flow_runs import aresume_flow_run
from prefect.input.actions import read_flow_run_input
from prefect.states import Cancelled, Completed, Crashed, Scheduled

from flows.answering import find_review
from flows.asking import interaction_of
from flows.forms import ReviewForm
from flows.notifying import tell_due
from flows.resuming import open_runs, standing_of
from flows.runs import cancel, mark_interrupted
from flows.served import TAG, name_of, run_id_of, tag_of
from flows.terminal import one_line
from flows.wiring import Desk
from state.projection import Run
from state.values.errors import AssayError
from state.values.wording import counted

RESUME = "assay-resume/resume"
_PAGE = 200
_STALE_S = 120.0
_CANCELLING_S = 5.0
_START_S = 600.0  # on a busy machine a process may take long to start
_TELLING_S = 60.0  # after its end, or a request, a run is published, and a webhook told of it
# One flow run may be deleted or resumed by a person meanwhile, or be refused by the server.
_OF_ONE_RUN = (AssayError, RuntimeError, PrefectException, PrefectHTTPStatusError)
_LIVE = [
    StateType.SCHEDULED, StateType.PENDING, StateType.RUNNING, StateType.PAUSED,
    StateType.CANCELLING,
]  # fmt: skip


@dataclass(slots=True)
class Swept:
    """What one sweep did, by run id; `left` says of runs why they do not go on by themselves."""

    marked: list[str] = field(default_factory=list)
    resumed: list[str] = field(default_factory=list)
    told_answers: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    crashed: list[str] = field(default_factory=list)
    told_webhook: list[str] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)

    @property
    def anything(self) -> bool:
        """Tell whether there was anything to do."""
        return bool(
            self.marked or self.resumed or self.told_answers or self.ended or self.crashed
            or self.told_webhook or self.problems
        )  # fmt: skip

    def told(self) -> str:
        """Return what was done, on one line."""
        parts = [
            f"{counted(len(runs), 'run')} {what} ({', '.join(runs)})"
            for what, runs in (
                ("marked interrupted", self.marked),
                ("going on", self.resumed),
                ("told of an answer", self.told_answers),
                ("ended in Prefect too", self.ended),
                ("without a process", self.crashed),
                ("told of", self.told_webhook),
            )
            if runs
        ]
        parts += [f"run {run_id}: {problem}" for run_id, problem in self.problems.items()]
        return "; ".join(parts) or "nothing to do"


async def sweep(desk: Desk, *, resumes: bool = True) -> Swept:
    """Go over all runs that have not ended, and all flow runs of ours that have not.

    With `resumes` False no run is started, but answers are still delivered.
    """
    swept = Swept()
    async with get_client() as client:
        flow_runs = await live_flow_runs(client)
        ids = {*await anyio.to_thread.run_sync(open_runs, desk), *flow_runs}
        for run_id in sorted(ids):
            try:
                if await anyio.to_thread.run_sync(desk.ledger.exists, run_id):
                    one = _One(desk, client, swept, resumes)
                    await one.look(run_id, flow_runs.get(run_id, []))
            except _OF_ONE_RUN as error:
                swept.problems[run_id] = one_line(str(error))
    for told in await tell_due(desk):
        if not told.code:
            swept.told_webhook.append(told.run_id)
        elif told.gives_up:
            swept.problems[told.run_id] = f"the webhook does not take it ({told.code})"
    return swept


async def live_flow_runs(client: PrefectClient) -> dict[str, list[FlowRun]]:
    """Return the flow runs of ours that have not ended, by the run that they execute."""
    found: dict[str, list[FlowRun]] = {}
    wanted = FlowRunFilter.model_validate(
        {"tags": {"all_": [TAG]}, "state": {"type": {"any_": _LIVE}}}
    )
    offset = 0
    while True:
        page = await client.read_flow_runs(flow_run_filter=wanted, limit=_PAGE, offset=offset)
        for flow_run in page:
            if {"run", "run_id"} & set(flow_run.parameters or {}):
                found.setdefault(run_id_of(flow_run), []).append(flow_run)
        if len(page) < _PAGE:
            return found
        offset += _PAGE


@dataclass(frozen=True, slots=True)
class _One:
    """The look at one run and its flow runs."""

    desk: Desk
    client: PrefectClient
    swept: Swept
    resumes: bool

    async def look(self, run_id: str, flow_runs: list[FlowRun]) -> None:
        if await anyio.to_thread.run_sync(self.desk.ledger.holder, run_id) is not None:
            return  # somebody executes it, and will say in Prefect what comes of it
        if await anyio.to_thread.run_sync(mark_interrupted, self.desk, run_id):
            self.swept.marked.append(run_id)
        run = await anyio.to_thread.run_sync(self.desk.ledger.project, run_id)
        left = [flow_run for flow_run in flow_runs if not await self._settle(run, flow_run)]
        if not (left or run.is_terminal):
            await self._go_on(run)

    async def _settle(self, run: Run, flow_run: FlowRun) -> bool:
        """Bring one flow run to where its run is; tell whether it has ended thereby."""
        state = flow_run.state
        if state is None:
            return False
        if state.is_paused():
            if run.is_terminal:
                await self._end(run, flow_run)
                return True
            await self._tell_answer(run, flow_run, state)
            return False
        if state.is_cancelling() and _age_s(state) > _CANCELLING_S:
            # Whoever runs its process cancels what has one; this has none, and a person wants it.
            run = run if run.is_terminal else await self._cancel(run, state)
            await self._end(run, flow_run)
            return True
        if state.is_scheduled() or not await self._is_gone(run, state):
            return False
        if run.is_terminal:
            await self._end(run, flow_run)
        else:
            gone: State = Crashed(message="The process that executed this flow run is gone.")
            await self.client.set_flow_run_state(flow_run.id, gone, force=True)
            self.swept.crashed.append(run.run_id)
        return True

    async def _is_gone(self, run: Run, state: State) -> bool:
        """Tell whether the process is gone of a flow run in `state`, whose run nobody executes."""
        if state.is_pending():
            return _age_s(state) > _START_S
        has_come_to_rest = run.is_terminal or run.status == "waiting"
        if has_come_to_rest and self._since(run.updated_at) < _TELLING_S:
            return False  # whoever left it there is telling of that, and without a lease
        lines = await anyio.to_thread.run_sync(self.desk.ledger.read, run.run_id)
        leases = [line.envelope.time for line in lines if line.envelope.type == "run_leased"]
        has_had_lease = leases and state.timestamp < datetime.fromisoformat(leases[-1])
        return bool(has_had_lease) or _age_s(state) > _STALE_S

    def _since(self, when: str) -> float:
        return (self.desk.now() - datetime.fromisoformat(when)).total_seconds()

    async def _tell_answer(self, run: Run, flow_run: FlowRun, state: State) -> None:
        key = state.state_details.pause_key or ""
        review = find_review(run, interaction_of(key))
        if review is None:
            return  # a person paused it
        if review.answer is not None:
            given = ReviewForm.of(review.answer).model_dump()
            await aresume_flow_run(flow_run.id, run_input=given)
            self.swept.told_answers.append(run.run_id)
        elif _age_s(state) > _STALE_S and not await self._has_form(flow_run, key):
            # It was killed between the two: without its form nobody can answer in Prefect.
            await self.client.set_flow_run_state(flow_run.id, Scheduled(), force=True)
            self.swept.crashed.append(run.run_id)

    async def _cancel(self, run: Run, state: State) -> Run:
        reason = state.message or "cancelled in Prefect"
        return await anyio.to_thread.run_sync(cancel, self.desk, run.run_id, reason)

    async def _has_form(self, flow_run: FlowRun, key: str) -> bool:
        form = await read_flow_run_input(f"suspended-{key}-schema", flow_run_id=flow_run.id)
        return form is not None

    async def _end(self, run: Run, flow_run: FlowRun) -> None:
        if run.status == "cancelled":
            state: State = Cancelled(message=run.cancel_reason or run.reason)
        else:
            state = Completed(
                name="Executed elsewhere", message=f"run {run.run_id} is {run.status}"
            )
        await self.client.set_flow_run_state(flow_run.id, state, force=True)
        self.swept.ended.append(run.run_id)

    async def _go_on(self, run: Run) -> None:
        """Start a flow run that goes on with the run, if it is to go on by itself now."""
        before = await self._flow_runs_of(run)
        last_event = datetime.fromisoformat(run.updated_at)
        if cancelled := _cancelled_since(before, last_event):
            if run.live_review is not None:
                await self._cancel(run, cancelled)
                self.swept.ended.append(run.run_id)
            return  # whoever cancelled what was scheduled does not want it to go on by itself
        since = [each for each in before if _created(each) > last_event]
        # A flow run that submitted the run, and is over, was created before it.
        starts = max(len(since), run.status == "queued" and bool(before))
        standing = await anyio.to_thread.run_sync(
            lambda: standing_of(self.desk, run, starts_since=starts)
        )
        was_asking = run.live_review is not None and bool(before) and len(since) < 2
        if not (standing.goes_on and not standing.wait_s) and not was_asking:
            return
        if not self.resumes:
            return
        try:
            deployment = await self.client.read_deployment_by_name(RESUME)
        except ObjectNotFound as error:
            raise RuntimeError(f"there is no deployment {RESUME}; deploy it, or serve") from error
        await self.client.create_flow_run_from_deployment(
            deployment.id,
            parameters={"run_id": run.run_id},
            name=name_of(run),
            tags=[TAG, run.kind, tag_of(run.run_id)],
            idempotency_key=f"{run.run_id}@{run.position}#{len(since)}",
        )
        self.swept.resumed.append(run.run_id)

    async def _flow_runs_of(self, run: Run) -> list[FlowRun]:
        wanted = FlowRunFilter.model_validate({"tags": {"all_": [TAG, tag_of(run.run_id)]}})
        return await self.client.read_flow_runs(flow_run_filter=wanted, limit=_PAGE)


def _age_s(state: State) -> float:
    return (datetime.now(UTC) - state.timestamp).total_seconds()


def _cancelled_since(flow_runs: list[FlowRun], when: datetime) -> State | None:
    """Return the state of the newest flow run if a person cancelled that one after `when`."""
    newest = max(flow_runs, key=_created, default=None)
    state = newest.state if newest else None
    return state if state and state.is_cancelled() and state.timestamp > when else None


def _created(flow_run: FlowRun) -> datetime:
    return flow_run.created or datetime.now(UTC)
