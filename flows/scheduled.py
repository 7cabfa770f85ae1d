"""Schedules on a Prefect server: looked at while somebody serves, shown, and their runs launched.

Prefect's own schedules show people what is due when, and are one more occasion to look. Which slots
are due, and that each is run once, is decided in `state.slots` and recorded in the ledger: a slot
that Prefect never fires, fires late or fires twice is the same run.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

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
    with schedules_of(desk) as schedules:
        shown: dict[str, int] = {}
        shown_at: datetime | None = None
        while True:
            heard = last_knock(place)
            try:
                looks = await anyio.to_thread.run_sync(schedules.look_at_all)
                now = datetime.now(UTC)
                is_old = shown_at is None or (now - shown_at).total_seconds() > _SHOW_EVERY_S
                async with get_client() as client:
                    for look in looks:
                        await follow_up(client, schedules, look)
                        if text := told(look):
                            tell(text)
                    present = await anyio.to_thread.run_sync(schedules.all)
                    settings = {each.name: _decided_at(each) for each in present}
                    if is_old or settings != shown:
                        await show_schedules(client, present)
                        shown, shown_at = settings, now
            except Exception as error:  # noqa: BLE001 - one look that fails is made up for by the next
                tell(f"the schedules could not be looked at ({type(error).__name__}: {error})")
            waited = 0.0
            while waited < _LOOK_EVERY_S and last_knock(place) == heard:
                await asyncio.sleep(_LISTEN_EVERY_S)
                waited += _LISTEN_EVERY_S


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


async def show_schedules(client: PrefectClient, schedules: Sequence[Schedule]) -> None:
    """Have Prefect show when each of `schedules` is due, and no others.

    Nothing is deployed here: without the deployment, nothing is shown.
    """
    try:
        deployment = await client.read_deployment_by_name(SCHEDULE)
    except ObjectNotFound:
        return
    wanted = {each.name: made for each in schedules if (made := _shown(each)) is not None}
    for there in await client.read_deployment_schedules(deployment.id):
        made = wanted.get(there.slug or "")
        if made is not None and _is_same(there, made):
            del wanted[made.slug or ""]
        else:
            await client.delete_deployment_schedule(deployment.id, there.id)
    for made in wanted.values():
        await client.create_deployment_schedules(deployment.id, [made])


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


def _decided_at(schedule: Schedule) -> int:
    """Return what changes whenever a person decides on the schedule."""
    assert schedule.added is not None  # it is active  # noqa: S101
    return hash((schedule.added_at, schedule.paused_at))
