"""Newer editions, independent voices, and conflicts other than of measured values."""

import pytest

from adapters.models.extractive.assess import assess
from adapters.models.extractive.decompose import make_plan, make_query
from adapters.models.extractive.editions import edition_of, is_newer
from adapters.models.extractive.sentences import split
from adapters.models.extractive.write import write_section
from adapters.models.port import AssessInput, Assessment, WriteInput
from state.values.evidence import Coverage, Passage


def passage(name: str, text: str, *, title: str | None = None, heading: str = "") -> Passage:
    return Passage(name, f"/w/{name}.md", title, text, 0, len(text), 1, None, heading)


def ask(question: str, *passages: Passage) -> Assessment:
    return assess(AssessInput(make_plan(question), 1, passages))


def differences(question: str, *passages: Passage) -> list[str]:
    return [conflict.difference for conflict in ask(question, *passages).conflicts]


@pytest.mark.parametrize(
    ("name", "title", "edition"),
    [
        ("handbook-2024", None, ("handbook", (2024,))),
        ("handbook", "Staff handbook, version 2.1", ("staff handbook", (2, 1))),
        ("policy_v3", None, ("policy", (3,))),
        ("minutes 2023-05-04", None, ("minutes", (2023, 5, 4))),
        ("2019-2021 review", None, None),
        ("handbook", None, None),
    ],
)
def test_an_edition_is_read_from_title_or_file(
    name: str, title: str | None, edition: tuple[str, tuple[int, ...]] | None
) -> None:
    assert edition_of(passage(name, "x", title=title)) == edition


def test_only_editions_of_one_document_supersede() -> None:
    new, old = passage("policy-v10", "x"), passage("policy-v9", "x")

    assert is_newer(new, old)
    assert not is_newer(old, new)
    assert not is_newer(passage("rules-v10", "x"), old)
    assert not is_newer(passage("policy-2024", "x"), passage("policy-v9-2024", "x"))


def test_the_newer_edition_comes_first_and_the_report_says_so() -> None:
    passages = (
        passage("policy-v1", "Letters are kept for 30 days."),
        passage("policy-v2", "Letters are kept for 90 days."),
    )

    made = ask("How long are letters kept?", *passages)
    plan = make_plan("How long are letters kept?")
    summary = write_section(WriteInput("summary", "Summary", plan, made))

    assert made.selected[0].text == "Letters are kept for 90 days."
    assert made.rows[0].coverage is Coverage.COVERED
    assert [p.remark for p in summary.paragraphs if "superseded" in p.remark]


def test_a_question_that_names_an_edition_gets_it() -> None:
    made = ask(
        "How long are letters kept by policy version 1?",
        passage("policy-v1", "By this policy letters are kept for 30 days.", title="Policy v1"),
        passage("policy-v2", "By this policy letters are kept for 90 days.", title="Policy v2"),
    )

    assert made.selected[0].text == "By this policy letters are kept for 30 days."


def test_sides_of_a_conflict_count_independent_sources_and_not_copies() -> None:
    told = "The Skelder mast is 72 m tall and will be painted next spring, as the parish says."

    difference = differences(
        "How tall is the Skelder mast?",
        passage("a", "The Skelder mast is 90 m tall."),
        passage("b", "From the chapel one sees the grey Skelder mast, 90 m tall, on its hill."),
        passage("c", told),
        passage("d", told.replace("says", "said")),
    )

    sides = set(difference[0].split(" against "))
    assert sides == {"90 m (2 independent sources)", "72 m"}


def test_a_value_in_an_altered_copy_is_told_to_be_one() -> None:
    told = (
        "Marnby lies on the north coast, has a harbour and a chapel, and is known for its herons. "
        "As of the last count, Marnby has 3,559 inhabitants."
    )

    difference = differences(
        "How many inhabitants does Marnby have?",
        passage("a", told),
        passage("b", told.replace("3,559", "5,120")),
        passage("c", "The mayor of Marnby said that Marnby has 3,559 inhabitants now."),
    )

    assert "5,120 inhabitants (in an altered copy)" in difference[0]


@pytest.mark.parametrize(
    ("question", "one", "other", "clash"),
    [
        ("What is the default of retry-limit?", "* Default: 5", "* Default: 3", True),
        ("What is the default of retry-limit?", "* Default: 5", "* Default: `5`", False),
        ("What is the type of retry-limit?", "* Default: 5", "* Default: 3", False),
    ],
)
def test_fields_of_one_name_under_one_heading_are_compared(
    question: str, one: str, other: str, clash: bool
) -> None:
    found = differences(
        question,
        passage("a", one, heading="retry-limit"),
        passage("b", other, heading="retry-limit"),
    )

    assert bool(found) is clash


@pytest.mark.parametrize(
    ("one", "other", "clash"),
    [
        ("The mast was designed by Ada Quill.", "The mast was designed by Ott & Sons.", True),
        ("The mast was designed by Ada Quill.", "The mast was designed in 1930 by Quill.", False),
        ("The mast was designed by Ada Quill.", "The mast was painted by Ott & Sons.", False),
    ],
)
def test_two_doers_of_one_thing_are_a_conflict(one: str, other: str, clash: bool) -> None:
    found = differences("Who designed the mast?", passage("a", one), passage("b", other))

    assert bool(found) is clash


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Hooks run during install, but not during publish.", "Hooks run during publish."),
        (
            "```yaml\ninstall: - hooks during publish\n```",
            "Hooks do not run during publish or install.",
        ),
    ],
)
def test_contrasts_and_code_deny_nothing(one: str, other: str) -> None:
    assert differences("Do hooks run during publish?", passage("a", one), passage("b", other)) == []


def test_every_field_of_a_list_is_a_quote_of_its_own() -> None:
    text = "Name: Kestrel\nVersion: 3.2\nRequires: Python >=3.8\nAuthor: Ada Quill\n  and friends"

    spans = split(text)

    assert [text[span.start : span.end] for span in spans][2] == "Requires: Python >=3.8"
    assert text[spans[3].start : spans[3].end].endswith("friends")
    assert {span.context for span in spans} == {"Kestrel"}


def test_a_field_answers_for_the_thing_its_list_names() -> None:
    kestrel = "Name: Kestrel\nVersion: 3.2\nAuthor: Ada Quill\nRequires: Petrel"
    petrel = "Name: Petrel\nVersion: 1.0\nAuthor: Ida Fenn\nSummary: Flies"

    made = ask("Who is the author of Petrel?", passage("a", kestrel), passage("b", petrel))

    assert made.selected[0].text == "Author: Ida Fenn"


def test_common_words_of_unspaced_scripts_are_asked_in_english_too() -> None:
    assert "license" in make_query("kestrel 使用什么许可证？")

    made = ask("kestrel 的许可证是什么？", passage("kestrel", "License: MIT. It is free."))

    assert made.rows[0].coverage is Coverage.COVERED


def test_in_depth_every_source_of_a_name_is_quoted_and_of_altered_copies_the_likelier() -> None:
    club = (
        "Vale Rovers is a club of the northern league, with a ground by the harbour and a small "
        "following. Vale Rovers was founded in 1921 by dockers of the town."
    )
    passages = (
        passage("a", club.replace("1921", "1950")),
        passage("b", club),
        passage("c", "In its paper of 1921 the town welcomed the new club."),
        passage("d", "Vale Rovers, a dance band of the south, was founded in 1964."),
    )
    plan = make_plan("When was Vale Rovers founded?")

    made = assess(AssessInput(plan, 1, passages, max_evidence=8, per_subquestion=True))

    quoted = " ".join(item.text for item in made.selected)
    assert "1921" in quoted
    assert "1964" in quoted


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is the profession of Ada Quill?", "Ada Quill was a poet of the north."),
        ("What sport is Ada Quill associated with?", "Ada Quill is a rower of the north."),
        ("When was Ada Quill born?", "Ada Quill (3 May 1882 – 4 January 1938) was a poet."),
    ],
)
def test_what_a_definition_or_a_life_span_tells_is_an_answer(question: str, text: str) -> None:
    made = ask(question, passage("a", f"{text} Herons fly there."))

    assert made.rows[0].coverage is Coverage.COVERED
    assert made.selected[0].text == text
