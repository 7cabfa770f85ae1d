"""Queueing runs, whatever their kind: once each, however often the same is asked for."""

from dataclasses import dataclass
from typing import Literal, Protocol

from flows.kinds import Request
from flows.wiring import Desk
from state.envelope import Refs
from state.events import Ancestor, Event, Limits, draft
from state.projection import Run
from state.run_events import RunQueued
from state.values.errors import InvalidRequest


class AskedFor(Request, Protocol):
    """A request that can be told from another one."""

    @property
    def fingerprint(self) -> str:
        """Return the hash of everything asked."""
        ...


@dataclass(frozen=True, slots=True)
class Asked:
    """What a run is to be of: its request, the event that starts it, and what it may use in all."""

    kind: Literal["research", "paper2code"]
    request: AskedFor
    started: Event
    limits: Limits


def submit_asked(desk: Desk, asked: Asked, *, flow_run_id: str | None = None) -> Run:
    """Record what is asked as a queued run, once: the same request again is the same run.

    `flow_run_id` is recorded as the flow run that asked. Raises `InvalidRequest` when the run id is
    taken by another request, and `ObstructedError` (PERMISSION_DENIED) when the policy does not
    allow it.
    """
    request = asked.request
    desk.policy.authorise(request)
    if desk.ledger.exists(request.id):
        existing = desk.ledger.project(request.id)
        if existing.fingerprint != request.fingerprint:
            raise InvalidRequest(
                f"run {request.id!r} was started with another request; use a new --run-id"
            )
        if existing.research is not None or existing.paper2code is not None:
            return existing
        # A crash came between the two events of a submission that nobody was told of.
    return _queue(desk, asked, task_id=request.id, attempt=1, flow_run_id=flow_run_id)


def requeue_asked(desk: Desk, asked: Asked, parent: Run) -> Run:
    """Queue what is asked as the retry of `parent`."""
    ancestor = Ancestor(run_id=parent.run_id, position=parent.position, hash=parent.head_hash)
    return _queue(
        desk, asked, task_id=parent.task_id, attempt=parent.attempt + 1, retry_of=ancestor
    )


def _queue(
    desk: Desk,
    asked: Asked,
    *,
    task_id: str,
    attempt: int,
    retry_of: Ancestor | None = None,
    flow_run_id: str | None = None,
) -> Run:
    queued = RunQueued(
        kind=asked.kind,
        task_id=task_id,
        attempt=attempt,
        fingerprint=asked.request.fingerprint,
        requested_by=asked.request.principal,
        limits=asked.limits,
        retry_of=retry_of,
    )
    drafts = [
        draft(event, Refs("start/1", f"start/1/{event.type}", flow_run_id))
        for event in (queued, asked.started)
    ]
    return desk.ledger.append(asked.request.id, drafts).state
