"""Tells rows of tables by the gaps between what was drawn on one base line."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from adapters.documents.pdf.lines import Line
from adapters.documents.pdf.scan import Box

_MIN_CELLS = 3
_CELL_GAP = 1.1
_MAX_PIECES = 300
_MIN_LINES_OF_COLUMN = 4


def count_cells(lines: Sequence[Line], boxes: Sequence[Box]) -> list[Line]:
    """Return `lines` with the number of cells of those that are rows; `boxes` are of text.

    What stands in another column of the page is no cell: a column is where several lines begin.
    A row has another one above or below it.
    """
    starts = Counter(round(line.x / 4) for line in lines)
    columns = sorted(4 * x for x, count in starts.items() if count >= _MIN_LINES_OF_COLUMN)
    drawn = sorted((box for box in boxes if box[2] > box[0]), key=lambda box: box[1])
    bottoms = [box[1] for box in drawn]
    counts = []
    for line in lines:
        if line.cells > 1 or line.aside or line.hidden or not line.text[0].isalnum():
            counts.append(line.cells)  # a bullet stands apart from its item, as cells do
            continue
        end = next((x for x in columns if x > line.x + 4 * line.size), float("inf"))
        first = bisect_left(bottoms, line.y - 0.4 * line.size)
        last = bisect_left(bottoms, line.y + 0.3 * line.size)
        last = min(last, first + _MAX_PIECES)
        row = [box for box in drawn[first:last] if line.x - 2 <= box[0] < end - 2]
        cells = _cells(row, line.size)
        counts.append(cells if cells <= len(line.text.split()) else 1)
    return [
        line if line.cells > 1 else replace(line, cells=_settled(counts, at))
        for at, line in enumerate(lines)
    ]


def _settled(counts: Sequence[int], at: int) -> int:
    """Return the cells of a line, judged with its neighbours: rows are seldom alone."""
    above = counts[at - 1] if at else 1
    below = counts[at + 1] if at + 1 < len(counts) else 1
    if counts[at] < _MIN_CELLS:
        return _MIN_CELLS if min(above, below) >= _MIN_CELLS else counts[at]
    return counts[at] if max(above, below) >= _MIN_CELLS else 1


def _cells(row: Sequence[Box], size: float) -> int:
    held = sorted(row)
    reached = accumulate((box[2] for box in held), max)
    return 1 + sum(
        box[0] - edge > _CELL_GAP * size for edge, box in zip(reached, held[1:], strict=False)
    )
