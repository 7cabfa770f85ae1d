"""The measure itself: what it counts, and what it gives at the ends of its range."""

import pytest

from tests.adapters.documents.shingles import Score, mean, score


def test_the_same_words_score_one_whatever_stands_between() -> None:
    assert score("one two three four five", "one, two — three four\nfive.") == Score(1.0, 1.0)
    assert score("", "") == Score(1.0, 1.0)


def test_words_too_many_cost_precision_and_words_missing_recall() -> None:
    assert score("a b c d", "a b c d e") == Score(0.5, 1.0)
    assert score("a b c d e", "a b c d") == Score(1.0, 0.5)
    assert score("a b c d", "") == Score(0.0, 0.0)


def test_a_repeated_run_counts_as_often_as_it_was_expected() -> None:
    assert score("a b c d", "a b c d a b c d").precision == pytest.approx(0.2)


def test_the_mean_is_that_of_precision_and_recall() -> None:
    average = mean([Score(1.0, 0.5), Score(0.5, 1.0)])

    assert average.f1 == pytest.approx(0.75)
