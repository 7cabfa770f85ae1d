"""The stages of a Paper2Code run: their order, how far each is, and which need an approved plan."""

from collections.abc import Iterable
from enum import StrEnum


class CodeStage(StrEnum):
    """A named part of the method, in the order in which they come; a run may leave some out."""

    PREPARING = "preparing"
    ACQUIRING_INPUT = "acquiring_input"
    EXTRACTING_DOCUMENT = "extracting_document"
    SEGMENTING_DOCUMENT = "segmenting_document"
    PLANNING = "planning"
    PLAN_REVIEW = "plan_review"
    COLLECTING_REFERENCES = "collecting_references"
    INDEXING = "indexing"
    IMPLEMENTING = "implementing"
    VERIFYING = "verifying"
    FINALIZING = "finalizing"


PERCENT: dict[str, int] = {
    CodeStage.PREPARING: 5,
    CodeStage.ACQUIRING_INPUT: 25,
    CodeStage.EXTRACTING_DOCUMENT: 40,
    CodeStage.SEGMENTING_DOCUMENT: 50,
    CodeStage.PLANNING: 65,
    CodeStage.PLAN_REVIEW: 66,
    CodeStage.COLLECTING_REFERENCES: 70,
    CodeStage.INDEXING: 80,
    CodeStage.IMPLEMENTING: 85,
    CodeStage.VERIFYING: 95,
    CodeStage.FINALIZING: 100,
}
# What is done here carries the plan out: nothing of it may begin before the plan stands.
CARRYING_OUT: frozenset[str] = frozenset(
    stage for stage, percent in PERCENT.items() if percent > PERCENT[CodeStage.PLAN_REVIEW]
)


def percent_begun(stages: Iterable[str]) -> int:
    """Return how far a run is that has begun `stages`, 0 to 100; 0 when it has begun none."""
    return max((PERCENT.get(stage, 0) for stage in stages), default=0)
