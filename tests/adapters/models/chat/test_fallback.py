"""Another model answers when the first cannot be had, and the answer says which."""

import pytest

from adapters.models.chat.errors import ModelRejected, ModelUnavailable
from adapters.models.chat.fallback import FallbackModel
from adapters.models.chat.port import ChatAnswer, ChatRequest, Message
from adapters.models.chat.scripted import ScriptedModel
from state.values.money import Usage

pytestmark = pytest.mark.anyio

REQUEST = ChatRequest((Message("user", "Where?"),), 100)
SPENT = Usage(model_calls=1, input_tokens=40, output_tokens=5, cost_micro_usd=9)


@pytest.mark.parametrize(
    "code", ["MODEL_UNAVAILABLE", "MODEL_QUOTA", "MODEL_AUTH", "MODEL_TIMEOUT"]
)
async def test_the_next_one_answers_when_the_first_cannot_be_had(code: str) -> None:
    first = ScriptedModel([ModelRejected("no", code=code, usage=SPENT)], name="first")
    second = ScriptedModel([ChatAnswer("Here.", "second-served", 30, 2)], name="second")

    answer = await FallbackModel(first, second).complete(REQUEST)

    assert (answer.text, answer.model) == ("Here.", "second-served")
    assert answer.usage == Usage(model_calls=1, input_tokens=70, output_tokens=7, cost_micro_usd=9)


async def test_a_busy_model_is_passed_over() -> None:
    second = ScriptedModel(["Here."], name="second")

    answer = await FallbackModel(ScriptedModel([ModelUnavailable("busy")]), second).complete(
        REQUEST
    )

    assert answer.model == "second"


@pytest.mark.parametrize("code", ["MODEL_OUTPUT", "MODEL_LOOP", "MODEL_FILTERED", "MODEL_CONTEXT"])
async def test_what_a_model_says_is_no_reason_to_ask_another(code: str) -> None:
    second = ScriptedModel(["Here."])
    first = ScriptedModel([ModelRejected("no", code=code, usage=SPENT)])

    with pytest.raises(ModelRejected) as caught:
        await FallbackModel(first, second).complete(REQUEST)

    assert (caught.value.code, caught.value.usage) == (code, SPENT)
    assert second.requests == []


async def test_when_none_can_be_had_all_reasons_are_said_and_all_is_charged() -> None:
    models = [
        ScriptedModel([ModelRejected("a: no credit", code="MODEL_QUOTA", usage=SPENT)]),
        ScriptedModel([ModelUnavailable("b: busy", usage=SPENT)]),
    ]

    with pytest.raises(ModelUnavailable, match="a: no credit; then b: busy") as caught:
        await FallbackModel(*models).complete(REQUEST)

    assert caught.value.usage == SPENT + SPENT


async def test_it_promises_no_more_than_all_of_them_can() -> None:
    small = ScriptedModel(name="small", context_tokens=4096, micro_usd_per_token=1)
    large = ScriptedModel(name="large", context_tokens=65_536, micro_usd_per_token=2)
    model = FallbackModel(large, small)

    price = model.price(REQUEST)

    assert model.context_tokens == 4096
    assert model.name == "large or small"
    assert price.model_calls == 1
    assert price.cost_micro_usd == sum(
        each.price(REQUEST).cost_micro_usd for each in (large, small)
    )


async def test_closing_it_closes_all() -> None:
    models = [ScriptedModel(), ScriptedModel()]

    await FallbackModel(*models).aclose()

    assert all(model.is_closed for model in models)
