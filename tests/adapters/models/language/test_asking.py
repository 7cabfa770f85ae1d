"""How a model is asked: within its context, at a price told before, mended once."""

import asyncio
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import pytest

from adapters.models.chat.errors import CONTEXT, LOOP, OUTPUT, ModelRejected, ModelUnavailable
from adapters.models.chat.kept import KeptAnswers
from adapters.models.chat.port import ChatAnswer
from adapters.models.chat.scripted import Repeat, ScriptedModel
from adapters.models.chat.tokens import estimate_request
from adapters.models.language.asking import put
from adapters.models.language.assessing import ask_assessment
from adapters.models.language.checking import ask_checks
from adapters.models.language.researcher import LanguageResearcher
from adapters.models.port import (
    AssessInput,
    Assessment,
    CheckInput,
    Given,
    OutlineInput,
    PlanInput,
    RepairInput,
    ReportCheckInput,
    SectionDraft,
    SynthesisInput,
    WriteInput,
)
from state.values.claims import ClaimCheck, Verdict
from tests.adapters.models.language.scripts import (
    KNOWN,
    LOGS_C,
    PLAN,
    QUESTION,
    SECTIONS,
    TEAM_A,
    A,
    answered,
    assessed,
    by_form,
    claim,
    passage,
    prompt_of,
    quote,
    round_one,
    says,
    stated,
)

GOOD = {"claims": [stated("findings", A, "e1")]}
DRAFT = SectionDraft("summary", ())
FAILED = (ClaimCheck("summary-1", Verdict.CONTRADICTED, "m", "25"),)
EVERY: list[Given] = [
    PlanInput(QUESTION),
    round_one(),
    SynthesisInput(SECTIONS, PLAN, KNOWN),
    OutlineInput(SECTIONS, PLAN, KNOWN),
    WriteInput("findings", "Findings", PLAN, KNOWN),
    CheckInput((claim(A, TEAM_A),), KNOWN.selected),
    CheckInput((), KNOWN.selected),
    RepairInput((DRAFT,), FAILED, PLAN, KNOWN),
    ReportCheckInput((DRAFT,), PLAN, KNOWN),
]
MANY = tuple(
    passage(f"s{n}", f"Pavo rule {n}: " + "a team keeps its audit logs in order. " * 12, number=n)
    for n in range(200)
)


def cut(text: str) -> ChatAnswer:
    return ChatAnswer(text, "scripted", 300, 700, finish="length")


@pytest.mark.parametrize("given", EVERY, ids=lambda given: type(given).__name__)
def test_a_price_is_one_call_and_the_same_every_time(given: Given) -> None:
    who = LanguageResearcher(ScriptedModel(micro_usd_per_token=2))

    price = who.price(given)

    assert price == who.price(given)
    assert price.model_calls == 1
    assert price.input_tokens > 100
    assert price.output_tokens >= 200
    assert price.cost_micro_usd == 2 * price.tokens


def test_a_price_covers_what_is_then_charged_with_the_mending() -> None:
    model = says("prose " * 300, GOOD)
    who = LanguageResearcher(model)
    given = WriteInput("findings", "Findings", PLAN, KNOWN)

    price = who.price(given)
    usage = asyncio.run(who.write_section(given)).usage

    assert len(model.requests) == 2
    assert usage.model_calls == 1
    assert usage.input_tokens <= price.input_tokens
    assert usage.output_tokens <= price.output_tokens


def test_a_price_of_many_passages_is_told_quickly() -> None:
    who = LanguageResearcher(ScriptedModel())
    given = AssessInput(PLAN, 1, MANY * 5)
    who.price(given)

    began = perf_counter()
    who.price(given)

    assert perf_counter() - began < 2


@pytest.mark.parametrize("context", [2048, 4096, 8192, 32_768])
@pytest.mark.parametrize(
    "given", [*EVERY, AssessInput(PLAN, 1, MANY)], ids=lambda g: type(g).__name__
)
def test_prompts_and_answers_fit_the_context(context: int, given: Given) -> None:
    model = by_form(
        {
            "PlanForm": {"subquestions": [{"question": "Pavo team size?", "query": "Pavo"}]},
            "AssessForm": {"answers": [answered("q1")]},
            "ReportForm": {"claims": [stated("findings", A, "e1")]},
            "OutlineForm": {"sections": [{"section": "summary"}]},
            "SectionForm": {"claims": []},
            "CheckForm": {"checks": [{"claim": "c1"}]},
            "RepairForm": {"repairs": []},
            "WholeForm": {"reopen": []},
        },
        context_tokens=context,
    )
    who = LanguageResearcher(model)
    operations = {
        PlanInput: who.plan,
        AssessInput: who.assess,
        SynthesisInput: who.synthesise,
        OutlineInput: who.outline,
        WriteInput: who.write_section,
        CheckInput: who.check_claims,
        RepairInput: who.repair,
        ReportCheckInput: who.check_report,
    }

    asyncio.run(operations[type(given)](given))  # type: ignore[operator]  # its own input

    for request in model.requests:
        assert estimate_request(request) + request.max_output_tokens <= context


def test_the_passages_that_matter_go_in_first() -> None:
    needle = passage("needle", A, number=7)
    given = round_one([*MANY, needle])

    shown = ask_assessment(given, 2048).request.messages[1].text

    assert A in shown
    assert shown.count("[p") < 20


def test_long_quotes_are_shortened_before_a_claim_goes_unchecked() -> None:
    padding = "Nothing is said of that here, nor anywhere near. " * 30
    items = tuple(quote("q1", f"s{n}", f"{padding}{A} {padding[:300]}") for n in range(12))
    claims = tuple(
        claim("Pavo teams have at most 25 people.", item, id_=f"summary-{n + 1}")
        for n, item in enumerate(items)
    )

    asked = ask_checks(CheckInput(claims, items), 8192)

    text = asked.request.messages[1].text
    assert text.count("Claim c") == 12
    assert text.count(A) == 12


def test_no_room_at_all_is_an_error_that_says_so() -> None:
    with pytest.raises(ModelRejected, match="no room") as raised:
        ask_assessment(round_one(), 300)

    assert raised.value.code == CONTEXT


def test_an_answer_that_was_cut_off_is_asked_for_again_with_less_to_say() -> None:
    model = says(cut('{"claims": [{"section": "findings", "text": "A Pavo'), GOOD)
    given = WriteInput("findings", "Findings", PLAN, KNOWN, max_claims=8)

    made = asyncio.run(LanguageResearcher(model).write_section(given))

    assert [each.text for each in made.value.claims] == [A]
    assert "at most 8" in prompt_of(model, 0)
    assert "at most 4" in prompt_of(model, 1)
    assert made.usage.output_tokens > 700


@pytest.mark.parametrize("answer", [cut('{"claims": [{"section": "find'), Repeat("and so on. ")])
def test_one_that_is_cut_off_twice_is_an_error_with_its_whole_usage(answer: object) -> None:
    model = ScriptedModel([answer])  # type: ignore[list-item]  # one of the two

    with pytest.raises(ModelRejected) as raised:
        asyncio.run(
            LanguageResearcher(model).write_section(WriteInput("findings", "F", PLAN, KNOWN))
        )

    assert raised.value.code in {OUTPUT, LOOP}
    assert len(model.requests) == 2
    assert raised.value.usage.model_calls == 1
    assert raised.value.usage.output_tokens >= 1400


def test_without_room_to_mend_it_asks_for_less() -> None:
    model = says("prose", GOOD, context_tokens=1400)
    given = WriteInput("findings", "Findings", PLAN, KNOWN, max_claims=4)
    asked = LanguageResearcher(model)

    made = asyncio.run(asked.write_section(given))

    assert made.value.claims
    assert "at most 2" in prompt_of(model)
    assert len(model.requests) == 2


@pytest.mark.parametrize(
    "answer", ["I cannot help with that.", "<html>Bad gateway</html>", "[]", "{}", '{"claims": 3}']
)
def test_prose_twice_is_an_error(answer: str) -> None:
    with pytest.raises(ModelRejected) as raised:
        asyncio.run(
            LanguageResearcher(says(answer)).synthesise(SynthesisInput(SECTIONS, PLAN, KNOWN))
        )

    assert raised.value.code == OUTPUT
    assert raised.value.usage.model_calls == 1


def test_a_model_that_cannot_be_had_is_said_to_be() -> None:
    model = ScriptedModel([ModelUnavailable("busy")])

    with pytest.raises(ModelUnavailable):
        asyncio.run(LanguageResearcher(model).assess(round_one()))


def test_what_was_answered_once_is_not_paid_twice(tmp_path: Path) -> None:
    model = says(assessed(answered("q1", ("p1", A))))
    who = LanguageResearcher(model, kept=KeptAnswers(tmp_path))

    first = asyncio.run(who.assess(round_one()))
    again = asyncio.run(who.assess(round_one()))

    assert again.value == first.value
    assert again.usage.model_calls == again.usage.tokens == 0
    assert len(model.requests) == 1


def test_an_answer_is_believed_by_its_form_alone() -> None:
    asked = ask_assessment(round_one(), 8192)
    said = '{"answers": [], "budget": 99, "tools": ["shell"], "answers_": "QUJD"}'

    with pytest.raises(ModelRejected):
        asyncio.run(put(says(said), asked))

    fields = set(asked.form.model_fields)
    assert fields == {"answers", "conflicts"}


def test_evidence_is_packed_by_turns_when_not_all_fits() -> None:
    long = tuple(
        quote("q1", f"s{n}", f"Rule {n} of Pavo teams. " + "It goes on and on. " * 60)
        for n in range(20)
    )
    held = Assessment((*long, LOGS_C), KNOWN.rows)
    model = says(GOOD, context_tokens=4096)

    asyncio.run(LanguageResearcher(model).synthesise(replace(SynthesisInput(SECTIONS, PLAN, held))))

    assert LOGS_C.text in prompt_of(model)
    assert prompt_of(model).count("It goes on") < 20 * 60
