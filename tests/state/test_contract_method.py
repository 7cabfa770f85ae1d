"""The method's rules: plans, rounds, and their end."""

import pytest
from pydantic import ValidationError

from state.method_events import ResearchSourceSkipped
from state.values.plan import Plan, Subquestion
from tests.state.builders import plan, planned, running, text_source
from tests.state.method_builders import (
    assessed,
    coverage,
    evidence,
    in_round,
    reading,
    schedule,
    stop,
)

# ---- plans


def test_plans_are_numbered_from_1_without_a_gap() -> None:
    assert running().refusal(planned(2)) == "PLAN_VERSION"
    history = running().record(planned(1))
    assert history.refusal(planned(1)) == "PLAN_VERSION"
    history.record(planned(2, plan("Another goal.")))


def test_the_plan_stands_once_rounds_have_begun() -> None:
    assert in_round().refusal(planned(2)) == "PLAN_FROZEN"


@pytest.mark.parametrize(
    "made",
    [
        plan(ids=[]),
        plan(ids=["a", "b", "c", "d"]),
        plan(ids=["a", "a"]),
        plan(" "),
        plan("x" * 2001),
        Plan("Know it.", plan().subquestions, "Which?"),
        Plan("Know it.", (), " "),
    ],
)
def test_what_is_no_plan_is_not_recorded(made: Plan) -> None:
    with pytest.raises(ValidationError):
        planned(made=made)


def test_a_plan_asks_in_words() -> None:
    wordless = Subquestion("q1", "?!", "…")

    assert running().refusal(planned(made=Plan("Know it.", (wordless,)))) == "PLAN"


# ---- rounds


def test_nothing_is_scheduled_without_a_plan() -> None:
    assert running().refusal(schedule()) == "NO_PLAN"
    unclear = planned(made=Plan("Know it.", (), "Which tickets?"))
    assert running().record(unclear).refusal(schedule()) == "NO_PLAN"


def test_a_round_begins_when_the_one_before_is_assessed() -> None:
    history = in_round()
    assert history.refusal(schedule(2)) == "ROUND_ORDER"
    assert history.refusal(schedule(1)) == "ROUND_ORDER"

    history.record(evidence(), coverage(), schedule(2))
    assert history.refusal(schedule(4)) == "ROUND_ORDER"
    assert history.research.used_queries == ("about q1", "about q1")


def test_rounds_searches_and_pages_stay_within_the_request() -> None:
    tight = running(scope="quick", limits={"max_queries": 1, "max_pages": 1}).record(planned())

    assert tight.refusal(schedule(1, "q1", "q2")) == "LIMIT"
    tight.record(schedule())
    assert tight.refusal(reading(1, "/a", "/b")) == "LIMIT"
    tight.record(reading(1, "/notes/s1.md"), text_source(), evidence(), coverage())
    assert tight.refusal(schedule(2)) == "LIMIT"


def test_a_search_is_for_a_subquestion_of_the_plan() -> None:
    assert running().record(planned()).refusal(schedule(1, "q9")) == "UNKNOWN_SUBQUESTION"


def test_a_round_freezes_what_it_reads_once_and_names_each_once() -> None:
    history = running().record(planned())
    assert history.refusal(reading()) == "ROUND_ORDER"
    history.record(schedule(), reading())
    assert history.refusal(reading()) == "ROUND_ORDER"
    with pytest.raises(ValidationError, match="each is named once"):
        reading(1, "/a", "/a")


def test_what_gave_no_source_belongs_to_a_round() -> None:
    skipped = ResearchSourceSkipped(
        round=1, stage="read", locator="/a", code="EMPTY", reason="it is empty"
    )

    assert running().record(planned()).refusal(skipped) == "ROUND_ORDER"
    assert in_round().record(skipped).research.skipped == (skipped,)


# ---- the stop


def test_the_reasons_to_stop_are_a_closed_set() -> None:
    for reason in ("coverage-complete", "no-progress", "round-budget", "search-budget",
                   "page-budget", "model-budget", "deadline", "clarification"):  # fmt: skip
        stop(1, reason)
    with pytest.raises(ValidationError):
        stop(1, "tired")


def test_a_stop_is_decided_once_after_the_last_round() -> None:
    history = assessed()
    assert history.refusal(stop(0)) == "ROUND_ORDER"
    assert history.refusal(stop(2)) == "ROUND_ORDER"
    assert in_round().refusal(stop(1)) == "ROUND_ORDER"

    history.record(stop(1))
    assert history.refusal(stop(1)) == "STOPPED"
    assert history.refusal(schedule(2)) == "STOPPED"
