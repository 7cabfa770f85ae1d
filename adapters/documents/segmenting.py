"""A document cut into the parts that belong together, by its structure and nothing else."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from state.values.blocks import Block, BlockKind, Document
from state.values.segments import Segment, SegmentKind

PROSE_CHARACTERS = 2400
"""How long a segment of prose may be."""

_KINDS = {
    BlockKind.EQUATION: SegmentKind.EQUATION,
    BlockKind.TABLE: SegmentKind.TABLE,
    BlockKind.CODE: SegmentKind.CODE,
}
_REFERENCES = re.compile(
    r"(?:[\dIVX]+[.)]?\s+)?(?:references|bibliography|literature(?: cited)?|works cited"
    r"|literatur(?:verzeichnis)?|quellen(?:verzeichnis)?|bibliographie|références)\W*\Z",
    re.IGNORECASE,
)
# What a reader of PDF files took for a paragraph: a line with a relation and a number at its end.
_NUMBERED_FORMULA = re.compile(r"[^\n]{1,160}[=≈≤≥∝←][^\n.]{1,160}\(\d+(?:\.\d+)?[a-z]?\)\s*\Z")
_TABLE = re.compile(r"(?:table|tabelle|tab\.)\s*[\dIVXA-Z]+(?:\.\d+)*\s*[.:|–—-]", re.IGNORECASE)
_ALGORITHM = re.compile(r"(?:algorithm|algorithmus|procedure|listing)\s+\d+\b", re.IGNORECASE)
_STEP = re.compile(
    r"\s*(?:\d+\s*[.:)]?\s|[-•*]\s|(?:input|output|require|ensure|initiali[sz]e|for|while|repeat"
    r"|until|if|else|return|end|do|set|procedure|function)\b)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\s+|[。！？]|\n+")
_SENTENCES = re.compile(r"[.!?:;]\s*\Z|[.!?]\s+[^\W\d_a-z]")
_NUMBER = re.compile(r"\d")
_FEWEST_WORDS = 8
_LOWER_SHARE = 0.4


@dataclass(slots=True)
class _Labelled:
    """A main block, what it is part of, and the headings above it; `run` tells gaps apart."""

    block: Block
    text: str
    kind: SegmentKind
    section: tuple[str, ...]
    run: int
    is_caption: bool = False

    @property
    def is_heading(self) -> bool:
        return self.block.kind is BlockKind.HEADING

    @property
    def opens_algorithm(self) -> bool:
        return _ALGORITHM.match(self.text) is not None


@dataclass(slots=True)
class _Group:
    """Labelled blocks that make one segment, and whether a caption has closed it."""

    members: list[_Labelled] = field(default_factory=list)
    is_closed: bool = False


def segment(document: Document) -> tuple[Segment, ...]:
    """Return the segments of `document` in reading order.

    Every character of a main block is in exactly one of them, and none of another block. A table
    has its caption with it. Prose is cut at headings, and at borders of paragraphs where it is
    longer than `PROSE_CHARACTERS`; within a paragraph only when that alone is longer.
    """
    labelled = _label(document)
    _label_tables(labelled)
    _label_algorithms(labelled)
    spans = [span for group in _grouped(labelled) for span in _spans(group, document.text)]
    return tuple(
        Segment(
            id=f"s{number}",
            kind=first.kind,
            section=first.section,
            text=document.text[start:end],
            start=start,
            end=end,
            page=first.block.page,
        )
        for number, (first, start, end) in enumerate(spans, start=1)
    )


def _label(document: Document) -> list[_Labelled]:
    labelled: list[_Labelled] = []
    headings: list[tuple[int, str]] = []
    references: int | None = None
    run = 0
    for block in document.blocks:
        if not block.main:
            run += 1
            continue
        if block.start >= block.end:
            continue
        text = document.text[block.start : block.end]
        if block.kind is BlockKind.HEADING:
            level = block.level or (headings[-1][0] if headings else 1)
            headings = [*(each for each in headings if each[0] < level), (level, _title(text))]
            if references is not None and level <= references:
                references = None
            if references is None and _REFERENCES.match(text.strip()):
                references = level
        kind = _KINDS.get(block.kind, SegmentKind.PROSE)
        if block.kind is BlockKind.PARAGRAPH and _NUMBERED_FORMULA.match(text):
            kind = SegmentKind.EQUATION
        if references is not None:
            kind = SegmentKind.REFERENCES
        labelled.append(_Labelled(block, text, kind, tuple(title for _, title in headings), run))
    return labelled


def _title(text: str) -> str:
    return " ".join(text.split())


def _label_tables(labelled: Sequence[_Labelled]) -> None:
    """Take into a table its caption, and the rows that were not read as such."""
    for at, each in enumerate(labelled):
        if each.is_heading or not _is_free(each) or not _TABLE.match(each.text):
            continue
        rows = _rows(labelled[at + 1 :], each.run) or _rows(reversed(labelled[:at]), each.run)
        if rows:
            for row in (each, *rows):
                row.kind = SegmentKind.TABLE
            each.is_caption = True


def _is_free(each: _Labelled) -> bool:
    return each.kind in (SegmentKind.PROSE, SegmentKind.TABLE)


def _rows(following: Iterable[_Labelled], run: int) -> list[_Labelled]:
    """Return the rows that `following` begins with; the last one is a table's or has a number."""
    rows = list(takewhile(lambda each: each.run == run and _may_be_row(each), following))
    while rows and rows[-1].kind is not SegmentKind.TABLE and not _NUMBER.search(rows[-1].text):
        rows.pop()
    return rows


def _may_be_row(each: _Labelled) -> bool:
    if each.is_heading or each.is_caption or not _is_free(each):
        return False
    is_table = each.kind is SegmentKind.TABLE
    return is_table or not (_TABLE.match(each.text) or _is_prose(each))


def _is_prose(each: _Labelled) -> bool:
    """Tell whether a block says sentences; rows and cells do not."""
    if each.block.kind in (BlockKind.CAPTION, BlockKind.FOOTNOTE):
        return True
    words = each.text.split()
    lower = sum(word.isalpha() and word.islower() for word in words)
    is_long = len(words) >= _FEWEST_WORDS and lower >= _LOWER_SHARE * len(words)
    return is_long and _SENTENCES.search(each.text) is not None


def _label_algorithms(labelled: Sequence[_Labelled]) -> None:
    """Take the steps of a numbered algorithm together, whatever they were read as."""
    for at, each in enumerate(labelled):
        if each.kind is SegmentKind.REFERENCES or not each.opens_algorithm:
            continue
        steps = list(_steps(labelled[at + 1 :], each))
        if steps or "\n" in each.text.strip():
            for step in (each, *steps):
                step.kind = SegmentKind.ALGORITHM


def _steps(following: Iterable[_Labelled], opening: _Labelled) -> Iterator[_Labelled]:
    for each in following:
        is_step = each.block.kind in (BlockKind.CODE, BlockKind.LIST, BlockKind.EQUATION) or (
            _STEP.match(each.text) is not None and not _is_prose(each)
        )
        if each.run != opening.run or each.is_heading or each.opens_algorithm or not is_step:
            return
        yield each


def _grouped(labelled: Iterable[_Labelled]) -> Iterator[list[_Labelled]]:
    group = _Group()
    for each in labelled:
        if group.members and _begins_anew(each, group):
            yield group.members
            group = _Group()
        if each.is_caption and group.members and not group.members[0].is_caption:
            group.is_closed = True
        group.members.append(each)
    if group.members:
        yield group.members


def _begins_anew(each: _Labelled, group: _Group) -> bool:
    first, last = group.members[0], group.members[-1]
    if each.kind is not last.kind or each.run != last.run or group.is_closed:
        return True
    match each.kind:
        case SegmentKind.PROSE:
            is_long = each.block.end - first.block.start > PROSE_CHARACTERS
            return not last.is_heading and (each.is_heading or is_long)
        case SegmentKind.REFERENCES:
            return False
        case SegmentKind.TABLE:
            return each.section != last.section or (each.is_caption and first.is_caption)
        case SegmentKind.ALGORITHM:
            return each.opens_algorithm
        case _:
            return each.section != last.section


def _spans(group: Sequence[_Labelled], text: str) -> Iterator[tuple[_Labelled, int, int]]:
    """Yield what `group` spans; prose that is one long paragraph in pieces.

    A heading belongs to what comes after it, so a group of headings has the section of the last.
    """
    first, start, end = group[0], group[0].block.start, group[-1].block.end
    if first.is_heading:
        first = next((each for each in group if not each.is_heading), group[-1])
    if first.kind is not SegmentKind.PROSE:
        yield first, start, end
        return
    while end - start > PROSE_CHARACTERS:
        middle = _cut(text, start, start + PROSE_CHARACTERS)
        yield first, start, middle
        start = middle
    yield first, start, end


def _cut(text: str, start: int, limit: int) -> int:
    ends = [found.end() for found in _SENTENCE_END.finditer(text, start, limit)]
    half = (start + limit) // 2
    if ends and ends[-1] > half:
        return ends[-1]
    space = text.rfind(" ", half, limit)
    return space + 1 if space > 0 else limit
