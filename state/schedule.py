"""What is known about a schedule: a pure fold of its events, and what may follow what.

Every slot ends up exactly once as run or as not run, with the reason: the slots up to `cursor` are
decided, and only later ones may be. Whoever decides does so on the state it has read, and is
refused when another process was faster.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from immutables import Map

from state.copying import replace
from state.envelope import Draft, Envelope
from state.errors import CorruptLedger, Refused
from state.events import Event, decode
from state.request import ResearchRequest
from state.schedule_events import (
    ChangesWithheld,
    ScheduleAdded,
    SchedulePaused,
    ScheduleRemoved,
    ScheduleResumed,
    SlotDropped,
    SlotEnded,
    SlotQueued,
    SlotsSkipped,
    SlotStarted,
)
from state.timetable import Timetable

Status = Literal["queued", "started", "ended", "dropped"]
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class SlotRecord:
    """A slot that was to be run, and how far it is. `by` is the person who asked, if one did.

    `added` is the schedule as it was then; `ended` says how it ended, `reason` why so or why it was
    dropped, and `withheld` why its changes were deleted on purpose.
    """

    slot: str
    run_id: str
    added: ScheduleAdded
    by: str = ""
    status: Status = "queued"
    reason: str = ""
    fingerprint: str = ""
    ended: SlotEnded | None = None
    withheld: str = ""

    @property
    def at(self) -> datetime:
        """Return when the slot was due."""
        return slot_time(self.slot)

    @property
    def request(self) -> ResearchRequest:
        """Return what its run is asked."""
        return self.added.request.model_copy(update={"id": self.run_id})


@dataclass(frozen=True)
class Schedule:
    """A schedule as its events have it. `cursor`: every slot up to then is decided.

    `pauses` are those since then that are over, as beginning and end. `in_line` names the slots
    that are queued or started, in their order.
    """

    name: str = ""
    position: int = 0
    epoch: int = 0  # nobody leases a schedule
    added: ScheduleAdded | None = None
    added_at: datetime = _LONG_AGO
    removed: bool = False
    paused_at: datetime | None = None
    pauses: tuple[tuple[datetime, datetime], ...] = ()
    cursor: datetime = _LONG_AGO
    slots: Map[str, SlotRecord] = field(default_factory=Map)
    in_line: tuple[str, ...] = ()
    skipped: Map[int, SlotsSkipped] = field(default_factory=Map)

    @property
    def is_active(self) -> bool:
        """Tell whether there is such a schedule, paused or not."""
        return self.added is not None and not self.removed

    @property
    def timetable(self) -> Timetable:
        """Return when it is due."""
        assert self.added is not None  # the first event of every schedule  # noqa: S101
        return Timetable(self.added.cron, self.added.timezone)

    def with_status(self, status: Status) -> list[SlotRecord]:
        """Return the slots in line that are `status`, in their order."""
        return [self.slots[slot] for slot in self.in_line if self.slots[slot].status == status]

    def ended(self) -> list[SlotRecord]:
        """Return the slots whose run ended, the latest first."""
        found = (record for record in self.slots.values() if record.status == "ended")
        return sorted(found, key=lambda record: record.at, reverse=True)


def spell_slot(moment: datetime, *, seconds: bool = False) -> str:
    """Return the slot at `moment`, as events and run ids spell it."""
    return f"{moment.astimezone(UTC):{'%Y%m%dT%H%M%SZ' if seconds else '%Y%m%dT%H%MZ'}}"


def slot_time(slot: str) -> datetime:
    """Return when `slot` is due, in UTC."""
    form = "%Y%m%dT%H%MZ" if len(slot) == len("20261201T0500Z") else "%Y%m%dT%H%M%SZ"
    return datetime.strptime(slot, form).replace(tzinfo=UTC)


def evolve(state: Schedule, envelope: Envelope) -> Schedule:
    """Return the schedule after the event in `envelope`; raises `Refused` when it may not follow.

    Raises `CorruptLedger` when the event is of no known form.
    """
    known = envelope.event
    if isinstance(known, Event):
        event = known
    else:
        event = decode(envelope.type, envelope.schema_version, envelope.body)
    if envelope.position != state.position + 1:
        raise CorruptLedger(
            f"event {envelope.position} does not follow event {state.position} of schedule "
            f"{envelope.run_id!r}"
        )
    if not isinstance(event, ScheduleAdded | ChangesWithheld | SlotEnded):
        _must_be_active(state, envelope.run_id)
    after = _apply(state, event, envelope)
    return replace(after, name=envelope.run_id, position=envelope.position)


def _apply(state: Schedule, event: Event, envelope: Envelope) -> Schedule:
    at = datetime.fromisoformat(envelope.time)
    match event:
        case ScheduleAdded():
            if state.is_active:
                raise Refused(f"there is a schedule {envelope.run_id!r} already", code="NAME_TAKEN")
            return replace(
                state, added=event, added_at=at, cursor=at, removed=False, paused_at=None, pauses=()
            )
        case SchedulePaused():
            if state.paused_at is not None:
                raise Refused(f"schedule {envelope.run_id!r} is paused already", code="STATUS")
            return replace(state, paused_at=at)
        case ScheduleResumed():
            if state.paused_at is None:
                raise Refused(f"schedule {envelope.run_id!r} is not paused", code="STATUS")
            over = (state.paused_at, at)
            return replace(state, paused_at=None, pauses=(*state.pauses, over))
        case ScheduleRemoved():
            return replace(state, removed=True, paused_at=None, pauses=())
        case _:
            return _apply_to_slot(state, event)


def _apply_to_slot(state: Schedule, event: Event) -> Schedule:
    match event:
        case SlotQueued():
            return _queue(state, event)
        case SlotsSkipped():
            _must_be_open(state, event.first)
            after = replace(state, skipped=state.skipped.set(len(state.skipped), event))
            return _decided(after, slot_time(event.last))
        case SlotDropped():
            record = _in_line(state, event.slot, "queued")
            return _put(state, _with(record, status="dropped", reason=event.reason))
        case SlotStarted():
            record = _in_line(state, event.slot, "queued")
            if state.with_status("started"):
                raise Refused("an earlier slot has not ended", code="STATUS")
            return _put(state, _with(record, status="started", fingerprint=event.fingerprint))
        case SlotEnded():
            return _end(state, event)
        case ChangesWithheld():
            return _withhold(state, event)
        case _:
            raise CorruptLedger(f"no rule says what {event.type!r} does to a schedule")


def _queue(state: Schedule, event: SlotQueued) -> Schedule:
    if event.slot in state.slots:
        raise Refused(f"slot {event.slot} is decided already", code="DECIDED")
    if not event.by:
        _must_be_open(state, event.slot)
        state = _decided(state, slot_time(event.slot))
    assert state.added is not None  # it is active  # noqa: S101
    record = SlotRecord(event.slot, event.run_id, state.added, event.by)
    return replace(_put(state, record), in_line=(*state.in_line, event.slot))


def _end(state: Schedule, event: SlotEnded) -> Schedule:
    record = state.slots.get(event.slot)
    if record is None:
        raise Refused(f"there is no slot {event.slot}", code="STATUS")
    is_mended = (
        record.ended is not None
        and record.ended.outcome != "completed"
        and event.outcome == "completed"
        and event.run_id != record.ended.run_id
    )
    if record.status != "started" and not is_mended:
        raise Refused(f"slot {event.slot} is {record.status}", code="STATUS")
    return _put(state, _with(record, status="ended", reason=event.reason, ended=event))


def _withhold(state: Schedule, event: ChangesWithheld) -> Schedule:
    record = state.slots.get(event.slot)
    if record is None or record.ended is None:
        raise Refused(f"slot {event.slot} recorded no changes", code="STATUS")
    return _put(state, _with(record, withheld=event.reason))


def _with(record: SlotRecord, **changes: object) -> SlotRecord:
    fields = {name: getattr(record, name) for name in SlotRecord.__slots__}
    return SlotRecord(**{**fields, **changes})


def _put(state: Schedule, record: SlotRecord) -> Schedule:
    line = state.in_line
    if record.status not in ("queued", "started"):
        line = tuple(slot for slot in line if slot != record.slot)
    return replace(state, slots=state.slots.set(record.slot, record), in_line=line)


def _decided(state: Schedule, until: datetime) -> Schedule:
    pauses = tuple(pause for pause in state.pauses if pause[1] > until)
    return replace(state, cursor=max(until, state.cursor), pauses=pauses)


def _in_line(state: Schedule, slot: str, status: Status) -> SlotRecord:
    record = state.slots.get(slot)
    if record is None or record.status != status:
        raise Refused(f"slot {slot} is not {status}", code="STATUS")
    return record


def _must_be_open(state: Schedule, slot: str) -> None:
    if slot_time(slot) <= state.cursor:
        raise Refused(f"slot {slot} is decided already", code="DECIDED")


def _must_be_active(state: Schedule, name: str) -> None:
    if not state.is_active:
        raise Refused(f"there is no schedule {name!r}", code="NOT_FOUND")


class ScheduleFold:
    """The fold that a ledger of schedules works with."""

    def start(self) -> Schedule:
        """Return the schedule before its first event."""
        return Schedule()

    def evolve(self, state: Schedule, envelope: Envelope, line_hash: str) -> Schedule:
        """Return the schedule after one event; see `evolve`."""
        return evolve(state, envelope)

    def replay(self, state: Schedule, draft: Draft) -> bool:
        """Tell that no event is a replay: deciding on a state that was read says as much."""
        return False
