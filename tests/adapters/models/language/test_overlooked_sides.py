"""The other side of a conflict that a model overlooked is found; what does not clash is let be."""

import pytest

from adapters.models.port import AssessInput, Assessment
from state.values.evidence import Coverage
from state.values.plan import Plan, Subquestion
from tests.adapters.models.language.scripts import (
    KEPT,
    OTHERWISE,
    PLAN,
    POINTER,
    TEAM_A,
    USED,
    answered,
    assessed,
    passage,
    quote,
    researcher,
    run,
)

QUESTION = "How long are audit logs kept?"
PAVOS = "How long does Pavo keep audit logs?"
FIRST = "Audit logs are kept for {} and are then deleted."
SECOND = "The retention period of audit logs is {}."
BOTH_ORDERS = pytest.mark.parametrize("chosen", [0, 1])


def found(texts: tuple[str, str], chosen: int, question: str = QUESTION) -> Assessment:
    """Return what becomes of an answer that quotes one of two sources and calls it covered."""
    subquestion = Subquestion("q1", question, "audit logs")
    passages = tuple(passage(name, text) for name, text in zip("cd", texts, strict=True))
    given = AssessInput(
        Plan(question, (subquestion,)), 2, passages, (), ("audit logs", "Meridian Annex kept")
    )
    said = assessed(answered("q1", (f"p{chosen + 1}", texts[chosen])))
    return run(researcher(said).assess(given))


@BOTH_ORDERS
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("30 days", "40 days"),
        ("30 days", "forty days"),
        ("30 days", "2 months"),
        ("30 days", "a year"),
        ("30 days", "700 hours"),
        ("30 days", "six weeks"),
        ("30 days", "40 to 60 days"),
        ("30 days", "40-60 days"),
        ("20 to 30 days", "between 40 and 60 days"),
        ("30 days", "up to 20 days"),
        ("30 days", "no more than 10 days"),
        ("30 days", "at least 60 days"),
        ("30 days", "60+ days"),
        ("up to 30 days", "up to 40 days"),
    ],
)
def test_another_value_is_the_second_side(one: str, other: str, chosen: int) -> None:
    texts = FIRST.format(one), SECOND.format(other)

    made = found(texts, chosen)

    assert {item.text for item in made.selected} == set(texts)
    assert made.rows[0].coverage is Coverage.CONFLICT
    (conflict,) = made.conflicts
    assert set(conflict.evidence_ids) == {item.id for item in made.selected}


@BOTH_ORDERS
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("30 days", "1 month"),
        ("30 days", "a month"),
        ("30 days", "720 hours"),
        ("1 month", "720 hours"),
        ("30 days", "thirty days"),
        ("30 days", "30 calendar days"),
        ("30 days", "20 working days"),
        ("90 days", "three months"),
        ("1 year", "365 days"),
        ("30 days", "about 31 days"),
        ("30 days", "up to 30 days"),
        ("30 days", "up to 40 days"),
        ("30 days", "at least 20 days"),
        ("30 days", "more than 20 days"),
        ("30 days", "30 days or longer"),
        ("30 days", "20 to 40 days"),
        ("30 days", "20–40 days"),
        ("30 days", "20-40 days"),
        ("30 days", "between 20 and 40 days"),
        ("20 to 30 days", "25 to 60 days"),
    ],
)
def test_the_same_value_in_other_units_or_within_limits_is_none(
    one: str, other: str, chosen: int
) -> None:
    made = found((FIRST.format(one), SECOND.format(other)), chosen)

    assert not made.conflicts
    assert made.rows[0].coverage is Coverage.COVERED


@BOTH_ORDERS
@pytest.mark.parametrize(
    "question",
    [
        "How long are Pavo audit logs kept?",
        "How long are audit logs retained for a Pavo team?",
        "For how long does Pavo keep audit logs?",
        "What are the audit log retention policies?",
        "Where are audit logs stored and for how long?",
    ],
)
def test_however_the_model_words_the_subquestion(question: str, chosen: int) -> None:
    """A name that neither source has, or a word that one lacks, sets the sources not apart."""
    made = found((KEPT, OTHERWISE), chosen, question)

    assert {item.text for item in made.selected} == {KEPT, OTHERWISE}
    assert made.rows[0].coverage is Coverage.CONFLICT


@BOTH_ORDERS
@pytest.mark.parametrize(
    ("texts", "question"),
    [
        ((KEPT, "Backups of the audit logs have a size of 40 MB."), QUESTION),
        ((KEPT, "Access logs are kept for 40 days."), QUESTION),
        ((KEPT, "Audit logs of the Zephyr Store are kept for 40 days."), PAVOS),
        (("Pavo keeps audit logs for 30 days.", "Audit logs are kept for 40 days."),
         PAVOS),
        (("Pavo keeps audit logs for 30 days.", "Zephyr keeps audit logs for 40 days."),
         PAVOS),
        (("In 2019 audit logs were kept for 30 days.", "In 2024 audit logs were kept for 40 days."),
         QUESTION),
    ],
)  # fmt: skip
def test_another_subjects_number_is_no_conflict(
    texts: tuple[str, str], question: str, chosen: int
) -> None:
    assert not found(texts, chosen, question).conflicts


@BOTH_ORDERS
def test_a_denial_and_another_date_are_second_sides(chosen: int) -> None:
    denied = ("Guests can join a Pavo team.", "Guests cannot join a Pavo team.")
    dated = ("The Pavo service was started in 2014.", "The Pavo service was started in 2016.")

    assert found(denied, chosen, "Can guests join a Pavo team?").conflicts
    assert found(dated, chosen, "When was the Pavo service started?").conflicts


def test_an_invented_quote_is_no_side_of_a_conflict() -> None:
    subquestion = Subquestion("q1", QUESTION, "audit logs")
    given = AssessInput(
        Plan(QUESTION, (subquestion,)), 1, (passage("c", KEPT), passage("d", OTHERWISE))
    )
    said = assessed(answered("q1", ("p1", "Audit logs are kept for 50 days.")))

    made = run(researcher(said).assess(given))

    assert not made.selected
    assert made.rows[0].coverage is Coverage.GAP


HELD = quote("q2", "a", POINTER, at=500)


def second_round(*quotes: tuple[str, str], coverage: str = "covered") -> Assessment:
    """Return what becomes of an answer on logs where a pointer to the passages is held."""
    passages = (passage("c", KEPT), passage("d", OTHERWISE))
    given = AssessInput(PLAN, 2, passages, (TEAM_A, HELD), (*USED, "Meridian Annex kept"))
    both = answered("q1", ("h1", "")), answered("q2", *quotes, coverage=coverage)
    return run(researcher(assessed(*both)).assess(given))


def test_who_calls_it_covered_and_quotes_what_only_points_there_is_helped() -> None:
    for named in ("p2", "h2", "p1"):
        made = second_round((named, POINTER))

        assert {item.text for item in made.selected} == {TEAM_A.text, KEPT, OTHERWISE}
        assert made.rows[1].coverage is Coverage.CONFLICT


def test_who_invents_or_sees_a_gap_is_helped_by_nobody() -> None:
    for made in (
        second_round(("p1", "Audit logs are kept for 50 days.")),
        second_round(("h2", POINTER), ("p1", "Audit logs are kept for 50 days.")),
        second_round(("h2", POINTER), coverage="gap"),
    ):
        assert not any("days" in item.text for item in made.selected)
        assert made.rows[1].coverage is Coverage.GAP


def test_a_conflict_that_the_model_saw_between_equal_values_is_none() -> None:
    subquestion = Subquestion("q1", QUESTION, "audit logs")
    texts = FIRST.format("30 days"), SECOND.format("1 month")
    passages = tuple(passage(name, text) for name, text in zip("cd", texts, strict=True))
    given = AssessInput(Plan(QUESTION, (subquestion,)), 1, passages)
    conflict = {"subquestion": "q1", "passages": ["p1", "p2"], "difference": "They differ."}
    both = answered("q1", ("p1", texts[0]), ("p2", texts[1]), coverage="conflict")

    made = run(researcher(assessed(both, conflicts=[conflict])).assess(given))

    assert not made.conflicts
    assert made.rows[0].coverage is Coverage.COVERED
