"""Plans: what a model may say, and what becomes of it when it says less or more."""

import pytest

from adapters.models.chat.errors import AUTH, ModelRejected
from adapters.models.chat.scripted import Repeat, ScriptedModel
from adapters.models.extractive.decompose import make_plan
from adapters.models.language.researcher import LanguageResearcher
from adapters.models.port import PlanInput
from state.values.plan import Plan, check_plan
from tests.adapters.models.language.scripts import PLAN, QUESTION, prompt_of, researcher, run, says

GIVEN = PlanInput(QUESTION)


def planned(*subquestions: tuple[str, str], clarification: str = "") -> dict[str, object]:
    entries = [{"question": question, "query": query} for question, query in subquestions]
    return {"subquestions": entries, "clarification": clarification}


def plan_of(*answers: object, given: PlanInput = GIVEN) -> Plan:
    plan = run(researcher(*answers).plan(given))
    check_plan(plan)
    return plan


def test_a_plan_is_the_models_with_the_question_as_its_goal() -> None:
    plan = plan_of(
        planned(
            ("How many members may a Pavo team have?", "Pavo team size"),
            ("How long are Pavo audit logs kept?", "Pavo audit log retention"),
        )
    )

    assert plan.goal == QUESTION
    assert [(sub.id, sub.query) for sub in plan.subquestions] == [
        ("q1", "Pavo team size"),
        ("q2", "Pavo audit log retention"),
    ]


def test_labels_and_marks_before_a_query_are_no_part_of_it() -> None:
    plan = plan_of(planned(("1. Question: How large is a Pavo team?", "Query: “Pavo team size”")))

    assert plan.subquestions[0].question == "How large is a Pavo team?"
    assert plan.subquestions[0].query == "Pavo team size"


@pytest.mark.parametrize(
    "answer",
    [
        {"subquestions": [], "clarification": ""},
        {"subquestions": ["", [{"question": "", "query": ""}]]},
        {"subquestions": [{"query": "Query:"}]},
        {"plan": None},
        "I would first look at the team, then at the logs.",
        "<html><body>502 Bad Gateway</body></html>",
    ],
)
def test_no_subquestion_is_asked_for_once_more_and_then_falls_back(answer: object) -> None:
    model = says(answer)

    plan = run(LanguageResearcher(model).plan(GIVEN))

    assert plan == make_plan(QUESTION)
    assert len(model.requests) <= 2


def test_a_second_answer_that_is_good_is_taken() -> None:
    model = says({"subquestions": []}, planned(("How large is a Pavo team?", "Pavo team size")))

    answer_ = LanguageResearcher(model).plan(GIVEN)

    plan = run(answer_)
    assert [sub.query for sub in plan.subquestions] == ["Pavo team size"]
    assert "it is empty" in prompt_of(model)


def test_a_list_within_a_list_is_read() -> None:
    nested = {"subquestions": ["", [{"question": "How large is a Pavo team?", "query": "Pavo"}]]}

    assert [sub.query for sub in plan_of(nested).subquestions] == ["Pavo"]


def test_more_than_three_subquestions_are_cut_and_the_same_one_is_there_once() -> None:
    many = [(f"How large is Pavo team {n}?", f"Pavo team {n}") for n in (1, 1, 2, 3, 4)]

    plan = plan_of(planned(*many))

    assert [sub.query for sub in plan.subquestions] == ["Pavo team 1", "Pavo team 2", "Pavo team 3"]


def test_what_has_nothing_to_do_with_the_question_is_left_out() -> None:
    strange = planned(("How do ferries float?", "ferry buoyancy"), ("Pavo team size?", "Pavo size"))

    assert [sub.query for sub in plan_of(strange).subquestions] == ["Pavo size"]


def test_a_clarification_is_taken_only_without_subquestions() -> None:
    asked = plan_of(planned(clarification="Which team do you mean?"), given=PlanInput("How many?"))
    both = plan_of(planned(("How large is a Pavo team?", "Pavo team"), clarification="Which one?"))

    assert asked.clarification == "Which team do you mean?"
    assert not asked.subquestions
    assert not both.clarification


def test_a_question_that_names_nothing_is_asked_back_whatever_the_model_plans() -> None:
    plan = plan_of(planned(("What is the amount?", "amount")), given=PlanInput("How much?"))

    assert not plan.subquestions
    assert "How much?" in plan.clarification


def test_long_questions_queries_and_secrets_keep_within_the_limits() -> None:
    long = "Pavo team " + "size " * 200
    secret = "Pavo " + "api_key=a " * 11

    plan = plan_of(planned((long, long), (secret, secret)))

    assert len(plan.subquestions) == 2


def test_half_a_character_is_dropped() -> None:
    plan = plan_of('{"subquestions": [{"question": "Pavo\\ud83d team?", "query": "Pavo team"}]}')

    assert plan.subquestions[0].question == "Pavo team?"


def test_a_question_in_german_stays_german() -> None:
    given = PlanInput("Wie viele Mitglieder darf ein Pavo-Team haben?")
    german = planned(("Wie viele Mitglieder darf ein Pavo-Team haben?", "Pavo Team Mitglieder"))
    strange = planned(("What is the weather?", "weather today"))

    assert plan_of(german, given=given).subquestions[0].query == "Pavo Team Mitglieder"
    assert plan_of(strange, given=given) == make_plan(given.question)


def test_feedback_and_the_plan_it_is_on_are_shown() -> None:
    model = says(planned(("How long are audit logs kept in Meridian?", "Meridian audit logs")))
    given = PlanInput(QUESTION, audience="auditors", feedback="Only Meridian.", previous=PLAN)

    plan = run(LanguageResearcher(model).plan(given))

    assert [sub.query for sub in plan.subquestions] == ["Meridian audit logs"]
    assert "Only Meridian." in prompt_of(model)
    assert PLAN.subquestions[0].query in prompt_of(model)
    assert "auditors" in prompt_of(model)


def test_a_model_in_a_loop_leaves_a_plan_all_the_same() -> None:
    model = ScriptedModel([Repeat("End of document. ")])

    assert run(LanguageResearcher(model).plan(GIVEN)) == make_plan(QUESTION)


def test_a_refused_key_is_no_reason_to_fall_back() -> None:
    model = ScriptedModel([ModelRejected("the key is refused", code=AUTH)])

    with pytest.raises(ModelRejected, match="refused"):
        run(LanguageResearcher(model).plan(GIVEN))
