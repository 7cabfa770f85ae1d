"""What every `ChatModel` keeps to: the real one against a server on loopback, and the fake."""

import pickle
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

import anyio
import pytest

from adapters.models.chat.errors import ModelRejected, ModelUnavailable
from adapters.models.chat.fallback import FallbackModel
from adapters.models.chat.port import ChatModel, ChatRequest, Message
from adapters.models.chat.provider import ProviderModel
from adapters.models.chat.scripted import Hang, Repeat, ScriptedModel
from state.values.money import Usage
from tests.adapters.models.chat import openai_server as server

pytestmark = pytest.mark.anyio

REQUEST = ChatRequest((Message("system", "Be brief."), Message("user", "Where is it?")), 5000)


@dataclass(frozen=True, slots=True)
class Text:
    """What the model is to say; None for nothing, ever."""

    text: str | None
    times: int = 1


Making = Callable[[Text], AbstractAsyncContextManager[ChatModel]]


@asynccontextmanager
async def served(said: Text) -> AsyncIterator[ChatModel]:
    """Lend a real model that says this."""
    behaviour = server.Hang() if said.text is None else server.Say(said.text * said.times, piece=64)
    with server.serving(behaviour) as running:
        model = ProviderModel("m", base_url=running.base_url, context_tokens=9000)
        yield model
        await model.aclose()


@asynccontextmanager
async def scripted(said: Text) -> AsyncIterator[ChatModel]:
    """Lend the fake that says this."""
    if said.text is None:
        yield ScriptedModel([Hang()], name="m", context_tokens=9000)
    else:
        answer = Repeat(said.text) if said.times > 1 else said.text
        yield ScriptedModel([answer], name="m", context_tokens=9000)


@asynccontextmanager
async def behind_another(said: Text) -> AsyncIterator[ChatModel]:
    """Lend the fake behind one that cannot be had."""
    gone = ScriptedModel([ModelRejected("no credit", code="MODEL_QUOTA")], name="gone")
    async with scripted(said) as model:
        yield FallbackModel(gone, model)


@pytest.fixture(params=[served, scripted, behind_another])
def making(request: pytest.FixtureRequest) -> Making:
    made: Making = request.param
    return made


async def test_an_answer_has_a_text_a_name_and_an_account(making: Making) -> None:
    async with making(Text("It is here.")) as model:
        answer = await model.complete(REQUEST)

    assert answer.text == "It is here."
    assert answer.model
    assert answer.finish == "stop"
    assert answer.input_tokens >= 6
    assert answer.output_tokens >= 3
    assert answer.is_estimated
    assert answer.usage.model_calls == 1


async def test_the_price_is_not_below_what_the_call_takes(making: Making) -> None:
    async with making(Text("It is here.")) as model:
        price = model.price(REQUEST)
        answer = await model.complete(REQUEST)

    assert price.model_calls == 1
    assert price.input_tokens >= answer.input_tokens
    assert price.output_tokens >= REQUEST.max_output_tokens
    assert price.cost_micro_usd >= answer.cost_micro_usd


async def test_it_has_a_name_and_a_context(making: Making) -> None:
    async with making(Text("x")) as model:
        assert "m" in model.name
        assert model.context_tokens == 9000


async def test_a_prompt_that_is_surely_too_long_is_not_sent(making: Making) -> None:
    request = ChatRequest((Message("user", "word " * 12_000),), 100)

    async with making(Text(None)) as model:
        with anyio.fail_after(10), pytest.raises(ModelRejected) as caught:
            await model.complete(request)

    assert caught.value.code == "MODEL_CONTEXT"
    assert caught.value.usage.input_tokens == 0


@pytest.mark.parametrize(
    ("said", "code"),
    [(Text(" \n"), "MODEL_OUTPUT"), (Text("End of Document. ", times=1500), "MODEL_LOOP")],
)
async def test_no_answer_is_an_error_that_is_charged(making: Making, said: Text, code: str) -> None:
    async with making(said) as model:
        with pytest.raises(ModelRejected) as caught:
            await model.complete(REQUEST)

    assert caught.value.code == code
    assert caught.value.usage.input_tokens > 0


async def test_a_call_can_be_cancelled(making: Making) -> None:
    async with making(Text(None)) as model:
        with anyio.move_on_after(0.3) as scope:
            await model.complete(REQUEST)

    assert scope.cancelled_caught


async def test_calls_can_run_at_once(making: Making) -> None:
    async with making(Text("It is here.")) as model, anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(model.complete, REQUEST)


async def test_closing_twice_is_closing_once(making: Making) -> None:
    async with making(Text("x")) as model:
        await model.complete(REQUEST)
        await model.aclose()
        await model.aclose()


async def test_errors_keep_what_was_spent_when_they_cross_processes() -> None:
    spent = Usage(model_calls=1, input_tokens=7)

    for error in (
        ModelRejected("no", code="MODEL_LOOP", usage=spent),
        ModelUnavailable("busy", usage=spent),
    ):
        copy = pickle.loads(pickle.dumps(error))
        assert (copy.code, copy.message, copy.usage) == (error.code, error.message, spent)
