"""What was found: passages to choose from, quotes that were chosen, and how far they reach."""

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


@dataclass(frozen=True, slots=True)
class Quote:
    """Characters of an archived source: `archived text[start:end] == text`, in code points.

    Bound to the text's hash and to the extractor that made it, so that it stays checkable.
    """

    source_id: str
    text_hash: str
    extractor: str
    extractor_version: str
    start: int
    end: int
    paragraph: int
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """A quote accepted for a subquestion. `id` is unique in its run: `e1`, `e2`, …"""

    id: str
    subquestion_id: str
    quote: Quote


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
