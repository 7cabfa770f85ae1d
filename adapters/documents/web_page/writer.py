"""Collects a page's visible text piece by piece, as blocks with markers of lists before them."""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from lxml.html import HtmlElement

from adapters.documents.web_page.formulas import Formula
from state.values.blocks import BlockKind

_SPACES = re.compile(r" {2,}")
_AROUND_BREAK = re.compile(r" *\n *")
_AFTER_FORMULA = re.compile(r"[\s.,;:]*\Z")
# A word after a formula, and no ending as in "the $n$th".
_WHOLE_WORD = re.compile(
    r"(?!(?:ths?|st|nd|rd|s|d|fold|ary|tuples?|grams?)\b)[^\W\d_]", re.IGNORECASE
)
_SOFT_HYPHEN = "\u00ad"
_UNSEEN_CHARACTERS = re.compile("[\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\\s]+\\Z")
_MAX_LIST_DEPTH = 10
_MAX_HEADING = 200  # each block repeats the heading above it


@dataclass(slots=True, eq=False)
class Item:
    """An item of a list; its marker is written once, before the first text in it."""

    marker: str
    parent: "Item | None" = None
    depth: int = 0
    is_marked: bool = False
    margin: int = 0

    @property
    def indent(self) -> str:
        """Return what stands before the second line of this item."""
        before = (self.parent.indent if self.parent else "") + " " * self.margin
        return before + " " * len(self.marker) if self.is_marked else before

    def inside(self, marker: str, *, indent: int = 0) -> "Item":
        """Return an item of a list in this one, `indent` further in; very deep ones are beside."""
        if self.depth >= _MAX_LIST_DEPTH:
            return Item(marker, self.parent, self.depth)
        return Item(marker, self, self.depth + 1, margin=indent)


class Place(NamedTuple):
    """Where on the page text stands: what kind of block, in which item, beside the article or not.

    `block` is the element that the text is a block of; `level` is that of a heading.
    """

    kind: BlockKind = BlockKind.PARAGRAPH
    level: int = 0
    item: Item | None = None
    is_aside: bool = False
    is_link: bool = False
    block: HtmlElement | None = None


class Piece(NamedTuple):
    """A block-to-be: the range of the text, and what tells whether it belongs to the article.

    `linked` is the share of its characters that are in links.
    """

    kind: BlockKind
    start: int
    end: int
    level: int
    heading: str
    is_aside: bool
    linked: float
    block: HtmlElement | None = None


@dataclass(slots=True)
class _Run:
    """Inline text since the last block began or ended."""

    parts: list[str] = field(default_factory=list[str])
    formulas: list[str] = field(default_factory=list[str])
    linked: int = 0
    doubtful: int = 0


class PageText:
    """The text read so far and its pieces, which are ranges of it in order."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self._parts: list[str] = []
        self._length = 0
        self._run = _Run()
        self._heading = ""
        self._last_item: Item | None = None

    @property
    def text(self) -> str:
        """Return what was read."""
        return "".join(self._parts)

    @property
    def last(self) -> str:
        """Return the last character of the inline text, or ''."""
        return self._run.parts[-1][-1:] if self._run.parts else ""

    def write(self, text: str, place: Place, *, is_doubtful: bool = False) -> None:
        """Add inline text, whose white space is as it is to stay."""
        text = text.replace(_SOFT_HYPHEN, "")
        if self._run.formulas and self.last == "$" and _WHOLE_WORD.match(text):
            self._run.parts.append(" ")
        self._run.parts.append(text)
        size = len(text.strip())
        if place.is_link:
            self._run.linked += size
        if is_doubtful:
            self._run.doubtful += size

    def write_formula(self, formula: Formula, place: Place) -> None:
        """Add a formula; one that is set apart becomes a block of its own."""
        if not formula.tex:
            return
        if formula.is_display and place.kind not in (BlockKind.HEADING, BlockKind.CAPTION):
            self.flush(place)
            self.add(formula.text, place._replace(kind=BlockKind.EQUATION))
            return
        text = f"${formula.tex}$"
        self._run.formulas.append(text)
        self._run.parts.append(f" {text}" if self.last.isalnum() else text)

    def flush(self, place: Place) -> None:
        """End the run of inline text; two line breaks in it separate paragraphs."""
        run, self._run = self._run, _Run()
        if not run.parts:
            return
        text = "".join(run.parts)
        size = len(text.strip()) or 1
        linked = run.linked / size
        if run.doubtful > size // 2 and not place.is_aside:
            place = place._replace(is_aside=True)
        if place.kind is BlockKind.CODE:
            self.add(text.replace("\r\n", "\n").strip("\n").rstrip(), place, linked=linked)
            return
        for part in _AROUND_BREAK.sub("\n", _SPACES.sub(" ", text)).split("\n\n"):
            bare = part.strip()
            first = run.formulas[0] if run.formulas else ""
            if first and bare.startswith(first) and _AFTER_FORMULA.match(bare, len(first)):
                alone = f"$${first[1:-1]}$${bare[len(first) :].strip()}"
                self.add(alone, place._replace(kind=BlockKind.EQUATION))
            else:
                self.add(bare, place, linked=linked)

    def add(self, text: str, place: Place, *, linked: float = 0.0) -> None:
        """Add a block; nothing happens when no character of it can be seen."""
        if _UNSEEN_CHARACTERS.match(text) or not text:
            return
        before, indent = self._prefix(place)
        self._emit(before)
        start = self._length
        self._emit(text.replace("\n", "\n" + indent) if indent else text)
        self.pieces.append(
            Piece(
                place.kind,
                start,
                self._length,
                place.level,
                self._heading,
                place.is_aside,
                linked,
                place.block,
            )
        )
        if place.kind is BlockKind.HEADING:
            self._heading = " ".join(text.split())[:_MAX_HEADING]

    def _prefix(self, place: Place) -> tuple[str, str]:
        """Return what to write before a block of `place`, and before its further lines."""
        item = place.item
        is_listed = place.kind in (BlockKind.LIST, BlockKind.FOOTNOTE)
        if item is None or not is_listed:
            self._last_item = None
            return ("\n\n" if self._parts else ""), ""
        if item.is_marked:
            self._last_item = item
            return "\n\n" + item.indent, item.indent
        outer = item.parent.indent if item.parent else ""
        gap = ("\n" if self._last_item is not None else "\n\n") if self._parts else ""
        item.is_marked = True
        self._last_item = item
        return gap + outer + item.marker, item.indent

    def _emit(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
