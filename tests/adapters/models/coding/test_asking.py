"""Files are asked for until they are whole, and never for ever."""

import asyncio
from pathlib import Path

import pytest

from adapters.models.chat.errors import AUTH, LOOP, OUTPUT, ModelRejected, ModelUnavailable
from adapters.models.chat.kept import KeptAnswers
from adapters.models.chat.port import ChatAnswer, ChatRequest, Message
from adapters.models.chat.scripted import Repeat, Scripted, ScriptedModel
from adapters.models.coding.asking import AskedText, Flawed, join, price_of_text, put_text
from adapters.models.coding.fenced import Unusable, read_file
from state.values.money import Usage

REQUEST = ChatRequest((Message("system", "You write."), Message("user", "Write a.py.")), 500)
CODE = "def f() -> int:\n    return 1\n"
GOOD = f"```python\n{CODE}```"


def read(answer: str) -> str:
    text = read_file("a.py", answer)
    if "TODO" in text:
        raise Flawed("it has a TODO", text)
    return text


ASKED = AskedText(REQUEST, read)


def part(text: str) -> ChatAnswer:
    return ChatAnswer(text, "scripted", 100, 50, cost_micro_usd=7, finish="length")


def put(model: ScriptedModel, kept: KeptAnswers | None = None) -> tuple[str, Usage]:
    return asyncio.run(put_text(model, ASKED, kept))


def test_an_answer_that_is_cut_off_is_gone_on_with() -> None:
    model = ScriptedModel([part("```python\ndef f() -> int:\n    ret"), "urn 1\n```"])

    value, usage = put(model)

    assert value == CODE
    assert usage.model_calls == 1
    assert usage.input_tokens > 100
    assert model.requests[1].messages[2].text.endswith("    ret")


def test_an_answer_that_never_ends_is_never_a_file() -> None:
    model = ScriptedModel([part("```python\ndef f() -> int:\n    return 1\n")])

    with pytest.raises(ModelRejected) as error:
        put(model)

    assert error.value.code == OUTPUT
    assert len(model.requests) == 6
    assert error.value.usage.cost_micro_usd == 6 * 7
    assert error.value.usage.model_calls == 1


@pytest.mark.parametrize(
    "wrong",
    ["", "I'm sorry, I can't.", "<!DOCTYPE html><html>", '<tool_call>{"name": "w"}</tool_call>',
     "```python\ndef f(:\n", "```json\n{\"a\": 1}\n```", Repeat("word ")],
)  # fmt: skip
def test_what_is_no_file_is_told_so_once_and_then_is_an_error(wrong: Scripted) -> None:
    model = ScriptedModel([wrong, wrong, wrong, wrong, wrong])

    with pytest.raises(ModelRejected) as error:
        put(model)

    assert error.value.code in (OUTPUT, LOOP)
    assert len(model.requests) == 2
    assert error.value.usage.output_tokens >= 0
    assert error.value.usage.input_tokens > 0
    assert "not good enough" in model.requests[1].messages[-1].text


def test_what_is_told_can_be_heeded() -> None:
    model = ScriptedModel(["I would write it so.", GOOD])

    value, usage = put(model)

    assert value == CODE
    assert usage.model_calls == 1


def test_a_file_with_a_flaw_is_better_than_none() -> None:
    flawed = "```python\n# TODO\nx = 1\n```"
    model = ScriptedModel([flawed, "No."])

    value, _ = put(model)

    assert value == "# TODO\nx = 1\n"


def test_only_what_has_no_flaw_is_kept(tmp_path: Path) -> None:
    kept = KeptAnswers(tmp_path)
    put(ScriptedModel(["```python\n# TODO\nx = 1\n```"]), kept)

    value, usage = put(ScriptedModel([GOOD]), kept)
    again, nothing = put(ScriptedModel([AssertionErrorModel]), kept)

    assert value == again == CODE
    assert usage.model_calls == 1
    assert nothing == Usage()


AssertionErrorModel = ModelRejected("asked in vain", code=AUTH)


@pytest.mark.parametrize(
    "error", [ModelRejected("no key", code=AUTH), ModelUnavailable("busy", usage=Usage(1, 1))]
)
def test_what_asking_again_does_not_mend_is_raised_at_once(
    error: ModelRejected | ModelUnavailable,
) -> None:
    model = ScriptedModel([error])

    with pytest.raises(type(error)):
        put(model)

    assert len(model.requests) == 1


def test_the_price_bounds_an_answer_that_is_gone_on_with_and_mended() -> None:
    model = ScriptedModel([part("```python\nx"), " = 1\n```"])

    _, usage = put(model)

    assert usage.tokens <= price_of_text(model, REQUEST).tokens


@pytest.mark.parametrize(
    ("said", "more", "whole"),
    [
        ("x = 1\nret", "urn 1\n", "x = 1\nreturn 1\n"),
        ("x = 1\nret", "return 1\n", "x = 1\nreturn 1\n"),
        ("x = 1\na_line = 2\n", "a_line = 2\ny = 3\n", "x = 1\na_line = 2\ny = 3\n"),
        ("def f():\n    return [", "```python\n    1]\n```", "def f():\n    return [    1]\n```"),
        ("x", "", "x"),
    ],
)
def test_what_was_said_twice_stands_once(said: str, more: str, whole: str) -> None:
    assert join(said, more) == whole


def test_a_flaw_is_unusable_for_who_does_not_want_it() -> None:
    assert isinstance(Flawed("it has a TODO", "x"), Unusable)
