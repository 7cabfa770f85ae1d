"""Builds the text of a document and the segments that are ranges of it."""

from dataclasses import replace

from adapters.documents.reading import Segment, Unreadable
from state.values.blocks import BlockKind, Outcome

MAX_HEADING = 200
"""How much of a heading its blocks name, since each of them repeats it."""

MAX_BLOCKS = 200_000
"""The most blocks of one document; a book of a thousand pages has a tenth of that."""

_INDENT = "  "


class Writer:
    """Takes blocks in reading order: a blank line between, items and code lines close together."""

    def __init__(self, *, bullet: str = "- ") -> None:
        self._bullet = bullet
        self.segments: list[Segment] = []
        self.heading = ""
        self._parts: list[str] = []
        self._length = 0
        self._blank_code_lines = 0

    @property
    def text(self) -> str:
        """Return what was written; segments are ranges of it."""
        return "".join(self._parts)

    @property
    def last_kind(self) -> BlockKind | None:
        """Return the kind of the block before, or None at the beginning."""
        return self.segments[-1].kind if self.segments else None

    def add(
        self,
        kind: BlockKind,
        text: str,
        *,
        level: int = 0,
        main: bool = True,
        heading: str | None = None,
    ) -> None:
        """Write a block unless `text` is blank; `heading` is the one above unless another is given.

        Lines of code that follow each other are one block.
        """
        if kind is BlockKind.CODE:
            self._add_code(text, main=main)
            return
        text = text.strip()
        if text:
            self._open(kind)
            self._close(kind, text, level=level, main=main, heading=heading)

    def add_item(self, text: str, *, label: str, depth: int, main: bool = True) -> None:
        """Write an item of a list, indented by its `depth`; without a label it has a bullet.

        A number is part of the block, a bullet is not.
        """
        text = text.strip()
        if not text:
            return
        self._open(BlockKind.LIST)
        self._emit(_INDENT * depth + ("" if label else self._bullet))
        self._close(BlockKind.LIST, f"{label} {text}" if label else text, main=main)

    def _add_code(self, text: str, *, main: bool) -> None:
        if not text.strip():
            self._blank_code_lines += 1
            return
        text = text.rstrip()
        last = self.segments[-1] if self.segments else None
        if last is not None and last.kind is BlockKind.CODE and last.main is main:
            self._emit("\n" * (1 + self._blank_code_lines) + text)
            self.segments[-1] = replace(last, end=self._length)
        else:
            self._open(BlockKind.CODE)
            self._close(BlockKind.CODE, text, main=main)
        self._blank_code_lines = 0

    def _open(self, kind: BlockKind) -> None:
        self._blank_code_lines = 0
        if self._parts:
            after_item = kind is BlockKind.LIST and self.last_kind is BlockKind.LIST
            self._emit("\n" if after_item else "\n\n")

    def _close(
        self,
        kind: BlockKind,
        text: str,
        *,
        level: int = 0,
        main: bool,
        heading: str | None = None,
    ) -> None:
        start = self._length
        self._emit(text)
        above = self.heading if heading is None else heading
        if len(self.segments) >= MAX_BLOCKS:
            raise Unreadable(
                Outcome.LIMIT, f"The file holds more than {MAX_BLOCKS:,} paragraphs. Split it."
            )
        self.segments.append(Segment(kind, start, self._length, above, main, level=level))
        if kind is BlockKind.HEADING:
            self.heading = " ".join(text.split())[:MAX_HEADING]

    def _emit(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
