"""Looking up a code plan's citations in the text that they quote."""

from dataclasses import replace

from state.values.code_plan import CodePlan, PaperCitation
from state.values.quotes import NormalisedText


def locate_citations(plan: CodePlan, text: NormalisedText) -> CodePlan:
    """Return `plan` with where each of its quotes stands in `text`.

    A quote that does not stand there keeps its words and has no place, whatever place it claimed:
    `unlocated` names it, and nothing drops it.
    """

    def located(citation: PaperCitation) -> PaperCitation:
        span = text.find(citation.quote, start_hint=citation.start)
        if span is None:
            return replace(citation, start=None, end=None)
        return replace(citation, start=span.start, end=span.end)

    return plan.with_citations(located)


def unlocated(plan: CodePlan) -> tuple[PaperCitation, ...]:
    """Return the citations that were not found in the source: what they back is not verified."""
    return tuple(citation for citation in plan.citations if not citation.is_located)
