"""What all readers share: what they give back, and how ranges of text become blocks."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from state.values.blocks import Block, BlockKind, Document, Outcome

MAX_BLOCK = 1_800
"""The longest block in code points; longer ones are split where a reader would pause."""

_SENTENCE_END = re.compile(r"""[.!?…][)"'\]”\u2019»]*(?=\s)|[。\uff01\uff1f][」』\uff09”\u2019]*""")
_LINE_END = re.compile(r"(?=\r\n|(?<!\r)\n|\r(?!\n))")
_SPACE = re.compile(r"(?=\s)")
_LINED = (BlockKind.TABLE, BlockKind.CODE)


@dataclass(frozen=True, slots=True)
class Reading:
    """A document, and what of it could not be read ('' when all of it was)."""

    document: Document
    lost: str = ""


class Unreadable(Exception):
    """There is no text to be had from these bytes; `reason` says to people why."""

    def __init__(self, outcome: Outcome, reason: str) -> None:
        super().__init__(reason)
        self.outcome = outcome
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Segment:
    """A range of a text that is to become one block, or several when it is long."""

    kind: BlockKind
    start: int
    end: int
    heading: str = ""
    main: bool = True
    page: int | None = None
    level: int = 0


def number_blocks(text: str, segments: Iterable[Segment]) -> tuple[Block, ...]:
    """Return the blocks of `segments` (in order, not overlapping), numbered from 1.

    Space around a segment is left out, an empty one is dropped, and one longer than `MAX_BLOCK`
    is split at the ends of sentences, or of lines in tables and code.
    """
    blocks: list[Block] = []
    for segment in segments:
        for start, end in _pieces(text, segment):
            blocks.append(
                Block(
                    kind=segment.kind,
                    start=start,
                    end=end,
                    paragraph=len(blocks) + 1,
                    page=segment.page,
                    heading=segment.heading,
                    main=segment.main,
                    level=segment.level,
                )
            )
    return tuple(blocks)


def _pieces(text: str, segment: Segment) -> Iterable[tuple[int, int]]:
    start, end = _trim(text, segment.start, segment.end)
    while end - start > MAX_BLOCK:
        cut = _cut(text, start, segment.kind)
        yield _trim(text, start, cut)
        start, _ = _trim(text, cut, end)
    if start < end:
        yield start, end


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


def _cut(text: str, start: int, kind: BlockKind) -> int:
    """Return where to end the piece that begins at `start`, always beyond it."""
    window = text[start : start + MAX_BLOCK + 1]
    patterns = (_LINE_END, _SENTENCE_END, _SPACE) if kind in _LINED else (_SENTENCE_END, _SPACE)
    for pattern in patterns:
        # A sentence end in the first third would leave a stub; the next kind of pause is better.
        ends = [m.end() for m in pattern.finditer(window) if MAX_BLOCK // 3 < m.end() <= MAX_BLOCK]
        if ends:
            return start + ends[-1]
    return start + MAX_BLOCK
