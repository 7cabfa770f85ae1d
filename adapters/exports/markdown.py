"""A report as Markdown, for people: every number leads to an exact quote and where it stands."""

from collections.abc import Mapping

from adapters.exports.plain_marks import code, escape, within
from state.values.claims import AnswerStatus, ClaimStatus, Verdict
from state.values.evidence import Coverage
from state.values.report import (
    Citation,
    Failure,
    Report,
    ReportClaim,
    ReportParagraph,
    ReportSection,
)
from state.values.wording import counted

_ANSWERS = {
    AnswerStatus.ANSWERED: "Answered",
    AnswerStatus.INSUFFICIENT: "Insufficient evidence",
    AnswerStatus.CONFLICTING: "Conflicting evidence",
    AnswerStatus.CLARIFICATION: "Needs clarification",
}


def report_markdown(report: Report) -> str:
    """Return report.md."""
    parts = [f"# {escape(report.question)}", _status_line(report)]
    parts += [section_markdown(report, section).rstrip() for section in report.sections]
    parts += [_citations(report), _sources(report)]
    return "\n\n".join(part for part in parts if part) + "\n"


def section_markdown(report: Report, section: ReportSection) -> str:
    """Return one section, its claims with their citation numbers."""
    claims = {claim.id: claim for claim in report.claims}
    parts = [f"## {section.title}"]
    heading = ""
    for paragraph in section.paragraphs:
        if paragraph.heading and paragraph.heading != heading:
            parts.append(f"### {escape(paragraph.heading)}")
        heading = paragraph.heading or heading
        parts.append(_paragraph(paragraph, claims))
    return "\n\n".join(parts) + "\n"


def _status_line(report: Report) -> str:
    covered = sum(row.coverage is Coverage.COVERED for row in report.rows)
    remarks = [each.remark for section in report.sections for each in section.paragraphs]
    unwritten = any(remark.startswith("Incomplete: ") for remark in remarks)
    missing = covered < len(report.rows) or unwritten
    partly = report.answer_status is AnswerStatus.ANSWERED and missing
    said = _ANSWERS[report.answer_status] + (" in part" if partly else "")
    return (
        f"**{said}.** {covered} of {counted(len(report.rows), 'subquestion')} covered, "
        f"{counted(len(report.distinct_claims), 'claim')}, "
        f"{counted(len(report.citations), 'verified quote')}. "
        f"Run {code(report.request_id)}."
    )


def _paragraph(paragraph: ReportParagraph, claims: Mapping[str, ReportClaim]) -> str:
    if not paragraph.claim_ids:
        return escape(paragraph.remark)
    return "\n".join(f"- {_claim(claims[id_])}" for id_ in paragraph.claim_ids)


def _claim(claim: ReportClaim) -> str:
    marks = []
    if claim.verdict is not Verdict.SUPPORTED:
        marks.append(str(claim.verdict))
    if claim.status is ClaimStatus.DISPUTED:
        marks.append("disputed")
    mark = f" *({', '.join(marks)})*" if marks else ""
    return f"{escape(claim.text)} {''.join(f'[{number}]' for number in claim.citations)}{mark}"


def _citations(report: Report) -> str:
    if not report.citations:
        return ""
    return "## Citations\n\n" + "\n".join(_citation(citation) for citation in report.citations)


def _citation(citation: Citation) -> str:
    title = f"*{escape(citation.title)}*" if citation.title else "(no title stated)"
    page = f"page {citation.page}, " if citation.page else ""
    return (
        f"{citation.number}. “{escape(citation.quote)}” — {title}, {code(citation.display)}, "
        f"{page}paragraph {citation.paragraph}, characters {citation.start}–{citation.end}, "
        f"`{citation.content_hash[:19]}…`, fetched {citation.fetched_at}"
    )


def _failure(failure: Failure, queries: set[str]) -> str:
    missed = "searched" if _is_search(failure.target, queries) else "used"
    why = f"{escape(failure.code)} ({escape(failure.reason)})"
    return f"- {code(failure.target)}: not {missed}, {why}"


def _is_search(target: str, queries: set[str]) -> bool:
    """Tell whether `target` is a query, or a query behind the name of a provider."""
    return target in queries or target.partition(": ")[2] in queries


def _sources(report: Report) -> str:
    queries = {query for entry in report.rounds for query in entry.queries}
    lines = [
        f"- {code(source.display)}: {'cited' if source.cited else 'read, not cited'}"
        for source in report.sources
    ]
    lines += [_failure(failure, queries) for failure in report.failures]
    lines += [
        f"- {code(each.target)}: found, not read, {escape(each.code)} ({within(each.reason)})"
        for each in report.omitted
    ]
    if not lines:
        lines = ["No source matched the searches."]
    return "## Sources\n\n" + "\n".join(lines)
