"""Answers of a form: read with patience, validated, mended once, charged in full."""

from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel, Field

from adapters.models.chat.errors import ModelRejected, ModelUnavailable
from adapters.models.chat.kept import KeptAnswers
from adapters.models.chat.port import ChatAnswer, ChatRequest, Message
from adapters.models.chat.scripted import Repeat, Scripted, ScriptedModel
from adapters.models.chat.structured import ask, price_of_asking
from state.values.money import Usage

pytestmark = pytest.mark.anyio


class Plan(BaseModel):
    goal: str
    queries: list[str] = Field(min_length=1, max_length=3)
    depth: Literal["quick", "deep"] = "quick"


REQUEST = ChatRequest((Message("system", "Plan."), Message("user", "Where is it?")), 200)
GOOD = '{"goal": "find it", "queries": ["where it is"], "depth": "deep"}'
PLAN = Plan(goal="find it", queries=["where it is"], depth="deep")


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"<think>hm</think>Here you are:\n```json\n{GOOD}\n```",
        '{"Goal": "find it", "queries": ["Query: where it is", null], "depth": "DEEP",}',
        '{"plan": {"goal": "find it", "queries": [["where it is"]], "depth": "Deep"}}',
        'Not {"goal": 1} but ' + GOOD,
    ],
)
async def test_one_call_is_enough_where_the_meaning_is_beyond_doubt(text: str) -> None:
    model = ScriptedModel([text], micro_usd_per_token=1)

    plan, usage = await ask(model, REQUEST, Plan)

    assert plan == PLAN
    assert (len(model.requests), usage.model_calls) == (1, 1)
    assert usage.cost_micro_usd == usage.input_tokens + usage.output_tokens


async def test_the_schema_goes_along_with_the_request() -> None:
    model = ScriptedModel([GOOD])

    await ask(model, REQUEST, Plan)

    (request,) = model.requests
    assert request.schema == Plan.model_json_schema()
    assert request.schema_name == "Plan"


async def test_what_is_wrong_is_shown_once_and_both_calls_are_charged() -> None:
    model = ScriptedModel(['{"goal": "find it", "queries": []}', GOOD])

    plan, usage = await ask(model, REQUEST, Plan)

    repair = model.requests[1].messages
    assert plan == PLAN
    assert usage.model_calls == 2
    assert repair[:2] == REQUEST.messages
    assert repair[2] == Message("assistant", '{"goal": "find it", "queries": []}')
    assert "queries: List should have at least 1 item" in repair[3].text
    assert '"maxItems":3' in repair[3].text


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("I would rather not say.", "no JSON object"),
        ('{"goal": "find it", "queries": ["wh', "cut off"),
        ("<html>Bad Gateway</html>", "no JSON object"),
        ('{"goal": null, "queries": null}', "goal: Input should be a valid string"),
        ("[]", "goal: Field required"),
        ('{"queries": ["", null]}', "goal: Field required"),
    ],
)
async def test_a_model_that_does_not_mend_its_answer_is_given_up(bad: str, said: str) -> None:
    model = ScriptedModel([bad])

    with pytest.raises(ModelRejected, match=said) as caught:
        await ask(model, REQUEST, Plan)

    assert caught.value.code == "MODEL_OUTPUT"
    assert caught.value.usage.model_calls == 2
    assert len(model.requests) == 2


@pytest.mark.parametrize("bad", ["", Repeat("End of Document. ")])
async def test_silence_and_loops_are_asked_again_once(bad: Scripted) -> None:
    plan, usage = await ask(ScriptedModel([bad, GOOD]), REQUEST, Plan)

    assert (plan, usage.model_calls) == (PLAN, 2)


async def test_a_call_that_failed_carries_what_was_spent_before() -> None:
    spent = Usage(model_calls=1, input_tokens=7)
    model = ScriptedModel(["nonsense", ModelUnavailable("busy", usage=spent)])

    with pytest.raises(ModelUnavailable) as caught:
        await ask(model, REQUEST, Plan)

    assert caught.value.usage.model_calls == 2
    assert caught.value.usage.input_tokens > 7


async def test_other_failures_are_not_asked_about_again() -> None:
    model = ScriptedModel([ModelRejected("no", code="MODEL_AUTH")])

    with pytest.raises(ModelRejected, match="no"):
        await ask(model, REQUEST, Plan)

    assert len(model.requests) == 1


async def test_a_repair_that_has_no_room_is_not_sent() -> None:
    request = ChatRequest((Message("user", "word " * 700),), 200)
    model = ScriptedModel(["nonsense " * 300], context_tokens=1200)

    with pytest.raises(ModelRejected):
        await ask(model, request, Plan)

    assert len(model.requests) == 1


async def test_an_overspent_answer_is_charged_as_it_is() -> None:
    model = ScriptedModel([ChatAnswer(GOOD, "m", 900_000, 800_000, cost_micro_usd=5_000_000)])

    _, usage = await ask(model, REQUEST, Plan)

    assert (usage.input_tokens, usage.cost_micro_usd) == (900_000, 5_000_000)


async def test_no_repair_is_sent_when_none_is_allowed() -> None:
    model = ScriptedModel(["nonsense", GOOD])

    with pytest.raises(ModelRejected):
        await ask(model, REQUEST, Plan, repairs=0)

    assert len(model.requests) == 1


async def test_a_validated_answer_is_read_again_without_a_call(tmp_path: Path) -> None:
    kept = KeptAnswers(tmp_path)
    await ask(ScriptedModel(["nonsense", GOOD]), REQUEST, Plan, kept=kept)
    silent = ScriptedModel([ModelUnavailable("down")])

    plan, usage = await ask(silent, REQUEST, Plan, kept=kept)

    assert (plan, usage, silent.requests) == (PLAN, Usage(), [])


async def test_an_answer_that_was_not_validated_is_not_kept(tmp_path: Path) -> None:
    kept = KeptAnswers(tmp_path)
    with pytest.raises(ModelRejected):
        await ask(ScriptedModel(["nonsense"]), REQUEST, Plan, kept=kept)

    plan, usage = await ask(ScriptedModel([GOOD]), REQUEST, Plan, kept=kept)

    assert (plan, usage.model_calls) == (PLAN, 1)


async def test_the_price_covers_the_repair() -> None:
    model = ScriptedModel(["long nonsense " * 2000], micro_usd_per_token=1)

    price = price_of_asking(model, REQUEST, Plan)
    with pytest.raises(ModelRejected) as caught:
        await ask(model, REQUEST, Plan)

    assert price.model_calls == 2
    assert caught.value.usage.input_tokens <= price.input_tokens
