"""Which runs go on by themselves: those that nobody meant to stand still, each time later."""

from pathlib import Path

import pytest

from flows.answering import answer_review
from flows.resuming import FROM_OUTSIDE, WAITS_S, open_runs, standing_of
from flows.runs import cancel, request_of, submit
from flows.wiring import Desk
from state.events import Event, Holder, draft
from state.method_events import ResearchPlanRecorded
from state.run_events import (
    ReviewRequested,
    RunInterrupted,
    RunLeased,
    RunResumed,
    RunStarted,
    RunWaiting,
    StageStarted,
)
from tests.flows.world import PLAN, World

GONE = "the process that executed the run is gone"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "home")


@pytest.fixture
def desk(world: World) -> Desk:
    made = world.desk()
    submit(made, request_of(made, "What is Pavo?", sources=[world.home], run_id="r1"))
    return made


def append(desk: Desk, *events: Event) -> None:
    desk.ledger.append("r1", [draft(event) for event in events])


def interrupted(desk: Desk, reason: str, *, times: int = 1) -> None:
    """Take the run up and interrupt it, as often as that."""
    for _ in range(times):
        epoch = desk.ledger.project("r1").epoch + 1
        begun = RunStarted() if epoch == 1 else RunResumed()
        lost = RunInterrupted(code="WORKFLOW_INTERRUPTED", reason=reason)
        append(desk, RunLeased(epoch=epoch, holder=Holder(pid=1, host="h")), begun, lost)


@pytest.mark.parametrize("reason", [GONE, "the server that executed the run was stopped", "full"])
def test_a_run_that_was_lost_goes_on_at_once(desk: Desk, reason: str) -> None:
    interrupted(desk, reason)

    standing = standing_of(desk, desk.ledger.project("r1"))

    assert (standing.goes_on, standing.wait_s) == (True, 0.0)


@pytest.mark.parametrize("reason", [FROM_OUTSIDE, "stopped after the plan, as asked"])
def test_a_run_that_a_person_stopped_is_left_alone(desk: Desk, reason: str) -> None:
    interrupted(desk, reason)

    standing = standing_of(desk, desk.ledger.project("r1"))

    assert (standing.goes_on, standing.why) == (False, reason)


def test_a_run_that_gets_no_further_waits_longer_each_time_and_is_left_then(
    world: World, desk: Desk
) -> None:
    waits = []
    for _ in WAITS_S:
        interrupted(desk, GONE)
        waits.append(standing_of(desk, desk.ledger.project("r1")).wait_s)
    interrupted(desk, GONE)
    given_up = standing_of(desk, desk.ledger.project("r1"))

    assert waits == list(WAITS_S)
    assert not given_up.goes_on
    assert "got no further" in given_up.why
    world.clock.advance(days=30)
    assert not standing_of(desk, desk.ledger.project("r1")).goes_on


def test_progress_forgives_earlier_attempts(world: World, desk: Desk) -> None:
    interrupted(desk, GONE, times=4)
    append(desk, RunLeased(epoch=5, holder=Holder(pid=1, host="h")), RunResumed())
    append(desk, StageStarted(stage="planning"))
    append(desk, RunInterrupted(code="WORKFLOW_INTERRUPTED", reason=GONE))

    assert standing_of(desk, desk.ledger.project("r1")).wait_s == 0


def test_waiting_is_counted_from_the_last_event(world: World, desk: Desk) -> None:
    interrupted(desk, GONE, times=2)
    run = desk.ledger.project("r1")

    world.clock.advance(seconds=WAITS_S[1] - 1)
    soon = standing_of(desk, run).wait_s
    world.clock.advance(seconds=2)

    assert 0 < soon <= 1
    assert standing_of(desk, run).wait_s == 0


def test_attempts_that_left_no_trace_count_as_well(desk: Desk) -> None:
    interrupted(desk, GONE)
    run = desk.ledger.project("r1")

    assert standing_of(desk, run, starts_since=1).wait_s == WAITS_S[1]
    assert not standing_of(desk, run, starts_since=len(WAITS_S)).goes_on


def test_a_queued_run_may_still_be_on_its_way(world: World, desk: Desk) -> None:
    run = desk.ledger.project("r1")

    before = standing_of(desk, run).wait_s
    world.clock.advance(hours=1)

    assert before > 0
    assert standing_of(desk, run).wait_s == 0


def test_a_run_that_waits_for_a_person_waits_and_goes_on_once_answered(world: World) -> None:
    desk = world.desk()
    request = request_of(desk, "What is Pavo?", sources=[world.home], run_id="r1", plan_review=True)
    submit(desk, request)
    parts = [{"id": s.id, "question": s.question, "query": s.query} for s in PLAN.subquestions]
    plan = {"version": 1, "origin": "planned", "goal": PLAN.goal, "plan_hash": PLAN.hash}
    append(desk, RunLeased(epoch=1, holder=Holder(pid=1, host="h")), RunStarted())
    append(desk, ResearchPlanRecorded.model_validate({**plan, "subquestions": parts}))
    append(desk, ReviewRequested(interaction_id="review-1", version=1, plan_hash=PLAN.hash))
    append(desk, RunWaiting(interaction_id="review-1"))
    world.clock.advance(days=3)

    before = standing_of(desk, desk.ledger.project("r1"))
    answer_review(desk, "r1", "approve", by="Ada")
    after = standing_of(desk, desk.ledger.project("r1"))

    assert not before.goes_on
    assert (after.goes_on, after.wait_s) == (True, 0.0)


def test_runs_that_have_ended_are_not_looked_at(desk: Desk) -> None:
    assert open_runs(desk) == ["r1"]

    cancel(desk, "r1", "enough")

    assert open_runs(desk) == []
