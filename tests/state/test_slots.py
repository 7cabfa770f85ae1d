"""Every slot of a schedule ends up exactly once as run or as not run, with the reason."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from state.envelope import NO_HASH, Envelope, Refs, utc_text
from state.errors import Conflict, Refused
from state.events import Event
from state.request import make_request
from state.schedule import Schedule, evolve, slot_time, spell_slot
from state.schedule_events import (
    Missed,
    Overlap,
    ScheduleAdded,
    SchedulePaused,
    ScheduleRemoved,
    ScheduleResumed,
    SlotEnded,
    SlotQueued,
    SlotStarted,
)
from state.slots import MOST_MADE_UP, due_slots, next_to_start, slot_run_id

BEGAN = datetime(2026, 3, 27, 12, 0, tzinfo=UTC)  # two days before the clocks change in Berlin


def added(cron: str, missed: Missed = "latest", overlap: Overlap = "queue") -> ScheduleAdded:
    request = make_request(id="s", principal="ann", question="What is new?", sources=("/notes",))
    return ScheduleAdded(
        cron=cron,
        timezone="Europe/Berlin",
        missed=missed,
        overlap=overlap,
        request=request,
        by="ann",
    )


@dataclass
class Stream:
    """A schedule's events in memory, appended to as the ledger does."""

    now: datetime = BEGAN
    state: Schedule = field(default_factory=Schedule)

    def append(self, *events: Event, expected: int | None = None, keep: int | None = None) -> None:
        """Append all or nothing; `keep`: a crash leaves only the first few."""
        if expected is not None and expected != self.state.position:
            raise Conflict("another was faster")
        state, states = self.state, []
        for event in events:
            envelope = Envelope(
                "e", event.type, 1, "s", state.position + 1, utc_text(self.now), NO_HASH, Refs(),
                event.model_dump(mode="json"),
            )  # fmt: skip
            state = evolve(state, envelope)
            states.append(state)
        kept = states if keep is None else states[:keep]
        self.state = kept[-1] if kept else self.state

    def look(self) -> None:
        if events := due_slots(self.state, self.now):
            self.append(*events, expected=self.state.position)

    def start(self) -> str:
        record = next_to_start(self.state)
        if record is None:
            return ""
        self.append(SlotStarted(slot=record.slot, fingerprint="0" * 64))
        return record.slot

    def end(self) -> None:
        for record in self.state.with_status("started"):
            self.append(SlotEnded(slot=record.slot, run_id=record.run_id, outcome="completed"))

    def after(self, **by: float) -> "Stream":
        self.now += timedelta(**by)
        return self

    def runs(self) -> list[str]:
        return sorted(slot for slot, each in self.state.slots.items() if each.status != "dropped")

    def not_run(self) -> list[tuple[str, int, str]]:
        return [(e.first, e.count, e.reason) for _, e in sorted(self.state.skipped.items())]


def begun(cron: str, missed: Missed = "latest", overlap: Overlap = "queue") -> Stream:
    stream = Stream()
    stream.append(added(cron, missed, overlap))
    return stream


# ---- the law


_ACTIONS: dict[str, Callable[[Stream, int], object]] = {
    "wait": lambda stream, n: stream.after(minutes=n * 7 + 1),
    "look": lambda stream, _: stream.look(),
    "crash": lambda stream, n: stream.append(*due_slots(stream.state, stream.now), keep=n % 3),
    "start": lambda stream, _: stream.start(),
    "end": lambda stream, _: stream.end(),
    "pause": lambda stream, _: stream.append(SchedulePaused(by="ann")),
    "resume": lambda stream, _: stream.append(ScheduleResumed(by="ann")),
    "clock goes back": lambda stream, n: stream.after(minutes=-n),
    "by hand": lambda stream, _: stream.append(
        SlotQueued(slot=spell_slot(stream.now, seconds=True), run_id="by-hand", by="ann")
    ),
}


@settings(max_examples=150)
@given(
    cron=st.sampled_from(["*/20 * * * *", "30 2 * * *", "0 6 * * *", "15 */3 * * *"]),
    missed=st.sampled_from(["latest", "all", "skip"]),
    overlap=st.sampled_from(["queue", "skip"]),
    actions=st.lists(
        st.tuples(st.sampled_from(sorted(_ACTIONS)), st.integers(0, 300)), max_size=30
    ),
)
def test_whenever_one_looks_each_slot_ends_up_once_as_run_or_not_run(
    cron: str, missed: Missed, overlap: Overlap, actions: list[tuple[str, int]]
) -> None:
    stream = begun(cron, missed, overlap)
    latest = stream.now
    for name, n in actions:
        stale = stream.state
        try:
            _ACTIONS[name](stream, n)
        except Refused:
            assert name in ("pause", "resume", "by hand")
        again = due_slots(stale, stream.now)
        if again and stale.position != stream.state.position:
            with pytest.raises(Conflict):  # whoever decided on an older state is refused
                stream.append(*again, expected=stale.position)
        latest = max(latest, stream.now)
    stream.now = latest
    stream.look()

    wanted = [spell_slot(slot) for slot in stream.state.timetable.between(BEGAN, latest)]
    run = [slot for slot, record in stream.state.slots.items() if not record.by]
    skipped: list[str] = []
    for event in stream.state.skipped.values():
        covered = [slot for slot in wanted if event.first <= slot <= event.last]
        assert len(covered) == event.count
        skipped += covered
    assert sorted(run + skipped) == wanted
    assert len(stream.state.with_status("started")) <= 1
    assert due_slots(stream.state, latest) == []


def test_what_a_look_decides_is_decided_by_the_same_look_again_and_by_no_other() -> None:
    stream = begun("0 6 * * *").after(days=3)
    events = due_slots(stream.state, stream.now)

    assert events == due_slots(stream.state, stream.now)
    stream.append(*events)
    with pytest.raises(Refused, match="decided already"):
        stream.append(events[-1])
    with pytest.raises(Refused, match="decided already"):
        stream.append(events[0])


# ---- slots that were missed


def test_of_missed_slots_the_newest_is_run_and_the_others_are_said_to_be_missed() -> None:
    stream = begun("0 6 * * *").after(days=4)
    stream.look()

    assert stream.runs() == ["20260331T0400Z"]
    assert stream.not_run() == [("20260328T0500Z", 3, "missed")]


def test_all_missed_slots_are_run_one_after_another_if_that_is_asked_for() -> None:
    stream = begun("0 6 * * *", "all").after(days=4)
    stream.look()

    assert len(stream.runs()) == 4
    assert stream.not_run() == []
    assert stream.start() == "20260328T0500Z"
    assert stream.start() == ""
    stream.end()
    assert stream.start() == "20260329T0400Z"


def test_after_months_away_only_so_many_slots_are_made_up_for() -> None:
    stream = begun("0 * * * *", "all").after(days=60)
    stream.look()

    assert len(stream.runs()) == MOST_MADE_UP
    assert stream.not_run() == [("20260327T1300Z", 60 * 24 - MOST_MADE_UP, "missed")]


def test_no_missed_slot_is_run_if_that_is_asked_for_but_one_that_is_looked_at_in_time() -> None:
    stream = begun("0 6 * * *", "skip").after(days=3)
    stream.look()
    stream.after(hours=16, minutes=2).look()

    assert stream.runs() == ["20260331T0400Z"]
    assert stream.not_run() == [("20260328T0500Z", 3, "missed")]


def test_nothing_is_due_before_the_schedule_was_added() -> None:
    assert due_slots(begun("* * * * *").state, BEGAN) == []


# ---- slots that overlap


def test_a_slot_waits_for_the_run_before_it_and_gives_way_to_a_newer_one() -> None:
    stream = begun("0 6 * * *").after(days=1)
    stream.look()
    first = stream.start()
    for _ in range(2):
        stream.after(days=1).look()
        assert stream.start() == ""

    assert first == "20260328T0500Z"
    assert stream.state.slots["20260329T0400Z"].reason == "superseded"
    stream.end()
    assert stream.start() == "20260330T0400Z"


def test_a_slot_is_skipped_while_a_run_has_not_ended_if_that_is_asked_for() -> None:
    stream = begun("0 6 * * *", overlap="skip").after(days=1)
    stream.look()
    stream.start()
    stream.after(days=1).look()
    stream.end()
    stream.after(days=1).look()

    assert stream.runs() == ["20260328T0500Z", "20260330T0400Z"]
    assert stream.not_run() == [("20260329T0400Z", 1, "overlap")]
    (skipped,) = stream.state.skipped.values()
    assert skipped.detail == "run s-20260328T0500Z had not ended"


# ---- pauses, removal, and people


def test_slots_of_a_pause_are_skipped_whether_one_looks_during_it_or_only_afterwards() -> None:
    for looks in (True, False):
        stream = begun("0 6 * * *", "all")
        stream.append(SchedulePaused(by="ann"))
        for _ in range(2):
            stream.after(days=1)
            if looks:
                stream.look()
        stream.append(ScheduleResumed(by="ann"))
        stream.after(days=1).look()

        assert stream.runs() == ["20260330T0400Z"]
        assert sum(count for _, count, reason in stream.not_run() if reason == "paused") == 2


def test_while_paused_what_waits_goes_on_waiting_but_what_a_person_asked_for_runs() -> None:
    stream = begun("0 6 * * *").after(days=1)
    stream.look()
    stream.append(SchedulePaused(by="ann"))

    assert stream.start() == ""
    by_hand = spell_slot(stream.now, seconds=True)
    stream.append(SlotQueued(slot=by_hand, run_id=slot_run_id("s", by_hand), by="bob"))
    assert stream.start() == by_hand


def test_a_person_may_ask_at_the_very_minute_of_a_slot() -> None:
    stream = begun("0 6 * * *").after(hours=17)
    by_hand = spell_slot(stream.now, seconds=True)
    stream.append(SlotQueued(slot=by_hand, run_id="r", by="ann"))
    stream.look()

    assert slot_time(by_hand) == slot_time("20260328T0500Z")
    assert stream.runs() == ["20260328T050000Z", "20260328T0500Z"]


def test_a_schedule_that_was_removed_has_no_slots_until_it_is_added_again() -> None:
    stream = begun("0 6 * * *")
    stream.append(ScheduleRemoved(by="ann"))
    stream.after(days=2).look()

    assert stream.state.slots == stream.state.skipped == type(stream.state.slots)()
    with pytest.raises(Refused, match="no schedule"):
        stream.append(SchedulePaused(by="ann"))
    stream.append(added("0 7 * * *"))
    stream.after(days=1).look()
    assert stream.runs() == ["20260330T0500Z"]


def test_how_a_run_ended_is_recorded_once_except_that_a_later_attempt_mends_a_failure() -> None:
    stream = begun("0 6 * * *").after(days=1)
    stream.look()
    slot = stream.start()
    failed = SlotEnded(slot=slot, run_id=f"s-{slot}", outcome="failed", reason="it broke")
    stream.append(failed)

    with pytest.raises(Refused, match="is ended"):
        stream.append(failed)
    mended = SlotEnded(slot=slot, run_id=f"s-{slot}-attempt-2", outcome="completed")
    stream.append(mended)
    assert stream.state.slots[slot].ended == mended
    with pytest.raises(Refused, match="is ended"):
        stream.append(mended)
