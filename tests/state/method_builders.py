"""Events of the method with sensible values, for tests of its rules."""

from typing import Any

from state.events import Event
from state.method_events import (
    RecordedQuote,
    ResearchClaimRecorded,
    ResearchCoverageAssessed,
    ResearchEvidenceAccepted,
    ResearchReadingFrozen,
    ResearchScheduleFrozen,
    ResearchStopDecided,
)
from state.values.ids import content_hash
from tests.state.builders import History, planned, running, text_source

TEXT = "Tickets expire after 30 days."


def schedule(round_: int = 1, *ids: str) -> ResearchScheduleFrozen:
    queries = [{"subquestion_id": id_, "query": f"about {id_}"} for id_ in ids or ("q1",)]
    return ResearchScheduleFrozen.model_validate({"round": round_, "queries": queries})


def reading(round_: int = 1, *locators: str) -> ResearchReadingFrozen:
    return ResearchReadingFrozen(round=round_, locators=locators)


def evidence(id_: str = "e1", **fields: Any) -> ResearchEvidenceAccepted:
    quote = {
        "source_id": "s1",
        "text_hash": content_hash(TEXT),
        "extractor": "plain",
        "extractor_version": "1",
        "start": 0,
        "end": 14,
        "paragraph": 1,
    }
    given = {
        "evidence_id": id_,
        "subquestion_id": "q1",
        "round": 1,
        "quote": quote
        | {k: fields.pop(k) for k in list(fields) if k in RecordedQuote.model_fields},
        "quote_hash": content_hash("Tickets expire"),
    }
    return ResearchEvidenceAccepted.model_validate({**given, **fields})


def coverage(round_: int = 1, **fields: Any) -> ResearchCoverageAssessed:
    rows = [
        {"subquestion_id": "q1", "coverage": "covered", "evidence_ids": ["e1"]},
        {"subquestion_id": "q2", "coverage": "gap", "gap": "nothing was found"},
    ]
    return ResearchCoverageAssessed.model_validate({"round": round_, "rows": rows, **fields})


def stop(round_: int, reason: str = "no-progress") -> ResearchStopDecided:
    return ResearchStopDecided.model_validate({"round": round_, "reason": reason})


def claim(id_: str = "summary-1", *evidence_ids: str, section: str = "summary") -> Event:
    return ResearchClaimRecorded(
        claim_id=id_,
        section=section,
        text_hash=content_hash("Tickets expire."),
        evidence_ids=evidence_ids or ("e1",),
    )


def in_round(**fields: Any) -> History:
    """Return a run whose first round has searched and read."""
    return running(**fields).record(
        planned(), schedule(), reading(1, "/notes/s1.md"), text_source()
    )


def assessed() -> History:
    return in_round().record(evidence(), coverage())
