"""Formulas and rows as the document readers write them: no code, and cells that hold bars."""

import pytest

from adapters.models.extractive.form import is_code
from adapters.models.extractive.tables import with_header
from adapters.models.extractive.values import find_values


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"The speed $v_{max} = \frac{a}{b}$ is high.", False),
        ("The critical temperature T_{max} is 5 K.", False),
        ("$$E = {m}$$", False),
        ("x = {1: 2}", True),
        ("export A=${HOME} B=${PATH}", True),
    ],
)
def test_a_formula_is_no_code(text: str, expected: bool) -> None:
    assert is_code(text) is expected


def test_a_bar_in_a_cell_ends_no_column() -> None:
    table = "| Plan \\| kind | Price (EUR) | Days |\n| --- | --- | --- |\n| A \\| B | 30 | 5 |"

    values = with_header(table, find_values(table))

    assert [(value.amount, value.unit) for value in values] == [(30.0, "eur"), (5.0, "")]
