"""Self-check: hold a round against the discipline of research; what fails stays open.

The discipline is that of FS-Researcher (arXiv 2602.01566): notes cite archives, every subtopic is
covered, and by at least two independent sources.
"""

from collections.abc import Sequence

from adapters.models.port import Assessment
from state.values.evidence import Coverage
from state.values.plan import Plan

INDEPENDENT_SOURCES = 2


def open_items(plan: Plan, assessment: Assessment, source_ids: Sequence[str]) -> list[str]:
    """Return one sentence for everything a further round should mend; empty when nothing."""
    items = []
    if not source_ids:
        items.append("No source is archived yet.")
    rows = {row.subquestion_id: row for row in assessment.rows}
    for subquestion in plan.subquestions:
        row = rows.get(subquestion.id)
        quotes = [q for q in assessment.selected if q.subquestion_id == subquestion.id]
        if row is None or row.coverage is Coverage.GAP:
            items.append(f"Not answered yet: {subquestion.question}")
        elif row.coverage is Coverage.CONFLICT:
            items.append(f"Sources disagree: {subquestion.question}")
        elif len({quote.locator for quote in quotes}) < INDEPENDENT_SOURCES:
            items.append(f"Rests on a single source: {subquestion.question}")
    known = set(source_ids)
    items += [
        f"Quote {quote.id} cites no archived source."
        for quote in assessment.selected
        if quote.source_id not in known
    ]
    return items
