"""What is known about a research run, and which research event may follow which.

Here are the rules of the durable workspace; those of the method are in `state.method_rules`.
Pure: same research and event, same answer. Every rule that is broken raises `Refused` with a code.
"""

from immutables import Map

from state.copying import replace
from state.errors import Refused
from state.method_rules import MethodEvent, evolve_method
from state.research_events import (
    STAGES,
    ArtifactRole,
    ChecklistStatus,
    ResearchArtifactRecorded,
    ResearchChecklistUpdated,
    ResearchCheckpointRecorded,
    ResearchCompleted,
    ResearchStarted,
    ResearchStepRecorded,
    StepStatus,
)
from state.research_state import Research, refuse_unless, require_artifacts, require_sources
from state.values.profiles import profile_named

__all__ = ["Research", "ResearchEvent", "completion_problems", "evolve_research", "start"]

MAX_ARTIFACTS = 2000
MAX_STEPS = 500
MAX_CHECKPOINTS = 500
MAX_CHECKLIST_ITEMS = 50

WorkspaceEvent = (
    ResearchArtifactRecorded
    | ResearchChecklistUpdated
    | ResearchStepRecorded
    | ResearchCheckpointRecorded
    | ResearchCompleted
)
ResearchEvent = ResearchStarted | WorkspaceEvent | MethodEvent

_FINAL_ITEM = (ChecklistStatus.COMPLETED, ChecklistStatus.SKIPPED)


def start(event: ResearchStarted) -> Research:
    """Return the research that `event` begins, its profile's checklist pending."""
    profile = profile_named(event.profile)
    pending = {
        item: ResearchChecklistUpdated(item_id=item, status=ChecklistStatus.PENDING)
        for item in profile.checklist
    }
    return Research(started=event, profile=profile, checklist=Map(pending))


def evolve_research(research: Research, event: ResearchEvent) -> Research:
    """Return the research after `event`; raises `Refused` when its rules do not allow it."""
    if research.completed:
        raise Refused("the research is completed; start a new run", code="TERMINAL")
    match event:
        case ResearchStarted():
            raise Refused("the research has already started", code="ALREADY_STARTED")
        case ResearchArtifactRecorded():
            return _artifact(research, event)
        case ResearchChecklistUpdated():
            return _checklist(research, event)
        case ResearchStepRecorded():
            return _step(research, event)
        case ResearchCheckpointRecorded():
            return _checkpoint(research, event)
        case ResearchCompleted():
            return _completed(research, event)
        case _:
            return evolve_method(research, event)


def _artifact(research: Research, event: ResearchArtifactRecorded) -> Research:
    refuse_unless(
        len(research.artifacts) < MAX_ARTIFACTS,
        "LIMIT",
        f"a run holds at most {MAX_ARTIFACTS} artifacts",
    )
    refuse_unless(
        event.artifact_id not in research.artifacts,
        "DUPLICATE_ARTIFACT",
        f"artifact {event.artifact_id!r} is already recorded",
    )
    require_sources(research, event.source_artifact_ids)
    sections = research.sections
    if key := event.section_key:
        refuse_unless(
            key in research.profile.section_keys,
            "UNKNOWN_SECTION",
            f"profile {research.profile.name} has no section {key!r}",
        )
        before = sections.get(key)
        refuse_unless(
            before is None
            or research.artifacts[before].section_status != "completed"
            or event.section_status == "completed",
            "SECTION_REGRESSION",
            f"section {key!r} is completed and cannot go back to drafted",
        )
        sections = sections.set(key, event.artifact_id)
    return replace(
        research,
        artifacts=research.artifacts.set(event.artifact_id, event),
        artifact_order=(*research.artifact_order, event.artifact_id),
        sections=sections,
    )


def _checklist(research: Research, event: ResearchChecklistUpdated) -> Research:
    before = research.checklist.get(event.item_id)
    refuse_unless(
        before is not None or len(research.checklist) < MAX_CHECKLIST_ITEMS,
        "LIMIT",
        f"a run holds at most {MAX_CHECKLIST_ITEMS} checklist items",
    )
    refuse_unless(
        before is None or before.status not in _FINAL_ITEM or before.status is event.status,
        "CHECKLIST_FINAL",
        f"item {event.item_id!r} is {before.status if before else ''} and stays so",
    )
    require_artifacts(research, event.evidence_artifact_ids)
    return replace(
        research,
        checklist=research.checklist.set(event.item_id, event),
        blockers=_blocked(research, f"checklist:{event.item_id}", event.blocked_reason),
    )


def _blocked(research: Research, what: str, why: str) -> Map[str, str]:
    if why:
        return research.blockers.set(what, why)
    return research.blockers.delete(what) if what in research.blockers else research.blockers


def _step(research: Research, event: ResearchStepRecorded) -> Research:
    refuse_unless(
        research.steps_recorded < MAX_STEPS, "LIMIT", f"a run holds at most {MAX_STEPS} steps"
    )
    before = research.steps.get(event.step_id)
    refuse_unless(
        before is None or before.status is not StepStatus.COMPLETED,
        "DUPLICATE_STEP",
        f"step {event.step_id!r} is already completed",
    )
    require_artifacts(research, event.evidence_artifact_ids)
    cited = (ref.source_artifact_id for ref in event.inspected_refs)
    require_sources(research, (id_ for id_ in cited if id_))
    return replace(
        research,
        steps=research.steps.set(event.step_id, event),
        step_order=research.step_order if before else (*research.step_order, event.step_id),
        steps_recorded=research.steps_recorded + 1,
        blockers=_blocked(research, f"step:{event.step_id}", event.blocked_reason),
    )


def _checkpoint(research: Research, event: ResearchCheckpointRecorded) -> Research:
    refuse_unless(
        len(research.checkpoints) < MAX_CHECKPOINTS,
        "LIMIT",
        f"a run holds at most {MAX_CHECKPOINTS} checkpoints",
    )
    refuse_unless(
        all(event.checkpoint_id != earlier.checkpoint_id for earlier in research.checkpoints),
        "DUPLICATE_CHECKPOINT",
        f"checkpoint {event.checkpoint_id!r} is already recorded",
    )
    refuse_unless(
        STAGES.index(event.stage) >= STAGES.index(research.stage),
        "STAGE_REGRESSION",
        f"the stage is {research.stage} and cannot go back to {event.stage}",
    )
    refuse_unless(
        event.round >= research.round,
        "ROUND_REGRESSION",
        f"round {research.round} was reached; a checkpoint cannot name round {event.round}",
    )
    require_artifacts(research, event.artifact_ids)
    why = (event.summary.strip() or "no reason given") if event.status == "blocked" else ""
    return replace(
        research,
        stage=event.stage,
        round=event.round,
        checkpoints=(*research.checkpoints, event),
        blockers=_blocked(research, "checkpoint", why),
    )


def _completed(research: Research, event: ResearchCompleted) -> Research:
    if problems := completion_problems(research, event):
        raise Refused("the research cannot be completed: " + "; ".join(problems), code="INCOMPLETE")
    return replace(research, stage="completed", completed=event)


def completion_problems(research: Research, event: ResearchCompleted) -> list[str]:
    """Return what stands between `research` and its completion by `event`; empty when nothing."""
    problems = []
    if research.stage != "report_writing":
        problems.append(f"the stage is {research.stage}, not report_writing")
    if not research.sources:
        problems.append("no source is archived")
    if not research.of_role(ArtifactRole.OUTLINE):
        problems.append("there is no outline")
    problems += [
        f"checklist item {item_id!r} is {item.status}"
        for item_id, item in sorted(research.checklist.items())
        if item.status not in _FINAL_ITEM
    ]
    for key in research.profile.section_keys:
        latest = research.sections.get(key)
        if latest is None or research.artifacts[latest].section_status != "completed":
            problems.append(f"section {key!r} is not completed")
    problems += [f"{what} is blocked: {why}" for what, why in sorted(research.blockers.items())]
    for role, id_ in (
        (ArtifactRole.REPORT, event.report_artifact_id),
        (ArtifactRole.HANDOFF, event.handoff.artifact_id),
    ):
        recorded = research.artifacts.get(id_)
        if recorded is None or recorded.role is not role:
            problems.append(f"{id_!r} is not a recorded {role}")
    return problems
