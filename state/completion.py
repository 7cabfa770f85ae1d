"""Completion: before a run is sealed, everything the seal rests on is read and hashed again."""

from state.artifacts import Artifacts
from state.errors import Refused
from state.research_events import ArtifactRole, ResearchArtifactRecorded, ResearchCompleted
from state.research_projection import Research, completion_problems
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
