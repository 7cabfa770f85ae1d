"""What a newcomer's own few notes and price tables answer, and where they disagree."""

import pytest

from adapters.models.extractive.assess import assess
from adapters.models.extractive.decompose import make_plan
from adapters.models.extractive.numbered import names_apart
from adapters.models.extractive.units import ValueKind
from adapters.models.extractive.values import find_values
from adapters.models.extractive.write import write_section
from adapters.models.port import AssessInput, Assessment, Selected, WriteInput
from state.values.evidence import Coverage, CoverageRow, Passage
from state.values.plan import Plan, Subquestion

FEES = "| Treatment | Fee |\n|---|---|\n| Root canal | £210 |\n| Cleaning | 450 kr |"
GOODS = "| Loaf | Weight (g) | Price (EUR) |\n|---|---|---|\n| Barley | 750 | 4.80 |"


def note(name: str, text: str, *, title: str | None = None) -> Passage:
    return Passage(name, f"/notes/{name}.md", title, text, 0, len(text), 1)


def paragraphs(name: str, *texts: str) -> list[Passage]:
    return [
        Passage(name, f"/notes/{name}.md", None, text, 200 * at, 200 * at + len(text), at + 1)
        for at, text in enumerate(texts)
    ]


def ask(question: str, *passages: Passage) -> Assessment:
    return assess(AssessInput(make_plan(question), 1, passages, (), ()))


def coverage(made: Assessment) -> list[Coverage]:
    return [row.coverage for row in made.rows]


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("What does barley cost, and does Halden Bakery accept cards?", 2),
        ("What does a root canal cost and can patients bring a guest?", 2),
        ("How much is barley and is cash accepted?", 2),
        ("Where is the pier and are children allowed?", 2),
        ("Who founded the club and can members order online?", 2),
        ("Which loaves are baked daily and are sold fresh?", 1),
        ("Who runs the club and can sign contracts?", 1),
        ("What is the name of the boat that is kept ashore and is lent out?", 1),
        ("Which endpoint lists users and does not need a token?", 1),
    ],
)
def test_a_yes_no_clause_with_its_own_subject_is_a_question_of_its_own(
    question: str, parts: int
) -> None:
    assert len(make_plan(question).subquestions) == parts


@pytest.mark.parametrize(
    "said",
    ["4.80 euro", "€4.80", "EUR 4.80", "4,80 €", "$5", "US$5", "12 pounds", "450 kr", "¥ 300",
     "CHF 3", "₹ 90", "80 zł", "50 cents", "Rs. 90"],
)  # fmt: skip
def test_signs_codes_and_names_of_currencies_make_money(said: str) -> None:
    assert [value.kind for value in find_values(f"A berth is {said} a night.")] == [ValueKind.MONEY]


@pytest.mark.parametrize(
    ("question", "table", "row"),
    [
        ("What does a root canal cost?", FEES, "| Root canal | £210 |"),
        ("How much does cleaning cost?", FEES, "| Cleaning | 450 kr |"),
        ("What does barley cost?", GOODS, "| Barley | 750 | 4.80 |"),
        ("How heavy is a barley loaf?", GOODS, "| Barley | 750 | 4.80 |"),
    ],
)
def test_a_row_of_a_table_answers_with_the_words_and_units_of_its_header(
    question: str, table: str, row: str
) -> None:
    made = ask(question, note("table", table))

    assert coverage(made) == [Coverage.COVERED]
    assert made.selected[0].text.endswith(row)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Where does the milk come from?", "Milk comes from the Orrin dairy, 9 km off."),
        ("Where is the salt bought?", "The salt is bought from Port Lune."),
        ("Where are vaccines stored?", "Vaccines are stored near Halden."),
    ],
)
def test_a_proper_name_after_from_or_near_is_a_place(question: str, text: str) -> None:
    assert coverage(ask(question, note("a", text))) == [Coverage.COVERED]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How fast does the Ott drum spin?", "The Ott drum spins at 60 turns a minute."),
        ("How fast is the export endpoint?", "The export endpoint serves 5 requests per second."),
        ("How fast does the Petrel sail?", "The Petrel sails at 4 m/s."),
        ("How long is the Petrel?", "The Petrel is 6 m long."),
        ("How deep is the Orrin well?", "The Orrin well is 30 feet deep."),
    ],
)
def test_how_fast_or_how_long_is_answered_by_a_rate_or_a_length(question: str, text: str) -> None:
    assert coverage(ask(question, note("a", text))) == [Coverage.COVERED]


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        ("How long is the rye loaf baked?", "The rye loaf is baked for 45 minutes.",
         "Its rye loaf is baked for 52 minutes."),
        ("Is the rye loaf baked for 45 minutes?", "The rye loaf is baked for 45 minutes.",
         "Our rye loaf is baked for 52 minutes."),
        ("How long does an eye check at Halden Clinic take?",
         "Halden Clinic is old. An eye check takes 20 minutes.",
         "Halden Clinic opened in 1987. Its eye check takes 35 minutes."),
    ],
)  # fmt: skip
def test_the_same_said_with_another_value_is_a_conflict(
    question: str, one: str, other: str
) -> None:
    made = ask(question, note("a", one), note("b", other))

    assert coverage(made) == [Coverage.CONFLICT]


def test_a_paragraph_that_says_its_speaks_of_what_the_one_before_names() -> None:
    one = paragraphs("a", "Halden Bakery has nine staff.", "Its rye loaf is baked for 52 minutes.")
    other = note("b", "The rye loaf of Halden Bakery is baked for 45 minutes.")

    made = ask("How long does Halden Bakery bake its rye loaf?", *one, other)

    assert coverage(made) == [Coverage.CONFLICT]


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        ("How many patients did the ward admit?", "Ward 7 admitted 40 patients.",
         "Ward 9 admitted 52 patients."),
        ("How many boats fell out?", "Class 185 fell out of the race.",
         "Class 27 fell out of the race."),
        ("How fast does the Ott drum turn?", "The Ott drum 3 turns at 60 rounds a minute.",
         "The Ott drum 4 turns at 80 rounds a minute."),
        ("In how much wind does the boat sail?", "Boat 12 sails in 9 knots of wind.",
         "Boat 14 sails in 11 knots of wind."),
    ],
)  # fmt: skip
def test_numbers_that_are_part_of_names_do_not_clash(question: str, one: str, other: str) -> None:
    made = ask(question, note("a", one), note("b", other))

    assert made.conflicts == ()


@pytest.mark.parametrize(
    "text",
    ["The hall seats 40 people.", "The mill ground 40 sacks.", "In Marnby 40 died in the flood.",
     "About 40 boats are moored here.", "The mill makes 40 loaves a day."],
)  # fmt: skip
def test_a_number_after_a_verb_or_a_place_still_counts(text: str) -> None:
    assert [value.amount for value in find_values(text)] == [40]


def test_things_of_one_sort_with_other_numbers_are_apart() -> None:
    assert names_apart("Ward 7 admitted many.", "Ward 9 admitted few.")
    assert not names_apart("Ward 7 admitted many.", "Ward 7 admitted few.")
    assert not names_apart("Ward 7 admitted many.", "Boat 9 sailed in May.")


def test_a_how_to_question_is_bound_to_the_means_it_names() -> None:
    made = ask(
        "How can I limit the rate of requests with tidegate?",
        note("loud", "Requests over the rate limit are retried; limit the rate of requests first."),
        note("tidegate", "An efficient implementation of a rate limiter for coroutines."),
    )

    assert {item.source_id for item in made.selected} == {"tidegate"}


def test_a_how_to_question_about_means_nobody_names_gets_no_other_answer() -> None:
    made = ask(
        "How do I limit the rate of requests with tidegate?",
        note("loud", "Requests over the rate limit are retried; limit the rate of requests first."),
    )

    assert coverage(made) == [Coverage.GAP]
    assert made.selected == ()


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("When was the Petrel built?", "The Petrel was built of larch."),
        ("What does the Petrel weigh with full sails?", "The Petrel weighs 130 kg."),
    ],
)
def test_a_gap_with_quotes_says_in_part_and_what_is_missing(question: str, text: str) -> None:
    made = ask(question, note("a", text))

    assert [item.text for item in made.selected] == [text]
    assert "only in part" in made.rows[0].gap
    assert "No source" not in made.rows[0].gap


def test_implications_repeat_only_what_states_a_consequence_or_limit() -> None:
    plan = Plan("club", (Subquestion("q1", "What of the club?", "club"),))
    said = [
        "The club is the only one on the lake.",
        "The rate limit table lists five endpoints.",
        "Boats are limited to 5 knots in the harbour.",
        "Guests must sign the log.",
    ]
    items = tuple(Selected("q1", "a", "/a.md", None, t, at, at + 9, 1) for at, t in enumerate(said))
    ids = tuple(item.id for item in items)
    made = Assessment(items, (CoverageRow("q1", Coverage.COVERED, ids),))

    draft = write_section(WriteInput("implications", "Implications", plan, made, 9))

    assert [claim.text for claim in draft.claims] == said[2:]
