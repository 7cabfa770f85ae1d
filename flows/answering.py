"""A person's answer to the live request of a run, from any process; imports no Prefect."""

import json

import anyio

from flows.kinds import ReviewedPlan, kind_of
from flows.person import user_name
from flows.wiring import Desk
from state.envelope import Refs
from state.errors import Refused
from state.events import draft
from state.projection import Run
from state.request import as_invalid_request
from state.reviews import Review
from state.run_events import RefusalReason, ReviewAnswered, ReviewRefused
from state.values.errors import InvalidRequest, RejectedError
from state.values.ids import is_stable_id

ACTIONS = ("approve", "revise", "replace", "cancel")
INVALID = "WORKFLOW_INTERACTION_INVALID"
_REASONS: dict[str, RefusalReason] = {
    "stale": "stale",
    "already_resolved": "already_resolved",
    "cancel_requested": "cancel_requested",
    "TERMINAL": "terminal",
    "CONFLICT": "concurrent_update",
}


class WaitingForPerson(RejectedError):
    """The run waits for an answer; nothing more can be done until it is given."""

    code = "WAITING"


class InteractionInvalid(RejectedError):
    """The answer cannot count; `reason` says why, in the contract's words."""

    code = INVALID

    def __init__(self, message: str, *, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


def answer_review(  # noqa: PLR0913 - one keyword for each part of an answer
    desk: Desk,
    run_id: str,
    action: str,
    *,
    feedback: str = "",
    reason: str = "",
    plan: ReviewedPlan | None = None,
    interaction_id: str | None = None,
    by: str | None = None,
    channel: str = "cli",
    call_id: str | None = None,
) -> Run:
    """Record a person's answer to the live request of `run_id`; return the run after it.

    `interaction_id` None means the latest request; under the same `call_id` the same answer, or its
    refusal, is recorded once. Raises `InvalidRequest` for an action there is
    not or a part of it that is missing (the request stays open), `InteractionInvalid` with a reason
    when the answer cannot count; that refusal is recorded too.
    """
    run = desk.ledger.project(run_id)
    _check_action(run, action, feedback, plan)
    refs = Refs(call_id=call_id)
    who = by or user_name()
    interaction = interaction_id
    if interaction is None and run.reviews:
        interaction = run.reviews[-1].interaction_id
    if interaction is None:
        raise InteractionInvalid(
            f"run {run_id!r} is {run.status} and has asked nothing",
            reason="terminal" if run.is_terminal else "stale",
        )
    if (shown := find_review(run, interaction)) is None:
        named = interaction if is_stable_id(interaction) else "unknown"
        refusal = ReviewRefused(
            interaction_id=named, action=action, reason="stale", by=who[:200], channel=channel
        )
        desk.ledger.append(run_id, [draft(refusal)])
        raise InteractionInvalid(f"there is no request {interaction[:140]!r}", reason="stale")
    with as_invalid_request():
        event = ReviewAnswered(
            interaction_id=interaction,
            action=action,  # type: ignore[arg-type] # checked by _check_action
            plan_hash=plan.hash if plan else shown.plan_hash,
            feedback=feedback,
            reason=reason,
            plan=plan.as_json() if plan else None,
            by=who[:200],
            channel=channel,
        )
    try:
        return desk.ledger.append(run_id, [draft(event, refs)]).state
    except Refused as refused:
        _record_refusal(desk, run_id, event, refused, call_id)
        raise


def _check_action(run: Run, action: str, feedback: str, plan: ReviewedPlan | None) -> None:
    if action not in ACTIONS:
        raise InvalidRequest(f"{action!r} is no answer; choose one of {', '.join(ACTIONS)}")
    if action == "revise" and not feedback.strip():
        raise InvalidRequest("a revision needs feedback: say what should change")
    if (action == "replace") != (plan is not None):
        raise InvalidRequest("a plan is given to replace one, and only then (--plan FILE)")
    if plan is not None:
        kind_of(run).read_plan(json.dumps(plan.as_json()))  # as it will be read when it counts


def _record_refusal(
    desk: Desk, run_id: str, event: ReviewAnswered, refused: Refused, call_id: str | None
) -> None:
    reason = _REASONS.get(refused.code)
    if reason is None:
        raise InvalidRequest(refused.message) from refused
    refusal = ReviewRefused(
        interaction_id=event.interaction_id,
        action=event.action,
        reason=reason,
        by=event.by,
        channel=event.channel,
    )
    refs = Refs(call_id=f"{call_id}/refused" if call_id else None)
    desk.ledger.append(run_id, [draft(refusal, refs)])
    raise InteractionInvalid(refused.message, reason=reason) from refused


def find_review(run: Run, interaction: str) -> Review | None:
    """Return the request called `interaction`, if there was one."""
    return next((r for r in run.reviews if r.interaction_id == interaction), None)


async def wait_for_answer(
    desk: Desk, run_id: str, interaction: str, *, poll_s: float = 0.5
) -> None:
    """Return as soon as `interaction` was answered by anybody, or the run is being cancelled."""
    while True:
        run = await anyio.to_thread.run_sync(desk.ledger.project, run_id)
        live = run.live_review
        if run.cancel_reason is not None or live is None or live.interaction_id != interaction:
            return
        await anyio.sleep(poll_s)
