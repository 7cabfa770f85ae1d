"""What a document becomes when it is read: text, and blocks that are ranges of it."""

from dataclasses import dataclass
from enum import StrEnum


class BlockKind(StrEnum):
    """What a block is in its document."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    CODE = "code"
    EQUATION = "equation"
    CAPTION = "caption"
    FOOTNOTE = "footnote"


class Outcome(StrEnum):
    """How a conversion ended."""

    OK = "ok"
    PARTIAL = "partial"
    NEEDS_OCR = "needs_ocr"
    ENCRYPTED = "encrypted"
    UNSUPPORTED = "unsupported"
    MALFORMED = "malformed"
    EMPTY = "empty"
    LIMIT = "limit"
    CRASHED = "crashed"

    @property
    def is_readable(self) -> bool:
        """Tell whether there is text to quote from."""
        return self in (Outcome.OK, Outcome.PARTIAL)


@dataclass(frozen=True, slots=True)
class Block:
    """A range of a document's text: `text[start:end]`, in code points.

    `paragraph` counts blocks from 1; `page` counts from 1 and is None where there are no pages;
    `heading` is the nearest heading above, or ''; `main` is False for navigation, hidden text and
    the like, which is kept for verification but not offered as evidence. `level` is the depth of
    a heading, from 1; 0 for other blocks and for headings whose depth is unknown.
    """

    kind: BlockKind
    start: int
    end: int
    paragraph: int
    page: int | None = None
    heading: str = ""
    main: bool = True
    level: int = 0


@dataclass(frozen=True, slots=True)
class Quality:
    """How well a document could be read; pages count from 1.

    `pages` is None where there are none; on `pages_in_doubt` two readers disagree. `dropped` says
    in short phrases what is in the file but not in the text ("3 deletions that were tracked").
    `hidden_text` holds beginnings of text that the file holds but does not show to a reader.
    """

    pages: int | None = None
    pages_without_text: tuple[int, ...] = ()
    pages_in_doubt: tuple[int, ...] = ()
    dropped: tuple[str, ...] = ()
    hidden_text: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """The text of one source, as one named extractor read it.

    `title` is None when the document states none; it is never made up. `blocks` are in reading
    order and do not overlap. `warnings` say what was dropped or doubtful.
    """

    text: str
    blocks: tuple[Block, ...]
    media_type: str
    extractor: str
    extractor_version: str
    title: str | None = None
    warnings: tuple[str, ...] = ()
    quality: Quality = Quality()

    @property
    def main_text(self) -> str:
        """Return what the document is about: its main blocks, a blank line between."""
        return "\n\n".join(self.text[b.start : b.end] for b in self.blocks if b.main)


@dataclass(frozen=True, slots=True)
class Conversion:
    """How reading bytes ended: a named outcome, a reason for people, and the document if any."""

    outcome: Outcome
    reason: str = ""
    document: Document | None = None
