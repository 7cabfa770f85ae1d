"""Which slots of a schedule are due, and what is to become of each: decided here, purely.

Only the schedule's events and the time decide, never what a scheduler remembers: whoever looks,
however late or often, and however many at once, comes to the same decisions, and the ledger takes
each of them once.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import groupby

from state.events import Event
from state.schedule import Schedule, SlotRecord, spell_slot
from state.schedule_events import SlotDropped, SlotQueued, SlotsSkipped, WhySkipped

# Looked at by then, a slot was not missed: several times what passes from one look to the next.
ON_TIME = timedelta(minutes=5)
# With `all`, no more slots than this are made up for: after months away nobody wants thousands.
MOST_MADE_UP = 100

_Decision = tuple[datetime, WhySkipped | None]


def due_slots(schedule: Schedule, now: datetime) -> list[Event]:
    """Return what is to be recorded of the slots that are due at `now`: each is queued or skipped.

    A schedule that is removed, or has nothing due, gives nothing. While it is paused, and for the
    time it was, slots are skipped. Of the others `missed` and `overlap` decide, see
    `ScheduleAdded`; with `latest`, a slot that still waits gives way to the newer one.
    """
    if not schedule.is_active or schedule.added is None:
        return []
    moments = [
        moment
        for moment in schedule.timetable.between(schedule.cursor, now)
        if spell_slot(moment) not in schedule.slots
    ]
    if not moments:
        return []
    chosen = _chosen(schedule, moments, now)
    dropped: list[Event] = []
    if None in chosen.values() and schedule.added.missed == "latest":
        waiting = schedule.with_status("queued")
        dropped = [SlotDropped(slot=w.slot, reason="superseded") for w in waiting if not w.by]
    decisions = [(moment, chosen.get(moment, _why(schedule, moment))) for moment in moments]
    return [*dropped, *_spelled(schedule, decisions)]


def next_to_start(schedule: Schedule) -> SlotRecord | None:
    """Return the slot whose run may be submitted now, if any: one at a time, in their order.

    While the schedule is paused, only those that a person asked for.
    """
    if not schedule.is_active or schedule.with_status("started"):
        return None
    for record in schedule.with_status("queued"):
        if record.by or schedule.paused_at is None:
            return record
    return None


def slot_run_id(name: str, slot: str) -> str:
    """Return the id of the run of a slot: the same whoever asks."""
    return f"{name}-{slot}"


def _chosen(
    schedule: Schedule, moments: Sequence[datetime], now: datetime
) -> dict[datetime, WhySkipped | None]:
    """Return the slots that `missed` lets run, each with what `overlap` says against it."""
    assert schedule.added is not None  # only then is anything due  # noqa: S101
    if schedule.paused_at is not None:
        return {}
    candidates = [moment for moment in moments if not _was_paused(schedule, moment)]
    match schedule.added.missed:
        case "latest":
            run = candidates[-1:]
        case "all":
            run = candidates[-MOST_MADE_UP:]
        case "skip":
            run = [moment for moment in candidates if now - moment <= ON_TIME]
    overlaps = schedule.added.overlap == "skip" and bool(schedule.in_line)
    return dict.fromkeys(run, "overlap" if overlaps else None)


def _why(schedule: Schedule, moment: datetime) -> WhySkipped:
    is_paused = schedule.paused_at is not None or _was_paused(schedule, moment)
    return "paused" if is_paused else "missed"


def _was_paused(schedule: Schedule, moment: datetime) -> bool:
    return any(began <= moment < ended for began, ended in schedule.pauses)


def _spelled(schedule: Schedule, decisions: Sequence[_Decision]) -> list[Event]:
    """Return the decisions as events, neighbours that are skipped for one reason as one."""
    events: list[Event] = []
    for reason, group in groupby(decisions, key=lambda decision: decision[1]):
        slots = [spell_slot(moment) for moment, _ in group]
        if reason is None:
            events += [
                SlotQueued(slot=slot, run_id=slot_run_id(schedule.name, slot)) for slot in slots
            ]
            continue
        detail = ""
        if reason == "overlap":
            detail = f"run {schedule.slots[schedule.in_line[0]].run_id} had not ended"
        events.append(
            SlotsSkipped(
                first=slots[0], last=slots[-1], count=len(slots), reason=reason, detail=detail
            )
        )
    return events
