"""How far a stated value reaches: "up to 30 days" and "20 to 40 days" state no single amount."""

import math
import re
from dataclasses import dataclass

from adapters.models.extractive.values import Value, number_of

_AT_MOST = (
    r"up to(?: a (?:maximum|total) of)?|(?:at|for)(?: the)? most|(?:no|not) (?:more|longer) than"
    r"|(?:less|fewer|shorter) than|under|below|(?:a |the )?max(?:imum|\.)?(?: of)?"
    r"|not exceed(?:ing)?|höchstens|maximal|bis zu|au plus|jusqu['’]à|como máximo|hasta"
)
_AT_LEAST = (
    r"(?:at|for)(?: the)? least|(?:no|not) (?:less|fewer|shorter) than|(?:more|longer) than|over"
    r"|above|exceed(?:s|ing)?|(?:a |the )?min(?:imum|\.)?(?: of)?|mindestens|au moins|al menos"
)
_BOUND = re.compile(
    rf"\b(?:(?P<most>{_AT_MOST})|(?P<least>{_AT_LEAST}))\s+(?:an?\s+)?\Z", re.IGNORECASE
)
_OPEN = re.compile(r"\s?\+|\s+(?:[^\W\d_]+\s+)?or\s+(?:more|longer)\b", re.IGNORECASE)
_CLOSED = re.compile(r"\s+(?:[^\W\d_]+\s+)?or\s+(?:less|fewer|shorter)\b", re.IGNORECASE)
_RANGE = re.compile(
    r"(?:\b(?P<between>between|zwischen|entre)\s+)?(?<![\w.,-])(?P<low>\d[\d.,]*)"
    r"(?:[ \u00a0-]?(?P<unit>[^\W\d_]+|%))?"
    r"(?:\s?[–—−-]\s?|\s+(?:to|through|till|or|bis|oder|à|ou|a|o)\s+|\s+(?P<and>and|und|et|y)\s+)"
    r"(?P<high>\d[\d.,]*)(?:[ \u00a0-]?(?P<other>[^\W\d_]+|%))?",
    re.IGNORECASE,
)
_LOOK = 48


@dataclass(frozen=True, slots=True)
class Extent:
    """What a statement allows its value to be, from `low` to `high`, in the kind's base unit."""

    low: float
    high: float

    @property
    def is_point(self) -> bool:
        """Tell whether one amount is stated."""
        return self.low == self.high

    @property
    def is_limit(self) -> bool:
        """Tell whether it is open to one side."""
        return math.isinf(self.low) or math.isinf(self.high)

    def misses(self, other: "Extent", slack: float) -> bool:
        """Tell whether no amount is within both, be they as much as `slack` apart."""
        return self.low > other.high + slack or other.low > self.high + slack


def bound_before(text: str, value: Value) -> str:
    """Return the words right before `value` that make a bound of it, or ''."""
    found = _BOUND.search(text, max(0, value.start - _LOOK), value.start)
    return found.group() if found else ""


def extent_of(text: str, value: Value) -> Extent:
    """Return how far `value`, which stands in `text`, reaches by the words around it."""
    digits = text[value.start : value.end]
    if found := _range(text, value):
        return found
    bound = _BOUND.search(text, max(0, value.start - _LOOK), value.start)
    after = text[value.end : value.end + _LOOK]
    if (bound and bound["most"]) or _CLOSED.match(after):
        return Extent(-math.inf, value.amount)
    if bound or "+" in digits or _OPEN.match(after):
        return Extent(value.amount, math.inf)
    return Extent(value.amount, value.amount)


def _range(text: str, value: Value) -> Extent | None:
    """Return the range that `value` is an end of. Its figures share the unit of the last one."""
    for match in _RANGE.finditer(text):
        if match["and"] and not match["between"]:
            continue
        if match["unit"] and match["unit"].lower() != (match["other"] or "").lower():
            continue
        low, high = number_of(match["low"].rstrip(".,")), number_of(match["high"].rstrip(".,"))
        own = {match.start("low"): low, match.start("high"): high}.get(value.start)
        if own and low <= high:
            factor = value.amount / own
            return Extent(low * factor, high * factor)
    return None
