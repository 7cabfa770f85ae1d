"""Numbers and their nouns."""

import re
from pathlib import Path

import pytest

from state.values.wording import counted, plain_problem


@pytest.mark.parametrize(
    ("number", "said"),
    [(0, "0 queries"), (1, "1 query"), (2, "2 queries"), (1000, "1,000 queries")],
)
def test_a_noun_agrees_with_its_number(number: int, said: str) -> None:
    assert counted(number, "query", "queries") == said
    assert counted(1, "claim") == "1 claim"
    assert counted(3, "claim") == "3 claims"


def test_what_a_validator_said_stands_alone() -> None:
    assert (
        plain_problem("Value error, the question holds no words") == "the question holds no words"
    )
    assert plain_problem("Field required") == "Field required"


def test_no_message_of_pydantic_is_shown_but_through_one_place() -> None:
    rooms = Path(__file__).resolve().parents[3]
    files = [
        path
        for room in ("flows", "tasks", "adapters", "state")
        for path in (rooms / room).rglob("*.py")
    ]

    spelled = [path.name for path in files if re.search(r"\[.msg.\]", path.read_text())]

    assert sorted(spelled) == ["request.py", "structured.py"]
