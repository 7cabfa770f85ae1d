"""Scheduled research as a library: add, pause and remove schedules, and look at what is due.

A look decides which slots are due, submits the run of the next one, and records how runs ended.
Anybody may look at any time, as often and as many at once as they like: each decision is recorded
once, and a run's id is made of its slot. What a crash cut off, the next look does. Nothing here
imports Prefect.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from flows.composing import principal
from flows.memory import open_schedules
from flows.report_changes import end_of, lacks_changes, publish_changes
from flows.runs import next_attempt_id, submit
from flows.wiring import Desk
from state.envelope import Draft
from state.errors import Conflict, NotFound, Refused, StorageError
from state.events import Event, draft
from state.ledger import Ledger
from state.projection import Run
from state.request import ResearchRequest
from state.schedule import Schedule, SlotRecord, spell_slot
from state.schedule_events import (
    Missed,
    Overlap,
    ScheduleAdded,
    SchedulePaused,
    ScheduleRemoved,
    ScheduleResumed,
    SlotDropped,
    SlotEnded,
    SlotQueued,
    SlotStarted,
)
from state.slots import due_slots, next_to_start, slot_run_id
from state.timetable import parse_timetable
from state.values.errors import AssayError, InvalidRequest

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?\Z")
_RUN_ID = re.compile(r"(?P<name>.+)-(?P<slot>\d{8}T\d{4}(?:\d\d)?Z)(?:-attempt-\d+)?\Z")
_TRIES = 50
_LOOKED_BACK = 50  # slots whose changes a crash may have kept from their place


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at a schedule recorded, and what stood in its way ('' when nothing did).

    `to_execute` is the run of the slot that has started, while nobody executes it and it has not
    begun.
    """

    name: str
    recorded: tuple[Event, ...] = ()
    to_execute: str = ""
    problem: str = ""


class Schedules:
    """The schedules of a desk. Reading and deciding needs no Prefect, and no process but this."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.ledger: Ledger[Schedule] = open_schedules(desk.settings, desk.now)

    def close(self) -> None:
        """Let go of files and connections."""
        self.ledger.close()

    # ---- what there is

    def all(self) -> list[Schedule]:
        """Return the schedules that were not removed, by name.

        Raises `StorageError` for one whose file is damaged.
        """
        every = (self._read(name) for name in self.ledger.runs())
        return [schedule for schedule in every if schedule.is_active]

    def _read(self, name: str) -> Schedule:
        try:
            return self.ledger.project(name)
        except NotFound as error:  # its name is in its first line: what is left is its folder's
            raise StorageError(
                f"the file of a schedule, {name}, is damaged: 'assay ledger verify' says where; "
                "restore it from a backup"
            ) from error

    def get(self, name: str) -> Schedule:
        """Return the schedule, a removed one as well; raises `NotFound`."""
        try:
            return self.ledger.project(name)
        except NotFound as error:
            raise NotFound(
                f"there is no schedule {name!r}; 'assay schedule list' lists those there are"
            ) from error

    # ---- what people decide

    def add(
        self,
        name: str,
        request: ResearchRequest,
        *,
        cron: str,
        timezone: str = "UTC",
        missed: Missed = "latest",
        overlap: Overlap = "queue",
    ) -> Schedule:
        """Have `request` researched at every slot from now on; its id is replaced by the name.

        Raises `InvalidRequest` for a name that is taken or none, a wrong timetable, and a request
        with a secret in it; and `ObstructedError` (PERMISSION_DENIED) as `submit` would.
        """
        require_name(name)
        timetable = parse_timetable(cron, timezone)
        request = request.model_copy(update={"id": name})
        self.desk.policy.authorise(request)
        added = ScheduleAdded(
            cron=timetable.cron,
            timezone=timezone,
            missed=missed,
            overlap=overlap,
            request=request,
            by=principal(),
        )
        recorded = draft(added)
        if recorded.body != added.model_dump(mode="json"):
            raise InvalidRequest(
                "the request holds what looks like a secret, which is not kept; ask without it"
            )
        try:
            return self.ledger.append(name, [recorded]).state
        except Refused as error:
            raise InvalidRequest(
                f"there is a schedule {name!r} already; choose another name, or remove that one: "
                f"assay schedule remove {name}"
            ) from error

    def pause(self, name: str) -> Schedule:
        """Skip slots from now on. Raises `NotFound`, and `Refused` when it is paused already."""
        return self._decide(name, SchedulePaused(by=principal()))

    def resume(self, name: str) -> Schedule:
        """Let slots count again. Raises `NotFound`, and `Refused` when it is not paused."""
        return self._decide(name, ScheduleResumed(by=principal()))

    def remove(self, name: str) -> Schedule:
        """End the schedule; what waits is dropped, what has started goes on. Raises `NotFound`."""

        def events(schedule: Schedule) -> list[Event]:
            waiting = schedule.with_status("queued")
            dropped = [SlotDropped(slot=each.slot, reason="removed") for each in waiting]
            return [*dropped, ScheduleRemoved(by=principal())]

        return self._retrying(name, lambda schedule: self._append(schedule, events(schedule)))

    def ask_for(self, name: str) -> tuple[SlotRecord, Look]:
        """Have a slot run now, after any that has not ended; return it and what a look did.

        Asked again within the same second it is the same slot. Raises `NotFound`.
        """
        slot = spell_slot(self.desk.now(), seconds=True)
        run_id = slot_run_id(name, slot)

        def queue(schedule: Schedule) -> Schedule:
            if slot in schedule.slots:
                return schedule
            return self._append(schedule, [SlotQueued(slot=slot, run_id=run_id, by=principal())])

        self._retrying(name, queue)
        look = self.look(name)
        return self.get(name).slots[slot], look

    def _decide(self, name: str, event: Event) -> Schedule:
        return self._retrying(name, lambda schedule: self._append(schedule, [event]))

    # ---- looks

    def look(self, name: str) -> Look:
        """Record how runs ended, decide what is due, and submit the next run; return what was done.

        Raises `NotFound`, and what the ledgers raise; nothing that a later look would not mend.
        """
        recorded: list[Event] = []
        schedule = self._retrying(name, lambda before: self._looked(before, recorded))
        problem = ""
        for number, record in enumerate(schedule.ended()[:_LOOKED_BACK]):
            try:
                if number == 0 or lacks_changes(self.desk, record):
                    publish_changes(self.desk, record)
            except AssayError as error:
                problem = error.message
        return Look(name, tuple(recorded), self._to_execute(schedule), problem)

    def look_at_all(self) -> list[Look]:
        """Look at every schedule, removed ones as well; one that cannot be looked at says why."""
        looks = []
        for name in self.ledger.runs():
            try:
                looks.append(self.look(name))
            except AssayError as error:
                looks.append(Look(name, problem=error.message))
        return looks

    def _looked(self, schedule: Schedule, recorded: list[Event]) -> Schedule:
        for step in (self._ends, self._mended, lambda now: due_slots(now, self.desk.now())):
            schedule = self._append(schedule, step(schedule), recorded)
        record = next_to_start(schedule)
        if record is not None:
            event = SlotStarted(slot=record.slot, fingerprint=record.request.fingerprint)
            schedule = self._append(schedule, [event], recorded)
            schedule = self._append(schedule, self._ends(schedule), recorded)
        return schedule

    def _ends(self, schedule: Schedule) -> list[Event]:
        """Return how the started slots ended that have; submit the runs of those that lack one."""
        ends = []
        for record in schedule.with_status("started"):
            run = self._submitted(record)
            if isinstance(run, SlotEnded):
                ends.append(run)
            elif run.is_terminal:
                ends.append(end_of(self.desk, schedule, record, run))
        return [*ends]

    def _submitted(self, record: SlotRecord) -> Run | SlotEnded:
        """Return the slot's run, submitted if need be, or that it was refused for good."""
        if self.desk.ledger.exists(record.run_id):
            run = self.desk.ledger.project(record.run_id)
            if run.research is not None and run.fingerprint == record.fingerprint:
                return run
        try:
            return submit(self.desk, record.request)
        except AssayError as error:
            if not (isinstance(error, InvalidRequest) or error.code == "PERMISSION_DENIED"):
                raise
            reason = error.message[:4000]
        return SlotEnded(slot=record.slot, run_id=record.run_id, outcome="refused", reason=reason)

    def _mended(self, schedule: Schedule) -> list[Event]:
        """Return that the last slot ended well after all, if a retry of its run did."""
        for record in schedule.ended()[:1]:
            if record.ended is None or record.ended.outcome not in ("failed", "cancelled"):
                continue
            attempt = self._last_attempt(self.desk.ledger.project(record.ended.run_id))
            if attempt.status == "completed":
                return [end_of(self.desk, schedule, record, attempt)]
        return []

    def _last_attempt(self, run: Run) -> Run:
        while self.desk.ledger.exists(following := next_attempt_id(run)):
            run = self.desk.ledger.project(following)
        return run

    def _to_execute(self, schedule: Schedule) -> str:
        for record in schedule.with_status("started"):
            run = self.desk.ledger.project(record.run_id)
            if run.status == "queued" and not self.desk.ledger.is_held(record.run_id):
                return record.run_id
        return ""

    # ---- recording

    def _append(
        self, schedule: Schedule, events: Sequence[Event], recorded: list[Event] | None = None
    ) -> Schedule:
        if not events:
            return schedule
        drafts: list[Draft] = [draft(event) for event in events]
        receipt = self.ledger.append(schedule.name, drafts, expected_position=schedule.position)
        if recorded is not None:
            recorded += events
        return receipt.state

    def _retrying(self, name: str, work: Callable[[Schedule], Schedule]) -> Schedule:
        """Do `work` on the schedule as it is; again when another process changed it meanwhile."""
        for _ in range(_TRIES):
            schedule = self.get(name)
            try:
                return work(schedule)
            except Conflict:
                continue
            except Refused as error:
                if error.code == "NOT_FOUND":
                    raise NotFound(
                        f"the schedule {name!r} was removed; 'assay schedule list' lists those "
                        "there are"
                    ) from error
                raise
        raise Conflict(f"schedule {name!r} is being changed by others all the time; try again")


def require_name(name: str) -> None:
    """Raise `InvalidRequest` for what cannot name a schedule."""
    if not _NAME.match(name):
        raise InvalidRequest(
            f"{name!r} cannot name a schedule: 1 to 60 small letters, digits and dashes, as in "
            "audit-logs"
        )


def schedule_of(run_id: str) -> str:
    """Return the name of the schedule that a run of this id would be of, or ''."""
    found = _RUN_ID.match(run_id)
    return found["name"] if found else ""


@contextmanager
def schedules_of(desk: Desk) -> Iterator[Schedules]:
    """Give the schedules of `desk` for the block."""
    opened = Schedules(desk)
    try:
        yield opened
    finally:
        opened.close()
