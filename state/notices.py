"""What others are to be told of a run: which occurrences, and how far the telling has come.

An occurrence is told once. Whoever tells it claims it first, so that no other process does; how
that ended is recorded, and a claim that nobody ended is void after a while. Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from state.envelope import Envelope
from state.errors import Conflict, Refused
from state.events import Event
from state.run_events import (
    NoticeKind,
    NotificationClaimed,
    NotificationFailed,
    NotificationSent,
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunInterrupted,
    RunWaiting,
)

CLAIM_S = 120.0
# Until the next attempt, after the first, the second and so on; then it is given up.
DELAYS_S = (1.0, 5.0, 60.0, 300.0, 1800.0, 7200.0, 18_000.0, 36_000.0, 50_400.0)
MAX_ATTEMPTS = len(DELAYS_S) + 1

_OCCURRENCES: dict[type[Event], NoticeKind] = {
    RunWaiting: "waiting",
    RunFailed: "failed",
    RunCompleted: "completed",
    RunCancelled: "cancelled",
    RunInterrupted: "interrupted",
}
NotificationEvent = NotificationClaimed | NotificationSent | NotificationFailed


@dataclass(frozen=True, slots=True)
class Notice:
    """An occurrence that somebody is to be told of.

    `position` and `hash` are those of the event that it is, `at` is when it was recorded; `since`
    when the notice came to be in its state. `status` is what the receiver answered last, if it did.
    """

    what: NoticeKind
    position: int
    hash: str
    at: str
    interaction_id: str = ""
    state: Literal["due", "claimed", "sent", "failed", "given-up"] = "due"
    attempts: int = 0
    since: str = ""
    retry_after_s: int = 0
    http_status: int | None = None
    code: str = ""

    @property
    def is_settled(self) -> bool:
        """Tell whether there is nothing left to do."""
        return self.state in ("sent", "given-up")

    @property
    def next_at(self) -> datetime:
        """Return when it may be claimed for the next attempt, unless it is settled."""
        if self.state == "due":
            return datetime.fromisoformat(self.at)
        wait_s = CLAIM_S if self.state == "claimed" else self._pause_s()
        return datetime.fromisoformat(self.since) + timedelta(seconds=wait_s)

    def _pause_s(self) -> float:
        return max(DELAYS_S[min(self.attempts, len(DELAYS_S)) - 1], float(self.retry_after_s))


def occurred(event: Event, envelope: Envelope, line_hash: str) -> Notice | None:
    """Return the notice of `event` if it is an occurrence that somebody may want to be told of."""
    what = _OCCURRENCES.get(type(event))
    if what is None:
        return None
    interaction_id = event.interaction_id if isinstance(event, RunWaiting) else ""
    return Notice(what, envelope.position, line_hash, envelope.time, interaction_id)


def follow(notices: Sequence[Notice], event: NotificationEvent, at: str) -> tuple[Notice, ...]:
    """Return `notices` after `event`, recorded at `at`; raises `Refused` when it may not follow."""
    before = next((notice for notice in notices if notice.position == event.about), None)
    if before is None or before.what != event.what:
        raise Refused(
            f"nobody is to be told of {event.what} at position {event.about}", code="NOTICE"
        )
    if before.is_settled:
        raise Conflict(f"{event.what} at position {event.about} is {before.state} already")
    match event:
        case NotificationClaimed():
            after = _claimed(before, event, at)
        case NotificationSent():
            if event.attempt > before.attempts:
                raise Refused(f"attempt {event.attempt} was not claimed", code="NOTICE")
            after = replace(before, state="sent", since=at, http_status=event.http_status, code="")
        case NotificationFailed():
            after = _failed(before, event, at)
    return tuple(after if notice is before else notice for notice in notices)


def _claimed(before: Notice, event: NotificationClaimed, at: str) -> Notice:
    if event.attempt != before.attempts + 1:
        raise Conflict(f"the next attempt is {before.attempts + 1}, not {event.attempt}")
    if before.state == "claimed" and datetime.fromisoformat(at) < before.next_at:
        raise Conflict(f"another process tells of {event.what} at position {event.about}")
    return replace(before, state="claimed", attempts=event.attempt, since=at)


def _failed(before: Notice, event: NotificationFailed, at: str) -> Notice:
    if before.state != "claimed" or event.attempt != before.attempts:
        raise Conflict(f"attempt {event.attempt} is not the one that is under way")
    return replace(
        before,
        state="given-up" if event.gives_up else "failed",
        since=at,
        retry_after_s=event.retry_after_s,
        http_status=event.http_status,
        code=event.code,
    )
