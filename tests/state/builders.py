"""Runs for tests of the rules: a history that grows by events, and events with sensible values."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Self

import pytest

from state.envelope import SCHEMA_VERSION, Draft, Envelope, Line, Refs, normalise, seal, utc_text
from state.errors import Refused
from state.events import Event, Holder, Limits, Spend, draft
from state.method_events import PlannedSubquestion, ResearchPlanRecorded
from state.projection import Run, evolve, replays
from state.request import ResearchRequest, make_request
from state.research_events import (
    Rendition,
    ResearchArtifactRecorded,
    ResearchChecklistUpdated,
    ResearchCheckpointRecorded,
    ResearchCompleted,
    ResearchStarted,
    ResearchStepRecorded,
)
from state.research_projection import Research
from state.run_events import (
    EffectReserved,
    EffectSettled,
    ReviewAnswered,
    ReviewRequested,
    RunLeased,
    RunQueued,
    RunStarted,
    RunWaiting,
)
from state.values.ids import content_hash
from state.values.plan import Plan, Subquestion
from state.values.profiles import PROFILES

RUN = "run-1"
DIGEST = "ab" * 32
TOKEN = "sk-" + "a1B2c3D4e5F6"
BEGAN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def just(name: str, value: Any) -> dict[str, Any]:
    """Return the one field `name`, to be given as a keyword."""
    return {name: value}


class History:
    """A run and the lines that made it; folds as the ledger does, without a disk."""

    def __init__(self, run_id: str = RUN) -> None:
        self.run_id = run_id
        self.run = Run()
        self.lines: list[Line] = []
        self.later = timedelta()

    @property
    def research(self) -> Research:
        assert self.run.research is not None
        return self.run.research

    def record(self, *events: Event, call: str | None = None, turn: str | None = "t/1") -> Self:
        """Record `events`; with `call`, the one event under this call id."""
        for event in events:
            self.append(draft(event, Refs(turn, call)))
        return self

    def after(self, **passed: float) -> Self:
        """Let time pass: each event otherwise comes a second after the one before."""
        self.later += timedelta(**passed)
        return self

    def append(self, made: Draft) -> bool:
        """Append a draft; tell whether that wrote anything."""
        made = normalise(made)
        if replays(self.run, made):
            return False
        position = len(self.lines) + 1
        envelope = Envelope(
            event_id=f"e{position}",
            type=made.type,
            schema_version=SCHEMA_VERSION,
            run_id=self.run_id,
            position=position,
            time=utc_text(BEGAN + timedelta(seconds=position) + self.later),
            previous_hash=self.run.head_hash,
            refs=made.refs,
            body=made.body,
        )
        line = seal(envelope)
        self.run = evolve(self.run, envelope, line.hash)
        self.lines.append(line)
        return True

    def refusal(self, event: Event, call: str | None = None) -> str:
        """Return the code with which `event` is refused, having checked that nothing changed."""
        before = self.run
        with pytest.raises(Refused) as caught:
            self.record(event, call=call)
        assert self.run is before
        return caught.value.code


def request(run_id: str = RUN, **fields: Any) -> ResearchRequest:
    given = {"principal": "ann", "question": "How do tickets expire?", "sources": ("/notes",)}
    return make_request(id=run_id, **{**given, **fields})


def queued(run_id: str = RUN, **fields: Any) -> RunQueued:
    given = {
        "kind": "research",
        "task_id": run_id,
        "fingerprint": DIGEST,
        "requested_by": "ann",
        "limits": Limits(),
    }
    return RunQueued.model_validate({**given, **fields})


def research_started(**fields: Any) -> ResearchStarted:
    asked = request(**fields)
    return ResearchStarted(
        objective=asked.question, scope=asked.scope, profile=asked.profile, request=asked
    )


def leased(epoch: int = 1) -> RunLeased:
    return RunLeased(epoch=epoch, holder=Holder(pid=1, host="here"))


def running(*, caps: Limits | None = None, **fields: Any) -> History:
    """Return a run that is being worked on under lease 1; `fields` are those of its request."""
    queue = queued(limits=caps or Limits())
    return History().record(queue, research_started(**fields), leased(), RunStarted())


# ---- artifacts


def artifact(artifact_id: str, role: str, **fields: Any) -> ResearchArtifactRecorded:
    given: dict[str, Any] = {
        "artifact_id": artifact_id,
        "role": role,
        "name": artifact_id,
        "content_hash": content_hash(artifact_id),
        "media_type": "text/markdown",
        "size": len(artifact_id),
    }
    if role == "source":
        given["locator"] = f"/notes/{artifact_id}.md"
    else:
        given["source_artifact_ids"] = ["s1"]
    if role == "report_section":
        given |= {"section_key": "summary", "section_status": "completed"}
    return ResearchArtifactRecorded.model_validate({**given, **fields})


def source(artifact_id: str = "s1", **fields: Any) -> ResearchArtifactRecorded:
    return artifact(artifact_id, "source", **fields)


def text_source(artifact_id: str = "s1", text: str = "Tickets expire after 30 days.") -> Event:
    """Return a source whose text can be quoted."""
    rendition = Rendition(
        text_hash=content_hash(text),
        blocks_hash=content_hash("[]"),
        extractor="plain",
        extractor_version="1",
        outcome="ok",
        characters=len(text),
    )
    return source(artifact_id, rendition=rendition)


def section(key: str, status: str = "completed", artifact_id: str = "") -> ResearchArtifactRecorded:
    name = artifact_id or f"section-{key}"
    return artifact(name, "report_section", section_key=key, section_status=status)


# ---- progress


def item(item_id: str, status: str, **fields: Any) -> ResearchChecklistUpdated:
    given: dict[str, Any] = {"item_id": item_id, "status": status}
    if status == "completed":
        given["evidence_artifact_ids"] = ["s1"]
    if status in ("blocked", "skipped"):
        given[f"{status}_reason"] = "because"
    return ResearchChecklistUpdated.model_validate({**given, **fields})


def step(step_id: str = "step-1", status: str = "completed", **fields: Any) -> ResearchStepRecorded:
    given: dict[str, Any] = {
        "step_id": step_id,
        "kind": "local_exploration",
        "status": status,
        "objective": "Find the rule.",
        "stopping_condition": "The rule is found.",
        "expected_evidence": "A sentence.",
        "roots": ["/notes"],
    }
    if status == "completed":
        given["evidence_artifact_ids"] = ["s1"]
    if status == "blocked":
        given["blocked_reason"] = "no access"
    return ResearchStepRecorded.model_validate({**given, **fields})


def checkpoint(
    checkpoint_id: str = "c1", round_: int = 1, stage: str = "knowledge_base", **fields: Any
) -> ResearchCheckpointRecorded:
    given = {"checkpoint_id": checkpoint_id, "round": round_, "stage": stage, "summary": "So far."}
    return ResearchCheckpointRecorded.model_validate({**given, **fields})


HANDOFF = {
    "artifact_id": "handoff",
    "implementation_tasks": ["Change the rule."],
    "recommended_issues": ["Tickets expire too early."],
    "recommended_pull_requests": [],
    "verification_commands": ["pytest"],
}


def completed(**fields: Any) -> ResearchCompleted:
    return ResearchCompleted.model_validate(
        {"report_artifact_id": "report", "handoff": HANDOFF, **fields}
    )


def ready_events(profile: str = "question") -> dict[str, Event]:
    """Return, by name, everything that a run needs before it can be completed."""
    chosen = PROFILES[profile]
    return {
        "source": source(),
        "outline": artifact("outline", "outline"),
        **{f"section {key}": section(key) for key in chosen.section_keys},
        "report": artifact("report", "report"),
        "handoff": artifact("handoff", "handoff"),
        **{f"item {item_id}": item(item_id, "completed") for item_id in chosen.checklist},
        "stage": checkpoint(stage="report_writing"),
    }


def ready(profile: str = "question", without: Iterable[str] = ()) -> History:
    """Return a run that can be completed, but for the events named in `without`."""
    events = ready_events(profile)
    kept = [event for name, event in events.items() if name not in without]
    return running(profile=profile).record(*kept)


# ---- plans and reviews


def plan(goal: str = "Know when tickets expire.", ids: Iterable[str] = ("q1", "q2")) -> Plan:
    return Plan(goal, tuple(Subquestion(id_, f"What about {id_}?", f"about {id_}") for id_ in ids))


def planned(version: int = 1, made: Plan | None = None, **fields: Any) -> ResearchPlanRecorded:
    made = made or plan()
    return ResearchPlanRecorded.model_validate(
        {
            "version": version,
            "origin": "planned" if version == 1 else "revised",
            "goal": made.goal,
            "subquestions": [
                PlannedSubquestion(id=s.id, question=s.question, query=s.query)
                for s in made.subquestions
            ],
            "clarification": made.clarification,
            "plan_hash": made.hash,
            **fields,
        }
    )


def requested(number: int = 1, made: Plan | None = None) -> tuple[ReviewRequested, RunWaiting]:
    """Return what is recorded when a person is asked about version `number` of the plan."""
    return (
        ReviewRequested(
            interaction_id=f"review-{number}", version=number, plan_hash=(made or plan()).hash
        ),
        RunWaiting(interaction_id=f"review-{number}"),
    )


def answered(
    action: str, number: int = 1, made: Plan | None = None, **fields: Any
) -> ReviewAnswered:
    given: dict[str, Any] = {
        "interaction_id": f"review-{number}",
        "action": action,
        "plan_hash": (made or plan()).hash,
        "by": "ann",
        "channel": "cli",
    }
    if action == "revise":
        given["feedback"] = "Ask about refunds too."
    return ReviewAnswered.model_validate({**given, **fields})


# ---- effects


def reserved(attempt: int = 1, epoch: int = 1, **reserve: int) -> EffectReserved:
    return EffectReserved(
        epoch=epoch,
        verb="search",
        stage="knowledge_base",
        round=1,
        input_hash=DIGEST,
        attempt=attempt,
        reserve=Spend(**reserve),
    )


def settled(epoch: int = 1, outcome: str = "outcome", **usage: int) -> EffectSettled:
    return EffectSettled(
        epoch=epoch,
        verb="search",
        stage="knowledge_base",
        round=1,
        outcome_hash=content_hash(outcome),
        usage=Spend(**usage),
    )
