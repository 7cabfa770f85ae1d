"""Joins paragraphs that go on in the next column or on the next page, past what stands between."""

import re
from collections.abc import Sequence
from itertools import pairwise

from adapters.documents.pdf.lines import Line
from adapters.documents.pdf.paragraphs import Measure, Paragraph
from state.values.blocks import BlockKind

_LOOK_AHEAD = 40
_MAX_PARTS = 12
_FINISHED = re.compile(r"[.!?:][)\"'\]”’»\d]*$")
_SENTENCE_END = re.compile(
    r"(?<!\bal)(?<!\bFig)(?<!\bfig)(?<!\bEq)(?<!\bvs)(?<!\bNo)(?<!\bMr)(?<!\bDr)(?<!\b[A-Z])"
    r"(?<!\.g)(?<!\.e)[.!?][)\"'\]”’»]*\s+(?=[A-Z“\"(\[•\d])"
)
_GOING_ON = (BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.FOOTNOTE, BlockKind.CAPTION)
# What may float between the parts of a paragraph, at the head of a column or page.
_FLOATING = (BlockKind.FOOTNOTE, BlockKind.CAPTION, BlockKind.TABLE, BlockKind.CODE)

Chain = tuple[Paragraph, ...]


def chains(found: Sequence[Paragraph], usual: Measure) -> list[Chain]:
    """Return paragraphs with their continuations, in reading order.

    What stands between two parts of one paragraph comes after it.
    """
    taken: set[int] = set()
    made: list[Chain] = []
    for start, paragraph in enumerate(found):
        if start in taken:
            continue
        chain, at = [paragraph], start
        while (
            len(chain) < _MAX_PARTS
            and (following := _continuation(found, at, usual, taken)) is not None
        ):
            taken.add(following)
            chain.append(found[following])
            at = following
        made.append(tuple(chain))
    return made


def sentence_cuts(parts: Sequence[str]) -> list[int]:
    """Return where in the joined `parts` (a line break between) each part but the first begins.

    A sentence that goes on from one part to the next belongs to the one it begins in; a cut can
    be at the end of a part, or of all.
    """
    text = "\n".join(parts)
    cuts, at, known = [], 0, -1
    for part in parts[:-1]:
        at += len(part) + 1
        if _FINISHED.search(text[:at].rstrip()) and not text[at : at + 1].islower():
            cuts.append(max(at, known))
            continue
        if known < at:
            end = _SENTENCE_END.search(text, at)
            known = end.end() if end else len(text)
        cuts.append(known)
    return cuts


def _continuation(
    found: Sequence[Paragraph], at: int, usual: Measure, taken: set[int]
) -> int | None:
    above = found[at]
    if not above.main or above.kind not in _GOING_ON or above.lines[0].aside:
        return None
    for index in range(at + 1, min(len(found), at + _LOOK_AHEAD)):
        below = found[index]
        if below.page > above.lines[-1].page + 1:
            return None
        if not below.main or index in taken:
            continue
        if _may_go_on(above, below) and _reads_on(above, below, usual):
            return index
        if not _floats(below, above):
            return None
    return None


def _may_go_on(above: Paragraph, below: Paragraph) -> bool:
    if not _is_elsewhere(above, below) or below.lines[0].cells > 1:
        return False
    last, first = above.lines[-1], below.lines[0]
    same_size = abs(last.size - first.size) <= 0.06 * max(last.size, first.size)
    if above.kind in (BlockKind.FOOTNOTE, BlockKind.CAPTION):
        return same_size and below.kind is BlockKind.PARAGRAPH and below.page == above.page
    return same_size and below.kind is BlockKind.PARAGRAPH and not first.aside


def _is_elsewhere(above: Paragraph, below: Paragraph) -> bool:
    """Tell whether `below` is on another page or in another column."""
    last, first = above.lines[-1], below.lines[0]
    return first.page != last.page or first.y > last.y + 0.5 * last.size


def _reads_on(above: Paragraph, below: Paragraph, usual: Measure) -> bool:
    last, first = above.lines[-1], below.lines[0]
    if first.text[0].islower():
        return not _FINISHED.search(last.text) or last.text.endswith("g.")
    if _FINISHED.search(last.text) or not usual.is_full(last):
        return False
    looks_whole = usual.is_full(first) or _FINISHED.search(first.text) is not None
    return looks_whole and not _stands_in(below.lines)


def _stands_in(lines: Sequence[Line]) -> bool:
    """Tell whether the first line is indented, as those of new paragraphs are."""
    return any(one.x > other.x + 0.7 * one.size for one, other in pairwise(lines[:2]))


def _floats(paragraph: Paragraph, above: Paragraph) -> bool:
    """Tell whether a paragraph can stand between two parts of `above`: notes, labels, captions."""
    if paragraph.kind is BlockKind.CODE and not _is_elsewhere(above, paragraph):
        return False
    if paragraph.kind in _FLOATING or paragraph.lines[0].cells > 1:
        return True
    small = max(line.size for line in paragraph.lines) < 0.94 * above.lines[-1].size
    return small and paragraph.kind is not BlockKind.HEADING
