"""Groups the lines of a page into paragraphs, and tells what each is."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from adapters.documents.pdf.lines import Line
from state.values.blocks import BlockKind

_BULLET = re.compile(r"[•‣▪▫●○◦■□➢❖✓∙·⁃]\s*\S|[-–—*]\s+\S|o\s+[A-Z]")
_NUMBERED = re.compile(r"\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)]\s+\S|\[\d{1,3}\]\s+\S")
_CAPTION = re.compile(
    r"(?:figure|fig\.|table|tab\.|listing|algorithm|scheme|plate|exhibit|box|example)\s+"
    r"(?:\d{1,3}|[A-Z]|[IVX]{1,5})(?:[.\-–]\d{1,3})*(?:[:.]\s|\s*[-–—|]\s|\s{2,}\S|\.?$)",
    re.IGNORECASE,
)
_NOTE = re.compile(r"(?:\d{1,2}|[*∗†‡§¶]{1,2})\s*(?=[A-Z\"“(]|https?:)")
_EQUATION_NUMBER = re.compile(r"\((?:\d{1,3}|[A-Z])(?:\.\d{1,3})?\)$")
_DEPTH = re.compile(r"(?:[A-Z](?=\.)|\d{1,2})((?:\.\d{1,2})*)\.?\s+\S")
_SECTION = re.compile(r"\d{1,2}(?:\.\d{1,2})*\.?\s+[A-Z]")
_SENTENCE_END = re.compile(r"[.!?:][)\"'\]”’»]*$")
_LABEL = re.compile(r"(?:(?:chapter|part|section|appendix)\s+)?[\dA-Z][\d.]*\.?\t", re.IGNORECASE)
_LEADER = re.compile(r"(?:\.\s?){5,}\s*(?:\d{1,4}|[ivxlc]{1,6})$")
_CODE = re.compile(r"[(){};=<>\[\]]")
_MAX_HEADING = 160
_MAX_COMMAS = 2
_MIN_LETTERS = 2
_NOTE_MARKS = "*∗†‡§¶"
_LONG_HEADING = 80
_MAX_BOLD_LINES = 3
_TAIL = 120


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines that belong together, and what they are; `main` is False for what is aside."""

    kind: BlockKind
    lines: tuple[Line, ...]
    main: bool = True

    @property
    def text(self) -> str:
        """Return the lines, one below the other."""
        return "\n".join(line.text for line in self.lines)

    @property
    def page(self) -> int:
        """Return the page it begins on, from 1."""
        return self.lines[0].page


@dataclass(frozen=True, slots=True)
class Measure:
    """What is usual in a document: the size of its text, and by size its leading and length."""

    body: float
    leading: dict[int, float]
    length: dict[int, float]

    def leading_of(self, line: Line) -> float:
        """Return the usual distance between lines as large as `line`."""
        return self.leading.get(_class(line), 1.25 * line.size)

    def is_full(self, line: Line) -> bool:
        """Tell whether `line` is about as long as lines of its size are."""
        return len(line.text) >= 0.78 * self.length.get(_class(line), 0)


def measure(lines: Sequence[Line]) -> Measure:
    """Return what is usual among `lines`, which are in reading order."""
    sizes: Counter[int] = Counter()
    steps: defaultdict[int, list[float]] = defaultdict(list)
    lengths: defaultdict[int, list[int]] = defaultdict(list)
    for line in lines:
        sizes[_class(line)] += line.letters
        lengths[_class(line)].append(len(line.text))
    for one, other in pairwise(lines):
        step = one.y - other.y
        if one.page == other.page and _class(one) == _class(other) and 0 < step < 3 * one.size:
            steps[_class(one)].append(step)
    body = sizes.most_common(1)[0][0] / 2 if sizes else 10.0
    return Measure(
        body=max(body, 0.5),
        leading={size: median(found) for size, found in steps.items() if len(found) > 2},
        length={
            size: sorted(found)[int(0.8 * (len(found) - 1))] for size, found in lengths.items()
        },
    )


def _class(line: Line) -> int:
    return round(line.size * 2)


def group(lines: Sequence[Line], usual: Measure) -> list[Paragraph]:
    """Return the paragraphs of one page's lines, which are in reading order."""
    groups: list[list[Line]] = []
    for line in lines:
        if groups and not _begins(groups[-1], line, usual):
            groups[-1].append(line)
        else:
            groups.append([line])
    lowest = min((line.y for line in lines), default=0.0)
    highest = max((line.y for line in lines), default=0.0)
    foot = lowest + 0.45 * (highest - lowest)
    return [
        Paragraph(_kind(found, usual, foot), tuple(found), main=not _is_contents(found))
        for found in groups
    ]


def looks_like_heading(line: Line, usual: Measure) -> bool:
    """Tell whether a line's letters are a heading's: larger than the text, or bold and short."""
    text = line.text
    if len(text) > _MAX_HEADING or line.aside or not any(map(str.isalpha, text)):
        return False
    if line.cells > 1 and not _LABEL.match(text):
        return False
    if text[-1] in _NOTE_MARKS or "@" in text or text.count(",") > _MAX_COMMAS:
        return False  # names of authors are often bold
    if _CAPTION.match(text) or line.letters < _MIN_LETTERS:
        return False
    if line.size >= 1.15 * usual.body:
        return line.math < 0.5
    if not line.bold or line.size < 0.95 * usual.body or text[0].islower():
        return False
    return len(text) <= 120 and (text[-1] not in ".,;" or _DEPTH.match(text) is not None)


def depth_of(text: str) -> int:
    """Return how deep a heading's number goes, `3.2.1` three; 1 of a heading without number."""
    found = _DEPTH.match(text)
    return 1 + found[1].count(".") if found else 1


def _begins(above: Sequence[Line], line: Line, usual: Measure) -> bool:
    """Tell whether `line` begins a new paragraph after the lines `above`."""
    last = above[-1]
    size = max(last.size, line.size)
    if _is_other(last, line, usual):
        return True
    step = last.y - line.y
    if _is_row(last, usual) and 0 < step < 4 * size:
        return _CAPTION.match(line.text) is not None
    if step < -0.5 * size or step > 1.28 * usual.leading_of(last) + 0.1 * size:
        return True
    if looks_like_heading(line, usual):
        return _SECTION.match(line.text) is not None
    if _BULLET.match(line.text) or _CAPTION.match(line.text):
        return True
    if _NUMBERED.match(line.text) and (_ends(last.text) or _NUMBERED.match(above[0].text)):
        return True
    if line.mono and last.mono:
        return False
    return _is_indented(above, line) or (
        _ends(last.text) and not usual.is_full(last) and not line.text[0].islower() and step > 0
    )


def _is_other(last: Line, line: Line, usual: Measure) -> bool:
    if last.mono != line.mono or last.aside != line.aside:
        return True
    is_heading = looks_like_heading(line, usual)
    if looks_like_heading(last, usual) != is_heading:
        return True
    if is_heading:
        return last.bold != line.bold or not _alike(last.size, line.size)
    if _is_row(last, usual) != _is_row(line, usual):
        return True
    return not any(
        _alike(one, other) for one in (last.size, last.tail) for other in (line.size, line.head)
    )


def _alike(one: float, other: float) -> bool:
    return abs(one - other) <= 0.12 * max(one, other)


def _is_row(line: Line, usual: Measure) -> bool:
    """Tell a row of a table from text with its label in front."""
    return line.cells > 2 or (line.cells == 2 and not usual.is_full(line))


def _ends(text: str) -> bool:
    return _SENTENCE_END.search(text[-_TAIL:]) is not None


def _is_indented(above: Sequence[Line], line: Line) -> bool:
    """Tell whether `line` stands in from, or out of, where its paragraph's lines begin."""
    indent = 0.7 * line.size
    first, last = above[0], above[-1]
    if len(above) == 1:
        # The second line of a list item or reference hangs; else only a first line stands in.
        hangs = _BULLET.match(first.text) or _NUMBERED.match(first.text)
        return indent < line.x - last.x < 5 * line.size and not hangs and _ends(last.text)
    if above[1].x - first.x > indent:
        return line.x < last.x - indent
    return indent < line.x - last.x < 5 * line.size


def _kind(lines: Sequence[Line], usual: Measure, foot: float) -> BlockKind:
    first, text = lines[0], lines[0].text
    if all(looks_like_heading(line, usual) for line in lines) and _is_short(lines, usual):
        return BlockKind.HEADING
    if _is_equation(lines):
        return BlockKind.EQUATION
    if _is_row(first, usual):
        is_table = len(lines) > 1 or ("\t" in text and first.cells > 2)
        return BlockKind.TABLE if is_table else BlockKind.PARAGRAPH
    if _CAPTION.match(text):
        return BlockKind.CAPTION
    if all(line.mono for line in lines) and _is_code(lines):
        return BlockKind.CODE
    if first.size <= 0.94 * usual.body and first.y <= foot and _NOTE.match(text):
        return BlockKind.FOOTNOTE
    is_item = _BULLET.match(text) or _NUMBERED.match(text)
    return BlockKind.LIST if is_item else BlockKind.PARAGRAPH


def _is_contents(lines: Sequence[Line]) -> bool:
    """Tell whether most lines lead by dots to a page number, as those of contents do."""
    return sum(_LEADER.search(line.text[-_TAIL:]) is not None for line in lines) > 0.5 * len(lines)


def _is_code(lines: Sequence[Line]) -> bool:
    return "@" not in lines[0].text and (len(lines) > 1 or bool(_CODE.search(lines[0].text)))


def _is_short(lines: Sequence[Line], usual: Measure) -> bool:
    """Tell whether lines as large or bold as headings are few enough to be one, and no sentence."""
    if lines[-1].text[-1] == "." and sum(len(line.text) for line in lines) > _LONG_HEADING:
        return False
    most = 6 if lines[0].size >= 1.15 * usual.body else _MAX_BOLD_LINES
    return len(lines) <= most


def _is_equation(lines: Sequence[Line]) -> bool:
    text = " ".join(line.text for line in lines)
    if len(lines) > 4 or len(text) > 200 or lines[0].mono:
        return False
    letters = sum(line.letters for line in lines)
    math = sum(line.math * line.letters for line in lines) / max(1, letters)
    words = sum(len(word) > 3 and word.isalpha() for word in re.findall(r"\w+", text))
    is_numbered = math >= 0.2 and _EQUATION_NUMBER.search(text) is not None and len(text) > 8
    return words <= 6 and (is_numbered or ("=" in text and (math >= 0.2 or not words)))
