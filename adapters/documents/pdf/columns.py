"""Tells from where text stands whether columns were drawn row by row, across their gutters."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from adapters.documents.pdf.scan import Box

_MIN_LINES = 6
_MIN_SWITCHES = 0.5
_MIN_FILLED = 0.6
_MIN_RATIO = 10.0
_MIN_GUTTER = 0.8
_MAX_CROSSING = 0.2
_MAX_GUTTERS = 8


def gutters_crossed(boxes: Sequence[Box]) -> tuple[float, ...]:
    """Return the x of gutters that the drawing order of `boxes` jumps over, line for line.

    Only columns of prose count, whose lines fill them: in a table, the order of rows is right.
    """
    pieces = _pieces(boxes)
    if len(pieces) < 2 * _MIN_LINES:
        return ()
    found: list[float] = []
    for gutter in _gutters(pieces)[:_MAX_GUTTERS]:
        if _is_crossed(pieces, gutter, [*found]):
            found.append(gutter)
    return tuple(found)


def _pieces(boxes: Sequence[Box]) -> list[Box]:
    """Return boxes joined with the one drawn before them where only a word's gap is between."""
    pieces: list[Box] = []
    for box in boxes:
        if box[2] - box[0] <= 0 or box[3] - box[1] <= 0:
            continue
        if pieces and _goes_on(pieces[-1], box):
            last = pieces[-1]
            bottom, top = min(last[1], box[1]), max(last[3], box[3])
            pieces[-1] = last[0], bottom, max(last[2], box[2]), top
        else:
            pieces.append(box)
    return pieces


def _goes_on(last: Box, box: Box) -> bool:
    height = max(last[3] - last[1], box[3] - box[1])
    overlap = min(last[3], box[3]) - max(last[1], box[1])
    if overlap < 0.3 * min(last[3] - last[1], box[3] - box[1]):
        return False
    return -0.5 * height <= box[0] - last[2] <= _MIN_GUTTER * height


def _gutters(pieces: Sequence[Box]) -> list[float]:
    """Return the middles of gaps that few pieces cross, between the edges of the text."""
    lefts = sorted(piece[0] for piece in pieces)
    rights = sorted(piece[2] for piece in pieces)
    gaps: list[tuple[float, float]] = []
    most = _MAX_CROSSING * len(pieces)
    start: float | None = None
    edges = sorted({*lefts, *rights})
    for left, right in pairwise(edges):
        middle = (left + right) / 2
        covered = bisect_right(lefts, middle) - bisect_left(rights, middle)
        if covered <= most:
            start = left if start is None else start
        elif start is not None:
            gaps.append((start, left))
            start = None
    height = median(piece[3] - piece[1] for piece in pieces)
    return [(a + b) / 2 for a, b in gaps if b - a >= _MIN_GUTTER * height and a > lefts[0]]


def _is_crossed(pieces: Sequence[Box], gutter: float, before: Sequence[float]) -> bool:
    floor = before[-1] if before else float("-inf")
    left = [p for p in pieces if floor <= p[0] and p[2] <= gutter]
    right = [p for p in pieces if p[0] >= gutter]
    if min(len(left), len(right)) < _MIN_LINES or not (_fills(left) and _fills(right)):
        return False
    switches = sum(
        one[2] <= gutter <= other[0] and _same_row(one, other) for one, other in pairwise(pieces)
    )
    return switches >= _MIN_SWITCHES * min(len(left), len(right))


def _fills(side: Sequence[Box]) -> bool:
    """Tell whether most pieces are as broad as their column, and long enough to be prose."""
    widths = [piece[2] - piece[0] for piece in side]
    heights = [piece[3] - piece[1] for piece in side]
    broadest = sorted(widths)[int(0.9 * (len(widths) - 1))]
    typical = median(widths)
    return typical >= _MIN_FILLED * broadest and typical >= _MIN_RATIO * median(heights)


def _same_row(one: Box, other: Box) -> bool:
    overlap = min(one[3], other[3]) - max(one[1], other[1])
    return overlap > 0.3 * min(one[3] - one[1], other[3] - other[1])
