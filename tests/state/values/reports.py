"""Reports in a few words, to compare: each claim with its quote, source and subquestion."""

from dataclasses import dataclass, replace

from state.values.claims import AnswerStatus, ClaimStatus, Verdict
from state.values.evidence import Coverage, CoverageRow
from state.values.ids import content_hash
from state.values.plan import Plan, Subquestion
from state.values.report import (
    Citation,
    ConflictEntry,
    Report,
    ReportClaim,
    ReportParagraph,
    ReportSection,
    SourceEntry,
)

QUESTIONS = ("How many passengers does the ferry carry?", "How long does the crossing take?")


@dataclass(frozen=True)
class Said:
    """One claim to put into a report. `about` is the number of its subquestion, from 0."""

    text: str
    quote: str = ""
    source: str = "a.md"
    about: int = 0
    verdict: Verdict = Verdict.SUPPORTED
    status: ClaimStatus = ClaimStatus.SINGLE_SOURCE
    start: int = 0
    section: str = "findings"


def report_of(
    *claims: Said,
    sources: dict[str, str] | None = None,
    questions: tuple[str, ...] = QUESTIONS,
    conflicts: dict[int, str] | None = None,
    run_id: str = "r1",
    **fields: object,
) -> Report:
    """Return the report that makes `claims`.

    `sources` are bytes by name, those cited by default; `conflicts` are differences by the number
    of their subquestion. Subquestions with claims are covered, others are gaps.
    """
    conflicts = conflicts or {}
    bodies = {said.source: f"body of {said.source}" for said in claims} | (sources or {})
    citations = tuple(
        Citation(
            number, f"ev-{number}", said.source, f"/notes/{said.source}", said.source, None,
            said.quote or said.text, said.start, said.start + len(said.quote or said.text),
            said.start + 1, None, content_hash(bodies[said.source]), content_hash("text"),
            "markdown", "1", "2026-03-01T12:00:00.000Z", "",
        )
        for number, said in enumerate(claims, start=1)
    )  # fmt: skip
    made = tuple(
        ReportClaim(
            f"{said.section}-{number}", said.section, said.text, (number,), said.verdict,
            said.status, "exact-quote", "",
        )
        for number, said in enumerate(claims, start=1)
    )  # fmt: skip
    rows = []
    for at in range(len(questions)):
        evidence = tuple(f"ev-{n}" for n, said in enumerate(claims, start=1) if said.about == at)
        coverage = Coverage.COVERED if evidence else Coverage.GAP
        coverage = Coverage.CONFLICT if at in conflicts else coverage
        gap = "" if evidence else "nothing says"
        rows.append(CoverageRow(f"q{at + 1}", coverage, evidence, gap))
    report = Report(
        request_id=run_id, question="What of the ferry?", research_type="academic", audience="",
        boundaries="", scope="quick", profile="question", researcher="extractive",
        plan=Plan("g", tuple(Subquestion(f"q{n}", q, q) for n, q in enumerate(questions, 1))),
        rounds=(), rows=tuple(rows), missing=(),
        conflicts=tuple(
            ConflictEntry(
                f"q{at + 1}",
                tuple(n for n, said in enumerate(claims, start=1) if said.about == at),
                difference,
            )
            for at, difference in conflicts.items()
        ),
        answer_status=AnswerStatus.CONFLICTING if conflicts else AnswerStatus.ANSWERED,
        stop_reason="coverage-complete",
        sections=(
            ReportSection(
                "findings", "Findings", (ReportParagraph("", tuple(c.id for c in made), ""),)
            ),
        ),
        claims=made, dropped_claims=(), citations=citations,
        sources=tuple(
            SourceEntry(
                name, f"/notes/{name}", name, None, content_hash(body), "2026", "",
                cited=any(said.source == name for said in claims),
            )
            for name, body in bodies.items()
        ),
        failures=(), omitted=(),
    )  # fmt: skip
    return replace(report, **fields)  # type: ignore[arg-type] # tests name real fields
