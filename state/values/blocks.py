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
    `heading` is the nearest heading above, or ''; `main` is False for navigation and the like,
    which is kept for verification but not offered as evidence.
    """

    kind: BlockKind
    start: int
    end: int
    paragraph: int
    page: int | None = None
    heading: str = ""
    main: bool = True


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


@dataclass(frozen=True, slots=True)
class Conversion:
    """How reading bytes ended: a named outcome, a reason for people, and the document if any."""

    outcome: Outcome
    reason: str = ""
    document: Document | None = None
