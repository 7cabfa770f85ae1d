"""Tests expect what a paper states, or what they compute themselves."""

import pytest

from adapters.models.coding.fenced import Unusable
from adapters.models.coding.grounded import keep_grounded, numbers_in

STATED = numbers_in("the error is 1.4095, on 1,024 values; 0.9 is used; 4.0313 | 2.1250")
GOOD = (
    "from pytest import approx\n\n\ndef test_a():\n    assert f() == approx(1.4095, abs=0.0006)\n"
)


@pytest.mark.parametrize(
    "body",
    [
        "assert f() == 1.4095",
        "assert f([4.0313, -2.125]) == [4.0313, -2.125]",
        "x = [1.4095]\n    assert f() == approx(x)",
        "assert len(f()) == 12",
        "assert f() == 0.5",
        "assert f(3.14159) == g(2.71828)",
        "assert f() == pytest.approx(0.9 * 1.2345 + 0.1)",
        "assert f() is not None",
        "assert math.isclose(f(), 2.125)",
    ],
)
def test_a_stated_a_short_and_a_computed_number_are_kept(body: str) -> None:
    text = f"def test_b():\n    {body}\n"

    assert keep_grounded(text, STATED).text == text


@pytest.mark.parametrize(
    "body",
    [
        "assert f() == 1.4096",
        "assert f() == approx(123.4)",
        "x = [1.4095, 3.777]\n    assert f() == x",
        "assert math.isclose(f(), 3.777)",
        "assert -3.777 == f()",
    ],
)
def test_a_test_with_a_number_of_nobody_is_left_out(body: str) -> None:
    kept = keep_grounded(f"{GOOD}\n\n@mark\ndef test_b():\n    {body}\n", STATED)

    assert kept.text == GOOD
    assert kept.left_out == ("test_b",)


@pytest.mark.parametrize(("number", "is_kept"), [("1.4095", True), ("1.9999", False)])
def test_a_number_that_is_expected_of_a_case_counts_too(number: str, is_kept: bool) -> None:
    case = f'@mark.parametrize("x, expected", [(3.777, 0.9), (5, {number})])'

    kept = keep_grounded(
        f"{GOOD}\n\n{case}\ndef test_b(x, expected):\n    assert f(x) == expected\n", STATED
    )

    assert (kept.left_out == ()) is is_kept


def test_where_no_test_is_left_the_answer_is_not_used() -> None:
    with pytest.raises(Unusable, match=r"3\.777"):
        keep_grounded("def test_b():\n    assert f() == 3.777\n", STATED)
