"""What can be shown of schedules, as plain values: when they are due, and what became of slots."""

from datetime import datetime
from itertools import islice
from typing import Any

from flows.schedules import Schedules
from flows.server_record import Place
from flows.serving_record import is_serving
from flows.wiring import Desk
from state.schedule import Schedule, SlotRecord, slot_time
from state.schedule_events import SlotsSkipped
from state.values.wording import counted

Facts = dict[str, Any]
NEXT = 3
_OF_CLAIMS = {
    "contradicted": "newly contradicted",
    "changed": "changed",
    "new": "new",
    "withdrawn": "withdrawn",
    "resolved": "resolved",
    "rejudged": "judged otherwise",
}
_OF_SOURCES = {"new_sources": "new", "gone_sources": "gone", "changed_sources": "changed"}


def describe_schedule(schedules: Schedules, schedule: Schedule) -> Facts:
    """Return what the schedule asks, and when it is due next; times are ISO 8601, in its zone."""
    added = schedule.added
    assert added is not None  # the first event of every schedule  # noqa: S101
    request = added.request
    return {
        "name": schedule.name,
        "state": _state(schedule),
        "question": request.question,
        "cron": added.cron,
        "timezone": added.timezone,
        "next": [_iso(schedule, slot) for slot in next_slots(schedule, schedules.desk.now())],
        "missed": added.missed,
        "overlap": added.overlap,
        "sources": list(request.sources),
        "search": list(request.search_providers),
        "references": list(request.reference_urls),
        "scope": request.scope,
        "model": request.model,
        "review": request.plan_review,
        "added_at": _iso(schedule, schedule.added_at),
        "added_by": added.by,
    }


def next_slots(schedule: Schedule, now: datetime) -> list[datetime]:
    """Return the next slots; none while the schedule is paused, or when it is removed."""
    if not schedule.is_active or schedule.paused_at is not None:
        return []
    return list(islice(schedule.timetable.after(now), NEXT))


def local(schedule: Schedule, moment: datetime) -> str:
    """Return `moment` in the schedule's zone: `Tue 2026-12-01 06:00 CET`."""
    at = schedule.timetable.local(moment)
    return f"{at:%a %Y-%m-%d %H:%M}{f':{at:%S}' if at.second else ''} {at:%Z}"


def history(schedules: Schedules, schedule: Schedule) -> list[Facts]:
    """Return what became of each slot, the latest first; those skipped together are one entry."""
    found = [_of_slot(schedules.desk, schedule, each) for each in schedule.slots.values()]
    found += [_of_skipped(schedule, each) for _, each in sorted(schedule.skipped.items())]
    return sorted(found, key=lambda entry: str(entry["at"]), reverse=True)


def serving_remark(desk: Desk) -> str:
    """Return a warning that nobody looks what is due, or '' when somebody does."""
    home = desk.settings.home
    if (home / "prefect").is_dir() and is_serving(Place.of(home)):
        return ""
    where = " on this machine" if desk.settings.is_shared else ""
    return f"'assay serve' is not running{where}: slots are due only while it runs"


def _iso(schedule: Schedule, moment: datetime) -> str:
    return schedule.timetable.local(moment).isoformat(timespec="seconds")


def _state(schedule: Schedule) -> str:
    if schedule.removed:
        return "removed"
    return "paused" if schedule.paused_at is not None else "active"


def _of_slot(desk: Desk, schedule: Schedule, record: SlotRecord) -> Facts:
    ended = record.ended
    entry: Facts = {
        "at": record.at.isoformat(),
        "slot": local(schedule, record.at),
        "run_id": ended.run_id if ended else record.run_id,
        "status": ended.outcome if ended else record.status,
        "asked_by": record.by,
        "answer_status": "",
        "reason": record.withheld or record.reason,
        "against": "",
        "changes": None,
        "summary": "",
    }
    if record.status in ("started", "ended") and desk.ledger.exists(entry["run_id"]):
        run = desk.ledger.project(entry["run_id"])
        entry["answer_status"] = run.answer_status
        if not ended:
            entry["status"] = run.status
            entry["reason"] = run.reason
    if ended and ended.changes is not None:
        counts = ended.changes.counts.model_dump()
        entry |= {"against": ended.changes.against, "changes": counts}
        entry["summary"] = _summary(counts, anything=ended.changes.anything)
        if record.withheld:
            entry["summary"] = "changes withheld"
    return entry


def _of_skipped(schedule: Schedule, event: SlotsSkipped) -> Facts:
    first, last = (local(schedule, slot_time(slot)) for slot in (event.first, event.last))
    detail = f": {event.detail}" if event.detail else ""
    slots = "" if event.count == 1 else f"{counted(event.count, 'slot')}: "
    return {
        "at": slot_time(event.last).isoformat(),
        "slot": last if event.count == 1 else f"{first} – {last}",
        "run_id": "",
        "status": "skipped",
        "asked_by": "",
        "answer_status": "",
        "reason": f"{slots}{event.reason}{detail}",
        "against": "",
        "changes": None,
        "summary": "",
        "count": event.count,
    }


def _summary(counts: dict[str, int], *, anything: bool) -> str:
    """Return the counts in words: what changed about claims, then about sources."""
    if not anything:
        return "nothing changed"
    told = []
    for noun, words in (("claims", _OF_CLAIMS), ("sources", _OF_SOURCES)):
        if said := [f"{counts[name]} {word}" for name, word in words.items() if counts[name]]:
            told.append(f"{noun}: {', '.join(said)}")
    return "; ".join(told) or "coverage changed"
