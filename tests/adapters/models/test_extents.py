"""How far a value reaches by the words around it."""

import math

import pytest

from adapters.models.extractive.extents import extent_of
from adapters.models.extractive.values import find_values

DAY = 86_400


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("kept for 30 days", 30, 30),
        ("kept for up to 30 days", -math.inf, 30),
        ("no more than 30 days", -math.inf, 30),
        ("30 days or less", -math.inf, 30),
        ("at least 30 days", 30, math.inf),
        ("30+ days", 30, math.inf),
        ("30 days or longer", 30, math.inf),
        ("20 to 30 days", 20, 30),
        ("20–30 days", 20, 30),
        ("20-30 days", 20, 30),
        ("between 20 and 30 days", 20, 30),
        ("20 days to 30 days", 20, 30),
        ("25 members and 30 days", 30, 30),
        ("25 members or 30 days", 30, 30),
        ("from 2020 to 2024 it was 30 days", 30, 30),
        ("for a month", 30.4375, 30.4375),
        ("RFC 20-30 days", 20, 30),
    ],
)
def test_a_value_reaches_as_far_as_its_words_say(text: str, low: float, high: float) -> None:
    value = [each for each in find_values(text) if each.kind == "duration"][-1]

    extent = extent_of(text, value)

    assert (extent.low / DAY, extent.high / DAY) == (low, high)


@pytest.mark.parametrize("text", ["the part X20-30", "call 555-20-30 days", "2024-10-30", "a4-30"])
def test_codes_are_no_ranges(text: str) -> None:
    assert not [value for value in find_values(text) if value.kind == "duration"]
