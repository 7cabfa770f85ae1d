"""Laws of the fold of Paper2Code runs, over histories that offer their events in any order."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from state.code_stages import PERCENT
from state.envelope import Draft
from state.errors import CorruptLedger, Refused
from state.events import Event
from state.projection import Run, project, rehearse
from state.run_events import (
    RunCancelled,
    RunFailed,
    RunInterrupted,
    RunResumed,
    StageCompleted,
    StageStarted,
)
from tests.state.builders import History, leased
from tests.state.code_builders import (
    PATHS,
    code_completed,
    code_planned,
    code_source,
    coding,
    dependencies,
    frozen,
    plan_answered,
    plan_requested,
    reference,
    sealed,
    stage_effect,
    state_of,
    verified,
    written,
)

POOL: list[tuple[Event, str | None]] = [
    (code_source(), "source"),
    (code_planned(), "plan-1"),
    (plan_requested()[0], "asked"),
    (plan_requested()[1], None),
    (plan_answered("approve"), "answered"),
    (RunResumed(), None),
    (reference(), "reference"),
    *((written(path), f"file-{number}") for number, path in enumerate(PATHS)),
    (code_planned(2, origin="revised"), "plan-2"),
    (frozen(), "frozen"),
    (dependencies(), "dependencies"),
    (verified(0, "failed"), "verified-0"),
    (verified(0), "passed-0"),
    (written(PATHS[1], 1), "repair"),
    (verified(1), "verified-1"),
    (stage_effect("planning"), "effect-1"),
    (stage_effect("implementing"), "effect-2"),
    *((StageStarted(stage=stage), f"begin-{stage}") for stage in PERCENT),
    *((StageCompleted(stage=stage), f"end-{stage}") for stage in PERCENT),
    (RunInterrupted(code="X", reason="killed"), None),
    (RunResumed(), None),
    (leased(2), None),
]
ENDS: list[Event] = [
    RunFailed(code="WORKFLOW_EXECUTION_ERROR", message="it broke"),
    RunCancelled(reason="enough"),
    RunFailed(code="WORKFLOW_INCOMPLETE", message="tests fail"),
    code_completed(),
]


def _tell(history: History, event: Event, call: str | None = None) -> None:
    try:
        history.record(event, call=call)
    except Refused:
        return


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Draw a run that was offered events in any order, most often near the order of the method."""
    history = coding(plan_review=draw(st.booleans()))
    spread = draw(st.sampled_from([1, 4, 40]))
    jitter = st.lists(st.integers(0, spread), min_size=len(POOL), max_size=len(POOL))
    moved = draw(jitter)
    for index in sorted(range(len(POOL)), key=lambda number: (number + moved[number], number)):
        event, call = POOL[index]
        _tell(history, event, call)
    if draw(st.booleans()) and state_of(history).plan:
        _tell(history, sealed(history), "sealed")
    _tell(history, draw(st.sampled_from(ENDS)))
    return history


def _runs(history: History) -> list[Run]:
    """Return the run after each of its events."""
    runs = [Run()]
    for line in history.lines:
        runs.append(project([line], runs[-1]))
    return runs


@given(histories())
def test_progress_never_falls_and_is_full_only_when_completed(history: History) -> None:
    seen = [run.progress for run in _runs(history)]

    assert all(before <= after for before, after in pairwise(seen))
    assert all(0 <= percent <= 100 for percent in seen)
    assert (seen[-1] == 100) == (history.run.status == "completed")


@given(histories())
def test_nothing_is_written_that_was_not_approved(history: History) -> None:
    for run in _runs(history):
        code = run.paper2code
        if code is None or not code.request.options.plan_review:
            continue
        if code.plan is None:
            assert not code.files
        if code.files or code.verifications:
            answers = [review.answer for review in run.reviews]
            assert any(answer and answer.action == "approve" for answer in answers)


@given(histories())
def test_a_completed_run_has_every_file_and_passed_its_tests_as_they_are(history: History) -> None:
    if history.run.status != "completed":
        return
    code = state_of(history)
    assert code.plan is not None
    assert set(code.files) == set(code.plan.paths_planned)
    assert code.verifications[-1].executed > 0
    assert code.verifications[-1].verdict == "passed"
    assert code.sealed is not None
    assert {file.path: file.content_hash for file in code.sealed.files} == code.file_hashes


@given(histories())
def test_frozen_tests_are_never_changed(history: History) -> None:
    seen: dict[str, str] = {}
    for run in _runs(history):
        if run.paper2code and run.paper2code.frozen:
            seen = seen or run.paper2code.frozen_hashes
            assert all(run.paper2code.file_hashes[path] == seen[path] for path in seen)


@given(histories(), st.data())
@settings(max_examples=50)
def test_folding_in_two_steps_equals_once(history: History, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(history.lines)))

    first = project(history.lines[:cut])

    assert project(history.lines[cut:], first) == project(history.lines) == history.run


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


@given(histories())
@settings(max_examples=50)
def test_order_and_files_name_the_same_paths(history: History) -> None:
    code = state_of(history)

    assert sorted(code.file_order) == sorted(code.files)
    planned = code.plan.paths_planned if code.plan else ()
    assert set(code.missing) == set(planned) - set(code.files)


def test_the_order_of_the_method_reaches_a_completed_run() -> None:
    history = coding()
    for event, call in POOL:
        if call != "passed-0":
            _tell(history, event, call)
    history.record(sealed(history), code_completed())

    assert history.run.status == "completed"
    for index in range(1, len(history.lines)):
        if history.lines[index].envelope.type == "code_file_recorded":
            with pytest.raises((CorruptLedger, Refused)):
                project(history.lines[:index] + history.lines[index + 1 :])
