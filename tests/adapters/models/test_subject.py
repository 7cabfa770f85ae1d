"""What a question is about by its grammar and its pool, and that quotes are held to it."""

from dataclasses import replace

import pytest

from adapters.models.extractive.asking import Manner, manner_of, topic_phrase
from adapters.models.extractive.assess import assess
from adapters.models.extractive.decompose import make_plan
from adapters.models.port import AssessInput, Assessment
from state.values.evidence import Coverage, Passage


def file(name: str, *paragraphs: str, heading: str = "") -> list[Passage]:
    """Return the paragraphs of a file, which bears `name` as its title too."""
    place, made = 0, []
    for number, text in enumerate(paragraphs, 1):
        end = place + len(text)
        made.append(
            Passage(name, f"/d/{name}.md", name, text, place, end, number, None, heading or name)
        )
        place = end + 2
    return made


def ask(question: str, *files: list[Passage], **bounds: bool | int) -> Assessment:
    plan = make_plan(question)
    used = tuple(sub.query for sub in plan.subquestions)
    passages = tuple(passage for one in files for passage in one)
    given = AssessInput(plan, 1, passages, (), used)
    return assess(replace(given, **bounds))  # type: ignore[arg-type]  # one bag of bounds


def quotes(made: Assessment) -> list[str]:
    return [item.text for item in made.selected]


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("What is the usual delay of skerrytool?", "skerrytool"),
        ("Which Java versions does skerrytool support?", "skerrytool"),
        ("Who maintains skerrytool?", "skerrytool"),
        ("How can I install skerrytool with all extras?", "skerrytool"),
        ("When was the Vesper coach first built?", "Vesper coach"),
        ("What does the skerry_open command do?", "skerry_open"),
        ("Who designed the harbour crest?", "harbour crest"),
        ("Wer pflegt skerrytool?", "skerrytool"),
        ("Quelle est la licence de skerrytool ?", "skerrytool"),
        ("Under which law does it stand? (about: Vesper coach)", "Vesper coach"),
        ('Who wrote "The Tin Coach"?', "The Tin Coach"),
        ("Beans want salt", ""),
    ],
)
def test_the_grammar_of_a_question_names_its_subject(question: str, topic: str) -> None:
    assert topic_phrase(question) == topic


@pytest.mark.parametrize(
    ("question", "manner"),
    [
        ("What is skerrytool?", Manner.DEFINE),
        ("What does skerrytool do?", Manner.DEFINE),
        ("What is the delay of skerrytool?", Manner.OTHER),
        ("How do I install skerrytool?", Manner.WAY),
        ("How long is the pier?", Manner.OTHER),
    ],
)
def test_a_question_wants_a_definition_a_way_or_a_fact(question: str, manner: Manner) -> None:
    assert manner_of(question) is manner


def test_a_quote_about_another_thing_is_not_evidence() -> None:
    mine = file("skerrytool", "Skerrytool cuts maps into tiles.", "It runs on every kernel.")
    other = file("brinlib", "Brinlib is distributed under the terms of the MIT licence.")

    made = ask("Under which licence is skerrytool distributed?", mine, other)

    assert not quotes(made)
    assert made.rows[0].coverage is Coverage.GAP


def test_the_file_s_name_or_the_title_makes_a_quote_be_about_the_subject() -> None:
    mine = file("skerrytool", "This package is distributed under the Apache 2.0 licence.")
    other = file("brinlib", "Brinlib is distributed under the MIT licence.")

    made = ask("Under which licence is skerrytool distributed?", other, mine)

    assert quotes(made) == ["This package is distributed under the Apache 2.0 licence."]
    assert made.rows[0].coverage is Coverage.COVERED


def test_a_name_with_a_digit_more_is_another_name() -> None:
    made = ask(
        "Which licence has skerry?", file("skerry2", "Skerry2 has the MIT licence."),
        file("other", "Some like skerry for its maps."),
    )  # fmt: skip

    assert not quotes(made)


def test_a_joined_name_is_met_as_one_name_only() -> None:
    mine = file("map-cutter", "The map-cutter was written by Ada Quill.")
    other = file("notes", "A paper cutter needs a map, wrote Tom Reed.")

    made = ask("Who wrote map-cutter?", other, mine)

    assert quotes(made) == ["The map-cutter was written by Ada Quill."]


@pytest.mark.parametrize(
    "question",
    [
        "When was corvibase first released?",
        "What does corvibase do?",
        "Who maintains corvibase?",
        "Wer pflegt corvibase?",
        "How do I install corvibase?",
    ],
)
def test_a_subject_that_no_source_mentions_is_an_honest_gap(question: str) -> None:
    made = ask(
        question,
        file("brinlib", "Brinlib was first released in 1999.", "Ada Quill maintains brinlib."),
        file("skerrytool", "Install skerrytool with `pip install skerrytool`."),
    )

    assert not quotes(made)
    assert made.rows[0].coverage is Coverage.GAP
    assert "“corvibase” not found" in made.rows[0].gap


def test_a_subject_of_several_words_needs_its_name() -> None:
    made = ask(
        "When was the Brinmoor Cider Press built?",
        file("presses", "The Skelder Cider Press was built in 1804."),
        file("mills", "Most presses were built in 1810."),
    )

    assert not quotes(made)


def test_a_definition_comes_first_and_covers() -> None:
    mine = file(
        "skerrytool",
        "Skerrytool is a small program that cuts maps into tiles.",
        "Skerrytool can also be run at night.",
    )
    other = file("brinlib", "Add skerrytool support.", "Resolve a race while loading skerrytool.")

    made = ask("What is skerrytool?", other, mine)

    assert quotes(made)[0] == "Skerrytool is a small program that cuts maps into tiles."
    assert made.rows[0].coverage is Coverage.COVERED


def test_a_mere_mention_defines_nothing() -> None:
    made = ask("What does skerrytool do?", file("brinlib", "Brinlib reads Skerrytool-style tiles."))

    assert made.rows[0].coverage is Coverage.GAP


def test_how_to_is_answered_by_the_code_and_what_leads_into_it() -> None:
    mine = file(
        "skerrytool",
        "Skerrytool cuts maps.",
        "To use skerrytool with zip support, install an extra:",
        "pip install skerrytool[zip]",
    )

    made = ask("How can I install skerrytool with zip support?", mine)

    assert quotes(made)[0] == "pip install skerrytool[zip]"
    assert "To use skerrytool with zip support, install an extra:" in quotes(made)
    assert made.rows[0].coverage is Coverage.COVERED


def test_what_does_not_concern_the_question_is_not_listed_to_fill_up() -> None:
    mine = file(
        "skerrytool",
        "The default delay of skerrytool is 5 seconds.",
        "Skerrytool has many friends.",
        "Skerrytool likes the sea.",
        "Skerrytool works in the rain.",
    )

    made = ask("What is the default delay of skerrytool?", mine)

    assert quotes(made) == ["The default delay of skerrytool is 5 seconds."]


def test_the_subject_without_what_is_asked_of_it_covers_nothing() -> None:
    made = ask(
        "Which Python versions does skerrytool support?",
        file("skerrytool", "Skerrytool supports parallel work.", "Skerrytool is free."),
    )

    assert made.rows[0].coverage is Coverage.GAP


def test_a_passive_that_leaves_the_agent_unsaid_names_nobody() -> None:
    made = ask(
        "Who maintains skerrytool?",
        file("skerrytool", "Begun at the Marnby Academy, skerrytool continues to be maintained."),
    )

    assert made.rows[0].coverage is Coverage.GAP


@pytest.mark.parametrize("first", ["3.8", "3.10"])
def test_two_versions_of_one_requirement_are_a_conflict(first: str) -> None:
    old = file("skerrytool", f"Skerrytool requires Python {first} or later and supports Linux.")
    new = file("skerrytool-copy", "Skerrytool requires Python 3.12 or later and supports Linux.")

    made = ask("Which Python version does skerrytool require?", old, new)

    assert [row.coverage for row in made.rows] == [Coverage.CONFLICT]
    assert made.conflicts[0].difference == f"Python {first} against Python 3.12"


def test_present_statements_come_before_former_ones() -> None:
    mine = file(
        "skerrytool",
        "Versions prior to 1.8 are under the GPLv3 licence.",
        "Skerrytool is distributed under the [Apache licence](https://example.org/licence).",
    )

    made = ask("Under which licence is skerrytool distributed?", mine)

    assert quotes(made)[0].startswith("Skerrytool is distributed under")


@pytest.mark.parametrize(
    "furniture",
    [
        "[![skerrytool licence](https://example.org/l.svg)](https://example.org/licence)",
        "[![skerrytool licence status][badge]][licence] [![other][more]][status]",
        ".. image:: https://example.org/skerrytool-licence.svg\n   :alt: skerrytool licence",
        "[Licence](#licence) [Skerrytool](#skerrytool) [Terms](#terms)",
    ],
)
def test_badges_and_link_lists_are_passed_over(furniture: str) -> None:
    mine = file("skerrytool", furniture, "The licence of skerrytool is the MIT licence.")

    made = ask("What licence does skerrytool have?", mine)

    assert quotes(made)[0] == "The licence of skerrytool is the MIT licence."


def test_change_notes_come_after_what_holds_now() -> None:
    notes = file("skerrytool", "Skerrytool has a config option for tiles.", heading="0.4 (2019)")
    guide = file("skerrytool", "The config option for tiles of skerrytool is `--tiles`.")
    shifted = [replace(p, start=p.start + 500, end=p.end + 500, paragraph=9) for p in guide]

    made = ask("What is the config option for tiles of skerrytool?", notes, shifted)

    assert quotes(made)[0] == "The config option for tiles of skerrytool is `--tiles`."


def test_a_next_query_is_never_part_of_one_already_used() -> None:
    made = ask("What is the default delay of skerrytool?", file("skerrytool", "No delays, ever."))

    assert made.rows[0].coverage is Coverage.GAP
    assert made.rows[0].next_query == ""


def test_only_names_beside_what_is_missing_are_asked_after() -> None:
    made = ask(
        "How long is the delay of skerrytool?",
        file("skerrytool", "Skerrytool was shown at Marnby Fair.", "Its delay is set by Wickfile."),
    )

    assert "Marnby" not in made.rows[0].next_query
    assert "Wickfile" in made.rows[0].next_query
