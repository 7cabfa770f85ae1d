"""Runs whose process is gone: found when somebody looks, and marked interrupted."""

from flows.runs import mark_interrupted
from flows.wiring import Desk
from state.values.errors import AssayError

__all__ = ["mark_interrupted", "mark_orphans"]

_RUNNING = """
SELECT run_id FROM (
    SELECT DISTINCT ON (run_id) run_id, type FROM events
    WHERE type IN ('run_queued', 'run_started', 'run_waiting', 'run_resumed', 'run_interrupted',
                   'run_completed', 'run_failed', 'run_cancelled')
    ORDER BY run_id, position DESC
) AS latest
WHERE type IN ('run_started', 'run_resumed')
ORDER BY run_id
"""


def mark_orphans(desk: Desk) -> list[str]:
    """Mark every running run interrupted whose lease is free; return the ids of those there were.

    Reads only the runs that are running by their events. One whose journal does not check out is
    passed over: whoever reads it is told.
    """
    found = []
    for (run_id,) in desk.ledger.query(_RUNNING).rows:
        try:
            if mark_interrupted(desk, run_id):
                found.append(run_id)
        except AssayError:
            continue
    return found
