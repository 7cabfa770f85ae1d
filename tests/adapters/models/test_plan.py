"""How the extractive researcher splits a question, and how feedback changes the plan."""

import pytest

from adapters.models.extractive.decompose import make_plan
from adapters.models.extractive.revise import revise
from state.values.plan import Plan


def questions(plan: Plan) -> list[str]:
    return [sub.question for sub in plan.subquestions]


def test_a_simple_question_stays_one() -> None:
    plan = make_plan("How do I change the gauge oil and the filter?")

    assert questions(plan) == ["How do I change the gauge oil and the filter?"]
    assert plan.subquestions[0].query == "change gauge oil filter"


def test_coordinated_clauses_become_subquestions_that_share_the_subject() -> None:
    plan = make_plan(
        "Who designed the Harkness Bridge, when was it opened, and how long is its deck?"
    )

    assert questions(plan) == [
        "Who designed the Harkness Bridge?",
        "When was it opened? (about: Harkness Bridge)",
        "How long is its deck? (about: Harkness Bridge)",
    ]
    assert all("Harkness" in sub.query for sub in plan.subquestions)


def test_a_second_clause_with_its_own_subject_keeps_the_name_as_a_search_word_only() -> None:
    plan = make_plan("How many seats does a Vesper coach have and how long are tickets valid?")

    assert questions(plan)[1] == "How long are tickets valid?"
    assert plan.subquestions[1].query == "long tickets valid Vesper"


def test_doubled_question_words_ask_twice() -> None:
    plan = make_plan("When and where was Ida Kroll born?")

    assert questions(plan) == ["When was Ida Kroll born?", "Where was Ida Kroll born?"]


def test_a_bare_question_word_takes_the_rest_from_before() -> None:
    plan = make_plan("Who founded the choir and when?")

    assert questions(plan)[1] == "When? (about: founded the choir)"


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("What is the difference between basalt and gabbro?", ["basalt", "gabbro"]),
        ("Compare larch with oak regarding durability", ["larch", "oak"]),
        ("Rye vs barley", ["rye", "barley"]),
    ],
)
def test_a_comparison_asks_for_each_side(question: str, sides: list[str]) -> None:
    plan = make_plan(question)

    assert [text.lower().split()[0].rstrip(":") for text in questions(plan)] == sides


def test_a_relative_clause_is_not_a_second_question() -> None:
    assert len(make_plan("What is the mill, which closed in 1931, used for?").subquestions) == 1


def test_a_sentence_before_the_question_gives_search_words() -> None:
    plan = make_plan("We keep bees in Tarn valley. How often is honey taken?")

    assert questions(plan) == ["How often is honey taken?"]
    assert "Tarn" in plan.subquestions[0].query


def test_more_than_three_questions_are_folded_into_three() -> None:
    plan = make_plan("Who pays? When is rent due? What is a tithe? Where is the barn?")

    assert len(plan.subquestions) == 3
    assert questions(plan)[2] == "What is a tithe? Where is the barn?"


@pytest.mark.parametrize("question", ["what about it?", "", "   ", "and why is this so?", "???"])
def test_a_question_without_a_subject_is_asked_back(question: str) -> None:
    plan = make_plan(question)

    assert not plan.subquestions
    assert plan.clarification


def test_german_and_chinese_questions_are_split() -> None:
    german = make_plan("Wie viele Boote liegen im Hafen und wann wurde er gebaut?")
    chinese = make_plan("水库是什么时候建的，由谁管理？")

    assert len(german.subquestions) == len(chinese.subquestions) == 2
    assert "Hafen" in german.subquestions[1].query


PLAN = make_plan("How many seats does a Vesper coach have and how long are tickets valid?")


def test_feedback_to_also_cover_adds_a_subquestion() -> None:
    plan = revise(PLAN, "Please also cover the luggage rules.")

    assert questions(plan) == [*questions(PLAN), "What about the luggage rules?"]
    assert [sub.id for sub in plan.subquestions] == ["q1", "q2", "q3"]
    assert plan.subquestions[2].query == "luggage rules Vesper"


def test_with_three_subquestions_an_added_one_joins_the_last() -> None:
    plan = revise(revise(PLAN, "Also cover luggage."), "Who drives it?")

    assert len(plan.subquestions) == 3
    assert plan.subquestions[2].question.endswith("Who drives it?")


def test_feedback_to_focus_changes_every_query_and_no_question() -> None:
    plan = revise(PLAN, "Focus on night services")

    assert questions(plan) == questions(PLAN)
    assert all(sub.query.startswith("night services") for sub in plan.subquestions)


def test_feedback_to_drop_removes_what_it_names_but_never_the_last() -> None:
    plan = revise(PLAN, "drop the tickets")

    assert questions(plan) == questions(PLAN)[:1]
    assert revise(plan, "drop the coach") == plan


@pytest.mark.parametrize("feedback", ["replace Vesper with Corvid", "Corvid instead of Vesper"])
def test_feedback_to_replace_rewrites_questions_and_queries(feedback: str) -> None:
    plan = revise(PLAN, feedback)

    assert "Corvid" in plan.subquestions[0].question
    assert not any("Vesper" in sub.query for sub in plan.subquestions)


def test_several_sentences_of_feedback_are_each_heeded() -> None:
    plan = revise(PLAN, "Drop tickets. Also cover luggage. Focus on 2021.")

    assert len(plan.subquestions) == 2
    assert all(sub.query.startswith("2021") for sub in plan.subquestions)


def test_feedback_without_content_changes_nothing() -> None:
    assert revise(PLAN, "and so on ...") == PLAN


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "Who maintains skerrytool and under which licence is it distributed?",
            (
                "Who maintains skerrytool?",
                "Under which licence is it distributed? (about: skerrytool)",
            ),
        ),
        (
            "When was the Vesper coach built, and by whom?",
            ("When was the Vesper coach built?", "By whom? (about: was the Vesper coach built)"),
        ),
        (
            "What is a tarn, how does it form and why does it freeze?",
            (
                "What is a tarn?",
                "How does it form? (about: tarn)",
                "Why does it freeze? (about: tarn)",
            ),
        ),
    ],
)
def test_conjoined_questions_carry_their_subject_over(
    question: str, parts: tuple[str, ...]
) -> None:
    assert tuple(sub.question for sub in make_plan(question).subquestions) == parts
