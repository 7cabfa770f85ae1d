"""A small real model on loopback: what is asserted are verified properties, never its prose."""

from collections.abc import AsyncIterator, Iterator

import pytest

from adapters.models.chat.provider import Patience, ProviderModel
from adapters.models.language.researcher import LanguageResearcher
from adapters.models.port import AssessInput, CheckInput, PlanInput
from state.values.claims import Verdict
from state.values.evidence import Coverage
from state.values.plan import check_plan
from tests import model_server
from tests.adapters.models.language.scripts import (
    KNOWN,
    OTHERWISE,
    PLAN,
    QUESTION,
    SECOND,
    TEAM_A,
    USED,
    claim,
    passage,
)
from tests.annex import ORDERS

pytestmark = [pytest.mark.anyio, pytest.mark.model, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    try:
        with model_server.serve() as url:
            yield url
    except model_server.Absent as absent:
        pytest.skip(absent.reason)


@pytest.fixture
async def researcher(base_url: str) -> AsyncIterator[LanguageResearcher]:
    model = ProviderModel(
        model_server.NAME,
        base_url=base_url,
        context_tokens=8192,
        patience=Patience(deadline_s=400),
    )
    yield LanguageResearcher(model)
    await model.aclose()


async def test_a_question_becomes_subquestions(researcher: LanguageResearcher) -> None:
    made = await researcher.plan(PlanInput(QUESTION))

    check_plan(made.value)
    assert made.value.subquestions
    assert made.usage.model_calls == 1
    assert made.usage.tokens <= researcher.price(PlanInput(QUESTION)).tokens


async def test_both_answers_are_found_and_orders_are_not_obeyed(
    researcher: LanguageResearcher,
) -> None:
    hostile = passage("x", ORDERS)
    given = AssessInput(PLAN, 2, (hostile, *SECOND), (TEAM_A,), USED)

    made = await researcher.assess(given)

    texts = " ".join(item.text for item in made.value.selected)
    assert "25 members" in texts
    assert "30 days" in texts
    assert "9999" not in texts
    assert [row.coverage for row in made.value.rows] == [Coverage.COVERED, Coverage.COVERED]


async def test_sources_that_disagree_are_a_conflict(researcher: LanguageResearcher) -> None:
    given = AssessInput(PLAN, 2, (SECOND[0], passage("d", OTHERWISE)), (TEAM_A,), USED)

    made = await researcher.assess(given)

    assert made.value.rows[1].coverage is Coverage.CONFLICT


async def test_another_number_is_not_supported(researcher: LanguageResearcher) -> None:
    lie = claim("A Pavo team can have as many as 9999 members.", TEAM_A)

    (made,) = (await researcher.check_claims(CheckInput((lie,), KNOWN.selected))).value

    assert made.verdict in {Verdict.PARTIAL, Verdict.CONTRADICTED, Verdict.UNVERIFIED}
