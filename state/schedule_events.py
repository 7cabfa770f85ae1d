"""The events of a schedule: what is to be researched when, and what became of each slot.

A slot is one time at which a schedule is due. It is spelled in UTC, `20261201T0500Z`, with seconds
when a person asked for it.
"""

from typing import Annotated, Literal

from pydantic import Field

from state.events import (
    ContentHash,
    Count,
    Digest,
    Event,
    Name,
    Round,
    StableId,
    Text4000,
    Value,
)
from state.request import ResearchRequest

Missed = Literal["latest", "all", "skip"]
Overlap = Literal["queue", "skip"]
WhySkipped = Literal["missed", "overlap", "paused"]
WhyDropped = Literal["superseded", "removed"]
Slot = Annotated[str, Field(pattern=r"^\d{8}T\d{4}(\d\d)?Z$")]


class ScheduleAdded(Event):
    """Somebody wants the request of this event researched at every slot from now on.

    `missed` says what to do about slots at which nothing ran (the machine was off): run the
    newest of them, all, or none. `overlap` says what to do while an earlier slot's run has not
    ended: let the slot wait, or skip it. The request bears the schedule's name as its id.
    """

    type = "schedule_added"
    paths = frozenset({"sources"})
    cron: Annotated[str, Field(max_length=200)]
    timezone: Annotated[str, Field(max_length=100)]
    missed: Missed
    overlap: Overlap
    request: ResearchRequest
    by: Name


class SchedulePaused(Event):
    """From now on slots are skipped, until the schedule is resumed."""

    type = "schedule_paused"
    by: Name


class ScheduleResumed(Event):
    """From now on slots count again."""

    type = "schedule_resumed"
    by: Name


class ScheduleRemoved(Event):
    """From now on there are no slots; the same name can be added again."""

    type = "schedule_removed"
    by: Name


class SlotQueued(Event):
    """The slot is to be run, when every earlier one has ended; `by` is the person who asked."""

    type = "slot_queued"
    slot: Slot
    run_id: StableId
    by: Name = ""


class SlotsSkipped(Event):
    """The slots from `first` to `last`, `count` of them, are not run, and why."""

    type = "slots_skipped"
    first: Slot
    last: Slot
    count: Round
    reason: WhySkipped
    detail: Text4000 = ""


class SlotDropped(Event):
    """A slot that was waiting is not run after all, and why."""

    type = "slot_dropped"
    slot: Slot
    reason: WhyDropped


class SlotStarted(Event):
    """The slot's run is submitted now, with the request whose hash is `fingerprint`."""

    type = "slot_started"
    slot: Slot
    fingerprint: Digest


class ChangeCounts(Value):
    """How many claims and sources are different, by kind; see `state.values.changes`."""

    new: Count = 0
    withdrawn: Count = 0
    changed: Count = 0
    contradicted: Count = 0
    resolved: Count = 0
    rejudged: Count = 0
    new_sources: Count = 0
    gone_sources: Count = 0
    changed_sources: Count = 0


class RecordedChanges(Value):
    """How a report differs from that of run `against`: changes.md and changes.json, archived.

    `anything` tells whether anything at all is different.
    """

    against: StableId
    anything: bool
    counts: ChangeCounts
    markdown: ContentHash
    data: ContentHash


class SlotEnded(Event):
    """The slot's run ended: `run_id` is the attempt that ended it.

    There are no changes where there is no report, or none before it.
    """

    type = "slot_ended"
    slot: Slot
    run_id: StableId
    outcome: Literal["completed", "failed", "cancelled", "refused"]
    reason: Text4000 = ""
    changes: RecordedChanges | None = None


class ChangesWithheld(Event):
    """The changes that the slot recorded were deleted on purpose."""

    type = "changes_withheld"
    slot: Slot
    reason: Text4000
    by: Name
