"""The durable research workspace: the eight mutations and reads that a model-driven face offers.

Every mutation is idempotent by its call id: the same call with the same input changes nothing and
returns the projection; the same call id with another input is refused. Nothing here touches
anything but Assay's own state.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from state.artifacts import Artifacts
from state.completion import verify_completion
from state.envelope import Draft, Refs
from state.errors import NotFound, Refused, Withheld
from state.events import MAX_IDS, Event, Limits, draft
from state.ledger import Ledger
from state.projection import Run, rehearse, replays
from state.request import ResearchRequest, explain
from state.research_events import (
    Handoff,
    ResearchArtifactRecorded,
    ResearchChecklistUpdated,
    ResearchCheckpointRecorded,
    ResearchCompleted,
    ResearchStarted,
    ResearchStepRecorded,
)
from state.research_projection import Research
from state.run_events import RunCompleted, RunQueued, RunResumed, RunStarted
from state.values.errors import InvalidRequest
from state.values.ids import artifact_id, content_hash, is_stable_id
from state.values.redaction import has_secret, redact, strip_envelopes

MAX_BODY = 512_000
MAX_SLICE = 64_000
DEFAULT_SLICE = 32_000
STATUS_STEPS = 10
_COMPUTED = {"artifact_id", "content_hash", "media_type", "size", "rendition", "fetched_at"}


@dataclass(frozen=True, slots=True)
class ArtifactSlice:
    """Characters `offset` to `end` of an artifact's sanitised text of `total` characters."""

    artifact_id: str
    role: str
    text: str
    offset: int
    end: int
    total: int
    truncated: bool


@dataclass(frozen=True, slots=True)
class Status:
    """What a face may show of a run: from the projection alone, never from a model's words."""

    run: Run
    research: Research
    recent_artifacts: tuple[ResearchArtifactRecorded, ...]
    recent_steps: tuple[ResearchStepRecorded, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """Which turn and tool call a mutation belongs to; both are stable ids."""

    turn_id: str
    call_id: str


class Workspace:
    """One run's workspace."""

    def __init__(self, ledger: Ledger[Run], artifacts: Artifacts, run_id: str) -> None:
        self._ledger = ledger
        self._artifacts = artifacts
        self._run_id = run_id

    def start(self, call: Call, request: ResearchRequest) -> Run:
        """Begin the research that `request` asks for; its id is the run's."""
        if request.id != self._run_id:
            raise InvalidRequest(f"the request is for run {request.id!r}, not {self._run_id!r}")
        queued = RunQueued(
            kind="research",
            task_id=request.id,
            fingerprint=request.fingerprint,
            requested_by=request.principal,
            limits=Limits(),
        )
        started = ResearchStarted(
            objective=request.question,
            scope=request.scope,
            profile=request.profile,
            request=request,
        )
        drafts = [
            draft(queued, self._refs(call, "run_queued")),
            draft(RunStarted(), self._refs(call, "run_started")),
            draft(started, self._refs(call)),
        ]
        return self._append(drafts)

    def save_artifact(self, call: Call, body: str, **fields: Any) -> Run:
        """Archive `body` as an artifact; `fields` are those of `research_artifact_recorded`.

        Its id, hash, size and type (Markdown) are computed here and are no caller's to give. Raises
        `InvalidRequest` for that, and for a body of more than 512,000 characters. A body whose
        event is refused is never archived.
        """
        if given := sorted(_COMPUTED & set(fields)):
            raise InvalidRequest(f"{', '.join(given)}: computed from the body, not given with it")
        data = _encode(body)
        run = self._run()
        event = _event(
            ResearchArtifactRecorded,
            {
                **fields,
                "artifact_id": artifact_id(run.task_id, call.turn_id, call.call_id),
                "content_hash": content_hash(data),
                "media_type": "text/markdown",
                "size": len(data),
            },
        )
        made = draft(event, self._refs(call))
        if replays(run, made):
            return run
        rehearse(run, [made])
        self._artifacts.put(data)
        return self._append([made])

    def read_artifact(
        self, artifact_id: str, *, offset: int = 0, limit: int = DEFAULT_SLICE
    ) -> ArtifactSlice:
        """Return a slice of an artifact's text, hash-checked and sanitised as a whole before.

        Offsets count characters of the sanitised text. Raises `NotFound` for an id this run does
        not hold, `IntegrityError` and `Withheld` for its bytes, `RejectedError` when they are no
        text, `InvalidRequest` for a slice outside 0 to 64,000 characters.
        """
        if offset < 0 or not 1 <= limit <= MAX_SLICE:
            raise InvalidRequest(f"offset is 0 or more and limit 1 to {MAX_SLICE:,}")
        run = self._run()
        artifact = self._research(run).artifacts.get(artifact_id)
        if artifact is None:
            raise NotFound(f"run {self._run_id!r} holds no artifact {artifact_id!r}")
        address = artifact.rendition.text_hash if artifact.rendition else artifact.content_hash
        for part_hash in (artifact.content_hash, address):
            if part_hash in run.withheld:
                raise Withheld(f"artifact {artifact_id!r} is withheld: {run.withheld[part_hash]}")
        text = strip_envelopes(redact(self._artifacts.read_text(address)))
        part = text[offset : offset + limit]
        end = offset + len(part)
        return ArtifactSlice(
            artifact_id, artifact.role, part, offset, end, len(text), end < len(text)
        )

    def record_step(self, call: Call, **fields: Any) -> Run:
        """Record bounded local or web work; `fields` are those of `research_step_recorded`.

        Without a `step_id` the call's id is the step's.
        """
        fields = {"step_id": call.call_id, **fields}
        return self._append([self._draft(call, ResearchStepRecorded, fields)])

    def update_checklist(self, call: Call, **fields: Any) -> Run:
        """Report on a checklist item; `fields` are those of `research_checklist_updated`."""
        return self._append([self._draft(call, ResearchChecklistUpdated, fields)])

    def checkpoint(self, call: Call, **fields: Any) -> Run:
        """Sum up a resumable point; `fields` are those of `research_checkpoint_recorded`.

        Without a `checkpoint_id` the call's id is the checkpoint's.
        """
        fields = {"checkpoint_id": call.call_id, **fields}
        return self._append([self._draft(call, ResearchCheckpointRecorded, fields)])

    def status(self) -> Status:
        """Return the run with its most recent 100 artifacts and 10 steps."""
        run = self._run()
        research = self._research(run)
        return Status(
            run,
            research,
            tuple(research.artifacts[id_] for id_ in research.artifact_order[-MAX_IDS:]),
            tuple(research.steps[id_] for id_ in research.step_order[-STATUS_STEPS:]),
        )

    def complete(self, call: Call, report_artifact_id: str, handoff: dict[str, Any]) -> Run:
        """Seal the report and the handoff, after reading and hashing all they rest on again."""
        event = _event(
            ResearchCompleted,
            {"report_artifact_id": report_artifact_id, "handoff": _handoff(handoff)},
        )
        ended = RunCompleted(answer_status="completed", stop_reason="completed")
        drafts = [
            draft(event, self._refs(call)),
            draft(ended, self._refs(call, "run_completed")),
        ]
        run = self._run()
        if all(replays(run, made) for made in drafts):
            return run
        if run.status == "interrupted":  # nothing drives this run but its calls
            drafts = [draft(RunResumed(), self._refs(call, "run_resumed")), *drafts]
        rehearse(run, drafts)
        verify_completion(self._research(run), event, self._artifacts)
        return self._append(drafts)

    def _draft(self, call: Call, kind: type[Event], fields: dict[str, Any]) -> Draft:
        return draft(_event(kind, fields), self._refs(call))

    def _append(self, drafts: Sequence[Draft]) -> Run:
        return self._ledger.append(self._run_id, drafts).state

    def _run(self) -> Run:
        run = self._ledger.project(self._run_id)
        if run.position == 0:
            raise NotFound(f"there is no run {self._run_id!r}")
        return run

    def _research(self, run: Run) -> Research:
        if run.research is None:
            raise Refused(f"run {self._run_id!r} is no research run", code="KIND")
        return run.research

    def _refs(self, call: Call, part: str = "") -> Refs:
        for id_ in (call.turn_id, call.call_id):
            if not is_stable_id(id_) or has_secret(id_):
                raise InvalidRequest("turn and call ids are stable ids that look like no secret")
        return Refs(call.turn_id, f"{call.call_id}/{part}" if part else call.call_id)


def _event(kind: type[Event], fields: dict[str, Any]) -> Any:
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        raise Refused(f"{kind.type}: {explain(error)}", code="INVALID_REQUEST") from error


def _handoff(fields: dict[str, Any]) -> Handoff:
    try:
        return Handoff.model_validate(fields)
    except ValidationError as error:
        raise Refused(f"handoff: {explain(error)}", code="INVALID_REQUEST") from error


def _encode(body: str) -> bytes:
    if len(body) > MAX_BODY:
        raise InvalidRequest(
            f"the body has {len(body):,} characters; at most {MAX_BODY:,} are accepted"
        )
    try:
        return body.encode()
    except UnicodeEncodeError as error:
        raise InvalidRequest(f"the body is not Unicode text: {error}") from error
