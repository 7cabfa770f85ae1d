"""Figures as people see them."""

import math
from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.figures import drawn, duration, figure, fitted, label, shortened


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (1234567, "n", "1,234,567"),
        (1.5, "ratio", "1.50"),
        (0.125, "s", "0.12 s"),
        (0, "s", "0.0 s"),
        (-30.0, "s", "-30.0 s"),
        (119.94, "s", "119.9 s"),
        (120.0, "s", "2.0 min"),
        (7200.0, "s", "2.0 h"),
        (864_000.0, "s", "10.0 d"),
        (47, "ms", "47 ms"),
        (1500, "ms", "1.5 s"),
        (0.00216, "usd", "$0.0022"),
        (1234.5, "usd", "$1,234.50"),
        (0, "usd", "$0.00"),
        (0.0625, "share", "6.2%"),
        (1.0, "share", "100.0%"),
        (date(2026, 1, 2), "date", "2026-01-02"),
        (datetime(2026, 1, 2, 3, 4, 5), "time", "2026-01-02 03:04"),  # noqa: DTZ001 - SQL's
        ("local", "", "local"),
        (None, "n", "-"),
        (None, "", "-"),
        (math.nan, "share", "-"),
        (math.inf, "s", "-"),
    ],
)
def test_a_figure_has_its_unit(value: object, unit: str, shown: str) -> None:
    assert figure(value, unit) == shown


@given(st.floats(0, 1e9))
def test_a_duration_is_short(seconds: float) -> None:
    assert len(duration(seconds)) <= 10


@pytest.mark.parametrize(
    ("name", "unit", "shown"),
    [
        ("cost_each_usd", "usd", "cost each"),
        ("p95_ms", "ms", "p95"),
        ("failed_share", "share", "failed %"),
        ("coverage", "share", "coverage"),
        ("last_on", "date", "last"),
        ("runs", "n", "runs"),
        ("stands_at", "", "stands at"),
    ],
)
def test_a_heading_leaves_the_unit_to_the_figures(name: str, unit: str, shown: str) -> None:
    assert label(name, unit) == shown


def test_of_a_path_the_end_is_kept() -> None:
    assert shortened("/home/ann/papers", 9, is_path=True) == "…n/papers"
    assert shortened("How warm is it?", 9) == "How warm…"
    assert shortened("short", 9) == "short"


def test_headings_break_between_words_and_figures_stand_at_the_right() -> None:
    text = drawn(["host", "last failure", "n"], [["a.example", "GONE", "1,200"]], right=[2])

    assert text.splitlines() == [
        "           last",
        "host       failure      n",
        "─────────  ───────  ─────",
        "a.example  GONE     1,200",
    ]


@given(
    st.lists(st.tuples(st.text("ab", max_size=60), st.text("cd", max_size=60)), min_size=1),
    st.integers(30, 100),
)
def test_texts_are_cut_to_fit_and_figures_are_not(rows: list[tuple[str, str]], width: int) -> None:
    cells = [["1,000,000", text, path] for text, path in rows]

    found = fitted(["n", "text", "path"], cells, texts=[1], paths=[2], width=width)

    assert all(row[0] == "1,000,000" for row in found)
    widest = max(map(len, drawn(["n", "text", "path"], found).splitlines()))
    assert widest <= max(width, 9 + 12 + 12 + 4)
    if all(9 + 4 + len(text) + len(path) <= width for text, path in rows):
        assert [len(row[1]) <= 60 for row in found]
