"""Settle the checklist: each item completed with what shows it, or skipped with the reason."""

from collections.abc import Sequence

from adapters.models.port import Assessment, Selected
from state.research_events import ChecklistStatus, ResearchChecklistUpdated
from state.values.profiles import Profile

MAX_SHOWN = 100
# where the codebase profile looks for its items: in the names and headings of what was quoted
_SIGNS = {
    "project_entrypoints": ("main", "cli", "entry", "start", "readme", "index", "usage", "install"),
    "core_flow": ("flow", "architecture", "design", "overview", "guide", "api", "core", "how"),
    "boundaries": ("limit", "security", "config", "boundar", "permission", "error", "compat"),
    "verification_evidence": ("test", "verif", "ci", "check", "bench", "coverage", "example"),
}


def settle(
    profile: Profile,
    *,
    source_ids: Sequence[str],
    archived: bool,
    note_ids: Sequence[str],
    section_ids: Sequence[str],
    assessment: Assessment,
) -> list[ResearchChecklistUpdated]:
    """Return one final update an item, in the profile's order.

    `source_ids` may be the inventory alone, when nothing was archived (`archived` False).
    """
    shown: dict[str, Sequence[str]] = {
        "question_decomposed": note_ids[:1],
        "sources_archived": source_ids if archived else (),
        "coverage_assessed": note_ids,
        "claims_verified": section_ids,
    }
    for item, signs in _SIGNS.items():
        shown[item] = _quoted_sources(assessment, signs)
    return [_update(item, list(shown.get(item, ()))) for item in profile.checklist]


def _quoted_sources(assessment: Assessment, signs: Sequence[str]) -> list[str]:
    return list(
        dict.fromkeys(
            choice.source_id
            for choice in assessment.selected
            if any(sign in _name(choice) for sign in signs)
        )
    )


def _name(choice: Selected) -> str:
    file = choice.locator.rsplit("/", 1)[-1]
    return f"{file} {choice.title or ''} {choice.heading}".lower()


def _update(item: str, ids: list[str]) -> ResearchChecklistUpdated:
    if ids:
        return ResearchChecklistUpdated(
            item_id=item,
            status=ChecklistStatus.COMPLETED,
            evidence_artifact_ids=tuple(dict.fromkeys(ids))[:MAX_SHOWN],
        )
    return ResearchChecklistUpdated(
        item_id=item,
        status=ChecklistStatus.SKIPPED,
        skipped_reason="nothing in the archived sources shows it",
    )
