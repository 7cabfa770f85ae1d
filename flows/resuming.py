"""Which runs go on by themselves, and when: decided from the ledger alone; imports no Prefect.

A run goes on by itself when nobody is executing it and nobody meant it to stand still: its process
is gone, its server was stopped, what obstructed it may be over, or a person has answered since. One
that a person stopped waits for a person. Each time that it gets no further it waits longer, and
after the last of `WAITS_S` it is left to people.
"""

from dataclasses import dataclass
from datetime import datetime

from flows.wiring import Desk
from state.projection import Run

FROM_OUTSIDE = "interrupted from outside"
AS_ASKED = ", as asked"
WAITS_S = (0.0, 60.0, 300.0, 900.0, 3600.0)
_QUEUED_S = 600.0  # a command may be indexing, or waiting for its server

_OPEN = """
SELECT run_id FROM (
    SELECT DISTINCT ON (run_id) run_id, type FROM events
    WHERE type IN ('run_queued', 'run_started', 'run_waiting', 'run_resumed', 'run_interrupted',
                   'run_completed', 'run_failed', 'run_cancelled')
    ORDER BY run_id, position DESC
) AS latest
WHERE type NOT IN ('run_completed', 'run_failed', 'run_cancelled')
ORDER BY run_id
"""
_NO_PROGRESS = frozenset({
    "run_queued", "run_started", "run_leased", "run_resumed", "run_waiting", "run_interrupted",
    "research_started", "code_started", "effect_reserved", "notification_claimed",
    "notification_sent", "notification_failed",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether a run is to go on by itself: now, later (`wait_s` > 0), or not at all (`why`)."""

    goes_on: bool
    wait_s: float = 0.0
    why: str = ""


def open_runs(desk: Desk) -> list[str]:
    """Return the ids of all runs that have not ended, sorted."""
    return [str(row[0]) for row in desk.ledger.query(_OPEN).rows]


def is_left_by_person(run: Run) -> bool:
    """Tell whether a person stopped the run on purpose: by Ctrl-C, or where they had asked for."""
    if run.status != "interrupted":
        return False
    return run.reason == FROM_OUTSIDE or run.reason.endswith(AS_ASKED)


def standing_of(desk: Desk, run: Run, *, starts_since: int = 0) -> Standing:
    """Return whether `run`, which nobody executes, is to go on by itself.

    `starts_since` counts the attempts after the run's last event, which came to nothing at all.
    """
    if run.status == "waiting" and run.live_review is not None:
        return Standing(goes_on=False, why="it waits for a person")
    if is_left_by_person(run):
        return Standing(goes_on=False, why=run.reason)
    idle_s = (desk.now() - datetime.fromisoformat(run.updated_at)).total_seconds()
    if run.status == "queued" and not starts_since and idle_s < _QUEUED_S:
        return Standing(goes_on=True, wait_s=_QUEUED_S - idle_s)
    attempts = attempts_without_progress(desk, run) + starts_since
    if attempts >= len(WAITS_S):
        return Standing(goes_on=False, why=f"it was taken up {attempts} times and got no further")
    return Standing(goes_on=True, wait_s=max(0.0, WAITS_S[attempts] - idle_s))


def attempts_without_progress(desk: Desk, run: Run) -> int:
    """Return how often the run was taken up again since it last got further."""
    interruptions = 0
    for line in reversed(desk.ledger.read(run.run_id)):
        if line.envelope.type not in _NO_PROGRESS:
            break
        interruptions += line.envelope.type == "run_interrupted"
    return max(0, interruptions - 1)
