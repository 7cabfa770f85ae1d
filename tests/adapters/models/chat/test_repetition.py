"""A text that repeats itself without end is told from one that has a pattern."""

import json
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.models.chat.repetition import is_looping

SENTENCE = "The retention period of the audit log is described in the annex of the handbook. "
PARAGRAPH = " ".join(f"Sentence {word} of the paragraph." for word in "abcdefghijklmnopqrst") + "\n"
RECORD = {"id": "ev-1", "is_kept": True, "note": "", "verdict": "supported", "claims": []}


@pytest.mark.parametrize(
    "piece",
    ["a", "ha ", "End of Document. ", SENTENCE, PARAGRAPH, '{"a": null}, ', "0, ", "|---", "的"],
)
@pytest.mark.parametrize("before", ["", "A good beginning, which then goes wrong: " * 3])
def test_a_piece_said_again_and_again_is_a_loop(piece: str, before: str) -> None:
    assert is_looping(before + piece * (1 + 8000 // len(piece)))


def test_blanks_without_end_are_a_loop() -> None:
    assert is_looping('{"a": 1,' + " \n" * 400)


def test_counting_on_without_end_is_a_loop() -> None:
    assert is_looping("".join(f"Step {n}: check the annex again.\n" for n in range(400)))


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([RECORD | {"id": f"ev-{n}"} for n in range(40)], indent=1),
        json.dumps([RECORD | {"note": f"see {n * 7919 % 997}"} for n in range(100)]),
        "".join(f"| {n} | {n * 37 % 101} | row | yes |\n" for n in range(300)),
        "".join(f"{name},1,0,0,0,0,1\n" for name in map(str, range(500))),
        json.dumps([[0] * 28 for _ in range(12)]),
        "| --- | --- | --- | --- |\n" + "-" * 1500,
        "import math\n" * 20 + "x = 1\n" * 30,
        " " * 390,
        (SENTENCE * 6),
    ],
    ids=["records", "compact", "table", "csv", "zeros", "rules", "code", "blanks", "chorus"],
)
def test_a_pattern_with_content_is_none(text: str) -> None:
    assert not any(is_looping(text[:end]) for end in range(400, len(text) + 400, 400))


def test_random_words_are_none_and_are_told_fast() -> None:
    dice = random.Random(5)
    words = ["alpha", "beta", "gamma", "delta", "the", "of", "and"]
    text = " ".join(dice.choice(words) for _ in range(20_000))
    before = time.perf_counter()

    assert not any(is_looping(text[:end]) for end in range(400, 20_000, 400))
    assert time.perf_counter() - before < 1


@given(st.text(min_size=1, max_size=200), st.text(max_size=100))
def test_any_piece_long_enough_repeated_is_a_loop(piece: str, before: str) -> None:
    assert is_looping(before + piece * (1 + 6000 // len(piece)))
