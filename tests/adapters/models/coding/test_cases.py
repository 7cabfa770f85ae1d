"""Cases of a small model's tests rest on the paper's examples: input and output stand together."""

import pytest

from adapters.models.coding.cases import keep_exemplified
from adapters.models.coding.exemplified import Example, examples_in
from adapters.models.coding.fenced import Unusable
from state.values.code_plan import PaperCitation

SENTENCES = "3.3 Means"
TABLE = "Table 2: Clipped values for low = 0 and high = 10.\n\n| x | clip |\n|---|---|\n"
CITED = (
    PaperCitation(f"{TABLE}| -3 | 0 |\n| 5 | 5 |\n| 12 | 10 |", "3.2 Values"),
    PaperCitation(
        "For the series 1, 2, 3, 4, 100 the clipped mean is 4.0: the last\nvalue is 10, and 20 "
        "divided by 5 is 4.0.",
        SENTENCES,
    ),
    PaperCitation("For the series 2, 4, 6 nothing is clipped, and it is 4.0 as well.", SENTENCES),
    PaperCitation("For the series -5, 5 the clipped mean is 2.5.", "3.6"),
    PaperCitation("The input is the ramp x = 1, 2, 3 with a decay of 0.5.", "3.4 Ramp"),
    PaperCitation("Table 3\n\n1 0.5 1.0\n2 1.25 1.6667\n3 2.125 2.4286", "3.4 Ramp"),
    PaperCitation("For 7, 7 the estimates are 7, 7, and the averages 0.7 and 1.33.", "3.5"),
)
EXAMPLES = examples_in(CITED, frozenset({0.0, 10.0}))
HEAD = "from pkg.a import average, clip, estimate, mean\n\n\n"


def held(*lines: str) -> bool:
    """Tell whether a test with these lines stays as it is."""
    body = "".join(f"    {line}\n" for line in lines)
    text = f"{HEAD}def test_a():\n{body}"
    try:
        return keep_exemplified(text, EXAMPLES).text == text
    except Unusable:
        return False


@pytest.mark.parametrize(
    "line",
    [
        "assert clip(-3, 0, 10) == 0",
        "assert clip(x=12, low=0, high=10) == pytest.approx(10, abs=0.5)",
        "assert mean([1, 2, 3, 4, 100], 0, 10) == 4.0",
        "assert mean([2, 4, 6], 0, 10) == 4",
        "assert 2.5 == mean([-5, 5], 0, 10)",
        "assert math.isclose(mean([-5, 5], 0, 10), 2.5, rel_tol=1e-9)",
        "assert average([1, 2, 3], 0.5)[1] == 1.25",
        "assert round(average([1, 2, 3], 0.5)[2], 3) == 2.125",
        "assert average([1, 2, 3], 0.5) == pytest.approx([0.5, 1.25, 2.125])",
        "assert estimate([7, 7]) == [7, 7]",
        "assert average([7, 7]) == [0.7, 1.33]",
        "assert mean([3, 9], 0, 10) == (3 + 9) / 2",
        "assert clip(1, 2, 3) is None",
    ],
)
def test_what_an_example_states_is_kept(line: str) -> None:
    assert held(line)


@pytest.mark.parametrize(
    "line",
    [
        "assert clip(1, 0, 10) == 0",
        "assert clip(12, 0, 10) == 12",
        "assert clip(-5, 0, 10) == 2.5",
        "assert clip(10, 0, 10) == 12",
        "assert clip(2, 0, 10) == 4",
        "assert clip(1, 0, 10) == 4.0",
        "assert mean([-5, 5], 5, 10) == 2.5",
        "assert mean([2, 4, 6], 0, 10) == 6",
        "assert mean([1, 2, 3], 0, 10) == 4.0",
        "assert average([1, 2, 3], 0.9) == [0.5, 1.25, 2.125]",
        "assert average([1, 2], 0.7) == [0.5, 1.25]",
    ],
)
def test_what_none_states_is_left_out(line: str) -> None:
    assert not held(line)


def test_values_are_followed_through_names() -> None:
    assert held("values = [-5, 5]", "found = mean(values, 0, 10)", "assert found == 2.5")
    assert not held("values = [-5, 4]", "found = mean(values, 0, 10)", "assert found == 2.5")


def test_of_a_test_with_several_cases_only_the_wrong_ones_go() -> None:
    text = f"{HEAD}def test_a():\n    assert clip(-3, 0, 10) == 0\n    assert clip(3, 0, 10) == 4\n"

    kept = keep_exemplified(text, EXAMPLES)

    assert kept.text == f"{HEAD}def test_a():\n    assert clip(-3, 0, 10) == 0\n"
    assert kept.left_out == ("cases of test_a",)


def test_rows_of_a_parametrized_test_are_cases() -> None:
    rows = "[\n    (-3, 0, 10, 0),\n    (1, 0, 10, 0),\n]"
    body = "def test_a(x, low, high, y):\n    assert clip(x, low, high) == y\n"
    mark = '@pytest.mark.parametrize("x, low, high, y", '

    kept = keep_exemplified(f"{HEAD}{mark}{rows})\n{body}", EXAMPLES)

    assert "(-3, 0, 10, 0)" in kept.text
    assert "(1, 0, 10, 0)" not in kept.text
    assert kept.text.endswith(body)


def test_a_test_without_a_right_case_goes_and_one_of_an_error_stays() -> None:
    wrong = "def test_a():\n    assert clip(1, 0, 10) == 0\n"
    error = "def test_b():\n    with pytest.raises(ValueError):\n        mean([], 0, 10)\n"

    kept = keep_exemplified(f"{HEAD}{wrong}\n\n{error}", EXAMPLES)

    assert kept.text == f"{HEAD}{error}"
    assert kept.left_out == ("test_a",)


def test_a_file_without_a_right_case_is_said_to_be_none() -> None:
    with pytest.raises(Unusable, match="rests on an example"):
        keep_exemplified(f"{HEAD}def test_a():\n    assert clip(1, 0, 10) == 0\n", EXAMPLES)


def test_a_sentence_is_one_example_and_a_table_one_for_each_row_and_one_for_all() -> None:
    kinds = [each.kind for each in EXAMPLES]

    assert kinds.count("sentence") == 5
    assert kinds.count("table") == 2
    assert Example("row", (12.0, 10.0), EXAMPLES[0].beside) in EXAMPLES


def test_a_formula_is_no_worked_example() -> None:
    rule = PaperCitation("The value is s = b * s + (1 - b) * x, beginning with s = 0.", "Method")
    example = PaperCitation("For the values 1 and 2 the results are 1.0 and 1.526.", "Result")

    found = examples_in([rule, example], frozenset())

    assert [each.numbers for each in found] == [(1.0, 2.0, 1.0, 1.526)]
