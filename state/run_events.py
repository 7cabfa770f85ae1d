"""The events every kind of run shares: its life, its effects, its reviews, its tombstones."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from state.events import (
    Ancestor,
    Code,
    ContentHash,
    Count,
    Digest,
    Event,
    Holder,
    Limits,
    Name,
    Round,
    Spend,
    StableId,
    Text4000,
)

# ---- the run's life


class RunQueued(Event):
    """The first event of every run."""

    type = "run_queued"
    kind: Literal["research", "paper2code"]
    task_id: StableId
    attempt: Round = 1
    fingerprint: Digest
    requested_by: Name
    limits: Limits
    retry_of: Ancestor | None = None

    @model_validator(mode="after")
    def _retries_something(self) -> Self:
        if (self.attempt > 1) != (self.retry_of is not None):
            raise ValueError("every attempt but the first is a retry of a run")
        return self


NoticeKind = Literal["waiting", "failed", "completed", "cancelled", "interrupted"]


class RunLeased(Event):
    """A process took the run up; only it may write steps from here on.

    `notify` names what others are to be told of from here on, by a webhook.
    """

    type = "run_leased"
    epoch: Round
    holder: Holder
    notify: Annotated[tuple[NoticeKind, ...], Field(max_length=8)] = ()


class RunStarted(Event):
    """Work began for the first time."""

    type = "run_started"


class RunWaiting(Event):
    """The run waits for a person; nothing is being executed."""

    type = "run_waiting"
    interaction_id: StableId


class RunResumed(Event):
    """Work went on after a wait or an interruption."""

    type = "run_resumed"


class RunInterrupted(Event):
    """Work stopped without an end: resumable."""

    type = "run_interrupted"
    code: Code
    reason: Text4000


class RunCancelRequested(Event):
    """Somebody wants the run to end; it beats any later review answer."""

    type = "run_cancel_requested"
    reason: Text4000
    by: Name


class RunCancelled(Event):
    """The run ended because somebody wanted it to."""

    type = "run_cancelled"
    reason: Text4000


class RunFailed(Event):
    """The run ended without its result; a retry is a new run."""

    type = "run_failed"
    code: Code
    message: Text4000


class RunCompleted(Event):
    """The run ended with its result published."""

    type = "run_completed"
    answer_status: Code
    stop_reason: Code


class StageStarted(Event):
    """A named part of the method began."""

    type = "stage_started"
    identity = ("stage",)
    stage: StableId


class StageCompleted(Event):
    """A named part of the method ended."""

    type = "stage_completed"
    identity = ("stage",)
    stage: StableId


# ---- effects: reserved before, settled or failed after; refs.call_id says which step


class EffectReserved(Event):
    """A step is about to spend; attempts count from 1."""

    type = "effect_reserved"
    epoch: Round
    verb: StableId
    stage: StableId
    round: Count
    input_hash: Digest
    attempt: Round
    reserve: Spend = Spend()


class EffectSettled(Event):
    """A step succeeded; its outcome is the artifact `outcome_hash` (canonical JSON).

    With `reused_from` the outcome was taken over from that run and nothing was spent. `model` and
    `prompt` (name, version and hash) say what was asked for it, and are '' without a model.
    """

    type = "effect_settled"
    epoch: Round
    verb: StableId
    stage: StableId
    round: Count
    outcome_hash: ContentHash
    usage: Spend = Spend()
    duration_ms: Count = 0
    reused_from: StableId | None = None
    model: Annotated[str, Field(max_length=400)] = ""
    prompt: Annotated[str, Field(max_length=200)] = ""

    @model_validator(mode="after")
    def _reuse_is_free(self) -> Self:
        if self.reused_from is not None and self.usage != Spend():
            raise ValueError("what is reused from another run costs nothing")
        return self


class EffectFailed(Event):
    """A step failed for good: the same call would fail again, and is not repeated."""

    type = "effect_failed"
    epoch: Round
    code: Code
    message: Text4000
    usage: Spend = Spend()
    duration_ms: Count = 0


# ---- reviews


class ReviewRequested(Event):
    """A person was asked about version `version` of the plan, whose hash is `plan_hash`."""

    type = "review_requested"
    identity = ("interaction_id",)
    interaction_id: StableId
    version: Round
    plan_hash: Digest


class ReviewAnswered(Event):
    """A person decided on the live request. `plan_hash` is the hash of the plan decided upon."""

    type = "review_answered"
    interaction_id: StableId
    action: Literal["approve", "revise", "replace", "cancel"]
    plan_hash: Annotated[str, Field(max_length=64)]
    feedback: Text4000 = ""
    reason: Text4000 = ""
    plan: dict[str, Any] | None = None
    by: Name
    channel: Annotated[str, Field(max_length=40)]


RefusalReason = Literal[
    "stale", "already_resolved", "terminal", "expired", "cancel_requested", "claim_stale",
    "concurrent_update",
]  # fmt: skip


class ReviewRefused(Event):
    """An answer came that could not count, and why."""

    type = "review_refused"
    interaction_id: StableId
    action: Annotated[str, Field(max_length=40)]
    reason: RefusalReason
    by: Name
    channel: Annotated[str, Field(max_length=40)]


class BytesWithheld(Event):
    """Bytes were deleted on purpose; `verify` says withheld, never corrupt."""

    type = "bytes_withheld"
    hashes: Annotated[tuple[ContentHash, ...], Field(min_length=1)]
    reason: Text4000
    by: Name


# ---- notifications: claimed before, sent or failed after; what was `about` which position


class NotificationClaimed(Event):
    """Process `by` is about to tell of the occurrence `what` at position `about`."""

    type = "notification_claimed"
    what: NoticeKind
    about: Round
    attempt: Round
    by: StableId


class NotificationSent(Event):
    """The receiver took a notification, and answered `http_status`."""

    type = "notification_sent"
    what: NoticeKind
    about: Round
    attempt: Round
    http_status: Count


class NotificationFailed(Event):
    """A notification was not taken; it is tried again unless that `gives_up`.

    `http_status` is None when there was no answer; the receiver may have wanted to be left alone
    for `retry_after_s`. The address of the receiver is no part of it: it often holds a secret.
    """

    type = "notification_failed"
    what: NoticeKind
    about: Round
    attempt: Round
    code: Code
    http_status: Count | None = None
    retry_after_s: Count = 0
    gives_up: bool = False
