"""What counts as a search term, and how passages are ranked by them."""

import math

from hypothesis import given
from hypothesis import strategies as st

from adapters.search.ranking import rank_passages, tokens
from state.values.evidence import Passage


def passage(text: str, *, heading: str = "", title: str | None = None) -> Passage:
    return Passage("s", "/a.md", title, text, 0, len(text), 1, heading=heading)


def test_case_accents_inflection_and_compatibility_forms_are_folded() -> None:
    assert tokens("Running CAFÉS ﬁnally") == tokens("run cafe final")


def test_english_stop_words_are_dropped() -> None:
    assert tokens("What is the retention of it?") == tokens("retention")


def test_a_text_of_stop_words_only_keeps_them() -> None:
    assert tokens("to be or not to be") != []


def test_a_decimal_number_is_one_term_and_thousands_separators_do_not_matter() -> None:
    assert tokens("3.11 1,400") == ["3.11", "1400"]


def test_parts_of_an_identifier_are_terms() -> None:
    assert tokens("max_tokens") == tokens("max tokens")


def test_scripts_without_spaces_match_by_substring() -> None:
    text = set(tokens("私たちは深度研究システムを開発した"))

    assert set(tokens("研究")) <= text
    assert set(tokens("水")).isdisjoint(text)


def test_a_word_with_vowel_signs_stays_whole() -> None:
    assert len(tokens("हिन्दी")) == 1


@given(st.text())
def test_terms_are_never_empty_and_never_hold_spaces(text: str) -> None:
    assert all(term and not term.isspace() and " " not in term for term in tokens(text))


@given(st.text(st.sampled_from("ab1 2._-,(Z'\n"), max_size=60))
def test_a_text_has_the_same_terms_beside_one_that_is_not_ascii(text: str) -> None:
    assert tokens(f"{text} qx") == tokens(f"{text} 研 qx")[:-2] + tokens("qx")


@given(st.text())
def test_any_text_can_be_ranked(text: str) -> None:
    scores = rank_passages(text, [passage(text), passage("")])

    assert len(scores) == 2
    assert all(math.isfinite(score) and score >= 0 for score in scores)


def test_the_passage_about_the_query_ranks_first() -> None:
    scores = rank_passages(
        "How long are audit logs retained?",
        [passage("Teams have 25 members."), passage("Audit logs are retained for 30 days.")],
    )

    assert scores[0] == 0
    assert scores[1] > 0


def test_a_rare_term_weighs_more_than_a_common_one() -> None:
    passages = [passage("wing flutter"), passage("wing drag"), passage("wing lift")]

    scores = rank_passages("flutter drag wing wing", passages)

    assert rank_passages("flutter", passages)[0] > rank_passages("wing", passages)[0] > 0
    assert scores[0] == scores[1] > scores[2]


def test_heading_and_title_help_but_less_than_the_text() -> None:
    in_text, in_heading, in_title, nowhere = rank_passages(
        "retention",
        [
            passage("retention period here"),
            passage("some other period", heading="Retention"),
            passage("some other period", title="Retention"),
            passage("some other period"),
        ],
    )

    assert in_text > in_heading == in_title > nowhere == 0


def test_nothing_to_rank_gives_nothing_and_a_query_without_terms_gives_zeros() -> None:
    assert rank_passages("query", []) == []
    assert rank_passages("?!", [passage("text")]) == [0.0]


def test_the_file_s_name_counts_like_a_title() -> None:
    named = Passage("a", "/d/zebra.md", None, "It eats oats.", 0, 13, 1)
    other = Passage("b", "/d/other.md", None, "It eats oats.", 0, 13, 1)

    scores = rank_passages("zebra oats", [other, named])

    assert scores[1] > scores[0]
