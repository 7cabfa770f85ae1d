"""Reserved, settled, failed: the life of one step's effect, and what it may spend."""

from typing import Literal

from state.copying import replace
from state.envelope import Draft
from state.errors import BudgetExceeded, Conflict, Refused
from state.events import Limits, Spend
from state.run_events import EffectFailed, EffectReserved, EffectSettled
from state.values.money import Usage
from state.values.swift import swift

TYPES = frozenset({"effect_reserved", "effect_settled", "effect_failed"})
_LIMITED = tuple(Limits.model_fields)  # `Usage` has the same names
_NEEDED_BY_MODELS = ("tokens", "cost_micro_usd")


@swift(frozen=True)  # no slots: see `state.copying`
class Effect:
    """What is known of one step. `outcome_hash` is '' until it settled."""

    call_id: str
    verb: str
    stage: str
    round: int
    state: Literal["reserved", "settled", "failed"]
    attempts: int
    reserve: Usage
    usage: Usage = Usage()
    outcome_hash: str = ""
    code: str = ""
    message: str = ""


def reserve(before: Effect | None, event: EffectReserved, call_id: str) -> Effect:
    """Return the effect after a reservation; a step that ended is never paid again."""
    if before and before.state != "reserved":
        raise Conflict(f"step {call_id!r} has already {before.state}")
    expected = before.attempts + 1 if before else 1
    if event.attempt != expected:
        raise Conflict(f"the next attempt of {call_id!r} is {expected}, not {event.attempt}")
    return Effect(
        call_id,
        event.verb,
        event.stage,
        event.round,
        "reserved",
        event.attempt,
        event.reserve.usage(),
    )


def settle(before: Effect | None, event: EffectSettled, call_id: str) -> Effect:
    """Return the effect after it succeeded."""
    if before is None and event.reused_from:
        return Effect(
            call_id, event.verb, event.stage, event.round, "settled", 0, Usage(),
            outcome_hash=event.outcome_hash,
        )  # fmt: skip
    reserved = _reserved(before, call_id)
    if (event.verb, event.stage, event.round) != (reserved.verb, reserved.stage, reserved.round):
        raise Conflict(f"step {call_id!r} was reserved as {reserved.verb} of {reserved.stage}")
    return replace(
        reserved,
        state="settled",
        usage=event.usage.usage(),
        outcome_hash=event.outcome_hash,
    )


def fail(before: Effect | None, event: EffectFailed, call_id: str) -> Effect:
    """Return the effect after it failed for good."""
    return replace(
        _reserved(before, call_id),
        state="failed",
        usage=event.usage.usage(),
        code=event.code,
        message=event.message,
    )


def _reserved(before: Effect | None, call_id: str) -> Effect:
    if before is None:
        raise Refused(f"step {call_id!r} was never reserved", code="NOT_RESERVED")
    if before.state != "reserved":
        raise Conflict(f"step {call_id!r} has already {before.state}")
    return before


def replays(before: Effect | None, draft: Draft) -> bool:
    """Tell whether `draft` says again how this step ended; how long it took may differ.

    A reservation is never a replay: whoever reserves is about to spend.
    """
    if before is None or before.state == "reserved" or draft.type == "effect_reserved":
        return False
    body = draft.body
    if draft.type == "effect_settled":
        ended = before.state == "settled" and before.outcome_hash == body.get("outcome_hash")
    else:
        ended = before.state == "failed" and before.code == body.get("code")
        ended = ended and before.message == body.get("message")
    return ended and Spend.of(before.usage).model_dump() == body.get("usage")


def settled_spend(spent: Usage, before: Effect | None, usage: Usage) -> Usage:
    """Return the run's spend once a step's reservation is replaced by what it used.

    Counts never fall below what was reserved: a dispatch that was made is a dispatch.
    """
    reserved = before.reserve if before else Usage()
    return Usage(
        spent.searches + max(usage.searches - reserved.searches, 0),
        spent.pages + max(usage.pages - reserved.pages, 0),
        spent.model_calls + max(usage.model_calls - reserved.model_calls, 0),
        spent.input_tokens + usage.input_tokens - reserved.input_tokens,
        spent.cached_tokens + usage.cached_tokens - reserved.cached_tokens,
        spent.output_tokens + usage.output_tokens - reserved.output_tokens,
        spent.cost_micro_usd + usage.cost_micro_usd - reserved.cost_micro_usd,
    )


def spend_within(limits: Limits, spent: Usage, more: Usage) -> Usage:
    """Return `spent` and `more` together; raises `BudgetExceeded` when they pass one of `limits`.

    A step that needs nothing of a kind is not held up by that kind's limit; a model call needs
    tokens and money, also when it reserves none.
    """
    together = spent + more
    for name in _LIMITED:
        limit: int | None = getattr(limits, name)
        if limit is None or (value := getattr(together, name)) <= limit:
            continue
        if value > getattr(spent, name) or (more.model_calls and name in _NEEDED_BY_MODELS):
            raise BudgetExceeded(
                f"the step would bring {name} to {value}; the run's limit is {limit}", budget=name
            )
    return together
