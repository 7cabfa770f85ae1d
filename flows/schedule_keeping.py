"""What schedules keep: changes between reports, which are needed, withheld and copied as well."""

from collections.abc import Iterable

from flows.composing import principal
from flows.memory import has_schedules
from flows.report_changes import DATA, MARKDOWN
from flows.schedules import Schedules, schedule_of, schedules_of
from flows.wiring import Desk
from state.envelope import Line
from state.errors import Conflict, NotFound
from state.events import draft
from state.ledger import LedgerReport
from state.request import as_invalid_request
from state.schedule import Schedule, SlotRecord
from state.schedule_events import ChangesWithheld
from state.values.errors import AssayError
from state.values.ids import content_hash

NOTHING = LedgerReport(runs=0, events=0, findings=())


def changes_needed(desk: Desk) -> frozenset[str]:
    """Return the bodies of the archive that schedules need: changes that were not withheld."""
    if not has_schedules(desk.settings):
        return frozenset()
    with schedules_of(desk) as schedules:
        return frozenset(
            body_hash
            for schedule in _every(schedules)
            for record in schedule.slots.values()
            for body_hash in bodies_of(record)
        )


def withhold_changes(desk: Desk, run_id: str, reason: str) -> frozenset[str]:
    """Withhold every comparison with the run, which quotes it; return their bodies.

    The files beside reports are removed; the bodies are left to the caller. Raises `InvalidRequest`
    for a reason that cannot be recorded.
    """
    if not has_schedules(desk.settings):
        return frozenset()
    with as_invalid_request():
        ChangesWithheld(slot="20000101T0000Z", reason=reason, by=principal())
    withheld: set[str] = set()
    with schedules_of(desk) as schedules:
        for schedule in _every(schedules):
            for record in schedule.slots.values():
                if bodies_of(record) and run_id in _compared(record):
                    withheld |= {*bodies_of(record)}
                    _withhold(schedules, schedule.name, record.slot, reason)
                    _unpublish(desk, record)
    return frozenset(withheld)


def verify_schedules(desk: Desk) -> LedgerReport:
    """Recompute the chains of all schedules."""
    if not has_schedules(desk.settings):
        return NOTHING
    with schedules_of(desk) as schedules:
        return schedules.ledger.verify()


def changes_problems(desk: Desk, run_id: str) -> list[str]:
    """Return what is wrong with the changes that were recorded and published with the run."""
    if not has_schedules(desk.settings) or not schedule_of(run_id):
        return []
    with schedules_of(desk) as schedules:
        try:
            records = schedules.get(schedule_of(run_id)).slots.values()
        except NotFound:
            return []
    problems = []
    for record in records:
        if record.ended is None or record.ended.run_id != run_id:
            continue
        for name, body_hash in zip((MARKDOWN, DATA), bodies_of(record), strict=False):
            path = desk.reports / run_id / name
            try:
                desk.artifacts.get(body_hash)
                if path.exists() and content_hash(path.read_bytes()) != body_hash:
                    problems.append(f"{path} is not what was recorded")
            except (AssayError, OSError) as error:
                problems.append(f"{name}: {error}")
    return problems


def schedule_lines(desk: Desk) -> dict[str, list[Line]]:
    """Return the events of every schedule, by its name."""
    if not has_schedules(desk.settings):
        return {}
    with schedules_of(desk) as schedules:
        return {name: schedules.ledger.read(name) for name in schedules.ledger.runs()}


def bodies_of(record: SlotRecord) -> tuple[str, ...]:
    """Return the bodies of the changes that the slot recorded, unless they are withheld."""
    changes = record.ended.changes if record.ended else None
    if changes is None or record.withheld:
        return ()
    return changes.markdown, changes.data


def _every(schedules: Schedules) -> Iterable[Schedule]:
    return [schedules.ledger.project(name) for name in schedules.ledger.runs()]


def _compared(record: SlotRecord) -> tuple[str, ...]:
    ended = record.ended
    return (ended.run_id, ended.changes.against) if ended and ended.changes else ()


def _withhold(schedules: Schedules, name: str, slot: str, reason: str) -> None:
    while True:
        schedule = schedules.ledger.project(name)
        if schedule.slots[slot].withheld:
            return
        event = ChangesWithheld(slot=slot, reason=reason, by=principal())
        try:
            schedules.ledger.append(name, [draft(event)], expected_position=schedule.position)
            return
        except Conflict:
            continue  # a look was faster


def _unpublish(desk: Desk, record: SlotRecord) -> None:
    if record.ended is not None:
        for name in (MARKDOWN, DATA):
            (desk.reports / record.ended.run_id / name).unlink(missing_ok=True)
