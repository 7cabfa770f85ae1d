"""Completion: before a run is sealed, everything the seal rests on is read and hashed again."""

from state.artifacts import Artifacts
from state.code_events import CodeSealed
from state.code_state import Paper2Code
from state.errors import Refused
from state.research_events import ArtifactRole, ResearchArtifactRecorded, ResearchCompleted
from state.research_projection import Research, completion_problems
from state.values.code_plan_form import parse_code_plan
from state.values.errors import RejectedError

_MEDIA_TYPES = {
    ArtifactRole.REPORT_SECTION: frozenset({"text/markdown"}),
    ArtifactRole.REPORT: frozenset({"text/markdown", "application/json"}),
    ArtifactRole.HANDOFF: frozenset({"text/markdown", "application/json"}),
}


def verify_completion(research: Research, event: ResearchCompleted, artifacts: Artifacts) -> None:
    """Raise `Refused` (INCOMPLETE) naming everything that keeps `event` from sealing `research`.

    Reads every source, the current artifact of each section, the report and the handoff: present,
    recorded in this run with the right role and media type, and with the recorded hash.
    """
    problems = completion_problems(research, event)
    for artifact in sealed_artifacts(research, event):
        problems += _problems(artifact, artifacts)
    if problems:
        raise Refused("the research cannot be completed: " + "; ".join(problems), code="INCOMPLETE")


def sealed_artifacts(
    research: Research, event: ResearchCompleted
) -> list[ResearchArtifactRecorded]:
    """Return the artifacts a completed run rests on, sources first."""
    ids = [
        *(source.artifact_id for source in research.sources),
        *(
            research.sections[key]
            for key in research.profile.section_keys
            if key in research.sections
        ),
        event.report_artifact_id,
        event.handoff.artifact_id,
    ]
    return [research.artifacts[id_] for id_ in ids if id_ in research.artifacts]


def _problems(artifact: ResearchArtifactRecorded, artifacts: Artifacts) -> list[str]:
    problems = []
    allowed = _MEDIA_TYPES.get(artifact.role)
    if allowed and artifact.media_type not in allowed:
        problems.append(f"{artifact.role} {artifact.artifact_id} is {artifact.media_type}")
    hashes = [artifact.content_hash]
    if artifact.rendition:
        hashes += [artifact.rendition.text_hash, artifact.rendition.blocks_hash]
    for content_hash in hashes:
        try:
            artifacts.get(content_hash)
        except RejectedError as error:
            problems.append(f"{artifact.role} {artifact.artifact_id}: {error.message}")
    return problems


def verify_seal(code: Paper2Code, event: CodeSealed, artifacts: Artifacts) -> None:
    """Raise `Refused` (INCOMPLETE) naming all that the seal `event` rests on and is not there.

    Reads every source, the plan, every file, the record of each verification, and the report; and
    reads the plan as a plan, which has the hash that was approved.
    """
    problems = []
    for name, content_hash in sealed_code(code, event):
        try:
            artifacts.get(content_hash)
        except RejectedError as error:
            problems.append(f"{name}: {error.message}")
    problems += _plan_problems(code, artifacts) if not problems else []
    if problems:
        raise Refused("the code cannot be sealed: " + "; ".join(problems), code="INCOMPLETE")


def sealed_code(code: Paper2Code, event: CodeSealed) -> list[tuple[str, str]]:
    """Return name and content hash of whatever a sealed Paper2Code run rests on, sources first."""
    named = [(f"source {source.artifact_id}", source.content_hash) for source in code.sources]
    named += [
        (f"text of source {source.artifact_id}", text_hash)
        for source in code.sources
        if source.rendition
        for text_hash in (source.rendition.text_hash, source.rendition.blocks_hash)
    ]
    if code.plan:
        named.append((f"version {code.plan.version} of the plan", code.plan.body_hash))
    named += [(f"file {file.path}", file.content_hash) for file in event.files]
    named += [(f"verification {each.attempt}", each.result_hash) for each in code.verifications]
    return [*named, ("report", event.report_hash), ("report.json", event.report_json_hash)]


def _plan_problems(code: Paper2Code, artifacts: Artifacts) -> list[str]:
    if code.plan is None:
        return ["there is no plan"]
    try:
        plan = parse_code_plan(artifacts.get(code.plan.body_hash).decode(errors="replace"))
    except RejectedError as error:
        return [error.message]
    if plan.hash != code.plan.plan_hash:
        return [f"version {code.plan.version} of the plan is not the one that was recorded"]
    return []
