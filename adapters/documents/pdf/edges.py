"""Finds what stands at the edges of pages and is no part of the text, such as page numbers."""

import re
from collections import defaultdict
from collections.abc import Sequence
from statistics import median

from adapters.documents.pdf.lines import Line

_DEPTH = 2
_LEVEL = 2.0
_MAX_LENGTH = 160
_DIGITS = re.compile(r"\b\d+\b")
_PAGE_NUMBER = re.compile(
    r"[-–—|\[(\s]*(?:page|p\.|seite|página|стр\.)?\s*(?:\d{1,5}|[ivxlc]{1,7})"
    r"(?:\s*(?:of|/|von|de|из)\s*\d{1,5})?[-–—|\])\s.]*",
    re.IGNORECASE,
)
Key = tuple[str, int]


def edge_lines(pages: Sequence[Sequence[Line]]) -> set[int]:
    """Return the `id` of each line that is a running head or foot, or a page number.

    Such a line is outermost on its page and parted from the text; with the same words (numbers
    aside) it stands at the same height on another page. A page number may be the only one.
    """
    outermost = [_outermost(page) for page in pages]
    places: defaultdict[Key, list[Line]] = defaultdict(list)
    for page in outermost:
        for side, lines in page:
            for line in lines:
                places[_key(line, side)].append(line)
    found = {id(line) for lines in places.values() if _is_repeated(lines) for line in lines}
    found |= _at_the_same_height(outermost, found)
    heads = {(_key(line, 0), round(line.y / 4)) for p in pages for line in p if id(line) in found}
    found |= {
        id(line)
        for page in pages
        for line in page
        if _is_flow(line) and (_key(line, 0), round(line.y / 4)) in heads
    }
    for page in outermost:
        for _, lines in page:
            if lines and _PAGE_NUMBER.fullmatch(lines[0].text):
                found.add(id(lines[0]))
    return found


def _outermost(page: Sequence[Line]) -> list[tuple[int, list[Line]]]:
    """Return the lines at the top (1) and at the bottom (-1) of a page, outermost first."""
    lines = sorted(filter(_is_flow, page), key=_height)
    return [(side, _first_rows(ordered)) for side, ordered in ((1, lines[::-1]), (-1, lines))]


def _is_flow(line: Line) -> bool:
    return not line.aside and not line.hidden


def _height(line: Line) -> float:
    return line.y


def _first_rows(ordered: Sequence[Line]) -> list[Line]:
    """Return the lines of the first rows, up to where a gap or another size parts them."""
    rows: list[list[Line]] = []
    for line in ordered:
        if not rows or abs(rows[-1][0].y - line.y) > _LEVEL:
            if len(rows) > _DEPTH:
                break
            rows.append([line])
        else:
            rows[-1].append(line)
    for depth in range(min(_DEPTH, len(rows) - 1), 0, -1):
        if _is_apart(rows[depth - 1][0], rows[depth][0]):
            return [line for row in rows[:depth] for line in row]
    return []


def _is_apart(outer: Line, inner: Line) -> bool:
    size = max(outer.size, inner.size)
    return abs(outer.y - inner.y) > 1.5 * size or abs(outer.size - inner.size) > 0.08 * size


def _key(line: Line, side: int) -> Key:
    return " ".join(_DIGITS.sub("#", line.text.casefold()).split()), side


def _is_repeated(lines: Sequence[Line]) -> bool:
    if len({line.page for line in lines}) < 2 or len(lines[0].text) > _MAX_LENGTH:
        return False
    middle = median(line.y for line in lines)
    level = [line for line in lines if abs(line.y - middle) <= 4]
    return len({line.page for line in level}) >= max(2, 0.6 * len(lines))


def _at_the_same_height(
    outermost: Sequence[list[tuple[int, list[Line]]]], found: set[int]
) -> set[int]:
    """Return the lines that stand where running heads do on three pages, whatever they say."""
    heights: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    for page in outermost:
        for side, lines in page:
            for line in lines[:1]:
                if id(line) in found:
                    heights[side, round(line.y)].add(line.page)
    also = set()
    for page in outermost:
        for side, lines in page:
            for line in lines[:1]:
                near = (heights.get((side, round(line.y) + step), set()) for step in (-1, 0, 1))
                if len(line.text) <= _MAX_LENGTH and len(set[int]().union(*near)) >= 3:
                    also.add(id(line))
    return also
