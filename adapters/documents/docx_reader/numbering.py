"""The numbers of headings and list items, counted as Word counts them (ECMA-376 Part 1 §17.9)."""

import re
from dataclasses import dataclass, field

from lxml import etree

from adapters.documents.docx_reader.looks import is_on, value
from adapters.documents.docx_reader.numerals import numeral
from adapters.documents.docx_reader.styles import Styles, to_int
from adapters.documents.docx_reader.xml import w

LEVELS = 9
_MAX_LINKS = 8
_PLACEHOLDER = re.compile(r"%([1-9])")
_MAX_TEXT = 80  # of the pattern, and of what is made of it


@dataclass(frozen=True, slots=True)
class Label:
    """What stands before a paragraph: `text` is '' for a bullet. `depth` counts from 0."""

    text: str
    depth: int


@dataclass(frozen=True, slots=True)
class _Level:
    start: int = 1
    format: str = "decimal"
    text: str = ""
    restart: int | None = None
    is_legal: bool = False


@dataclass(slots=True)
class _List:
    """An abstract numbering: its levels, and how far each has counted (None: not begun)."""

    levels: dict[int, _Level]
    by_style: dict[str, int]
    counts: list[int | None] = field(default_factory=lambda: [None] * LEVELS)


@dataclass(slots=True)
class _Number:
    """A use of a list, which may say other levels and starts than the list itself."""

    list_id: str
    levels: dict[int, _Level] = field(default_factory=dict)
    starts: dict[int, int] = field(default_factory=dict)
    is_used: bool = False


class Numbering:
    """Counts the paragraphs of a document, which must be asked for in their order."""

    def __init__(self, root: etree._Element | None, styles: Styles) -> None:
        self._lists: dict[str, _List] = {}
        self._links: dict[str, str] = {}
        self._numbers: dict[str, _Number] = {}
        self._styles = styles
        if root is None:
            return
        for element in root.iterchildren(w("abstractNum")):
            self._add_list(element)
        for element in root.iterchildren(w("num")):
            self._numbers.setdefault(element.get(w("numId"), ""), _number(element))

    def label(self, number_id: str, depth: int | None, *, style: str = "") -> Label | None:
        """Count one paragraph and return its label, or None when it has no number.

        `depth` is what the paragraph or its style says; without it, the list may name the style.
        """
        number = self._numbers.get(number_id)
        counted = self._list(number)
        if number is None or counted is None or number_id == "0":
            return None
        if depth is None:
            depth = counted.by_style.get(style, 0)
        depth = min(max(depth, 0), LEVELS - 1)
        if not number.is_used:
            number.is_used = True
            for level in number.starts:
                counted.counts[level] = None
        self._count(number, counted, depth)
        return _label(number, counted, depth)

    def _count(self, number: _Number, counted: _List, depth: int) -> None:
        before = counted.counts[depth]
        start = number.starts.get(depth, _level(number, counted, depth).start)
        counted.counts[depth] = start if before is None else before + 1
        for deeper in range(depth + 1, LEVELS):
            restart = _level(number, counted, deeper).restart
            if restart is None or depth < restart:
                counted.counts[deeper] = None

    def _add_list(self, element: etree._Element) -> None:
        identifier = element.get(w("abstractNumId"), "")
        if link := value(element.find(w("numStyleLink"))):
            self._links.setdefault(identifier, link)
        levels: dict[int, _Level] = {}
        by_style: dict[str, int] = {}
        for child in element.iterchildren(w("lvl")):
            depth = to_int(child.get(w("ilvl"), ""))
            if depth is not None and 0 <= depth < LEVELS:
                levels[depth] = _read_level(child)
                if style := value(child.find(w("pStyle"))):
                    by_style.setdefault(style, depth)
        self._lists.setdefault(identifier, _List(levels, by_style))

    def _list(self, number: _Number | None) -> _List | None:
        """Return the list of a number, through styles of numbering, which may form a circle."""
        for _ in range(_MAX_LINKS):
            if number is None:
                return None
            link = self._links.get(number.list_id)
            if link is None:
                return self._lists.get(number.list_id)
            number = self._numbers.get(self._styles.number_of(link))
        return None


def _level(number: _Number, counted: _List, depth: int) -> _Level:
    return number.levels.get(depth) or counted.levels.get(depth) or _Level()


def _label(number: _Number, counted: _List, depth: int) -> Label:
    level = _level(number, counted, depth)
    if level.format == "bullet":
        return Label("", depth)

    def spell(found: re.Match[str]) -> str:
        at = int(found[1]) - 1
        said = _level(number, counted, at)
        reached = counted.counts[at]
        form = "decimal" if level.is_legal else said.format
        return numeral(said.start if reached is None else reached, form)

    return Label(
        " ".join(_PLACEHOLDER.sub(spell, level.text, count=LEVELS).split())[:_MAX_TEXT], depth
    )


def _number(element: etree._Element) -> _Number:
    number = _Number(value(element.find(w("abstractNumId"))))
    for override in element.iterchildren(w("lvlOverride")):
        depth = to_int(override.get(w("ilvl"), ""))
        if depth is None or not 0 <= depth < LEVELS:
            continue
        level = override.find(w("lvl"))
        if level is not None:
            number.levels[depth] = _read_level(level)
        start = to_int(value(override.find(w("startOverride"))))
        if start is not None:
            number.starts[depth] = start
    return number


def _read_level(element: etree._Element) -> _Level:
    start = to_int(value(element.find(w("start"))))
    legal = element.find(w("isLgl"))
    return _Level(
        start=1 if start is None else start,
        format=value(element.find(w("numFmt"))) or "decimal",
        text=value(element.find(w("lvlText")))[:_MAX_TEXT],
        restart=to_int(value(element.find(w("lvlRestart")))),
        is_legal=legal is not None and is_on(legal),
    )
