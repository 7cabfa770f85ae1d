"""Parts of a long document that belong together: what a task is given of a paper."""

from dataclasses import dataclass
from enum import StrEnum


class SegmentKind(StrEnum):
    """What a segment holds; all but prose are never cut apart."""

    PROSE = "prose"
    ALGORITHM = "algorithm"
    EQUATION = "equation"
    TABLE = "table"
    CODE = "code"
    REFERENCES = "references"


@dataclass(frozen=True, slots=True)
class Segment:
    """A range of a document's text: `text` is its `[start:end]`, in code points.

    `id` counts from `s1` in reading order. `section` holds the headings above it, outermost first.
    """

    id: str
    kind: SegmentKind
    section: tuple[str, ...]
    text: str
    start: int
    end: int
    page: int | None = None
