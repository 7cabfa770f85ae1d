"""How long a run was worked on, and how long it waited for a person."""

from state.run_events import RunCancelled, RunInterrupted, RunResumed
from tests.state.builders import History, answered, leased, planned, requested, running, source

HOUR = 3600
INTERRUPTED = RunInterrupted(code="WORKFLOW_INTERRUPTED", reason="gone")


def worked(history: History) -> float:
    return history.run.time.worked(history.run.status)


def waited(history: History, *, until: str = "") -> float:
    run = history.run
    return run.time.waited(run.status, until=until or run.updated_at)


def waiting() -> History:
    return running(plan_review=True).after(seconds=10).record(planned(), *requested())


def test_the_wait_for_a_person_is_no_work() -> None:
    history = waiting().after(hours=3).record(answered("approve")).record(RunResumed())

    assert worked(history) == 13  # 10, the plan, the request, the wait
    assert waited(history) == 3 * HOUR + 1


def test_a_run_that_waits_has_waited_until_now() -> None:
    history = waiting()
    since = history.run.updated_at

    assert waited(history, until=since.replace("03:04:", "05:04:")) == 2 * HOUR


def test_the_time_from_an_answer_until_work_goes_on_is_neither() -> None:
    history = waiting().record(answered("approve")).after(hours=5)
    history.record(leased(2), RunResumed(), turn=None)

    assert waited(history) == 1
    assert worked(history) == 13


def test_a_run_whose_process_is_gone_was_worked_on_until_it_was_last_heard_of() -> None:
    history = running().after(seconds=8).record(source()).after(hours=7)

    history.record(INTERRUPTED, leased(2), RunResumed(), turn=None)

    assert worked(history) == 9
    assert worked(history.after(seconds=5).record(source("s2"))) == 15


def test_an_interrupted_run_that_is_cancelled_later_was_not_worked_on_meanwhile() -> None:
    history = running().record(INTERRUPTED).after(hours=1)

    history.record(RunCancelled(reason="enough"), turn=None)

    assert (worked(history), waited(history)) == (1, 0)
