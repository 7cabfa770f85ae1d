"""The life of a run: which status may follow which, leases and fences, stages, and the end."""

from typing import Any

import pytest

from state.envelope import Draft
from state.errors import CorruptLedger, Fenced, Refused
from state.events import Ancestor, Event
from state.projection import TERMINAL, evolve, rehearse
from state.run_events import (
    BytesWithheld,
    ReviewRefused,
    RunCancelled,
    RunCancelRequested,
    RunCompleted,
    RunFailed,
    RunInterrupted,
    RunResumed,
    RunStarted,
    StageCompleted,
    StageStarted,
)
from state.values.ids import content_hash
from tests.state.builders import (
    DIGEST,
    RUN,
    History,
    answered,
    checkpoint,
    completed,
    item,
    leased,
    plan,
    planned,
    queued,
    ready,
    requested,
    research_started,
    reserved,
    running,
    source,
)

FAILED = RunFailed(code="WORKFLOW_EXECUTION_ERROR", message="it broke")
INTERRUPTED = RunInterrupted(code="WORKFLOW_INTERRUPTED", reason="killed")
COMPLETED = RunCompleted(answer_status="answered", stop_reason="coverage-complete")
CANCELLED = RunCancelled(reason="enough")
CANCEL = RunCancelRequested(reason="enough", by="ann")


def waiting() -> History:
    return running(plan_review=True).record(planned(), *requested())


STATES: dict[str, History] = {
    "queued": History().record(queued(), research_started(), leased()),
    "running": ready().record(completed()),
    "waiting": waiting().record(answered("approve")),
    "interrupted": running().record(INTERRUPTED),
    "completed": ready().record(completed(), COMPLETED),
    "failed": running().record(FAILED),
    "cancelled": running().record(CANCELLED),
}
MOVES: dict[str, tuple[Event, dict[str, str]]] = {
    "start": (RunStarted(), {"queued": "running"}),
    "resume": (RunResumed(), {"waiting": "running", "interrupted": "running"}),
    "interrupt": (INTERRUPTED, {"running": "interrupted"}),
    "complete": (COMPLETED, {"running": "completed"}),
    "fail": (FAILED, dict.fromkeys(["queued", "running", "waiting", "interrupted"], "failed")),
    "cancel": (
        CANCELLED,
        dict.fromkeys(["queued", "running", "waiting", "interrupted"], "cancelled"),
    ),
}


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("status", STATES)
def test_a_status_changes_only_as_the_contract_says(status: str, move: str) -> None:
    event, allowed = MOVES[move]
    history = History()
    history.run = STATES[status].run
    history.lines = list(STATES[status].lines)
    assert history.run.status == status

    if status in allowed:
        assert history.record(event).run.status == allowed[status]
    else:
        assert history.refusal(event) == ("TERMINAL" if status in TERMINAL else "STATUS")


def test_the_first_event_of_every_run_and_no_other_is_run_queued() -> None:
    assert History().refusal(RunStarted()) == "FIRST_EVENT"
    assert History().refusal(research_started()) == "FIRST_EVENT"
    assert running().refusal(queued()) == "FIRST_EVENT"


def test_events_come_one_after_the_other() -> None:
    history = running()
    last = history.lines[-1].envelope

    with pytest.raises(CorruptLedger, match="does not follow"):
        evolve(history.run, last, DIGEST)


def test_what_cannot_follow_can_be_known_before() -> None:
    history = running()
    made = Draft("run_started", {})

    with pytest.raises(Refused):
        rehearse(history.run, [made])
    assert rehearse(history.run, [Draft("run_interrupted", INTERRUPTED.model_dump())]).status


@pytest.mark.parametrize("status", [status for status in STATES if status in TERMINAL])
def test_after_the_end_only_tombstones_and_refused_answers_are_recorded(status: str) -> None:
    history = STATES[status]
    for event in (CANCEL, leased(2), source("s9"), StageStarted(stage="x"), answered("approve")):
        assert history.refusal(event) == "TERMINAL"

    after = History()
    after.run, after.lines = history.run, list(history.lines)
    after.record(
        BytesWithheld(hashes=(content_hash("s1"),), reason="asked to", by="ann"),
        ReviewRefused(
            interaction_id="review-1", action="approve", reason="terminal", by="ann", channel="cli"
        ),
    )
    assert after.run.status == status
    assert after.run.withheld[content_hash("s1")] == "asked to"


# ---- queueing and retrying


def test_a_retry_is_a_new_run_of_the_same_task() -> None:
    origin = Ancestor(run_id=RUN, position=4, hash=DIGEST)
    retry = queued("run-2", task_id=RUN, attempt=2, retry_of=origin)

    run = History("run-2").record(retry).run

    assert (run.run_id, run.task_id, run.attempt, run.retry_of) == ("run-2", RUN, 2, origin)


@pytest.mark.parametrize(
    "fields",
    [{"attempt": 2}, {"retry_of": {"run_id": "run-0", "position": 3, "hash": DIGEST}}],
)
def test_every_attempt_but_the_first_is_a_retry(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="every attempt but the first"):
        queued(**fields)


def test_a_first_attempt_is_its_own_task_and_none_retries_itself() -> None:
    assert History().refusal(queued(task_id="another")) == "TASK_ID"
    itself = {"run_id": RUN, "position": 3, "hash": DIGEST}
    assert History().refusal(queued(attempt=2, retry_of=itself)) == "TASK_ID"


# ---- leases


def test_each_lease_has_the_next_epoch() -> None:
    history = running()

    for epoch in (1, 3, 7):
        with pytest.raises(Fenced):
            history.record(leased(epoch))
    assert history.record(leased(2)).run.epoch == 2


def test_a_driver_whose_lease_is_over_cannot_work() -> None:
    history = running().record(leased(2))

    with pytest.raises(Fenced, match="lease 1 is over"):
        history.record(reserved(epoch=1), call="c1")
    history.record(reserved(epoch=2), call="c1")


# ---- waiting, cancelling


def test_a_run_waits_for_the_live_request_only() -> None:
    history = running(plan_review=True).record(planned(), requested()[0])

    assert history.refusal(requested(2)[1]) == "STATUS"
    history.record(answered("approve"))
    assert history.refusal(requested()[1]) == "STATUS"


def test_a_waiting_run_goes_on_only_when_it_was_answered() -> None:
    history = waiting()

    assert history.refusal(RunResumed()) == "STATUS"
    assert history.record(answered("approve"), RunResumed()).run.status == "running"


def test_a_cancel_request_is_kept_and_the_first_reason_counts() -> None:
    history = running().record(CANCEL, RunCancelRequested(reason="other", by="bob"))

    assert (history.run.cancel_reason, history.run.status) == ("enough", "running")


def test_a_cancel_request_without_a_reason_counts_too() -> None:
    assert running().record(RunCancelRequested(reason="", by="ann")).run.cancel_reason


def test_how_a_run_ended_is_kept() -> None:
    failed = STATES["failed"].run

    assert (failed.code, failed.reason) == ("WORKFLOW_EXECUTION_ERROR", "it broke")
    assert failed.ended_at == failed.updated_at
    assert STATES["completed"].run.answer_status == "answered"
    resumed = running().record(INTERRUPTED, RunResumed()).run
    assert (resumed.code, resumed.reason) == ("", "")


# ---- stages


def test_a_stage_starts_once_and_ends_once() -> None:
    begin, end = StageStarted(stage="planning"), StageCompleted(stage="planning")
    history = running()

    assert history.refusal(end) == "STAGE"
    history.record(begin)
    assert history.refusal(begin) == "STAGE"
    history.record(StageStarted(stage="other"), end)
    assert history.refusal(end) == "STAGE"
    assert history.refusal(begin) == "STAGE"
    ended = {record.stage: record.completed_at is not None for record in history.run.stages}
    assert ended == {"planning": True, "other": False}


# ---- late progress


@pytest.mark.parametrize("status", ["queued", "waiting"])
def test_progress_is_refused_while_nothing_is_being_worked_on(status: str) -> None:
    history = STATES[status]

    for event in (source("s9"), item("x", "pending"), checkpoint("c9"), planned()):
        assert history.refusal(event) == "STATUS"
    assert history.refusal(reserved(), call="c9") == "STATUS"
    assert history.refusal(StageStarted(stage="x")) == "STATUS"


def test_the_method_does_not_go_on_while_interrupted() -> None:
    assert STATES["interrupted"].refusal(planned()) == "STATUS"


def test_a_run_of_another_kind_records_no_research() -> None:
    history = History().record(queued(kind="paper2code"), leased(), RunStarted())

    assert history.refusal(research_started()) == "KIND"


# ---- a run that asks back


def test_a_run_that_asks_back_ends_without_research() -> None:
    asking = RunCompleted(answer_status="needs-clarification", stop_reason="clarification")
    question = plan(ids=())
    unclear = planned(made=type(question)(question.goal, (), "Which tickets?"))

    assert running().record(unclear, asking).run.status == "completed"
    assert running().refusal(asking) == "INCOMPLETE"
    assert running().record(planned()).refusal(asking) == "INCOMPLETE"
    assert running().record(unclear).refusal(COMPLETED) == "INCOMPLETE"


def test_research_starts_once_and_for_its_own_run() -> None:
    assert running().refusal(research_started()) == "ALREADY_STARTED"
    assert History().record(queued()).refusal(research_started(run_id="other")) == "RUN_ID"


def test_nothing_is_researched_before_the_start() -> None:
    history = History().record(queued(), leased(), RunStarted())

    assert history.refusal(source()) == "NOT_STARTED"
    assert history.refusal(COMPLETED) == "INCOMPLETE"


def test_a_cancelled_run_shows_nothing_of_the_interruption_before() -> None:
    run = running().record(INTERRUPTED, CANCEL, CANCELLED).run

    assert (run.status, run.code, run.reason) == ("cancelled", "", "enough")
