"""Claims judged by their wording, answers settled between copies, and statements borne out."""

import pytest

from adapters.models.extractive.check import check_claims
from adapters.models.extractive.cover import is_statement
from adapters.models.extractive.settle import Stated, settle
from adapters.models.extractive.support import support
from adapters.models.extractive.voices import are_copies, count_voices, sketch
from adapters.models.port import CheckInput, Selected
from state.values.claims import Claim, ClaimCheck, Verdict

MAST = "The Skelder mast near Marnby was built in 1931 and stands 90 metres tall."
TOWN = "Marnby is a town of 3,559 people in the north, as of the census of 2010, and has a harbour."


def judge(said: str, *quotes: str) -> ClaimCheck:
    evidence = tuple(
        Selected("q1", f"s{at}", f"/s{at}", None, text, 0, len(text), 1)
        for at, text in enumerate(quotes)
    )
    claim = Claim("x-1", "x", said, tuple(item.id for item in evidence))
    return check_claims(CheckInput((claim,), evidence))[0]


def test_nearly_the_same_words_support() -> None:
    check = judge("The Skelder mast was built near Marnby in 1931.", MAST)

    assert (check.verdict, check.method) == (Verdict.SUPPORTED, "wording")


@pytest.mark.parametrize(
    ("said", "missing"),
    [
        ("The Skelder mast was built near Marnby in 1934 and stands tall.", "1934"),
        ("The Skelder mast near Marnby was built by Quill in 1931.", "names"),
        ("The Skelder mast near Marnby was not built in 1931.", "denies"),
    ],
)
def test_a_number_name_or_negation_of_its_own_is_never_supported(said: str, missing: str) -> None:
    check = judge(said, MAST)

    assert check.verdict is not Verdict.SUPPORTED
    assert missing in check.reason or check.verdict is Verdict.CONTRADICTED


def test_a_value_in_another_unit_or_in_words_is_the_same_value() -> None:
    said = "The Skelder ferry from Marnby takes two hours to cross the sound."

    assert judge(said, "The Skelder ferry from Marnby takes 120 minutes to cross the sound.").reason
    assert "number" not in judge(said, "The ferry from Marnby needs 120 minutes.").reason


def test_other_words_are_not_judged() -> None:
    check = judge("Boats of the harbour are painted blue every spring.", MAST)

    assert check.verdict is Verdict.UNVERIFIED


def test_support_grows_with_what_is_met() -> None:
    near, far = support(MAST, [MAST]), support("The Orrin dairy sells milk and butter.", [MAST])

    assert far < 0.2
    assert near > 0.8


def test_near_copies_are_one_voice() -> None:
    altered = TOWN.replace("has a harbour", "has got a harbour")

    assert are_copies(TOWN * 3, altered * 3)
    assert count_voices([TOWN * 3, altered * 3, MAST]) == 2
    assert sketch("") == ()
    assert are_copies("玛恩比是一座港口城市，有三千人口。", "玛恩比是一座港口城市，有三千人口！")


def stated(answer: str, text: str) -> Stated:
    return Stated(answer, text)


def test_an_altered_copy_is_outvoted() -> None:
    texts = [
        stated("3,559 people", TOWN),
        stated("3,559 people", "In 2010 Marnby counted 3,559 people, said the mayor last week."),
        stated("5,120 people", TOWN.replace("3,559", "5,120")),
    ]

    assert settle(texts) == (True, True, False)


def test_of_two_versions_the_rounder_figure_falls_and_else_both_stand() -> None:
    rounded = [stated("3,559 people", TOWN), stated("10,000", TOWN.replace("3,559", "10,000"))]
    exact = [stated("3,559 people", TOWN), stated("3,561 people", TOWN.replace("3,559", "3,561"))]

    assert settle(rounded) == (True, False)
    assert settle(exact) == (True, True)


def test_answers_of_independent_texts_all_stand() -> None:
    texts = [
        stated("1,251 people", "Elkton in the west had 1,251 people when it was last counted."),
        stated("75", "Since the mill closed, the village of Elkton by the lake fell to 75 souls."),
        stated("", "Elkton is a name of many places."),
    ]

    assert settle(texts) == (True, True, False)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("The mast was built in 1931.", True),
        ("How tall is the mast?", False),
        ("Compare the mast with the tower.", False),
        ("Skelder mast height", False),
    ],
)
def test_a_sentence_that_claims_is_a_statement(text: str, is_one: bool) -> None:
    assert is_statement(text) is is_one
