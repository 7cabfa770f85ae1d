"""The gate: only an explicit decision on the live request moves a plan, bound to what was shown."""

from typing import Any

import pytest

from state.events import Event
from state.method_events import ResearchScheduleFrozen, ScheduledQuery
from state.reviews import MAX_INTERACTIONS, MAX_REVISIONS
from state.run_events import ReviewRequested, RunCancelRequested, RunResumed, RunWaiting
from state.values.plan import Plan
from tests.state.builders import (
    DIGEST,
    TOKEN,
    History,
    answered,
    leased,
    plan,
    planned,
    requested,
    reserved,
    running,
)

OTHER = plan("Know about refunds.", ids=["r1"])
SCHEDULE = ResearchScheduleFrozen(
    round=1, queries=(ScheduledQuery(subquestion_id="q1", query="about q1"),)
)


def reviewing(made: Plan | None = None) -> History:
    """Return a run that waits for the review of its plan."""
    return running(plan_review=True).record(planned(made=made), *requested(made=made))


def body(made: Plan, **more: Any) -> dict[str, Any]:
    parts = [{"id": s.id, "question": s.question, "query": s.query} for s in made.subquestions]
    return {"goal": made.goal, "subquestions": parts, **more}


def replacing(made: Plan = OTHER, **more: Any) -> Event:
    return answered("replace", made=made, plan=body(made, **more))


def revise(history: History, number: int) -> None:
    """Answer request `number` with a revision, and ask about the next version."""
    made = plan(f"Version {number + 1}.")
    before = plan(f"Version {number}.") if number > 1 else plan()
    history.record(answered("revise", number, before), RunResumed())
    history.record(planned(number + 1, made), *requested(number + 1, made))


# ---- who counts


def test_a_stale_answer_is_refused() -> None:
    history = reviewing()
    assert history.refusal(answered("approve", 2)) == "stale"

    revise(history, 1)
    assert history.refusal(answered("approve", 1)) == "stale"


@pytest.mark.parametrize("first", ["approve", "revise", "cancel"])
@pytest.mark.parametrize("second", ["approve", "revise", "cancel"])
def test_a_request_is_answered_once(first: str, second: str) -> None:
    history = reviewing().record(answered(first))

    assert history.refusal(answered(second)) == "already_resolved"


def test_cancel_beats_a_later_answer() -> None:
    history = reviewing().record(RunCancelRequested(reason="enough", by="ann"))

    for action in ("approve", "revise"):
        assert history.refusal(answered(action)) == "cancel_requested"
    assert history.refusal(replacing()) == "cancel_requested"
    history.record(answered("cancel"))
    assert history.run.cancel_reason == "enough"


def test_an_answer_can_cancel_the_run() -> None:
    assert reviewing().record(answered("cancel", reason="enough")).run.cancel_reason == "enough"
    assert reviewing().record(answered("cancel")).run.cancel_reason
    assert reviewing().record(answered("cancel", made=OTHER)).run.cancel_reason


def test_there_are_four_answers() -> None:
    for action in ("", "yes", "APPROVE", "reject"):
        with pytest.raises(ValueError, match="action"):
            answered(action)


# ---- what counts


def test_an_approval_is_bound_to_the_plan_that_was_shown() -> None:
    history = reviewing()

    assert history.refusal(answered("approve", made=OTHER)) == "PLAN_HASH"
    assert history.run.live_review
    history.record(answered("approve"))
    assert history.run.is_approved(plan().hash)
    assert not history.run.is_approved(OTHER.hash)


def test_a_revision_needs_feedback() -> None:
    for feedback in ("", "  "):
        assert reviewing().refusal(answered("revise", feedback=feedback)) == "FEEDBACK"


def test_a_plan_is_revised_at_most_3_times_and_the_limit_approves_nothing() -> None:
    assert (MAX_REVISIONS, MAX_INTERACTIONS) == (3, 7)
    history = reviewing()
    for number in (1, 2, 3):
        revise(history, number)

    assert history.refusal(answered("revise", 4, plan("Version 4."))) == "LIMIT"
    assert history.run.live_review
    assert history.refusal(RunResumed()) == "STATUS"
    assert history.refusal(SCHEDULE) == "STATUS"
    history.record(answered("approve", 4, plan("Version 4.")))


def test_a_person_is_asked_at_most_7_times() -> None:
    history = running(plan_review=True).record(planned())
    for number in range(1, 8):
        asked = requested(number)[0].model_copy(update={"version": 1})
        history.record(asked, answered("approve", number))

    eighth = requested(8)[0].model_copy(update={"version": 1})
    assert history.refusal(eighth) == "LIMIT"


def test_one_request_is_live_at_a_time_and_none_is_asked_twice() -> None:
    history = reviewing()
    history.run = history.record(answered("approve"), RunResumed()).run

    assert history.refusal(requested()[0]) == "DUPLICATE_REVIEW"
    asked = requested(2)[0].model_copy(update={"version": 1})
    history.record(asked)
    again = asked.model_copy(update={"interaction_id": "review-3"})
    assert history.refusal(again) == "REVIEW_OPEN"


# ---- what is asked about


@pytest.mark.parametrize(("version", "hash_"), [(2, plan().hash), (1, DIGEST), (1, OTHER.hash)])
def test_a_person_is_asked_about_the_present_plan(version: int, hash_: str) -> None:
    history = running(plan_review=True).record(planned())
    asked = ReviewRequested(interaction_id="review-1", version=version, plan_hash=hash_)

    assert history.refusal(asked) == "PLAN_HASH"


def test_without_a_plan_there_is_nothing_to_review() -> None:
    unclear = planned(made=Plan("Know it.", (), "Which tickets?"))

    for history in (running(), running().record(unclear)):
        assert history.refusal(requested()[0]) == "NO_PLAN"


def test_a_plan_under_review_stands() -> None:
    history = running(plan_review=True).record(planned(), requested()[0])

    assert history.refusal(planned(2, OTHER)) == "REVIEW_OPEN"


# ---- replacements


def test_a_replacement_is_approved_as_it_was_given() -> None:
    history = reviewing().record(replacing(), RunResumed())

    assert history.refusal(SCHEDULE) == "NOT_APPROVED"
    history.record(planned(2, OTHER, origin="replaced"))
    query = ScheduledQuery(subquestion_id="r1", query="about r1")
    history.record(ResearchScheduleFrozen(round=1, queries=(query,)))


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"goal": "", "subquestions": []},
        body(plan(ids=[])),
        body(plan(ids=["a", "b", "c", "d"])),
        body(plan(ids=["a", "a"])),
        body(plan(ids=["a b"])),
        body(plan(ids=[TOKEN])),
        body(plan("x" * 2001)),
        body(plan(), surprise=1),
        body(plan(), clarification="Which?"),
        {"goal": "Know it.", "subquestions": [{"question": "What?", "why": "because"}]},
        {"goal": "Know it.", "subquestions": [{"question": None}]},
        {"goal": "Know it.", "subquestions": [{"question": "?!"}]},
        {"goal": "Know it.", "subquestions": [{"question": "x" * 401}]},
        {"goal": "Know it.", "subquestions": [{"question": "What?", "query": "x" * 101}]},
        {"goal": "Know it.", "subquestions": {"question": "What?"}},
        {"goal": 7, "subquestions": [{"question": "What?"}]},
    ],
)
def test_a_replacement_that_is_no_valid_plan_is_refused(given: dict[str, Any]) -> None:
    history = reviewing()

    assert history.refusal(answered("replace", plan=given)) == "PLAN"
    assert history.run.live_review


def test_a_replacement_carries_a_plan_and_nothing_else_does() -> None:
    assert reviewing().refusal(answered("replace")) == "PLAN"
    for action in ("approve", "revise", "cancel"):
        assert reviewing().refusal(answered(action, plan=body(plan()))) == "PLAN"


def test_a_replacement_is_bound_to_its_own_hash() -> None:
    assert reviewing().refusal(answered("replace", made=plan(), plan=body(OTHER))) == "PLAN_HASH"


# ---- the gate


def test_nothing_is_scheduled_or_searched_before_the_approval() -> None:
    history = running(plan_review=True).record(planned())

    assert history.refusal(SCHEDULE) == "NOT_APPROVED"
    assert history.refusal(reserved(searches=1), call="c1") == "NOT_APPROVED"
    assert history.refusal(reserved(pages=1), call="c1") == "NOT_APPROVED"
    history.record(reserved(model_calls=1), call="c1")  # planning itself
    history.record(*requested())
    history.record(answered("approve"), RunResumed(), SCHEDULE)
    history.record(reserved(searches=1), call="c2")


def test_a_plan_that_changed_after_its_approval_is_not_carried_out() -> None:
    history = reviewing().record(answered("approve"), RunResumed(), planned(2, OTHER))

    query = ScheduledQuery(subquestion_id="r1", query="about r1")
    changed = ResearchScheduleFrozen(round=1, queries=(query,))
    assert history.refusal(changed) == "NOT_APPROVED"
    assert history.refusal(reserved(searches=1), call="c1") == "NOT_APPROVED"


@pytest.mark.parametrize("action", ["revise", "cancel"])
def test_only_an_approval_opens_the_gate(action: str) -> None:
    history = reviewing().record(answered(action), RunResumed())

    assert history.refusal(SCHEDULE) == "NOT_APPROVED"


def test_a_later_word_takes_an_earlier_approval_back() -> None:
    history = reviewing().record(answered("approve"), RunResumed())
    asked = requested(2)[0].model_copy(update={"version": 1})

    history.record(asked)
    assert history.refusal(SCHEDULE) == "NOT_APPROVED"
    history.record(answered("revise", 2))
    assert history.refusal(SCHEDULE) == "NOT_APPROVED"


def test_no_crash_opens_the_gate() -> None:
    history = running(plan_review=True).record(planned(), requested()[0])
    history.record(leased(2))

    assert history.refusal(SCHEDULE) == "NOT_APPROVED"
    assert history.record(RunWaiting(interaction_id="review-1")).refusal(RunResumed()) == "STATUS"


def test_without_plan_review_no_approval_is_needed() -> None:
    running().record(planned(), SCHEDULE)


def test_a_plan_says_what_its_hash_says() -> None:
    with pytest.raises(ValueError, match="plan_hash is not that of this plan"):
        planned(made=plan(), plan_hash=OTHER.hash)


def test_a_hash_is_that_of_the_plan_as_it_is_shown() -> None:
    secret = plan(f"Use {TOKEN} to log in.")
    history = running(plan_review=True).record(planned(made=secret), *requested(made=secret))

    recorded = history.research.plan
    assert recorded is not None
    assert TOKEN not in recorded.goal
    assert recorded.plan.hash == secret.hash
    history.record(answered("approve", made=secret), RunResumed(), SCHEDULE)
