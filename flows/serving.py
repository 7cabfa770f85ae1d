"""`assay serve`: deploys to a Prefect server, executes what is asked for there, and keeps watch.

Each flow run is executed by a process of its own, which inherits the environment of this one. When
this one is told to end, it interrupts them: they record that, and go on where the next one serves.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from uuid import UUID

import anyio
from prefect.client.orchestration import get_client
from prefect.runner import Runner

from flows.deploying import deployments
from flows.groups import first_leaf
from flows.limiting import create_limits
from flows.scheduled import watch_schedules
from flows.server_record import Place
from flows.serving_record import last_knock
from flows.settings import Settings
from flows.sweeping import sweep
from flows.terminal import one_line
from flows.wiring import Desk

POLL_S = 3.0
SWEEP_EVERY_S = 60.0
_LOOK_S = 0.5
_GRACE_S = 20.0
_AGAIN_S = 5.0

Tell = Callable[[str], None]


class InterruptingRunner(Runner):
    """Prefect's runner, but for its end: it interrupts what it executes rather than cancel it.

    Cancelled is what a person decided; a server that is stopped decides nothing.
    """

    async def cancel_all(self) -> None:
        """End the processes of all flow runs, and wait until they have recorded that."""
        async with anyio.create_task_group() as ends:
            for flow_run_id in self._executing:
                ends.start_soon(self._end, flow_run_id)

    @property
    def _executing(self) -> set[UUID]:
        return self._process_manager.flow_run_ids()

    async def _end(self, flow_run_id: UUID) -> None:
        if await _is_suspended(flow_run_id):
            # Its process is about to end by itself; killed, it would be taken for crashed.
            for _ in range(round(_GRACE_S / _LOOK_S)):
                if flow_run_id not in self._executing:
                    return
                await asyncio.sleep(_LOOK_S)
        if flow_run_id in self._executing:
            await self._process_manager.kill(flow_run_id, _GRACE_S)


async def _is_suspended(flow_run_id: UUID) -> bool:
    try:
        with anyio.fail_after(_AGAIN_S):
            async with get_client() as client:
                state = (await client.read_flow_run(flow_run_id)).state
    except Exception:  # noqa: BLE001 - without a server it cannot be told
        return False
    return state is not None and state.is_paused()


@dataclass(frozen=True, slots=True)
class Manner:
    """How to serve: how many runs at once, and what the recovery does (auto, mark or off).

    `tell` is told what a person may want to know, `ready` what can be started, as soon as it can;
    `revive` starts a Prefect server again that is gone, and tells whether it was.
    """

    limit: int
    recovery: str
    tell: Tell
    ready: Tell
    revive: Callable[[], bool]


async def serve(desk: Desk, manner: Manner) -> None:
    """Serve until cancelled, whatever becomes of the Prefect server meanwhile.

    Raises `TransientError` when a server of our own cannot be started again.
    """
    place = Place.of(desk.settings.home)
    resumes = manner.recovery == "auto"
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_keep_server, manner)
            tasks.start_soon(partial(watch_schedules, desk, place, tell=manner.tell))
            if manner.recovery != "off":
                watch = partial(keep_watch, desk, place, resumes=resumes, tell=manner.tell)
                tasks.start_soon(watch)
            await _serve_again_and_again(manner, desk.settings)
    except BaseExceptionGroup as raised:
        raise first_leaf(raised) from None


async def _keep_server(manner: Manner) -> None:
    while True:
        await asyncio.sleep(_AGAIN_S)
        if await anyio.to_thread.run_sync(manner.revive):
            manner.tell("the Prefect server was gone, and is back")


async def _serve_again_and_again(manner: Manner, settings: Settings) -> None:
    while True:
        try:
            await _serve_once(manner, settings)
        except Exception as error:  # noqa: BLE001 - of the engine, say, whose server is back soon
            why = one_line(repr(error))
            manner.tell(f"the Prefect server does not serve, and is tried again: {why}")
        await asyncio.sleep(_AGAIN_S)


async def _serve_once(manner: Manner, settings: Settings) -> None:
    """Create limits, deploy, and execute what is scheduled until the server is gone for long."""
    await create_limits(settings)
    runner = InterruptingRunner(
        name="assay", query_seconds=POLL_S, limit=manner.limit, pause_on_shutdown=False
    )
    names = []
    for deployment in await deployments():
        await runner.aadd_deployment(deployment)
        names.append(f"{deployment.flow_name}/{deployment.name}")
    manner.ready(", ".join(names))
    working = asyncio.create_task(runner.start(), name="runner")
    try:
        await asyncio.shield(working)
    except asyncio.CancelledError:
        with anyio.CancelScope(shield=True):
            if runner.started:
                await runner.astop()
            else:
                working.cancel()
            await asyncio.wait([working])
        raise


async def keep_watch(desk: Desk, place: Place, *, resumes: bool, tell: Tell) -> None:
    """Sweep at once, every minute, and as soon as somebody knocks."""
    while True:
        heard = last_knock(place)
        try:
            done = await sweep(desk, resumes=resumes)
            if done.anything:
                tell(done.told())
        except Exception as error:  # noqa: BLE001 - one look that fails is made up for by the next
            tell(
                f"the recovery could not look, and does again in a minute: {one_line(repr(error))}"
            )
        waited = 0.0
        while waited < SWEEP_EVERY_S and last_knock(place) == heard:
            await asyncio.sleep(_LOOK_S)
            waited += _LOOK_S
