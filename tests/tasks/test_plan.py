"""Plans: what is one, and what is refused with a reason."""

import asyncio
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.models.fake import FakeResearcher
from adapters.models.port import PlanInput
from state.values.errors import InvalidRequest, RejectedError
from state.values.plan import Plan, Subquestion, check_plan, parse_plan
from tasks.plan import make_plan
from tests.tasks.makers import PLAN

ONE = PLAN.subquestions[0]


def test_a_plan_of_a_researcher_is_passed_on_when_it_is_one() -> None:
    answer = asyncio.run(make_plan(PlanInput("q"), FakeResearcher(plans=[PLAN])))

    assert answer.value == PLAN


@pytest.mark.parametrize(
    ("plan", "problem"),
    [
        (Plan(" ", (ONE,)), "no goal"),
        (Plan("g" * 2001, (ONE,)), "longer than 2000"),
        (Plan("g", ()), "0 subquestions"),
        (Plan("g", tuple(replace(ONE, id=f"q{n}") for n in range(4))), "4 subquestions"),
        (Plan("g", (ONE, ONE)), "same id"),
        (Plan("g", (ONE,), "What do you mean?"), "one only"),
        (Plan("g", (), " ?"), "asks nothing"),
        (Plan("g", (replace(ONE, id="a b"),)), "wrong form"),
        (Plan("g", (replace(ONE, question="?!"),)), "question is empty"),
        (Plan("g", (replace(ONE, query=" "),)), "query is empty"),
        (Plan("g", (replace(ONE, question="q" * 401),)), "longer than 400"),
        (Plan("g", (replace(ONE, query="q" * 101),)), "longer than 100"),
        (Plan("g \ud800", (ONE,)), "surrogate"),
    ],
)
def test_what_is_no_plan_is_refused_with_the_reason(plan: Plan, problem: str) -> None:
    with pytest.raises(RejectedError, match=problem) as raised:
        asyncio.run(make_plan(PlanInput("q"), FakeResearcher(plans=[plan])))

    assert raised.value.code == "PLAN_INVALID"


def test_a_clarification_alone_is_a_plan() -> None:
    check_plan(Plan("g", (), "Which team do you mean?"))


def test_a_written_plan_gets_the_ids_and_queries_it_lacks() -> None:
    bare = '{"goal": "g", "subquestions": [{"question": "How many?"}]}'
    plan = parse_plan(bare)

    assert plan == Plan("g", (Subquestion("q1", "How many?", "How many?"),))
    assert parse_plan(f'{{"run_id": "r1", "plan": {bare}}}') == plan


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "null", "7", '"plan"', "{}", '{"goal": "g"}', '{"goal": "g", "subquestions": 3}',
        '{"goal": "g", "subquestions": ["q"]}', '{"goal": "g", "subquestions": [{}]}',
        '{"goal": "g", "subquestions": [{"question": 5}]}', "[" * 100_000, '{"goal": "g", ',
        '{"goal": "g", "subquestions": []}',
        '{"goal": "\\ud800", "subquestions": [{"question": "q"}]}',
    ],
)  # fmt: skip
def test_a_text_that_is_no_plan_is_an_invalid_request(text: str) -> None:
    with pytest.raises(InvalidRequest):
        parse_plan(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["goal", "subquestions", "question", "id", "x"]), inner)
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_a_valid_plan_or_an_invalid_request(value: object) -> None:
    try:
        plan = parse_plan(json.dumps(value))
    except InvalidRequest:
        return
    check_plan(plan)
    assert len(plan.hash) == 64
