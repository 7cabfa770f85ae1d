"""`assay serve`: deploys to a Prefect server, executes what is asked for there, and keeps watch.

Each flow run is executed by a process of its own, which inherits the environment of this one. When
this one is told to end, it interrupts them: they record that, and go on where the next one serves.
"""

import asyncio
from collections.abc import Callable

import anyio
from prefect.runner import Runner

from flows.deploying import deployments
from flows.scheduled import watch_schedules
from flows.server_record import Place
from flows.serving_record import last_knock
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
            for flow_run_id in self._process_manager.flow_run_ids():
                ends.start_soon(self._process_manager.kill, flow_run_id, _GRACE_S)


async def serve(desk: Desk, *, limit: int, recovery: str, tell: Tell, ready: Tell) -> None:
    """Serve until cancelled, whatever becomes of the Prefect server meanwhile.

    `recovery` is auto, mark or off. `tell` is told what a person may want to know; `ready` is
    called with what can be started once the deployments are there.
    """
    place = Place.of(desk.settings.home)
    watching = [asyncio.create_task(watch_schedules(desk, place, tell=tell), name="schedules")]
    try:
        if recovery != "off":
            watch = keep_watch(desk, place, resumes=recovery == "auto", tell=tell)
            watching.append(asyncio.create_task(watch, name="watch"))
        while True:
            try:
                await _serve_once(limit, ready)
            except Exception as error:  # noqa: BLE001 - whatever the engine raises, the server is back soon
                tell(f"the Prefect server does not serve; trying again: {one_line(repr(error))}")
            await asyncio.sleep(_AGAIN_S)
    finally:
        for each in watching:
            each.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait(watching)


async def _serve_once(limit: int, ready: Tell) -> None:
    """Deploy, and execute what is scheduled until the server is gone for long, or cancelled."""
    runner = InterruptingRunner(
        name="assay", query_seconds=POLL_S, limit=limit, pause_on_shutdown=False
    )
    names = []
    for deployment in await deployments():
        await runner.aadd_deployment(deployment)
        names.append(f"{deployment.flow_name}/{deployment.name}")
    ready(", ".join(names))
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
