"""What was found: passages to choose evidence from, and how far the evidence reaches."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Passage:
    """A block of an archived source, offered as possible evidence.

    `start` and `end` are code points of the source's archived text; `text` is exactly that slice.
    `source_id` is the artifact id; `locator` is where people find it; `modified_at` is the
    source's own date (ISO 8601) or ''.
    """

    source_id: str
    locator: str
    title: str | None
    text: str
    start: int
    end: int
    paragraph: int
    page: int | None = None
    heading: str = ""
    modified_at: str = ""


class Coverage(StrEnum):
    """How far the evidence answers a subquestion."""

    COVERED = "covered"
    GAP = "gap"
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True)
class CoverageRow:
    """One row a subquestion. `gap` says what is missing (else ''); `next_query` may be ''."""

    subquestion_id: str
    coverage: Coverage
    evidence_ids: tuple[str, ...] = ()
    gap: str = ""
    next_query: str = ""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Evidence that cannot all be true: ≥2 quotes from ≥2 sources, and on what they differ."""

    subquestion_id: str
    evidence_ids: tuple[str, ...]
    difference: str
