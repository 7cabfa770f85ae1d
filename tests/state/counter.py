"""The smallest fold with rules: runs that add numbers, for tests of the ledger."""

from dataclasses import dataclass, field, replace
from typing import Any

from state.envelope import Draft, Envelope, Refs
from state.errors import Conflict, Fenced, Refused


@dataclass(frozen=True, slots=True)
class Counter:
    total: int = 0
    events: int = 0
    epoch: int = 0
    head: str = ""
    calls: dict[str, dict[str, Any]] = field(default_factory=dict)


class CounterFold:
    """Adds the amounts of `added` events; `leased` events raise the epoch by one."""

    def start(self) -> Counter:
        return Counter()

    def evolve(self, state: Counter, envelope: Envelope, line_hash: str) -> Counter:
        calls = state.calls
        if envelope.refs.call_id:
            calls = {**calls, envelope.refs.call_id: envelope.body}
        after = replace(state, events=state.events + 1, head=line_hash, calls=calls)
        if envelope.type == "leased":
            if envelope.body["epoch"] != state.epoch + 1:
                raise Fenced("not the next epoch")
            return replace(after, epoch=envelope.body["epoch"])
        if envelope.body.get("amount", 0) < 0:
            raise Refused("amounts are not negative", code="NEGATIVE")
        return replace(after, total=state.total + envelope.body.get("amount", 0))

    def replay(self, state: Counter, draft: Draft) -> bool:
        recorded = state.calls.get(draft.refs.call_id or "")
        if recorded is None:
            return False
        if recorded == draft.body:
            return True
        raise Conflict(f"call id {draft.refs.call_id!r} came with another input")


class PlainFold(CounterFold):
    """Counts without remembering call ids, so that long journals fold in linear time."""

    def evolve(self, state: Counter, envelope: Envelope, line_hash: str) -> Counter:
        return replace(state, events=state.events + 1, head=line_hash)

    def replay(self, state: Counter, draft: Draft) -> bool:
        return False


def added(amount: int, call_id: str | None = None, **more: Any) -> Draft:
    """Return a draft that adds `amount`."""
    return Draft("added", {"amount": amount, **more}, Refs(turn_id="s/1", call_id=call_id))


def leased(epoch: int) -> Draft:
    """Return a draft that records lease number `epoch`."""
    return Draft("leased", {"epoch": epoch})
