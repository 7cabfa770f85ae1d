"""The method's rules: evidence, coverage, and the claims that rest on them."""

from typing import Any

import pytest
from pydantic import ValidationError

from state.method_events import ResearchCoverageAssessed, ResearchVerdictRecorded
from state.values.claims import ClaimStatus, Verdict
from state.values.ids import content_hash
from tests.state.builders import just, planned, running, source, text_source
from tests.state.method_builders import (
    TEXT,
    assessed,
    claim,
    coverage,
    evidence,
    in_round,
    schedule,
)

# ---- evidence


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"source_id": "s9"}, "UNKNOWN_ARTIFACT"),
        ({"text_hash": content_hash("other")}, "QUOTE_RANGE"),
        ({"end": len(TEXT) + 1}, "QUOTE_RANGE"),
        ({"extractor": "other"}, "QUOTE_RANGE"),
        ({"extractor_version": "2"}, "QUOTE_RANGE"),
        ({"subquestion_id": "q9"}, "UNKNOWN_SUBQUESTION"),
        ({"round": 2}, "ROUND_ORDER"),
    ],
)
def test_evidence_lies_in_the_archive_and_is_for_the_plan(
    fields: dict[str, Any], code: str
) -> None:
    """Cases: B2 31."""
    assert in_round().refusal(evidence(**fields)) == code


@pytest.mark.parametrize("fields", [{"start": 14}, {"start": -1}, {"end": 0}, {"page": 0}])
def test_a_quote_is_a_range(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        evidence(**fields)


def test_a_source_without_text_cannot_be_quoted() -> None:
    history = running().record(planned(), schedule(), source())

    assert history.refusal(evidence()) == "UNKNOWN_ARTIFACT"


def test_an_evidence_id_stands_for_one_quote() -> None:
    history = in_round().record(evidence(), evidence())

    assert history.research.evidence_order == ("e1",)
    assert history.refusal(evidence(end=10)) == "DUPLICATE_EVIDENCE"


# ---- coverage

GAP = {"coverage": "gap", "gap": "nothing"}


def test_coverage_has_exactly_one_row_a_subquestion_in_order() -> None:
    history = in_round().record(evidence())
    one, two = {"subquestion_id": "q1", **GAP}, {"subquestion_id": "q2", **GAP}

    for rows in ([], [one], [two, one], [one, one], [one, two, two]):
        assert history.refusal(coverage(rows=rows)) == "COVERAGE_ROWS"
    history.record(coverage())
    assert history.research.coverage == 0.5


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ({"coverage": "covered"}, "COVERAGE_ROWS"),
        ({"coverage": "covered", "evidence_ids": ["e9"]}, "UNKNOWN_EVIDENCE"),
        ({"coverage": "covered", "evidence_ids": ["for-q2"]}, "UNKNOWN_EVIDENCE"),
        ({"coverage": "conflict", "evidence_ids": ["e1"]}, "COVERAGE_ROWS"),
    ],
)
def test_a_row_rests_on_evidence_for_its_own_subquestion(row: dict[str, Any], code: str) -> None:
    history = in_round().record(evidence(), evidence("for-q2", subquestion_id="q2"))
    rows = [{"subquestion_id": "q1", **row}, {"subquestion_id": "q2", **GAP}]

    assert history.refusal(coverage(rows=rows)) == code


def test_a_conflict_needs_quotes_of_two_sources() -> None:
    history = in_round().record(text_source("s2"), evidence(), evidence("e2", start=1))
    history.record(evidence("e3", source_id="s2"))
    rows = [
        {"subquestion_id": "q1", "coverage": "conflict", "evidence_ids": ["e1", "e3"]},
        {"subquestion_id": "q2", **GAP},
    ]

    def disputed(*ids: str) -> ResearchCoverageAssessed:
        conflict = {"subquestion_id": "q1", "evidence_ids": ids, "difference": "30 or 40 days"}
        return coverage(rows=rows, conflicts=[conflict])

    assert history.refusal(disputed("e1", "e2")) == "CONFLICT_SOURCES"
    assert history.refusal(disputed("e1", "e9")) == "UNKNOWN_EVIDENCE"
    with pytest.raises(ValidationError, match="at least 2"):
        disputed("e1")
    history.record(disputed("e1", "e3"))


def test_a_round_is_assessed_once_and_after_it_read() -> None:
    assert running().record(planned(), schedule()).refusal(coverage()) == "ROUND_ORDER"
    assert assessed().refusal(coverage()) == "ROUND_ORDER"


@pytest.mark.parametrize("field", ["missing", "conflicts"])
def test_at_most_5_things_are_missing_or_in_conflict(field: str) -> None:
    conflict = {"subquestion_id": "q1", "evidence_ids": ["e1", "e2"], "difference": "days"}
    entry = conflict if field == "conflicts" else "a date"
    coverage(**just(field, [entry] * 5))
    with pytest.raises(ValidationError, match="at most 5"):
        coverage(**just(field, [entry] * 6))


# ---- claims


def test_a_claim_rests_on_1_to_8_pieces_of_evidence_of_this_run() -> None:
    history = assessed()

    assert history.refusal(claim("c", "e9")) == "UNKNOWN_EVIDENCE"
    assert history.refusal(claim(section="verification")) == "UNKNOWN_SECTION"
    with pytest.raises(ValidationError, match="at most 8"):
        claim("c", *(f"e{n}" for n in range(9)))
    history.record(claim())
    assert history.refusal(claim()) == "DUPLICATE_CLAIM"


def test_a_verdict_is_about_a_claim_and_one_of_five() -> None:
    assert [str(verdict) for verdict in Verdict] == [
        "supported", "partial", "contradicted", "unverified", "no-text",
    ]  # fmt: skip
    verdict = ResearchVerdictRecorded(
        claim_id="summary-1",
        verdict=Verdict.SUPPORTED,
        claim_status=ClaimStatus.SINGLE_SOURCE,
        method="exact-quote",
    )
    assert assessed().refusal(verdict) == "UNKNOWN_CLAIM"
    verdicts = assessed().record(claim(), verdict).research.verdicts
    assert [found.verdict for found in verdicts.values()] == [Verdict.SUPPORTED]
