"""A report out of plan, evidence, drafts and checks: what stays, and how it is numbered."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.models.port import Assessment, Paragraph, SectionDraft, WriteInput
from state.values.blocks import Outcome
from state.values.claims import AnswerStatus, Claim, ClaimCheck, Verdict
from state.values.evidence import Conflict, Coverage, CoverageRow
from state.values.profiles import QUESTION
from tasks.compose import (
    answer_status,
    compose_sections,
    kept_checks,
    number_citations,
    report_citations,
    report_claims,
    report_conflicts,
    report_sources,
)
from tasks.read import Reading
from tasks.write import accept_draft
from tests.tasks.makers import LOGS, LOGS_40, MEMBERS, PLAN, chosen

C, G, X = Coverage.COVERED, Coverage.GAP, Coverage.CONFLICT
TWIN = chosen("A team holds at most 25 members.", "q2")  # the same range, for another subquestion
ASSESSMENT = Assessment((MEMBERS, LOGS, LOGS_40, TWIN), ())


def reading(source: str) -> Reading:
    return Reading(
        f"/{source}.txt", f"{source}.txt", None, "sha256:" + "1" * 64, 1, "text/plain", Outcome.OK,
        "sha256:" + "2" * 64, "sha256:" + "3" * 64, 1, "plain", "1", "2026", "",
    )  # fmt: skip


READINGS = {"s1": reading("s1"), "s2": reading("s2")}


@pytest.mark.parametrize(
    ("coverage", "partial", "status"),
    [
        ((C, C), False, AnswerStatus.ANSWERED),
        ((C, G), True, AnswerStatus.ANSWERED),
        ((C, G), False, AnswerStatus.INSUFFICIENT),
        ((G, G), True, AnswerStatus.INSUFFICIENT),
        ((), True, AnswerStatus.INSUFFICIENT),
        ((C, X), True, AnswerStatus.CONFLICTING),
        ((G, X), False, AnswerStatus.CONFLICTING),
    ],
)
def test_the_answer_says_no_more_than_the_evidence(
    coverage: tuple[Coverage, ...], partial: bool, status: AnswerStatus
) -> None:
    rows = tuple(CoverageRow(f"q{n}", each) for n, each in enumerate(coverage))

    assert answer_status(Assessment((), rows), allow_partial=partial) is status


def draft(*claims: tuple[str, ...], section: str = "findings") -> SectionDraft:
    paragraphs = tuple(
        Paragraph((Claim(f"{section}-{n}", section, f"C{n}", ids),))
        for n, ids in enumerate(claims, start=1)
    )
    return SectionDraft(section, paragraphs)


def verdicts(draft: SectionDraft, *said: Verdict) -> list[ClaimCheck]:
    return [
        ClaimCheck(c.id, verdict, "m", "r") for c, verdict in zip(draft.claims, said, strict=True)
    ]


def test_citations_are_numbered_from_one_in_the_order_of_their_first_use() -> None:
    made = draft((LOGS.id, MEMBERS.id), (MEMBERS.id,), (LOGS_40.id,))
    kept = kept_checks(verdicts(made, *[Verdict.SUPPORTED] * 3))

    numbering = number_citations([made], kept, ASSESSMENT)
    citations = report_citations(numbering, ASSESSMENT, READINGS)

    assert [numbering.of([c.id]) for c in (LOGS, MEMBERS, LOGS_40)] == [(1,), (2,), (3,)]
    assert [each.quote for each in citations] == [LOGS.text, MEMBERS.text, LOGS_40.text]


def test_one_range_cited_for_two_subquestions_is_one_citation() -> None:
    made = draft((MEMBERS.id, TWIN.id))

    numbering = number_citations([made], kept_checks(verdicts(made, Verdict.PARTIAL)), ASSESSMENT)

    assert numbering.of([MEMBERS.id, TWIN.id]) == (1,)


def test_what_is_contradicted_or_without_text_is_dropped_and_the_rest_stays_marked() -> None:
    """Cases: B1 22, 23."""
    made = draft(*[(MEMBERS.id,)] * 5)
    checks = verdicts(
        made, Verdict.SUPPORTED, Verdict.PARTIAL, Verdict.UNVERIFIED, Verdict.CONTRADICTED,
        Verdict.NO_TEXT,
    )  # fmt: skip
    kept = kept_checks(checks)

    claims, dropped = report_claims(
        [made], checks, number_citations([made], kept, ASSESSMENT), ASSESSMENT
    )

    assert [claim.verdict for claim in claims] == ["supported", "partial", "unverified"]
    assert [claim.verdict for claim in dropped] == ["contradicted", "no-text"]
    assert all(claim.citations == () for claim in dropped)


def test_a_quote_that_only_a_dropped_claim_cites_gets_no_number() -> None:
    made = draft((LOGS.id,), (MEMBERS.id,))
    kept = kept_checks(verdicts(made, Verdict.CONTRADICTED, Verdict.SUPPORTED))

    numbering = number_citations([made], kept, ASSESSMENT)

    assert numbering.numbers == {MEMBERS.id: 1}


def test_a_conflict_names_the_sides_that_the_report_cites() -> None:
    made = draft((LOGS.id, LOGS_40.id))
    kept = kept_checks(verdicts(made, Verdict.SUPPORTED))
    conflict = Conflict("q2", (LOGS.id, LOGS_40.id), "30 against 40")
    assessment = replace(ASSESSMENT, conflicts=(conflict,))

    (entry,) = report_conflicts(assessment, number_citations([made], kept, assessment))

    assert entry.citations == (1, 2)


def test_sections_stand_in_the_profiles_order_and_an_empty_one_says_so() -> None:
    made = draft((MEMBERS.id,))
    sections = compose_sections([("a", "A"), ("findings", "F")], [made], {}, {"a": ["Computed."]})

    assert [section.title for section in sections] == ["A", "F"]
    assert sections[0].paragraphs[0].remark == "Computed."
    assert sections[1].paragraphs[0].remark == "Nothing in this section could be supported."


def test_every_archived_source_is_listed_and_whether_it_is_cited() -> None:
    made = draft((MEMBERS.id,))
    numbering = number_citations([made], kept_checks(verdicts(made, Verdict.SUPPORTED)), ASSESSMENT)

    listed = report_sources(
        list(READINGS.items()), report_citations(numbering, ASSESSMENT, READINGS)
    )

    assert [(entry.source_id, entry.cited) for entry in listed] == [("s1", True), ("s2", False)]


IDS = [choice.id for choice in ASSESSMENT.selected]
CLAIMS = st.lists(
    st.tuples(st.text(max_size=8), st.lists(st.sampled_from([*IDS, "ev-x"]), max_size=10)),
    max_size=8,
)


@given(st.lists(CLAIMS, min_size=4, max_size=4), st.data())
def test_no_citation_dangles_doubles_or_is_unused_whatever_was_written(
    written: list[list[tuple[str, list[str]]]], data: st.DataObject
) -> None:
    """Cases: B1 1, 13."""
    drafts = []
    for section, said in zip(QUESTION.sections, written, strict=False):
        raw = SectionDraft(
            "any", tuple(Paragraph((Claim("any", "any", text, tuple(ids)),)) for text, ids in said)
        )
        drafts.append(accept_draft(raw, WriteInput(section.key, section.title, PLAN, ASSESSMENT)))
    claims = [claim for made in drafts for claim in made.claims]
    checks = [ClaimCheck(c.id, data.draw(st.sampled_from(Verdict)), "m") for c in claims]
    kept = kept_checks(checks)

    numbering = number_citations(drafts, kept, ASSESSMENT)
    stays, dropped = report_claims(drafts, checks, numbering, ASSESSMENT)
    citations = report_citations(numbering, ASSESSMENT, READINGS)

    numbers = [citation.number for citation in citations]
    assert numbers == list(range(1, len(citations) + 1))
    assert {number for claim in stays for number in claim.citations} == set(numbers)
    assert all(claim.citations for claim in stays)
    places = [(each.source_id, each.start, each.end) for each in citations]
    assert len(set(places)) == len(places)
    assert len(stays) + len(dropped) == len(claims)
    for claim in stays:
        quotes = {citations[number - 1].quote for number in claim.citations}
        original = next(c for c in claims if c.id == claim.id)
        assert quotes == {c.text for c in ASSESSMENT.selected if c.id in original.evidence_ids}
