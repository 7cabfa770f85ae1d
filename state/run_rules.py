"""What may follow what in the life of a run, whatever its kind.

Pure: same run and event, same answer. Every rule that is broken raises `Refused` with a code.
"""

from typing import TypeGuard, get_args

from state import effects, notices, reviews
from state.code_events import CodePlanRecorded, CodeSourceRecorded, CodeStarted
from state.code_projection import CodeEvent, evolve_code, start_code
from state.code_stages import CARRYING_OUT, PERCENT, percent_begun
from state.code_state import VERIFIED, Paper2Code
from state.copying import replace
from state.envelope import Envelope
from state.errors import CorruptLedger, Fenced, Refused
from state.events import Event
from state.method_events import ResearchPlanRecorded, ResearchScheduleFrozen
from state.method_rules import MethodEvent
from state.plan_gate import (
    require_approval,
    require_approval_of_effect,
    require_present_plan,
    require_valid_replacement,
)
from state.research_events import ResearchStarted
from state.research_projection import ResearchEvent, evolve_research, start
from state.research_state import Research
from state.run import Run, StageRecord, Status
from state.run_events import (
    BytesWithheld,
    EffectFailed,
    EffectReserved,
    EffectSettled,
    NotificationClaimed,
    NotificationFailed,
    NotificationSent,
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
)
from state.values.claims import AnswerStatus

# Types, looked up: a model's own `isinstance` is slow to say no, and most events are of a kind.
_CODE = frozenset(get_args(CodeEvent))
_METHOD = frozenset(get_args(MethodEvent))
_RESEARCH = frozenset(get_args(ResearchEvent))


def _is_research(event: Event) -> TypeGuard[ResearchEvent]:
    return type(event) in _RESEARCH


def _is_code(event: Event) -> TypeGuard[CodeEvent]:
    return type(event) in _CODE


def apply(run: Run, event: Event, envelope: Envelope) -> Run:
    """Return the run after `event`; raises `Refused` when it may not follow."""
    if _is_research(event):
        return _research(run, event)
    if _is_code(event):
        return _code(run, event)
    at = envelope.time
    match event:
        case EffectReserved() | EffectSettled() | EffectFailed():
            return _effect(run, event, envelope)
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
            return replace(run, status="cancelled", code="", reason=event.reason, ended_at=at)
        case RunFailed():
            return _failed(run, event, at)
        case RunCompleted():
            return _run_completed(run, event, at)
        case StageStarted():
            return replace(run, stages=_open_stage(run, event.stage, at))
        case StageCompleted():
            return replace(run, stages=_close_stage(run, event.stage, at))
        case ReviewRequested() | ReviewAnswered() | ReviewRefused():
            return _review(run, event, at)
        case BytesWithheld():
            tombstones = dict.fromkeys(event.hashes, event.reason)
            return replace(run, withheld=run.withheld.update(tombstones))
        case NotificationClaimed() | NotificationSent() | NotificationFailed():
            return replace(run, notices=notices.follow(run.notices, event, at))
        case _:
            raise CorruptLedger(f"no rule says what {event.type!r} does to a run")


def _must_be(run: Run, status: Status, what: str) -> None:
    if run.status != status:
        raise Refused(f"a run that is {run.status} cannot be {what}", code="STATUS")


def _queued(run: Run, event: RunQueued, envelope: Envelope) -> Run:
    if event.retry_of is None and event.task_id != envelope.run_id:
        raise Refused("a first attempt is its own task", code="TASK_ID")
    if event.retry_of is not None and event.retry_of.run_id == envelope.run_id:
        raise Refused("a run cannot be a retry of itself", code="TASK_ID")
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
    return replace(run, epoch=event.epoch, holder=event.holder, notify=event.notify)


def _waiting(run: Run, event: RunWaiting) -> Run:
    _must_be(run, "running", "waiting")
    if run.live_review is None or run.live_review.interaction_id != event.interaction_id:
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
    if run.kind == "research" and not _has_its_result(run.research, event):
        raise Refused("the research is not completed", code="INCOMPLETE")
    if run.kind == "paper2code" and not _is_verified(run.paper2code, event):
        raise Refused("the code is not sealed as complete and verified", code="INCOMPLETE")
    return replace(
        run,
        status="completed",
        answer_status=event.answer_status,
        stop_reason=event.stop_reason,
        ended_at=at,
    )


def _has_its_result(research: Research | None, event: RunCompleted) -> bool:
    if research is None:
        return False
    asks_back = research.plan is not None and bool(research.plan.clarification)
    return research.completed is not None or (
        asks_back and event.answer_status == AnswerStatus.CLARIFICATION
    )


def _is_verified(code: Paper2Code | None, event: RunCompleted) -> bool:
    if code is None or code.sealed is None:
        return False
    return code.sealed.outcome == "complete" and event.answer_status == VERIFIED


def _failed(run: Run, event: RunFailed, at: str) -> Run:
    sealed = run.paper2code.sealed if run.paper2code else None
    if sealed and sealed.outcome == "incomplete" and event.code != "WORKFLOW_INCOMPLETE":
        raise Refused(
            f"code that was sealed as incomplete ends with WORKFLOW_INCOMPLETE, not {event.code}",
            code="INCOMPLETE",
        )
    return replace(run, status="failed", code=event.code, reason=event.message, ended_at=at)


def _open_stage(run: Run, stage: str, at: str) -> tuple[StageRecord, ...]:
    _must_be(run, "running", "worked on")
    if any(record.stage == stage for record in run.stages):
        raise Refused(f"stage {stage!r} was already started", code="STAGE")
    if run.kind == "paper2code":
        _require_next_stage(run, stage)
    return (*run.stages, StageRecord(stage, at))


def _require_next_stage(run: Run, stage: str) -> None:
    if stage not in PERCENT:
        raise Refused(f"a paper2code run has no stage {stage!r}", code="STAGE")
    if PERCENT[stage] < percent_begun(record.stage for record in run.stages):
        raise Refused(f"stage {stage!r} comes before {run.stage!r}", code="STAGE")
    if stage in CARRYING_OUT:
        require_approval(run)


def _close_stage(run: Run, stage: str, at: str) -> tuple[StageRecord, ...]:
    _must_be(run, "running", "worked on")
    if not any(record.stage == stage and record.completed_at is None for record in run.stages):
        raise Refused(f"stage {stage!r} is not open", code="STAGE")
    return tuple(
        StageRecord(stage, record.started_at, at) if record.stage == stage else record
        for record in run.stages
    )


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
            require_approval_of_effect(run, event)
            spent = effects.spend_within(run.limits, run.spent, effect.reserve)
        case EffectSettled():
            _require_ancestor(run, event.reused_from)
            if before is None:
                require_approval_of_effect(run, event)
            effect = effects.settle(before, event, call_id)
            spent = effects.settled_spend(run.spent, before, effect.usage)
        case EffectFailed():
            effect = effects.fail(before, event, call_id)
            spent = effects.settled_spend(run.spent, before, effect.usage)
    return replace(run, effects=run.effects.set(call_id, effect), spent=spent)


def _require_ancestor(run: Run, reused_from: str | None) -> None:
    if reused_from is not None and (run.retry_of is None or reused_from == run.run_id):
        raise Refused(f"run {reused_from!r} is none that this run retries", code="REUSE")


def _review(run: Run, event: ReviewRequested | ReviewAnswered | ReviewRefused, at: str) -> Run:
    match event:
        case ReviewRequested():
            _must_be(run, "running", "reviewed")
            require_present_plan(run, event)
            return replace(run, reviews=reviews.request(run.reviews, event, at))
        case ReviewAnswered():
            answered = reviews.answer(
                run.reviews, event, at, cancelling=run.cancel_reason is not None
            )
            if event.action == "replace":
                require_valid_replacement(run, event)
            if event.action != "cancel":
                return replace(run, reviews=answered)
            return replace(
                run,
                reviews=answered,
                cancel_reason=run.cancel_reason or event.reason or "cancelled at the plan review",
            )
        case ReviewRefused():
            return run


def _code(run: Run, event: CodeEvent) -> Run:
    if run.kind != "paper2code":
        raise Refused(f"run {run.run_id!r} is no paper2code run", code="KIND")
    if isinstance(event, CodeStarted):
        return _code_started(run, event)
    if run.paper2code is None:
        raise Refused("the run has not started", code="NOT_STARTED")
    _must_be(run, "running", "worked on")
    if isinstance(event, CodePlanRecorded):
        _require_no_live_review(run)
    elif not isinstance(event, CodeSourceRecorded):
        require_approval(run)
    return replace(run, paper2code=evolve_code(run.paper2code, event))


def _code_started(run: Run, event: CodeStarted) -> Run:
    if run.paper2code is not None:
        raise Refused("the run has already started", code="ALREADY_STARTED")
    _require_request_of(run, event.request.id)
    return replace(run, paper2code=start_code(event))


def _require_no_live_review(run: Run) -> None:
    if run.live_review:
        raise Refused("the plan stands until its review is answered", code="REVIEW_OPEN")


def _require_request_of(run: Run, run_id: str) -> None:
    if run_id != run.run_id:
        raise Refused(f"the request is for run {run_id!r}, not {run.run_id!r}", code="RUN_ID")


def _research(run: Run, event: ResearchEvent) -> Run:
    if run.kind != "research":
        raise Refused(f"run {run.run_id!r} is no research run", code="KIND")
    if isinstance(event, ResearchStarted):
        return _research_started(run, event)
    if run.research is None:
        raise Refused("the research has not started", code="NOT_STARTED")
    if type(event) in _METHOD:
        _must_be(run, "running", "worked on")
    elif run.status not in ("running", "interrupted"):
        raise Refused(f"a run that is {run.status} records no research", code="STATUS")
    if isinstance(event, ResearchScheduleFrozen):
        require_approval(run)
    if isinstance(event, ResearchPlanRecorded):
        _require_no_live_review(run)
    return replace(run, research=evolve_research(run.research, event))


def _research_started(run: Run, event: ResearchStarted) -> Run:
    if run.research is not None:
        raise Refused("the research has already started", code="ALREADY_STARTED")
    _require_request_of(run, event.request.id)
    return replace(run, research=start(event))
