"""What the sections of a report are for, as a model is told."""

from collections.abc import Sequence

FINDINGS = ("findings", "source_evidence")
DISPUTES = "conflicts_and_gaps"
"""The section of which every claim is a side of a disagreement."""

_PURPOSES = {
    "summary": "the answer to each subquestion, in one or two claims each",
    "findings": "all that the quotes state on each subquestion, with conditions and limits",
    DISPUTES: "both sides of each disagreement between sources, and nothing else",
    "implications": "consequences, duties, limits and risks that the quotes themselves state",
    "conclusion": "the answer to each subquestion, in one or two claims each",
    "source_evidence": "what the files state on entry points, the core flow and boundaries, and "
    "where",
    "borrow_diverge_risk_gate": "what the quotes state that can be taken over, that differs, that "
    "is a risk, or that has to hold first",
    "implementation_recommendations": "requirements, limits and recommendations that the quotes "
    "themselves state",
}
_OTHER = "what the quotes state that belongs under this title"


def tell(sections: Sequence[tuple[str, str]]) -> str:
    """Return a line for each section (key, title): what it is for."""
    return "\n".join(
        f'- "{key}" ({title}): {_PURPOSES.get(key, _OTHER)}' for key, title in sections
    )
