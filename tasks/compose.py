"""Compose: put plan, evidence, drafts and checks together into one report. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adapters.models.port import Assessment, SectionDraft, Selected
from state.values.citations import number_by_first_use
from state.values.claims import FAILED, AnswerStatus, Claim, ClaimCheck
from state.values.evidence import Coverage
from state.values.redaction import redact
from state.values.report import (
    Citation,
    ConflictEntry,
    Report,
    ReportClaim,
    ReportParagraph,
    ReportSection,
    SourceEntry,
)
from tasks.check import claim_status
from tasks.read import Reading


def answer_status(assessment: Assessment, *, allow_partial: bool) -> AnswerStatus:
    """Return what the evidence allows the report to say as a whole.

    A conflict outweighs everything. With `allow_partial` an answer to some of the subquestions is
    an answer (the report says which are missing); without, every subquestion must be covered.
    """
    covered = [row.coverage is Coverage.COVERED for row in assessment.rows]
    if any(row.coverage is Coverage.CONFLICT for row in assessment.rows):
        return AnswerStatus.CONFLICTING
    if covered and (all(covered) or (allow_partial and any(covered))):
        return AnswerStatus.ANSWERED
    return AnswerStatus.INSUFFICIENT


@dataclass(frozen=True, slots=True)
class Numbering:
    """Which number stands for which quote: from 1, in the order of first use, none unused."""

    numbers: Mapping[str, int]

    def of(self, evidence_ids: Sequence[str]) -> tuple[int, ...]:
        """Return the numbers of `evidence_ids`, in ascending order."""
        return tuple(sorted({self.numbers[id_] for id_ in evidence_ids}))


def number_citations(
    drafts: Sequence[SectionDraft], kept: Mapping[str, ClaimCheck], assessment: Assessment
) -> Numbering:
    """Return a number for every quote that a kept claim cites; one range has one number."""
    by_id = {choice.id: choice for choice in assessment.selected}
    places = {
        id_: (by_id[id_].source_id, by_id[id_].start, by_id[id_].end)
        for draft in drafts
        for claim in draft.claims
        if claim.id in kept
        for id_ in claim.evidence_ids
    }
    numbers = number_by_first_use(places.values())
    return Numbering({id_: numbers[place] for id_, place in places.items()})


def kept_checks(checks: Sequence[ClaimCheck]) -> dict[str, ClaimCheck]:
    """Return the checks of the claims that stay in the report.

    A claim that its quotes contradict, or that has none, is dropped and said to be; one that is
    partly supported or could not be checked stays, marked.
    """
    return {check.claim_id: check for check in checks if check.verdict not in FAILED}


def compose_sections(
    sections: Sequence[tuple[str, str]],
    drafts: Sequence[SectionDraft],
    kept: Mapping[str, ClaimCheck],
    remarks: Mapping[str, Sequence[str]],
) -> tuple[ReportSection, ...]:
    """Return the sections in the order of `sections` (key, title).

    `remarks` are the paragraphs of the sections that no researcher writes. A paragraph whose
    claims were all dropped disappears; a section that is left empty says so.
    """
    by_key = {draft.section: draft for draft in drafts}
    composed = []
    for key, title in sections:
        paragraphs = [ReportParagraph("", (), remark) for remark in remarks.get(key, ())]
        for paragraph in by_key[key].paragraphs if key in by_key else ():
            ids = tuple(claim.id for claim in paragraph.claims if claim.id in kept)
            if ids or paragraph.remark:
                paragraphs.append(ReportParagraph(paragraph.heading, ids, paragraph.remark))
        if not paragraphs:
            paragraphs.append(
                ReportParagraph("", (), "Nothing in this section could be supported.")
            )
        composed.append(ReportSection(key, title, tuple(paragraphs)))
    return tuple(composed)


def report_claims(
    drafts: Sequence[SectionDraft],
    checks: Sequence[ClaimCheck],
    numbering: Numbering,
    assessment: Assessment,
) -> tuple[tuple[ReportClaim, ...], tuple[ReportClaim, ...]]:
    """Return the claims that stay, and those that were dropped, each in the order of writing."""
    by_id = {choice.id: choice for choice in assessment.selected}
    said = {check.claim_id: check for check in checks}
    kept: list[ReportClaim] = []
    dropped: list[ReportClaim] = []
    for claim in (claim for draft in drafts for claim in draft.claims):
        check = said[claim.id]
        stays = check.verdict not in FAILED
        made = ReportClaim(
            id=claim.id,
            section=claim.section,
            text=claim.text,
            citations=numbering.of(claim.evidence_ids) if stays else (),
            verdict=check.verdict,
            status=claim_status(claim, by_id, assessment.conflicts),
            method=check.method,
            reason=check.reason,
        )
        (kept if stays else dropped).append(made)
    return tuple(kept), tuple(dropped)


def report_citations(
    numbering: Numbering, assessment: Assessment, readings: Mapping[str, Reading]
) -> tuple[Citation, ...]:
    """Return the numbered quotes, in the order of their numbers."""
    by_number: dict[int, Selected] = {}
    for choice in assessment.selected:
        if choice.id in numbering.numbers:
            by_number.setdefault(numbering.numbers[choice.id], choice)
    return tuple(
        _citation(number, by_number[number], readings[by_number[number].source_id])
        for number in sorted(by_number)
    )


def _citation(number: int, choice: Selected, reading: Reading) -> Citation:
    return Citation(
        number=number,
        evidence_id=choice.id,
        source_id=choice.source_id,
        locator=choice.locator,
        display=reading.display,
        title=reading.title,
        quote=redact(choice.text),
        start=choice.start,
        end=choice.end,
        paragraph=choice.paragraph,
        page=choice.page,
        content_hash=reading.content_hash,
        text_hash=reading.text_hash,
        extractor=reading.extractor,
        extractor_version=reading.extractor_version,
        fetched_at=reading.fetched_at,
        modified_at=reading.modified_at,
    )


def report_conflicts(assessment: Assessment, numbering: Numbering) -> tuple[ConflictEntry, ...]:
    """Return the conflicts whose quotes the report shows."""
    return tuple(
        ConflictEntry(
            conflict.subquestion_id,
            numbering.of([id_ for id_ in conflict.evidence_ids if id_ in numbering.numbers]),
            conflict.difference,
        )
        for conflict in assessment.conflicts
    )


def report_sources(
    readings: Sequence[tuple[str, Reading]], citations: Sequence[Citation]
) -> tuple[SourceEntry, ...]:
    """Return every archived source (id, reading), and whether it is cited."""
    cited = {citation.source_id for citation in citations}
    return tuple(
        SourceEntry(
            source_id,
            reading.locator,
            reading.display,
            reading.title,
            reading.content_hash,
            reading.fetched_at,
            reading.modified_at,
            source_id in cited,
        )
        for source_id, reading in readings
    )


def handoff_lists(report: Report) -> dict[str, tuple[str, ...]]:
    """Return what the handoff recommends: what to use, what to find out, how to verify."""
    questions = {s.id: s.question for s in report.plan.subquestions}
    open_ = [
        f"Find a source for: {questions[row.subquestion_id]}"
        for row in report.rows
        if row.coverage is Coverage.GAP
    ]
    disputed = [
        f"Settle which source is right: {questions[entry.subquestion_id]} ({entry.difference})"
        for entry in report.conflicts
    ]
    usable = [
        f"Use what {len(report.citations)} verified quotes say on: {questions[row.subquestion_id]}"
        for row in report.rows
        if row.coverage is Coverage.COVERED
    ]
    issues = [*disputed, *open_] or ["Ask again when the sources have changed."]
    return {
        "implementation_tasks": _bounded([*usable, *disputed, *open_]),
        "recommended_issues": _bounded(issues),
        "recommended_pull_requests": (),
        "verification_commands": (f"assay verify {report.request_id}",),
    }


def _bounded(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(text[:1000] for text in texts[:50])


def claims_of(drafts: Sequence[SectionDraft]) -> tuple[Claim, ...]:
    """Return all claims of `drafts` in order."""
    return tuple(claim for draft in drafts for claim in draft.claims)
