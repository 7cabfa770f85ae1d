"""What a report says, and how well each sentence is supported."""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What checking a claim against its quotes gave; unverified: the check failed or abstained."""

    SUPPORTED = "supported"
    PARTIAL = "partial"
    CONTRADICTED = "contradicted"
    UNVERIFIED = "unverified"
    NO_TEXT = "no-text"


FAILED = frozenset({Verdict.CONTRADICTED, Verdict.NO_TEXT})
"""The verdicts after which a claim is repaired, or dropped and said to be."""


class ClaimStatus(StrEnum):
    """What the sources say together: corroborated needs ≥2 origins and ≥2 distinct texts."""

    DISPUTED = "disputed"
    CORROBORATED = "corroborated"
    SINGLE_SOURCE = "single-source"


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence (≤800 characters) of a section, and the evidence it rests on (1 to 8 ids)."""

    id: str
    section: str
    text: str
    evidence_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """The verdict on a claim, by which method (`exact-quote`, `model:<name>`, …), and why."""

    claim_id: str
    verdict: Verdict
    method: str
    reason: str = ""


class AnswerStatus(StrEnum):
    """What the report as a whole can say."""

    ANSWERED = "answered"
    INSUFFICIENT = "insufficient-evidence"
    CONFLICTING = "conflicting-evidence"
    CLARIFICATION = "needs-clarification"
