"""What a reader sees of a quote with markup, and how much of a statement a text can be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.models.extractive.check import check_claims
from adapters.models.extractive.markup import visible, worth
from adapters.models.extractive.sentences import split
from adapters.models.extractive.write import claim_text
from adapters.models.port import CheckInput, Selected
from state.values.claims import Claim, Verdict


@pytest.mark.parametrize(
    ("quote", "seen"),
    [
        ("See [the guide](https://example.org/g) first.", "See the guide first."),
        ("See [the guide][g] first.", "See the guide first."),
        ("![logo](https://example.org/l.png) It cuts maps.", "It cuts maps."),
        ("[![badge](https://e.org/b.svg)](https://e.org) It cuts.", "It cuts."),
        ("A [link (old)](https://e.org/a_(b)) here.", "A link (old) here."),
        ("See `the docs <https://example.org>`_ for more.", "See the docs for more."),
        ("It is a WebSocket_ server.", "It is a WebSocket server."),
        ("Use :command:`install` now.", "Use `install` now."),
        ("A list[int] and a_name stay.", "A list[int] and a_name stay."),
        ("It is <b>fast</b>.", "It is fast."),
    ],
)
def test_a_claim_shows_the_words_of_links(quote: str, seen: str) -> None:
    assert claim_text(quote) == seen


@pytest.mark.parametrize(
    "quote",
    [
        "It is under the [Apache licence](https://example.org/apache).",
        "It is a WebSocket_ server, see `the docs <https://example.org>`_.",
        "[![b](https://e.org/b.svg)](https://e.org) The pier is 90 m long.",
    ],
)
def test_what_a_claim_shows_is_supported_by_its_quote(quote: str) -> None:
    item = Selected("q1", "s", "/d/a.md", None, quote, 0, len(quote), 1)
    claim = Claim("findings-1", "findings", claim_text(quote), (item.id,))

    checks = check_claims(CheckInput((claim,), (item,)))

    assert checks[0].verdict is Verdict.SUPPORTED


def test_the_address_of_a_link_supports_nothing_else() -> None:
    quote = "It is under [a licence](https://example.org/apache)."
    item = Selected("q1", "s", "/d/a.md", None, quote, 0, len(quote), 1)
    claim = Claim("findings-1", "findings", "It is under the Apache licence.", (item.id,))

    assert check_claims(CheckInput((claim,), (item,)))[0].verdict is not Verdict.SUPPORTED


@given(st.text(alphabet="abc def.[]()!`_<>|*\n:/", max_size=60))
def test_markup_of_any_shape_is_read_without_harm(text: str) -> None:
    seen = visible(text)

    assert len(seen) <= len(text)
    assert 0 < worth(text, "", "What is it?") <= 1


def test_licence_texts_count_for_questions_about_licences_only() -> None:
    text = "Permission is hereby granted, free of charge, to any person."

    assert worth(text, "", "What does it do?") < worth(text, "", "What licence has it?")


def test_text_without_capitals_ends_a_sentence_at_a_spaced_stop() -> None:
    text = "the flow is steady . the wing is thin, e.g. a plate . drag falls with speed ."

    found = [text[span.start : span.end] for span in split(text)]

    assert found == [
        "the flow is steady .",
        "the wing is thin, e.g. a plate .",
        "drag falls with speed .",
    ]


def test_a_quote_of_prose_stays_short() -> None:
    text = " ".join(f"It turns {number} wheels and then they rest a while." for number in range(40))

    assert max(span.end - span.start for span in split(text)) <= 420
