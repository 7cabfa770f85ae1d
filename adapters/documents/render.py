"""Writes any document as Markdown, from its text and blocks alone."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from adapters.documents.reading import MAX_BLOCK
from state.values.blocks import Block, BlockKind, Document

_MARKDOWN = "text/markdown"
_MARKER = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\Z")
_BULLETED = re.compile(r"[-*+•‣–]\s+")
_NUMBERED = re.compile(r"\d{1,9}[.)]\s")
_NOTE_MARK = re.compile(r"\[\^?([^\[\]\s]{1,20})\]:?\s*")
_NOTE_BEFORE = re.compile(r"\[\^?([^\[\]\s]{1,20})\]:?[ \t]*\Z")
_DISPLAYED = re.compile(r"\$\$.*\$\$\W*(?:\(\w+\))?\Z", re.DOTALL)
_BRACKETED = re.compile(r"\\\[(.*)\\\]\Z", re.DOTALL)
_INLINE = re.compile(r"\$([^$]+)\$\Z")
_TICKS = re.compile("`+")
_RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*\Z")
_CELLS = re.compile(r"\t+|\s\|\s|\s{3,}")
# What would begin another kind of block at the beginning of a line.
_OPENS_BLOCK = re.compile(
    r"(?:#{1,6}(?=\s|\Z)|>|[-+*](?=\s|\Z)|(?:[-*_]\s*){3,}\Z|=+\s*\Z|`{3,}|~{3,}|\||\$\$"
    r"|\[[^\[\]]{1,200}\]:|\[\^|\\\[|:?-+:?\s*(?:\||\Z))"
)
_OPENS_NUMBERED = re.compile(r"(\d{1,9})([.)](?:\s|\Z))")
_TAG_OR_ENTITY = re.compile(r"<(?=[A-Za-z/!?])|&(?=#?\w{1,32};)")
_TRAILING_MARKS = re.compile(r"\s+#+\Z")


def to_markdown(document: Document, *, main_only: bool = True) -> str:
    """Return `document` as Markdown that ends in one line end; '' when there is nothing to write.

    A Markdown file is given as it is. Of others the main blocks are written, or all with
    `main_only=False`: headings by their depth (2 where unknown), items behind their markers,
    code between fences, formulas between `$$`, notes as `[^1]: …`, captions as paragraphs. The
    stated title comes first unless a heading says the same. What is text stays text: signs that
    would begin another block, tags and entities are escaped.
    """
    if document.media_type == _MARKDOWN:
        return document.text
    writer = _Writer(document)
    for block in document.blocks:
        if block.main or not main_only:
            writer.add(block)
    return writer.finish()


@dataclass(slots=True)
class _Piece:
    kind: BlockKind
    text: str
    gap: str = "\n\n"


@dataclass(slots=True)
class _Writer:
    document: Document
    pieces: list[_Piece] = field(default_factory=list[_Piece])
    notes: set[str] = field(default_factory=set[str])
    headings: set[str] = field(default_factory=set[str])
    last: Block | None = None

    def add(self, block: Block) -> None:
        text = self.document.text[block.start : block.end]
        last, self.last = self.last, block
        if last is not None and last.kind is block.kind and self._goes_on(last, block):
            self._extend(block, self.document.text[last.end : block.start] + text)
            return
        self.pieces.append(self._piece(block, text, last))

    def finish(self) -> str:
        title = " ".join((self.document.title or "").split())
        parts: list[str] = []
        if title and _folded(title) not in self.headings:
            parts.append(f"# {_safe(title)}")
        for piece in self.pieces:
            if parts:
                parts.append(piece.gap)
            parts.append(_fenced(piece.text) if piece.kind is BlockKind.CODE else piece.text)
        return "".join(parts) + "\n" if parts else ""

    def _goes_on(self, last: Block, block: Block) -> bool:
        """Tell whether two blocks are parts of one that was too long."""
        gap = self.document.text[last.end : block.start]
        if gap.strip() or block.end - last.start <= MAX_BLOCK or block.page != last.page:
            return False
        return block.kind in (BlockKind.TABLE, BlockKind.CODE) or "\n" not in gap

    def _extend(self, block: Block, text: str) -> None:
        piece = self.pieces[-1]
        if block.kind is BlockKind.CODE:
            piece.text += text
        elif block.kind is BlockKind.TABLE:
            piece.text += "\n" + "\n".join(_rows(text))
        else:
            piece.text += _safe(text)

    def _piece(self, block: Block, text: str, last: Block | None) -> _Piece:
        match block.kind:
            case BlockKind.HEADING:
                return _Piece(block.kind, self._heading(block, text))
            case BlockKind.CODE:
                return _Piece(block.kind, text)
            case BlockKind.TABLE:
                return _Piece(block.kind, _table(text))
            case BlockKind.EQUATION:
                return _Piece(block.kind, _equation(text))
            case BlockKind.FOOTNOTE:
                return _Piece(block.kind, self._note(block, text))
            case BlockKind.LIST:
                return self._item(block, text, last)
            case BlockKind.PARAGRAPH | BlockKind.CAPTION:
                return _Piece(block.kind, _prose(text))

    def _heading(self, block: Block, text: str) -> str:
        line = " ".join(text.split())
        self.headings.add(_folded(line))
        shown = _TRAILING_MARKS.sub(lambda m: m[0].replace("#", "\\#"), _safe(line))
        return f"{'#' * min(block.level or 2, 6)} {shown}"

    def _item(self, block: Block, text: str, last: Block | None) -> _Piece:
        source = self.document.text
        before = source[source.rfind("\n", 0, block.start) + 1 : block.start]
        follows = last is not None and last.kind is BlockKind.LIST
        if _MARKER.match(before):
            marker = before.expandtabs(4)
        elif not before.strip() and before and follows:  # one more paragraph of an item
            return _Piece(block.kind, before + _prose(text, indent=before))
        else:
            marker = before if not before.strip() else ""
            if number := _NUMBERED.match(text):  # the number is part of the block
                return _Piece(
                    block.kind,
                    marker + number[0] + _prose(text[number.end() :], indent=marker + "   "),
                    "\n" if follows else "\n\n",
                )
            marker += "- "
            if bullet := _BULLETED.match(text):  # so is this one
                text = text[bullet.end() :]
        shown = marker + _prose(text, indent=" " * len(marker))
        return _Piece(block.kind, shown, "\n" if follows else "\n\n")

    def _note(self, block: Block, text: str) -> str:
        source = self.document.text
        before = source[source.rfind("\n", 0, block.start) + 1 : block.start]
        mark = _NOTE_BEFORE.search(before)
        if not mark and (mark := _NOTE_MARK.match(text)):
            text = text[mark.end() :]
        name = mark[1] if mark and mark[1] not in self.notes else str(len(self.notes) + 1)
        while name in self.notes or name == "*":
            name = f"{len(self.notes) + 1}" if name == "*" else f"{name}x"
        self.notes.add(name)
        return f"[^{name}]: {_prose(text, indent='    ')}"


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _safe(text: str) -> str:
    """Return `text` so that no tag or entity in it is taken for one."""
    return _TAG_OR_ENTITY.sub(lambda match: "\\" + match[0], text)


def _prose(text: str, *, indent: str = "") -> str:
    """Return `text` as lines of a paragraph, those after the first behind `indent`."""
    lines = [_line(line.strip()) for line in text.splitlines()]
    return ("\n" + indent).join(line for line in lines if line)


def _line(line: str) -> str:
    line = _safe(line)
    if _OPENS_BLOCK.match(line):
        return "\\" + line
    return _OPENS_NUMBERED.sub(r"\1\\\2", line, count=1) if _OPENS_NUMBERED.match(line) else line


def _equation(text: str) -> str:
    bare = " ".join(text.split())
    if _DISPLAYED.match(bare):
        return bare
    found = _INLINE.match(bare) or _BRACKETED.match(bare)
    return f"$${(found[1] if found else bare).strip()}$$"


def _fenced(text: str) -> str:
    longest = max(map(len, _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def _table(text: str) -> str:
    rows = list(_rows(text))
    if len(rows) < 2 or not _RULE.match(rows[1]):
        columns = max(len(re.findall(r"(?<!\\)\|", rows[0])) - 1, 1) if rows else 1
        rows.insert(1, "| " + " | ".join(["---"] * columns) + " |")
    return "\n".join(rows)


def _rows(text: str) -> Iterator[str]:
    """Yield the rows of a table as Markdown's, whatever stands between its cells."""
    for line in text.splitlines():
        bare = line.strip()
        if bare.startswith("|") or _RULE.match(bare):
            yield bare if bare.startswith("|") else f"| {bare} |"
        elif bare:
            cells = (cell.strip().replace("|", r"\|") for cell in _CELLS.split(bare))
            yield f"| {' | '.join(cells)} |"
