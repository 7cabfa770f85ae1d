"""What a report says about its own making, computed from the ledger and never by a researcher."""

from collections import Counter
from collections.abc import Sequence

from flows.knowledge import Knowledge
from state.values.claims import Verdict
from state.values.evidence import Coverage
from state.values.report import ReportClaim, made_once
from state.values.wording import counted

_STOPPED = {
    "coverage-complete": "every subquestion was covered",
    "no-progress": "a further round had nothing new to search for, or found nothing new",
    "round-budget": "the last allowed round was over",
    "search-budget": "no search was left",
    "page-budget": "no page was left to read",
    "model-budget": "the remaining model calls were kept for writing",
    "token-budget": "the remaining tokens were kept for writing",
    "cost-budget": "the remaining money was kept for writing",
    "deadline": "the time for new research was over",
}

_STANDING = (
    (
        "Every quote is an exact range of an archived text, bound to its hash and its extractor; "
        "'assay verify' walks the chain again, with no network and no model."
    ),
    (
        "The research type claims no special data or expertise. The time a source was fetched is "
        "not the time it was published. Distinct origins prove neither independence nor truth."
    ),
)


def method_remarks(
    knowledge: Knowledge,
    claims: Sequence[ReportClaim],
    dropped: Sequence[ReportClaim],
    researcher: str,
    scope: str,
    *,
    ranking: str,
) -> list[str]:
    """Return the paragraphs of the section on method and verification."""
    rows = knowledge.assessment.rows
    covered = sum(row.coverage is Coverage.COVERED for row in rows)
    searches = sum(len(entry.queries) for entry in knowledge.rounds)
    made = (
        f"Researcher: {researcher}; scope {scope}. {counted(searches, 'search', 'searches')} in "
        f"{counted(knowledge.number, 'round')}; {counted(len(knowledge.sources), 'source')} read "
        "and archived. "
        f"Research stopped because {_STOPPED.get(knowledge.stop or '', knowledge.stop)}."
    )
    if ranking:
        made += f" What was found in folders was ranked by its words and by meaning ({ranking})."
    agrees = "is" if covered == 1 else "are"
    said = (
        f"{covered} of {counted(len(rows), 'subquestion')} {agrees} covered. "
        f"{_verdicts(claims, dropped)}"
    )
    remarks = [made, said, *_open(knowledge)]
    if researcher == "extractive":
        remarks.append(
            "The extractive researcher uses no language model: it quotes, and draws no conclusion."
        )
    if dropped:
        reasons = "; ".join(f"{claim.id}: {claim.verdict}, {claim.reason}" for claim in dropped)
        remarks.append(f"Left out because not supported: {reasons}.")
    return [*remarks, *_STANDING]


def _open(knowledge: Knowledge) -> list[str]:
    """Name what is open, whatever the sections say about it."""
    asked = {s.id: s.question for s in knowledge.plan.subquestions}
    by_coverage = {
        kind: [asked[r.subquestion_id] for r in knowledge.assessment.rows if r.coverage is kind]
        for kind in (Coverage.GAP, Coverage.CONFLICT)
    }
    said = (("Not answered", Coverage.GAP), ("In dispute", Coverage.CONFLICT))
    return [f"{what}: {' '.join(by_coverage[kind])}" for what, kind in said if by_coverage[kind]]


def _verdicts(claims: Sequence[ReportClaim], dropped: Sequence[ReportClaim]) -> str:
    counts = Counter(claim.verdict for claim in (*made_once(claims), *made_once(dropped)))
    if not counts:
        return "The report makes no claim."
    said = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    return f"Claims checked against their quotes: {said}."
