"""Numbers and their nouns."""

import pytest

from state.values.wording import counted


@pytest.mark.parametrize(
    ("number", "said"),
    [(0, "0 queries"), (1, "1 query"), (2, "2 queries"), (1000, "1,000 queries")],
)
def test_a_noun_agrees_with_its_number(number: int, said: str) -> None:
    assert counted(number, "query", "queries") == said
    assert counted(1, "claim") == "1 claim"
    assert counted(3, "claim") == "3 claims"
