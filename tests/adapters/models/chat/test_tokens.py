"""Tokens are counted without a tokenizer: an estimate, and a bound that no text goes below."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.models.chat.port import ChatRequest, Message
from adapters.models.chat.tokens import at_least, estimate, estimate_request


@given(st.text())
def test_the_estimate_is_never_below_the_bound(text: str) -> None:
    assert estimate(text) >= at_least(text) >= 0


@given(st.text(), st.text())
def test_more_text_is_not_fewer_tokens_but_for_a_joint(first: str, second: str) -> None:
    assert estimate(first + second) >= estimate(first) - 2
    assert estimate(first + second) <= estimate(first) + estimate(second) + 2


# The counts are those of the tokenizer of Qwen2.5.
@pytest.mark.parametrize(
    ("text", "real"),
    [
        ("The audit log is kept for thirty days, then it is deleted.", 14),
        ("Die Datenschutzgrundverordnung muss nahezu jeder beachten.", 16),
        ("数据保留三十天，然后删除。", 8),
        ("def total(prices: list[float]) -> float:\n    return sum(prices)\n", 18),
        ('{"city": "Paris", "people": 2102650, "is_capital": true}', 23),
        ("| 12 | 44.400 | row 12 | yes |\n", 20),
    ],
)
def test_the_truth_lies_between_the_bound_and_the_estimate(text: str, real: int) -> None:
    assert at_least(text) <= real
    assert 0.85 * real <= estimate(text) <= 2 * real


def test_the_schema_and_the_template_count_too() -> None:
    bare = ChatRequest((Message("user", "Hello"),), 10)
    bound = ChatRequest((Message("user", "Hello"),), 10, schema={"type": "object"})

    assert estimate("Hello") < estimate_request(bare) < estimate_request(bound)


def test_nothing_is_no_tokens() -> None:
    assert estimate("") == at_least("") == 0
