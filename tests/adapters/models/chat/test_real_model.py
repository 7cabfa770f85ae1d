"""A small real model on loopback: it fills in a schema, and the counts are what they should be."""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Literal
from urllib.request import Request, urlopen

import pytest
from pydantic import BaseModel, Field

from adapters.models.chat.errors import ModelRejected
from adapters.models.chat.port import ChatRequest, Message
from adapters.models.chat.prompts import fence
from adapters.models.chat.provider import Patience, ProviderModel
from adapters.models.chat.structured import ask
from adapters.models.chat.tokens import at_least, estimate
from tests import model_server

pytestmark = [pytest.mark.anyio, pytest.mark.model, pytest.mark.slow, pytest.mark.timeout(600)]

PAGE = "Teams have 25 members. Audit logs are kept for 30 days after creation, then deleted."
SAMPLES = {
    "English": "The retention period of the audit log is thirty days, unless a contract says so.",
    "German": "Die Aufbewahrungsfrist des Prüfprotokolls beträgt dreißig Tage, sofern vereinbart.",
    "Chinese": "审计日志的保留期为三十天，除非合同另有规定。之后，这些记录将被永久删除。",
    "code": "def keep(days: int = 30) -> list[Log]:\n    return [l for l in logs if l.new]\n",
}


class Checked(BaseModel):
    verdict: Literal["supported", "partial", "contradicted"]
    quote: str = Field(min_length=1)


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    try:
        with model_server.serve(context=4096) as url:
            yield url
    except model_server.Absent as absent:
        pytest.skip(absent.reason)


@pytest.fixture
async def model(base_url: str) -> AsyncIterator[ProviderModel]:
    made = ProviderModel(
        model_server.NAME,
        base_url=base_url,
        context_tokens=4096,
        patience=Patience(deadline_s=400),
    )
    yield made
    await made.aclose()


async def test_a_small_model_fills_in_a_schema(model: ProviderModel) -> None:
    question = (
        f"Claim: Audit logs are kept for 30 days.\n\n{fence(PAGE)}\n\nDoes the text support it?"
    )
    request = ChatRequest((Message("user", question),), 120, seed=1)

    checked, usage = await ask(model, request, Checked)

    assert checked.verdict in ("supported", "partial", "contradicted")
    assert usage.model_calls in (1, 2)
    assert usage.output_tokens > 0


async def test_the_server_counts_what_we_expect(model: ProviderModel) -> None:
    answer = await model.complete(ChatRequest((Message("user", f"{PAGE} Say yes."),), 4))

    assert not answer.is_estimated
    assert at_least(PAGE) <= answer.input_tokens <= 2 * estimate(PAGE) + 40
    assert answer.output_tokens <= 4


async def test_its_context_is_found(base_url: str) -> None:
    made = ProviderModel(model_server.NAME, base_url=base_url)

    found = await made.find_context()

    await made.aclose()
    assert found == 4096


async def test_a_prompt_longer_than_the_context_is_refused(base_url: str) -> None:
    mistaken = ProviderModel(model_server.NAME, base_url=base_url, context_tokens=32_768)
    with pytest.raises(ModelRejected) as caught:
        await mistaken.complete(ChatRequest((Message("user", "word " * 5000),), 4))

    await mistaken.aclose()
    assert caught.value.code == "MODEL_CONTEXT"


@pytest.mark.parametrize("language", SAMPLES)
def test_a_real_tokenizer_lies_between_the_bound_and_the_estimate(
    base_url: str, language: str
) -> None:
    text = SAMPLES[language]
    asked = Request(
        base_url.removesuffix("/v1") + "/tokenize", json.dumps({"content": text}).encode()
    )
    with urlopen(asked) as answer:
        real = len(json.load(answer)["tokens"])

    assert at_least(text) <= real
    assert 0.9 * real <= estimate(text) <= 2 * real
