"""The gate of a Paper2Code run: nothing of a plan is carried out before exactly it was approved."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from state.code_stages import CARRYING_OUT, PERCENT
from state.events import Event, Spend
from state.run_events import (
    EffectReserved,
    EffectSettled,
    ReviewAnswered,
    RunCancelRequested,
    RunResumed,
    RunStarted,
    StageStarted,
)
from state.values.code_plan import CodePlan
from state.values.ids import content_hash
from tests.state.builders import DIGEST, History, leased, queued
from tests.state.code_builders import (
    PATHS,
    PLAN,
    approved,
    code_planned,
    code_source,
    code_started,
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
from tests.state.values.code_plans import with_file

OTHER = with_file(PLAN, PATHS[0], purpose="Names less.")


def planned() -> History:
    return coding().record(code_source(), code_planned())


def reviewing() -> History:
    return planned().record(*plan_requested())


def carries_out(history: History) -> list[Event]:
    """Return an event of each type that belongs to carrying a plan out."""
    return [
        written(PATHS[0]),
        reference(),
        frozen(),
        dependencies(),
        verified(),
        sealed(history),
        StageStarted(stage="implementing"),
    ]


# ---- what stays shut


@pytest.mark.parametrize("make", [planned, lambda: reviewing().record(leased(2))])
def test_nothing_is_carried_out_before_the_approval(make: Callable[[], History]) -> None:
    history = make()

    for event in carries_out(history):
        assert history.refusal(event) in ("NOT_APPROVED", "STATUS"), event.type
    for stage in CARRYING_OUT:
        assert history.refusal(stage_effect(stage), call="c1") in ("NOT_APPROVED", "FENCED")


def test_an_approval_opens_the_gate() -> None:
    history = reviewing().record(plan_answered("approve"), RunResumed())

    history.record(written(PATHS[0]), reference(), StageStarted(stage="implementing"))
    history.record(stage_effect("implementing"), call="c1")


@pytest.mark.parametrize("action", ["revise", "cancel"])
def test_no_other_word_opens_it(action: str) -> None:
    history = reviewing().record(plan_answered(action), RunResumed())

    for event in carries_out(history):
        assert history.refusal(event) == "NOT_APPROVED", event.type


def test_an_approval_is_of_exactly_one_plan() -> None:
    history = approved().record(code_planned(2, OTHER))

    assert history.refusal(written(PATHS[0])) == "NOT_APPROVED"
    assert history.refusal(stage_effect("implementing"), call="c1") == "NOT_APPROVED"
    history.record(*plan_requested(2, OTHER), plan_answered("approve", 2, OTHER), RunResumed())
    history.record(written(PATHS[0]))


def test_feedback_leads_to_another_version_and_the_gate_again() -> None:
    history = reviewing().record(plan_answered("revise"), RunResumed(), code_planned(2, OTHER))

    assert history.refusal(written(PATHS[0])) == "NOT_APPROVED"
    old = plan_requested(2, PLAN, version=1)[0]
    assert history.refusal(old) == "PLAN_HASH"
    history.record(*plan_requested(2, OTHER))
    assert history.refusal(plan_answered("approve", 2, PLAN)) == "PLAN_HASH"
    assert history.refusal(plan_answered("approve", 1, OTHER)) == "stale"
    history.record(plan_answered("approve", 2, OTHER), RunResumed(), written(PATHS[0]))


def test_a_plan_stands_while_a_person_is_asked_about_it() -> None:
    history = planned().record(plan_requested()[0])

    assert history.refusal(code_planned(2, OTHER)) == "REVIEW_OPEN"
    assert reviewing().refusal(code_planned(2, OTHER)) == "STATUS"


def test_there_is_no_review_without_a_plan() -> None:
    assert coding().record(code_source()).refusal(plan_requested()[0]) == "NO_PLAN"
    assert planned().refusal(plan_requested(1, OTHER)[0]) == "PLAN_HASH"
    assert planned().refusal(plan_requested(1, version=2)[0]) == "PLAN_HASH"


def test_cancelling_beats_an_approval() -> None:
    history = reviewing().record(RunCancelRequested(reason="stop", by="ann"))

    assert history.refusal(plan_answered("approve")) == "cancel_requested"


def test_the_outcome_of_another_run_is_taken_over_only_behind_the_gate() -> None:
    taken = EffectSettled(
        epoch=1,
        verb="write",
        stage="implementing",
        round=1,
        outcome_hash=content_hash("file"),
        reused_from="run-0",
    )
    ancestor = {"run_id": "run-0", "position": 9, "hash": DIGEST}
    retry = queued(kind="paper2code", attempt=2, task_id="run-0", retry_of=ancestor)
    history = History().record(retry, code_started(), leased(), RunStarted())
    history.record(code_source(), code_planned())

    assert history.refusal(taken, call="c1") == "NOT_APPROVED"
    history.record(*plan_requested(), plan_answered("approve"), RunResumed())
    history.record(taken, call="c1")


# ---- without a review


def test_without_a_review_a_plan_is_enough_and_needed() -> None:
    history = coding(plan_review=False).record(code_source())

    for event in (written(PATHS[0]), reference(), StageStarted(stage="implementing")):
        assert history.refusal(event) == "NO_PLAN", event.type
    assert history.refusal(stage_effect("implementing"), call="c1") == "NO_PLAN"
    history.record(code_planned(), written(PATHS[0]), StageStarted(stage="implementing"))


def test_before_the_request_is_known_nothing_is_carried_out() -> None:
    history = History().record(queued(kind="paper2code"), leased(), RunStarted())

    assert history.refusal(stage_effect("implementing"), call="c1") == "NO_PLAN"
    history.record(stage_effect("preparing"), call="c1")


def test_what_leads_to_the_plan_needs_no_approval() -> None:
    history = coding()
    for number, stage in enumerate(stage for stage in PERCENT if stage not in CARRYING_OUT):
        reserve = Spend(model_calls=1, pages=1, searches=1)
        effect = stage_effect(stage).model_copy(update={"reserve": reserve})
        assert isinstance(effect, EffectReserved)
        history.record(StageStarted(stage=stage)).record(effect, call=f"c{number}")


# ---- a plan that a person brings


def test_a_replacement_is_approved_as_it_is() -> None:
    history = reviewing().record(plan_answered("replace", 1, OTHER), RunResumed())

    assert history.refusal(written(PATHS[0])) == "NOT_APPROVED"  # the version before still stands
    history.record(code_planned(2, OTHER, origin="replaced"), written(PATHS[0]))
    plan = state_of(history).plan
    assert plan is not None
    assert (plan.version, plan.plan_hash) == (2, OTHER.hash)


def _changed(**changes: Any) -> ReviewAnswered:
    made = replace(PLAN, **changes)
    return plan_answered("replace", 1, made)


@pytest.mark.parametrize(
    "answer",
    [
        _changed(file_structure=()),
        _changed(implementation_components=()),
        _changed(title=""),
        plan_answered("replace", plan={"file_structure": "none"}),
        plan_answered("replace", plan={}),
        plan_answered("replace", 1, with_file(PLAN, PATHS[0], path="../out.py")),
    ],
)
def test_a_replacement_that_is_no_valid_plan_is_refused(answer: ReviewAnswered) -> None:
    history = reviewing()

    assert history.refusal(answer) == "PLAN"
    assert history.run.live_review


def test_a_replacement_is_bound_to_its_own_hash() -> None:
    answer = plan_answered("replace", 1, OTHER, plan_hash=PLAN.hash)

    assert reviewing().refusal(answer) == "PLAN_HASH"
    assert reviewing().refusal(plan_answered("approve", plan=PLAN.as_json())) == "PLAN"
    assert reviewing().refusal(plan_answered("replace", plan=None)) == "PLAN"


def test_a_replacement_whose_quotes_are_found_later_stays_approved() -> None:
    history = reviewing().record(plan_answered("replace", 1, OTHER), RunResumed())
    found = _located(OTHER)

    history.record(code_planned(2, found, origin="replaced"), written(PATHS[0]))


def _located(plan: CodePlan) -> CodePlan:
    return plan.with_citations(lambda citation: replace(citation, start=3, end=20))
