"""Texts and addresses from outside, made fit to show and to open."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.search.port import Hit
from adapters.search.tidying import clean_text, clean_url, plain, shorten, tidy


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ('The <span class="searchmatch">seed</span>s', "The seeds"),
        ("one<br/>two</p><p>three", "one two three"),
        ("AT&amp;T &lt;canvas&gt; &#x27;x&#39;", "AT&T <canvas> 'x'"),
        ("Vec<T> and a < b > c, List<String>", "Vec<T> and a < b > c, List<String>"),
        ("<jats:p>On <mml:math><mml:mi>x</mml:mi></mml:math></jats:p>", "On x"),
        ("a<script>alert('x')</script>b<!-- no -->c", "a b c"),
        ("a\x00b\x1b[0m\u200bc\u202ed\ufeff", "ab[0mcd"),
        ("tabs\t and\r\n\u00a0lines", "tabs and lines"),
        ("half \ud83d of a pair", "half of a pair"),
        ("نمی\u200cخواهم", "نمی\u200cخواهم"),
        ("&#0;&#x1b;&#xd800;", "\ufffd\ufffd"),
        ("", ""),
    ],
)
def test_a_text_loses_its_markup_and_what_cannot_be_seen(raw: str, clean: str) -> None:
    assert clean_text(raw, most=300) == clean


@given(st.text(), st.integers(2, 50))
def test_a_clean_text_is_short_on_one_line_and_can_be_encoded(raw: str, most: int) -> None:
    clean = clean_text(raw, most=most)

    assert len(clean) <= most
    assert all(unicodedata.category(char) not in ("Cc", "Cs") for char in clean)
    assert clean == " ".join(clean.split())
    clean.encode()


@given(st.text())
def test_making_a_text_plain_twice_is_making_it_plain_once(raw: str) -> None:
    assert plain(plain(raw)) == plain(raw)


@pytest.mark.parametrize("opening", ["<script>", "<!--", "<b ", "<", "&lt;", "</"])
def test_a_text_made_of_openings_is_cleaned_at_once(opening: str) -> None:
    assert len(clean_text(opening * 200_000, most=300)) <= 300


def test_a_text_is_cut_at_the_end_of_a_word() -> None:
    assert shorten("the seed vault", most=12) == "the seed…"
    assert shorten("Saatguttresor", most=5) == "Saat…"
    assert shorten("the seed", most=8) == "the seed"


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        (" HTTPS://Example.ORG:443/A?b=C#d ", "https://example.org/A?b=C"),
        ("http://example.org", "http://example.org/"),
        ("https://example.org:8443/a b", "https://example.org:8443/a%20b"),
        ("https://de.wikipedia.org/wiki/Zürich", "https://de.wikipedia.org/wiki/Z%C3%BCrich"),
        ("https://example.org/a%2Fb?q=%26", "https://example.org/a%2Fb?q=%26"),
        ("//example.org/a", ""),
        ("/a", ""),
        ("ftp://example.org/a", ""),
        ("javascript:alert(1)", ""),
        ("data:text/html,x", ""),
        ("https://", ""),
        ("https://user:pw@example.org/", ""),
        ("https://exa mple.org/", ""),
        ("https://example.org/\x00", ""),
        ("https://example.org\\@evil.org/", ""),
        ("https://[::1", ""),
        ("https://example.org:99999/", ""),
        ("https://example.org/" + "a" * 3_000, ""),
        ("https://example.org/\ud800", ""),
        ("", ""),
    ],
)
def test_an_address_comes_back_in_its_one_spelling_or_not_at_all(raw: str, clean: str) -> None:
    assert clean_url(raw) == clean


@given(st.text() | st.from_regex(r"https?://[a-z]{1,5}\.org(:\d{1,6})?/.*", fullmatch=True))
def test_cleaning_an_address_twice_is_cleaning_it_once(raw: str) -> None:
    assert clean_url(clean_url(raw)) == clean_url(raw)


def test_hits_keep_the_providers_order_whatever_scores_it_gave() -> None:
    hits = [
        Hit(f"https://example.org/{name}", name, "", score)
        for name, score in [("b", 0.1), ("a", 9)]
    ]

    tidied, unusable = tidy([*hits, hits[0], Hit("", "x", "", 1.0)])

    assert [(hit.title, hit.score) for hit in tidied] == [("b", 1.0), ("a", 0.5)]
    assert unusable == 1
