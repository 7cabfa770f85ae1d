"""Worked examples of a source as numbers: what goes in, and what it states to come out."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from state.values.code_plan import PaperCitation

_NUMBER = re.compile(r"(?<![\w.])[-−]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_JOINT = re.compile(r"\s*(?:[,;]|,?\s*\b(?:and|und|et)\b)\s*")
_CAPTION = re.compile(r"(?i)\s*(?:table|tabelle|figure|abbildung)\s*\d+")
_WORD = re.compile(r"[^\W\d_]{3,}")
# A formula with letters says how values come about, not which: b * s, x^2.
_FORMULA = re.compile(r"[A-Za-z_]\w*( ?)[*^]\1[\w(]|[\w)]( ?)[*^]\2[A-Za-z_]")
_FEWEST_ROWS = 2


@dataclass(frozen=True, slots=True)
class Example:
    """Numbers that a source states together, in order, and those that stand `beside` them.

    `series` are the ranges of `numbers` that are lists. A whole table is an example beside its rows
    for what is expected as a list: a column of it.
    """

    kind: Literal["sentence", "row", "table"]
    numbers: tuple[float, ...]
    beside: frozenset[float] = frozenset()
    series: tuple[range, ...] = ()

    def holds(self, inputs: Sequence[float], expected: Sequence[float]) -> bool:
        """Tell whether the example can say that `inputs` give what is `expected`.

        Each of them has to stand there as often as it is used, or beside it.
        """
        left = list(self.numbers)
        for number in expected:
            if number not in left:
                return False
            left.remove(number)
        for number in inputs:
            if number in left:
                left.remove(number)
            elif number not in self.beside:
                return False
        if self.kind == "table":
            return len(expected) > 1
        places = [at for at, number in enumerate(self.numbers) if number == expected[0]]
        return any(self._follows(at, frozenset(inputs)) for at in places)

    def _follows(self, at: int, inputs: frozenset[float]) -> bool:
        """Tell whether the number at `at` comes out: after a cell of its row, or of a list."""
        if self.kind == "row":
            return not inputs.isdisjoint(self.numbers[:at])
        own = next((each for each in self.series if at in each), None)
        before = [each for each in self.series if each.stop <= at]
        after = [each for each in self.series if each.start > at and own is None]
        nearest = before[-1:] or after[:1]
        if not nearest:
            return own is None
        return frozenset(self.numbers[each] for each in nearest[0]) <= inputs


def examples_in(cited: Sequence[PaperCitation], settings: frozenset[float]) -> tuple[Example, ...]:
    """Return the examples that the quotes state: sentences, rows of tables, and whole tables.

    Beside each are the `settings`, its caption, and what else is cited of its section.
    """
    found: list[Example] = []
    for each in cited:
        lines = each.quote.strip().splitlines()
        captions = [line for line in lines if _CAPTION.match(line)]
        rows = [numbers_of(line) for line in lines if line not in captions and _is_row(line)]
        near = [other.quote for other in cited if other.place == each.place and other is not each]
        beside = settings.union(*(numbers_of(said) for said in [*captions, *near]))
        if sum(len(row) > 1 for row in rows) < _FEWEST_ROWS:
            text = " ".join(lines)
            if len(numbers := numbers_of(text)) > 1 and not _FORMULA.search(text):
                found.append(Example("sentence", numbers, beside, tuple(_series(text))))
            continue
        found += [Example("row", row, beside) for row in rows]
        found.append(Example("table", tuple(number for row in rows for number in row), beside))
    return tuple(found)


def _is_row(line: str) -> bool:
    """Tell whether a line is of a table: numbers, and no more words than those, unlike a text's."""
    return len(_WORD.findall(line)) <= len(numbers_of(line)) and bool(numbers_of(line))


def numbers_of(text: str) -> tuple[float, ...]:
    """Return the numbers that stand in `text`, with their signs, in order."""
    return tuple(float(each.replace("−", "-")) for each in _NUMBER.findall(text))


def _series(text: str) -> Iterator[range]:
    """Yield where numbers stand in a list, as indices of all numbers."""
    spans = [match.span() for match in _NUMBER.finditer(text)]
    start = 0
    for at in range(1, len(spans) + 1):
        if at < len(spans) and _JOINT.fullmatch(text, spans[at - 1][1], spans[at][0]):
            continue
        if at - start > 1:
            yield range(start, at)
        start = at
