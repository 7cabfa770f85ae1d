"""Laws of the fold: however a history is read, it says the same, and saying it again is nothing."""

import dataclasses
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from state.envelope import Draft, Line, Refs
from state.errors import Conflict, CorruptLedger, Refused
from state.events import Event, draft
from state.projection import RunFold, project, rehearse, replays
from state.run_events import RunInterrupted, RunResumed, StageCompleted, StageStarted
from state.values.errors import AssayError
from tests.state.builders import (
    History,
    checkpoint,
    completed,
    item,
    leased,
    planned,
    ready_events,
    reserved,
    running,
    section,
    settled,
    source,
    step,
    text_source,
)
from tests.state.method_builders import claim, coverage, evidence, reading, schedule

POOL: list[tuple[Event, str | None]] = [
    *((event, name.replace(" ", "-")) for name, event in ready_events().items()),
    (planned(), "plan"),
    (schedule(), "schedule"),
    (reading(), "reading"),
    (text_source("t1"), "text"),
    (evidence(source_id="t1"), "evidence"),
    (coverage(), "coverage"),
    (claim(), "claim"),
    (completed(), "seal"),
    (item("extra", "blocked"), "blocked"),
    (item("extra", "skipped"), "skipped"),
    (step("a", "blocked"), "step-blocked"),
    (step("a", "stopped"), "step-stopped"),
    (checkpoint("c2", status="blocked", stage="report_writing"), "c2"),
    (section("summary", "drafted", "late-draft"), "late-draft"),
    (source("s2"), None),
    (reserved(pages=1), "effect"),
    (settled(pages=1), "effect"),
    (StageStarted(stage="knowledge_base"), "stage-started"),
    (StageCompleted(stage="knowledge_base"), "stage-completed"),
    (RunInterrupted(code="X", reason="killed"), None),
    (RunResumed(), None),
    (leased(2), None),
]


def histories() -> st.SearchStrategy[History]:
    """Return histories that offer events in any order, those that are refused left out."""

    def offered(order: list[int]) -> History:
        history = running()
        for index in order:
            event, call = POOL[index]
            try:
                history.record(event, call=call)
            except Refused:
                continue
        return history

    return st.permutations(range(len(POOL))).map(offered)


def whole() -> History:
    """Return a history that holds every event of the pool that fits in their order."""
    history = running()
    for event, call in POOL:
        try:
            history.record(event, call=call)
        except Refused:
            continue
    assert history.research.completed is not None
    return history


@given(histories(), st.data())
def test_folding_in_two_steps_equals_once(history: History, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(history.lines)))

    first = project(history.lines[:cut])

    assert project(history.lines[cut:], first) == project(history.lines) == history.run


@given(histories())
@settings(max_examples=30)
def test_every_prefix_of_a_history_is_a_valid_run(history: History) -> None:
    for cut in range(len(history.lines) + 1):
        run = project(history.lines[:cut])
        assert run.position == cut
        if cut:
            assert run.head_hash == history.lines[cut - 1].hash


@given(histories())
@settings(max_examples=50)
def test_saying_a_recorded_fact_again_is_nothing(history: History) -> None:
    before = history.run
    for line in list(history.lines):
        made = Draft(line.envelope.type, line.envelope.body, line.envelope.refs)
        if made.refs.call_id is None or made.type == "effect_reserved":
            continue
        assert not history.append(made)
        assert rehearse(before, [made]) is before
    assert history.run is before


@given(histories())
@settings(max_examples=50)
def test_a_used_call_id_takes_no_other_event(history: History) -> None:
    other = draft(checkpoint("elsewhere", 99), Refs("t/1", "x"))
    for line in history.lines:
        if (call := line.envelope.refs.call_id) is None:
            continue
        with pytest.raises((Conflict, Refused)):
            history.append(dataclasses.replace(other, refs=Refs("t/1", call)))


@given(histories())
@settings(max_examples=50)
def test_the_order_of_what_was_recorded_is_kept(history: History) -> None:
    research = history.research
    recorded = [
        line.envelope.body["artifact_id"]
        for line in history.lines
        if line.envelope.type == "research_artifact_recorded"
    ]

    assert list(research.artifact_order) == recorded
    assert set(research.step_order) == set(research.steps)
    assert set(research.evidence_order) == set(research.evidence)


def _tampered(lines: list[Line]) -> Iterator[list[Line]]:
    for index in range(len(lines)):
        yield lines[:index] + lines[index + 1 :]
        if index + 1 < len(lines):
            yield [*lines[:index], lines[index + 1], lines[index], *lines[index + 2 :]]
        yield [*lines[: index + 1], lines[index], *lines[index + 1 :]]


def test_a_history_with_an_event_out_of_place_is_no_history() -> None:
    lines = whole().lines

    for changed in _tampered(lines):
        if changed == lines[: len(changed)]:
            continue  # a history that was cut off is a history
        with pytest.raises((CorruptLedger, Refused)):
            project(changed)


def test_the_fold_of_the_ledger_is_the_fold() -> None:
    history, fold = whole(), RunFold()
    state = fold.start()

    for line in history.lines:
        state = fold.evolve(state, line.envelope, line.hash)
        made = Draft(line.envelope.type, line.envelope.body, line.envelope.refs)
        try:
            assert fold.replay(state, made) == replays(state, made)
        except AssayError:
            pytest.fail("what was just recorded is in conflict with itself")

    assert state == history.run


def test_states_cannot_be_changed() -> None:
    history = whole()

    for state in (history.run, history.research):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(state, dataclasses.fields(state)[0].name, None)
