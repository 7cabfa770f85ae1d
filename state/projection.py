"""What is known about a run: a pure fold of its events, and the rules of what may follow what.

`evolve` decides: an event it refuses is never written. The ledger calls it before each append and
again whenever a run is read, so a state that breaks a rule cannot be shown either.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from immutables import Map

from state import effects, reviews
from state.effects import Effect
from state.envelope import NO_HASH, SCHEMA_VERSION, Draft, Envelope, Line
from state.errors import Conflict, Fenced, Refused
from state.events import (
    Ancestor,
    BytesWithheld,
    EffectFailed,
    EffectReserved,
    EffectSettled,
    Event,
    Holder,
    Limits,
    ReviewAnswered,
    ReviewRefused,
    ReviewRequested,
    RunCancelled,
    RunCancelRequested,
    RunCompleted,
    RunFailed,
    RunInterrupted,
    RunLeased,
    RunQueued,
    RunResumed,
    RunStarted,
    RunWaiting,
    StageCompleted,
    StageStarted,
    decode,
)
from state.research_events import ResearchScheduleFrozen, ResearchStarted
from state.research_projection import Research, ResearchEvent, evolve_research, start
from state.reviews import Review
from state.values.money import Usage

Status = Literal[
    "absent", "queued", "running", "waiting", "interrupted", "completed", "failed", "cancelled"
]
TERMINAL: frozenset[Status] = frozenset({"completed", "failed", "cancelled"})
_EFFECTS = (EffectReserved, EffectSettled, EffectFailed)
_AFTER_THE_END = (ReviewRefused, BytesWithheld)


@dataclass(frozen=True, slots=True)
class StageRecord:
    """When a stage began, and when it ended (None: not yet)."""

    stage: str
    started_at: str
    completed_at: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """A run as its events describe it; times are the ledger's (UTC, ISO 8601)."""

    run_id: str = ""
    kind: str = ""
    task_id: str = ""
    attempt: int = 1
    fingerprint: str = ""
    requested_by: str = ""
    limits: Limits = Limits()
    retry_of: Ancestor | None = None
    position: int = 0
    head_hash: str = NO_HASH
    status: Status = "absent"
    epoch: int = 0
    holder: Holder | None = None
    queued_at: str = ""
    started_at: str = ""
    updated_at: str = ""
    ended_at: str = ""
    spent: Usage = Usage()
    effects: Map[str, Effect] = Map()
    reviews: tuple[Review, ...] = ()
    cancel_reason: str | None = None
    code: str = ""
    reason: str = ""
    answer_status: str = ""
    stop_reason: str = ""
    stages: tuple[StageRecord, ...] = ()
    withheld: Map[str, str] = Map()
    research: Research | None = None
    calls: Map[str, tuple[str, dict[str, Any]]] = Map()

    @property
    def is_terminal(self) -> bool:
        """Tell whether the run has ended for good."""
        return self.status in TERMINAL

    @property
    def live_review(self) -> Review | None:
        """Return the request a person has not answered yet, if any."""
        last = self.reviews[-1] if self.reviews else None
        return last if last and last.answer is None else None

    def is_approved(self, plan_hash: str) -> bool:
        """Tell whether a person approved (or supplied) exactly the plan with this hash."""
        return any(review.approves(plan_hash) for review in self.reviews)


def evolve(run: Run, envelope: Envelope, line_hash: str) -> Run:
    """Return the run after the event in `envelope`.

    Raises `Refused` (or its kinds `Conflict`, `Fenced`, `BudgetExceeded`) when the event may not
    follow, and `CorruptLedger` when it is of no known form.
    """
    event = decode(envelope.type, envelope.schema_version, envelope.body)
    if run.is_terminal and not isinstance(event, _AFTER_THE_END):
        raise Refused(f"run {run.run_id!r} is {run.status}", code="TERMINAL")
    if (run.position == 0) != isinstance(event, RunQueued):
        raise Refused(
            "the first event of every run, and no other, is run_queued", code="FIRST_EVENT"
        )
    after = _apply(run, event, envelope)
    calls = run.calls
    if envelope.refs.call_id and not isinstance(event, _EFFECTS):
        if envelope.refs.call_id in calls:
            raise Conflict(f"call id {envelope.refs.call_id!r} was already used")
        calls = calls.set(envelope.refs.call_id, (envelope.type, envelope.body))
    return replace(
        after,
        position=envelope.position,
        head_hash=line_hash,
        updated_at=envelope.time,
        calls=calls,
    )


def project(lines: Iterable[Line], run: Run | None = None) -> Run:
    """Fold `lines`, oldest first, into the run they describe (beginning from `run`)."""
    state = run or Run()
    for line in lines:
        state = evolve(state, line.envelope, line.hash)
    return state


def rehearse(run: Run, drafts: Iterable[Draft]) -> Run:
    """Return the run as it would be after `drafts`; raises what appending them would raise."""
    for made in drafts:
        if not replays(run, made):
            position = run.position + 1
            envelope = Envelope(
                "", made.type, SCHEMA_VERSION, run.run_id, position, "", run.head_hash, made.refs,
                made.body,
            )  # fmt: skip
            run = evolve(run, envelope, NO_HASH)
    return run


def replays(run: Run, draft: Draft) -> bool:
    """Tell whether `draft` was recorded before under the same call id with the same input.

    Raises `Conflict` when the call id was used for something else.
    """
    call_id = draft.refs.call_id
    if call_id is None:
        return False
    if draft.type in effects.TYPES:
        return effects.replays(run.effects.get(call_id), draft)
    recorded = run.calls.get(call_id)
    if recorded is None:
        return False
    if recorded == (draft.type, draft.body):
        return True
    raise Conflict(
        f"call id {call_id!r} was used for {recorded[0]} with another input; use a new call id"
    )


class RunFold:
    """The fold the ledger works with."""

    def start(self) -> Run:
        """Return the run before its first event."""
        return Run()

    def evolve(self, state: Run, envelope: Envelope, line_hash: str) -> Run:
        """Return the run after one event; see `evolve`."""
        return evolve(state, envelope, line_hash)

    def replay(self, state: Run, draft: Draft) -> bool:
        """Tell whether `draft` is an exact replay; see `replays`."""
        return replays(state, draft)


def _apply(run: Run, event: Event, envelope: Envelope) -> Run:
    at = envelope.time
    match event:
        case RunQueued():
            return _queued(run, event, envelope)
        case RunLeased():
            return _leased(run, event)
        case RunStarted():
            _must_be(run, "queued", "started")
            return replace(run, status="running", started_at=at)
        case RunWaiting():
            return _waiting(run, event)
        case RunResumed():
            return _resumed(run)
        case RunInterrupted():
            _must_be(run, "running", "interrupted")
            return replace(run, status="interrupted", code=event.code, reason=event.reason)
        case RunCancelRequested():
            return replace(run, cancel_reason=run.cancel_reason or event.reason or "cancelled")
        case RunCancelled():
            return replace(run, status="cancelled", reason=event.reason, ended_at=at)
        case RunFailed():
            return replace(run, status="failed", code=event.code, reason=event.message, ended_at=at)
        case RunCompleted():
            return _run_completed(run, event, at)
        case StageStarted():
            return replace(run, stages=(*run.stages, StageRecord(event.stage, at)))
        case StageCompleted():
            return replace(run, stages=_close_stage(run, event.stage, at))
        case EffectReserved() | EffectSettled() | EffectFailed():
            return _effect(run, event, envelope)
        case ReviewRequested() | ReviewAnswered() | ReviewRefused():
            return _review(run, event, at)
        case BytesWithheld():
            tombstones = dict.fromkeys(event.hashes, event.reason)
            return replace(run, withheld=run.withheld.update(tombstones))
        case _:
            return _research(run, event)


def _must_be(run: Run, status: Status, what: str) -> None:
    if run.status != status:
        raise Refused(f"a run that is {run.status} cannot be {what}", code="STATUS")


def _queued(run: Run, event: RunQueued, envelope: Envelope) -> Run:
    return replace(
        run,
        run_id=envelope.run_id,
        kind=event.kind,
        task_id=event.task_id,
        attempt=event.attempt,
        fingerprint=event.fingerprint,
        requested_by=event.requested_by,
        limits=event.limits,
        retry_of=event.retry_of,
        status="queued",
        queued_at=envelope.time,
    )


def _leased(run: Run, event: RunLeased) -> Run:
    if event.epoch != run.epoch + 1:
        raise Fenced(f"the next lease of run {run.run_id!r} is {run.epoch + 1}, not {event.epoch}")
    return replace(run, epoch=event.epoch, holder=event.holder)


def _waiting(run: Run, event: RunWaiting) -> Run:
    _must_be(run, "running", "waiting")
    if not run.reviews or run.reviews[-1].interaction_id != event.interaction_id:
        raise Refused(f"nobody was asked {event.interaction_id!r}", code="STATUS")
    return replace(run, status="waiting")


def _resumed(run: Run) -> Run:
    if run.status not in ("waiting", "interrupted"):
        raise Refused(f"a run that is {run.status} cannot be resumed", code="STATUS")
    if run.status == "waiting" and run.live_review:
        raise Refused(f"run {run.run_id!r} still waits for a person", code="STATUS")
    return replace(run, status="running", code="", reason="")


def _run_completed(run: Run, event: RunCompleted, at: str) -> Run:
    _must_be(run, "running", "completed")
    if run.research and not run.research.completed and run.research.plan is None:
        raise Refused("a run without a plan cannot be completed", code="INCOMPLETE")
    if run.research and not run.research.completed and event.answer_status != "needs-clarification":
        raise Refused("the research is not completed", code="INCOMPLETE")
    return replace(
        run,
        status="completed",
        answer_status=event.answer_status,
        stop_reason=event.stop_reason,
        ended_at=at,
    )


def _close_stage(run: Run, stage: str, at: str) -> tuple[StageRecord, ...]:
    open_ = [n for n, record in enumerate(run.stages) if record.stage == stage]
    if not open_:
        raise Refused(f"stage {stage!r} was never started", code="STAGE")
    last = open_[-1]
    closed = replace(run.stages[last], completed_at=at)
    return (*run.stages[:last], closed, *run.stages[last + 1 :])


def _effect(
    run: Run, event: EffectReserved | EffectSettled | EffectFailed, envelope: Envelope
) -> Run:
    if event.epoch != run.epoch:
        raise Fenced(
            f"run {run.run_id!r} is executed under lease {run.epoch}; lease {event.epoch} is over"
        )
    _must_be(run, "running", "worked on")
    call_id = envelope.refs.call_id
    if call_id is None:
        raise Refused("an effect needs a call id", code="CALL_ID")
    before = run.effects.get(call_id)
    match event:
        case EffectReserved():
            effect = effects.reserve(before, event, call_id)
            effects.check_budget(run.limits, run.spent, event.reserve.usage())
            spent = run.spent + event.reserve.usage()
        case EffectSettled():
            effect = effects.settle(before, event, call_id)
            spent = effects.settled_spend(run.spent, before, event.usage.usage())
        case EffectFailed():
            effect = effects.fail(before, event, call_id)
            spent = effects.settled_spend(run.spent, before, event.usage.usage())
    return replace(run, effects=run.effects.set(call_id, effect), spent=spent)


def _review(run: Run, event: ReviewRequested | ReviewAnswered | ReviewRefused, at: str) -> Run:
    match event:
        case ReviewRequested():
            return replace(run, reviews=reviews.request(run.reviews, event, at))
        case ReviewAnswered():
            answered = reviews.answer(
                run.reviews, event, at, cancelling=run.cancel_reason is not None
            )
            if event.action != "cancel":
                return replace(run, reviews=answered)
            return replace(
                run, reviews=answered, cancel_reason=event.reason or "cancelled at the plan review"
            )
        case ReviewRefused():
            return run


def _research(run: Run, event: Event) -> Run:
    if run.kind != "research":
        raise Refused(f"run {run.run_id!r} is no research run", code="KIND")
    if isinstance(event, ResearchStarted):
        if run.research is not None:
            raise Refused("the research has already started", code="ALREADY_STARTED")
        return replace(run, research=start(event))
    if run.research is None:
        raise Refused("the research has not started", code="NOT_STARTED")
    if isinstance(event, ResearchScheduleFrozen):
        _gate(run, run.research)
    assert isinstance(event, ResearchEvent)  # noqa: S101 - the register holds no other kind
    return replace(run, research=evolve_research(run.research, event))


def _gate(run: Run, research: Research) -> None:
    plan = research.plan
    needs_review = research.started.request.plan_review
    if needs_review and (plan is None or not run.is_approved(plan.plan_hash)):
        raise Refused("the plan was not approved by a person", code="NOT_APPROVED")
