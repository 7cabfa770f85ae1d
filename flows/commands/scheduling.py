"""Commands about schedules: add, list, show, pause, resume, remove, run."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from flows.boundary import FAILED
from flows.commands.asking import requested, with_options_of
from flows.commands.running import MoreSources, Question, research
from flows.commands.shared import Json, LogJson, Quiet, settings

if TYPE_CHECKING:
    from flows.schedules import Schedules
    from state.schedule import Schedule, SlotRecord

_SHOWN = 20
Missed = Literal["latest", "all", "skip"]
Overlap = Literal["queue", "skip"]
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="The schedule; 'assay schedule list' lists them.")
]


@with_options_of(research, without=("run_id", "stop_after", "quiet", "log_json"))
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Small letters, digits and dashes.")],
    question: Question,
    more: MoreSources = None,
    *,
    cron: Annotated[
        str,
        typer.Option(metavar="CRON", help="Minute, hour, day of month, month, day of week."),
    ],
    timezone: Annotated[
        str, typer.Option(metavar="ZONE", help="The zone of --cron, as Europe/Berlin.")
    ] = "UTC",
    missed: Annotated[
        Missed, typer.Option(help="Of slots at which nothing ran: the newest is run, all, or none.")
    ] = "latest",
    overlap: Annotated[
        Overlap, typer.Option(help="While an earlier slot's run has not ended: wait, or skip.")
    ] = "queue",
    json: Json = False,
    **options: Any,
) -> None:
    """Answer QUESTION again and again, at the times that --cron says.

    Takes every option of 'assay research'. Each slot (a time at which the schedule is due) is run
    once, as the run NAME-SLOT, while 'assay serve' is running. With each report after the first
    comes changes.md: what is new, gone, different or contradicted since the one before. --cron
    has five fields; '0 6 * * 1-5' is six o'clock from Monday to Friday. Where clocks change, a
    slot at an hour that is skipped comes right after it, and one at an hour that comes twice the
    first time.

    Example: assay schedule add news --cron "0 6 * * 1-5" "What is new?" -s notes/
    """
    from flows.schedules import require_name, schedules_of
    from flows.serving_record import knock
    from flows.wiring import make_desk
    from state.timetable import parse_timetable

    require_name(name)
    parse_timetable(cron, timezone)
    request = requested(question, more, **options)  # refuses before anything is made
    desk = make_desk(settings())
    with schedules_of(desk) as schedules:
        schedule = schedules.add(
            name, request, cron=cron, timezone=timezone, missed=missed, overlap=overlap
        )
        knock(desk.settings.home)
        _show_briefly(schedules, schedule, json=json)


def list_(*, json: Json = False) -> None:
    """List schedules, with the next slots of each in its own time zone.

    Example: assay schedule list
    """
    from flows.schedule_showing import describe_schedule, history, serving_remark
    from flows.terminal import out, out_json, out_rows, talk

    with _schedules(required=False) as schedules:
        found, soon = [], []
        for schedule in schedules.all() if schedules else []:
            last = [each for each in history(schedules, schedule) if each["run_id"]][:1]
            facts = describe_schedule(schedules, schedule)
            found.append({**facts, "last": last[0] if last else None})
            soon.append(_spoken(schedules, schedule))
        if json:
            out_json(found)
            return
        if not found:
            out("there are no schedules; 'assay schedule add' adds one")
            return
        columns = ("name", "state", "cron", "time zone", "next slots", "last slot", "question")
        out_rows(
            columns,
            [
                (
                    each["name"],
                    each["state"],
                    each["cron"],
                    each["timezone"],
                    ", ".join(slots),
                    _last(each["last"]),
                    each["question"],
                )
                for each, slots in zip(found, soon, strict=True)
            ],
        )
        if schedules and (remark := serving_remark(schedules.desk)):
            talk(f"assay: {remark}")


def show(
    name: Name,
    *,
    all_: Annotated[
        bool, typer.Option("--all", help=f"Every slot, not the last {_SHOWN}.")
    ] = False,
    json: Json = False,
) -> None:
    """Show a schedule: its question, its next slots and its history.

    Says of every slot which run it was, how that ended and what changed with it, or why there was
    none.

    Example: assay schedule show logs
    """
    from flows.schedule_showing import describe_schedule, history, local, serving_remark
    from flows.terminal import out, out_facts, out_json, out_rows, talk

    with _schedules() as schedules:
        schedule = schedules.get(name)
        facts = describe_schedule(schedules, schedule)
        slots = history(schedules, schedule)
        shown = slots if all_ else slots[:_SHOWN]
        if json:
            out_json({**facts, "slots": shown, "slots_in_all": len(slots)})
            return
        facts |= {key: ", ".join(each) for key, each in facts.items() if isinstance(each, list)}
        facts |= {
            "next": ", ".join(_spoken(schedules, schedule)),
            "review": "of each plan" if facts["review"] else "",
            "added_at": local(schedule, schedule.added_at),
        }
        out_facts(facts)
        if shown:
            out("")
            columns = ("slot", "run", "status", "changes", "why")
            rows = [
                (each["slot"], each["run_id"], _status(each), each["summary"], each["reason"])
                for each in shown
            ]
            out_rows(columns, rows, whole=frozenset({"slot", "run"}))
        if len(slots) > len(shown):
            talk(f"assay: the last {len(shown)} of {len(slots)}; --all shows them all")
        if remark := serving_remark(schedules.desk):
            talk(f"assay: {remark}")


def pause(name: Name, *, json: Json = False) -> None:
    """Skip the slots of a schedule until it is resumed.

    What runs goes on.

    Example: assay schedule pause logs
    """
    with _schedules() as schedules:
        _changed(schedules, schedules.pause(name), json=json)


def resume(name: Name, *, json: Json = False) -> None:
    """Let the slots of a paused schedule count again from now on.

    Example: assay schedule resume logs
    """
    with _schedules() as schedules:
        _changed(schedules, schedules.resume(name), json=json)


def remove(name: Name, *, json: Json = False) -> None:
    """End a schedule; its runs, reports and history stay.

    What has started goes on; what waits is dropped.

    Example: assay schedule remove logs
    """
    with _schedules() as schedules:
        _changed(schedules, schedules.remove(name), json=json)


def run(name: Name, *, quiet: Quiet = False, json: Json = False, log_json: LogJson = False) -> None:
    """Run a schedule now, besides its slots.

    'assay serve' executes it where it is running; else this command does. While an earlier slot's
    run has not ended, it waits for that.

    Example: assay schedule run logs
    """
    from flows.commands.executing import Manner
    from flows.serving_record import knock
    from flows.terminal import out, out_json

    with _schedules() as schedules:
        record, _ = schedules.ask_for(name)
        if record.status == "started" and not knock(schedules.desk.settings.home):
            _execute_here(schedules, name, record, Manner(quiet, json, log_json))
        facts = {"schedule": name, "run_id": record.run_id, "status": record.status}
        if json:
            out_json({**facts, "reason": record.reason})
        elif record.status == "ended":
            out(f"run {record.run_id} was refused: {record.reason}")
        elif record.status == "queued":
            out(f"run {record.run_id} waits: {_awaited(schedules, name)}")
        else:
            out(f"run {record.run_id} starts; follow it with: assay watch {record.run_id}")
        if record.status == "ended":
            raise typer.Exit(FAILED)


def _execute_here(schedules: "Schedules", name: str, record: "SlotRecord", manner: Any) -> None:
    """Execute the slot's run, show its result and what changed, and end the command."""
    from flows.commands.executing import execute_run, refuse_held
    from flows.terminal import talk
    from state.values.errors import AssayError

    refuse_held(schedules.desk, record.run_id)
    try:
        execute_run(schedules.desk, record.run_id, manner)
    finally:
        try:
            schedules.look(name)
            ended = schedules.get(name).slots[record.slot].ended
            if ended and ended.changes:
                folder = schedules.desk.reports / ended.run_id
                talk(f"assay: what changed since {ended.changes.against}: {folder / 'changes.md'}")
        except AssayError as error:
            talk(f"assay: what changed could not be told yet: {error.message}")


def _awaited(schedules: "Schedules", name: str) -> str:
    """Return what a waiting slot waits for, and how that can be got on with."""
    started = schedules.get(name).with_status("started")
    if not started:
        return f"it is not its turn; see: assay schedule show {name}"
    run = schedules.desk.ledger.project(started[0].run_id)
    return f"run {run.run_id} is {run.status}; see: assay show {run.run_id}"


@contextmanager
def _schedules(*, required: bool = True) -> "Iterator[Any]":
    """Give the schedules there are, or None when there never were any; nothing is made."""
    from flows.memory import has_schedules, memory_place
    from flows.schedules import schedules_of
    from flows.wiring import make_desk
    from state.errors import NotFound

    found = settings()
    if has_schedules(found):
        with schedules_of(make_desk(found)) as schedules:
            yield schedules
    elif required:
        raise NotFound(f"there are no schedules in {memory_place(found)}")
    else:
        yield None


def _changed(schedules: "Schedules", schedule: "Schedule", *, json: bool) -> None:
    from flows.serving_record import knock

    knock(schedules.desk.settings.home)
    _show_briefly(schedules, schedule, json=json)


def _show_briefly(schedules: "Schedules", schedule: "Schedule", *, json: bool) -> None:
    from flows.schedule_showing import describe_schedule, serving_remark
    from flows.terminal import out, out_json, talk

    facts = describe_schedule(schedules, schedule)
    if json:
        out_json(facts)
        return
    out(f"schedule {facts['name']} is {facts['state']}: {facts['cron']} in {facts['timezone']}")
    for slot in _spoken(schedules, schedule):
        out(f"  next: {slot}")
    if facts["state"] == "active" and (remark := serving_remark(schedules.desk)):
        talk(f"assay: {remark}")


def _spoken(schedules: "Schedules", schedule: "Schedule") -> list[str]:
    """Return the next slots, for people."""
    from flows.schedule_showing import local, next_slots

    return [local(schedule, slot) for slot in next_slots(schedule, schedules.desk.now())]


def _status(slot: dict[str, Any]) -> str:
    answer = slot["answer_status"]
    return f"{slot['status']}, {answer}" if answer else str(slot["status"])


def _last(slot: dict[str, Any] | None) -> str:
    if slot is None:
        return ""
    return ": ".join(part for part in (slot["slot"], _status(slot), slot["summary"]) if part)
