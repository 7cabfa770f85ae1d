"""Schedules on a Prefect server: looked at while somebody serves, shown, and their runs launched.

Prefect's own schedules show people what is due when, and are one more occasion to look. Which slots
are due, and that each is run once, is decided in `state.slots` and recorded in the ledger: a slot
that Prefect never fires, fires late or fires twice is the same run.
"""

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic

import anyio
from prefect import flow
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.actions import ArtifactCreate, DeploymentScheduleCreate
from prefect.client.schemas.objects import DeploymentSchedule, State
from prefect.client.schemas.schedules import CronSchedule
from prefect.exceptions import ObjectNotFound
from prefect.states import Completed, Failed

from flows.kinds import kind_of
from flows.pages import within_bounds
from flows.schedules import Look, Schedules, schedules_of
from flows.served import TAG, tag_of
from flows.server_record import Place
from flows.serving_record import last_knock
from flows.terminal import one_line
from flows.wiring import Desk, open_desk
from state.schedule import Schedule
from state.schedule_events import SlotDropped, SlotEnded, SlotQueued, SlotsSkipped, SlotStarted
from state.values.errors import AssayError
from state.values.wording import counted

SCHEDULE = "assay-schedule/slots"
_RESUME = "assay-resume/resume"
_LOOK_EVERY_S = 15.0
_LOOK_AFTER_RUNS_EVERY_S = 3.0  # so that changes come soon after their report
_LISTEN_EVERY_S = 0.5
_SHOW_EVERY_S = 600.0

Tell = Callable[[str], None]


@flow(
    name="assay-schedule",
    flow_run_name="slot of {name}",
    persist_result=False,
    description="Look which slots of a schedule are due, and start the run of the next one.",
)
async def assay_schedule(name: str) -> State[str]:
    """Look at the schedule `name`; whoever looked before, and whoever looks besides."""
    desk = open_desk()
    try:
        with schedules_of(desk) as schedules:
            look = await anyio.to_thread.run_sync(schedules.look, name)
            async with get_client() as client:
                await follow_up(client, schedules, look)
    except AssayError as error:
        return Failed(message=error.message)
    return Completed(message=told(look) or "nothing is due that was not taken care of")


async def watch_schedules(desk: Desk, place: Place, *, tell: Tell) -> None:
    """Look at every schedule at once, several times a minute, and as soon as somebody knocks."""
    problem = ""
    with schedules_of(desk) as schedules:
        watch = _Watch(schedules, tell)
        while True:
            heard, pause_s = last_knock(place), _LOOK_EVERY_S
            try:
                if await watch.look():
                    pause_s = _LOOK_AFTER_RUNS_EVERY_S
                problem = ""
            except Exception as error:  # noqa: BLE001 - one look that fails is made up for by the next
                if problem != (problem := one_line(repr(error))):
                    tell(f"the schedules could not all be seen to, again in a moment: {problem}")
            waited = 0.0
            while waited < pause_s and last_knock(place) == heard:
                await asyncio.sleep(_LISTEN_EVERY_S)
                waited += _LISTEN_EVERY_S


async def look_once(desk: Desk) -> list[str]:
    """Look at every schedule now, as the watch does; return what was done, a line a schedule."""
    lines: list[str] = []
    with schedules_of(desk) as schedules:
        await _Watch(schedules, lines.append).look()
    return lines


class _Watch:
    """Looks at all schedules; what Prefect shows of them is brought up to date where it is old."""

    def __init__(self, schedules: Schedules, tell: Tell) -> None:
        self._schedules = schedules
        self._tell = tell
        self._problems: dict[str, str] = {}
        self._shown: list[tuple[object, ...]] | None = None
        self._show_again_at = 0.0

    async def look(self) -> bool:
        """Decide first, whatever becomes of Prefect; then launch and show.

        Tells whether any slot's run has started and not ended.
        """
        looks = await anyio.to_thread.run_sync(self._schedules.look_at_all)
        for look in looks:
            is_news = bool(look.recorded) or look.problem != self._problems.get(look.name, "")
            self._problems[look.name] = look.problem
            if is_news and (text := told(look)):
                self._tell(text)
        if any(look.to_execute or look.recorded for look in looks):
            async with get_client() as client:
                for look in looks:
                    await follow_up(client, self._schedules, look)
        # Only now: a schedule that cannot be read keeps no run of another from its start.
        present = await anyio.to_thread.run_sync(self._schedules.all)
        to_show = [(each.name, each.added_at, each.paused_at) for each in present]
        if to_show != self._shown or monotonic() > self._show_again_at:
            async with get_client() as client:
                if await show_schedules(client, present):
                    self._shown, self._show_again_at = [*to_show], monotonic() + _SHOW_EVERY_S
        return any(each.with_status("started") for each in present)


async def follow_up(client: PrefectClient, schedules: Schedules, look: Look) -> None:
    """Launch the run that a look has started, and show the changes that it recorded."""
    if look.to_execute:
        await _launch(client, schedules.desk, look.to_execute)
    for event in look.recorded:
        if isinstance(event, SlotEnded) and event.changes is not None:
            text = await anyio.to_thread.run_sync(
                schedules.desk.artifacts.read_text, event.changes.markdown
            )
            made = ArtifactCreate(
                key=f"changes-{look.name}",
                type="markdown",
                description=f"What changed with run {event.run_id}",
                data=within_bounds(text),
            )
            await client.create_artifact(made)


async def show_schedules(client: PrefectClient, schedules: Sequence[Schedule]) -> bool:
    """Have Prefect show when each of `schedules` is due, and no others.

    Tells whether it does: as long as the deployment is not there, nothing is shown.
    """
    try:
        deployment = await client.read_deployment_by_name(SCHEDULE)
    except ObjectNotFound:
        return False
    wanted = {each.name: made for each in schedules if (made := _shown(each)) is not None}
    for there in await client.read_deployment_schedules(deployment.id):
        made = wanted.get(there.slug or "")
        if made is not None and _is_same(there, made):
            del wanted[made.slug or ""]
        else:
            await client.delete_deployment_schedule(deployment.id, there.id)
    for made in wanted.values():
        await client.create_deployment_schedules(deployment.id, [made])
    return True


def told(look: Look) -> str:
    """Return what a look did, on one line; '' for nothing."""
    parts = []
    for event in look.recorded:
        match event:
            case SlotQueued():
                parts.append(f"slot {event.slot} is due")
            case SlotsSkipped():
                parts.append(f"{counted(event.count, 'slot')} skipped: {event.reason}")
            case SlotDropped():
                parts.append(f"slot {event.slot} dropped: {event.reason}")
            case SlotStarted():
                parts.append(f"slot {event.slot} starts")
            case SlotEnded():
                why = f": {event.reason}" if event.reason else ""
                parts.append(f"run {event.run_id} {event.outcome}{why}")
            case _:
                pass
    if look.problem:
        parts.append(look.problem)
    return f"schedule {look.name}: {'; '.join(parts)}" if parts else ""


async def _launch(client: PrefectClient, desk: Desk, run_id: str) -> None:
    """Have the run executed; twice, or beside the recovery, is one flow run."""
    run = await anyio.to_thread.run_sync(desk.ledger.project, run_id)
    try:
        deployment = await client.read_deployment_by_name(_RESUME)
    except ObjectNotFound:
        return  # whoever serves deploys it first; the next look launches
    await client.create_flow_run_from_deployment(
        deployment.id,
        parameters={"run_id": run_id},
        name=one_line(f"{run_id} {kind_of(run).subject(run)}", 120),
        tags=[TAG, run.kind, tag_of(run_id)],
        idempotency_key=f"{run_id}@{run.position}#0",
    )


def _shown(schedule: Schedule) -> DeploymentScheduleCreate | None:
    """Return the schedule for Prefect, or None where its cron does not know the expression."""
    assert schedule.added is not None  # it is active  # noqa: S101
    try:
        cron = CronSchedule(cron=schedule.added.cron, timezone=schedule.added.timezone)
    except ValueError:
        return None
    return DeploymentScheduleCreate(
        schedule=cron,
        active=schedule.paused_at is None,
        parameters={"name": schedule.name},
        slug=schedule.name,
    )


def _is_same(there: DeploymentSchedule, made: DeploymentScheduleCreate) -> bool:
    return (there.schedule, there.active, there.parameters) == (
        made.schedule,
        made.active,
        made.parameters,
    )
