"""What is known about a run: a pure fold of its events, and the rules of what may follow what.

`evolve` decides: an event it refuses is never written. The ledger calls it before each append and
again whenever a run is read, so a state that breaks a rule cannot be shown either.
"""

from collections.abc import Iterable

from immutables import Map

from state import effects
from state.copying import replace
from state.envelope import NO_HASH, SCHEMA_VERSION, Draft, Envelope, Line
from state.errors import Conflict, CorruptLedger, Refused
from state.events import Event, decode
from state.notices import occurred
from state.run import TERMINAL, Run, StageRecord, Status
from state.run_events import (
    BytesWithheld,
    EffectFailed,
    EffectReserved,
    EffectSettled,
    NotificationClaimed,
    NotificationFailed,
    NotificationSent,
    ReviewRefused,
    RunQueued,
)
from state.run_rules import apply

__all__ = [
    "TERMINAL",
    "Run",
    "RunFold",
    "StageRecord",
    "Status",
    "evolve",
    "project",
    "rehearse",
    "replays",
]

_EFFECTS = frozenset({EffectReserved, EffectSettled, EffectFailed})
_NOTIFICATIONS = frozenset({NotificationClaimed, NotificationSent, NotificationFailed})
_AFTER_THE_END = frozenset({ReviewRefused, BytesWithheld, *_NOTIFICATIONS})


def evolve(run: Run, envelope: Envelope, line_hash: str) -> Run:
    """Return the run after the event in `envelope`.

    Raises `Refused` (or its kinds `Conflict`, `Fenced`, `BudgetExceeded`) when the event may not
    follow, and `CorruptLedger` when it is of no known form.
    """
    known = envelope.event
    if isinstance(known, Event):
        event = known
    else:
        event = decode(envelope.type, envelope.schema_version, envelope.body)
    kind: type[Event] = type(event)
    if run.is_terminal and kind not in _AFTER_THE_END:
        raise Refused(f"run {run.run_id!r} is {run.status}", code="TERMINAL")
    if (run.position == 0) != (kind is RunQueued):
        raise Refused(
            "the first event of every run, and no other, is run_queued", code="FIRST_EVENT"
        )
    if envelope.position != run.position + 1 or envelope.run_id != (run.run_id or envelope.run_id):
        raise CorruptLedger(
            f"event {envelope.position} of run {envelope.run_id!r} does not follow event "
            f"{run.position} of run {run.run_id!r}"
        )
    after = apply(run, event, envelope)
    notice = occurred(event, envelope, line_hash)
    return replace(
        after,
        position=envelope.position,
        head_hash=line_hash,
        # What others are told of a run is not its own doing.
        updated_at=run.updated_at if kind in _NOTIFICATIONS else envelope.time,
        time=run.time.follow(
            run.status,
            after.status,
            envelope.time,
            by_its_process=envelope.refs.turn_id is not None,
            answered_at=run.reviews[-1].answered_at if run.reviews else "",
        ),
        notices=(*after.notices, notice) if notice and notice.what in run.notify else after.notices,
        calls=_calls(run, event, envelope.refs.call_id),
    )


def _calls(run: Run, event: Event, call_id: str | None) -> Map[str, Event]:
    if call_id is None:
        return run.calls
    is_effect = type(event) in _EFFECTS
    if call_id in run.calls or (not is_effect and call_id in run.effects):
        raise Conflict(f"call id {call_id!r} was already used")
    return run.calls if is_effect else run.calls.set(call_id, event)


def project(lines: Iterable[Line], run: Run | None = None) -> Run:
    """Fold `lines`, oldest first, into the run they describe (beginning from `run`)."""
    state = run or Run()
    for line in lines:
        state = evolve(state, line.envelope, line.hash)
    return state


def rehearse(run: Run, drafts: Iterable[Draft], *, run_id: str = "") -> Run:
    """Return the run as it would be after `drafts`; raises what appending them would raise.

    `run_id` names a run that has no event yet.
    """
    for made in drafts:
        if not replays(run, made):
            position = run.position + 1
            envelope = Envelope(
                "", made.type, SCHEMA_VERSION, run.run_id or run_id, position, "", run.head_hash,
                made.refs, made.body,
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
    wanted = draft.event or decode(draft.type, SCHEMA_VERSION, draft.body, error=Refused)
    if recorded == wanted:
        return True
    raise Conflict(
        f"call id {call_id!r} was used for {recorded.type} with another input; use a new call id"
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
