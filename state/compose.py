"""What an append would record: drafts become lines that follow a run's head, or are refused."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Generic

from state.durable import sync_file
from state.envelope import SCHEMA_VERSION, Draft, Envelope, Line, seal, utc_text
from state.errors import Conflict, Fenced
from state.follow import Fold, Head, S
from state.values.errors import InvalidRequest

MAX_EVENT_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Hooks:
    """Where an append gets time, ids and durability from; who watches it before and after."""

    clock: Callable[[], datetime] = partial(datetime.now, UTC)
    new_id: Callable[[], str] = lambda: os.urandom(16).hex()
    sync: Callable[[int], None] = sync_file
    after_write: Callable[[Line], None] | None = None
    on_durable: Callable[[Sequence[Line]], None] | None = None


@dataclass(frozen=True, slots=True)
class Composer(Generic[S]):
    """Writes the next lines of one run. Keeps nothing and changes nothing."""

    run_id: str
    fold: Fold[S]
    hooks: Hooks

    def start(self) -> Head[S]:
        """Return the head of a run without events."""
        return Head(self.fold.start())

    def compose(
        self,
        head: Head[S],
        drafts: Sequence[tuple[Draft, str]],
        epoch: int | None,
        expected_position: int | None,
    ) -> tuple[list[Line], Head[S]]:
        """Return the lines that record `drafts` after `head`, and the head after them.

        Each draft comes with its body's canonical JSON. Raises what `Ledger.append` raises for
        drafts that may not follow.
        """
        state, position, previous = head.state, head.position, head.hash
        if epoch is not None and epoch != state.epoch:
            raise Fenced(
                f"run {self.run_id!r} is executed under lease {state.epoch}, not {epoch}; "
                "this driver must stop"
            )
        lines: list[Line] = []
        for draft, body in drafts:
            if self.fold.replay(state, draft):
                continue
            if not lines and expected_position is not None and expected_position != position:
                raise Conflict(
                    f"run {self.run_id!r} is at position {position}, not {expected_position}; "
                    "read it again, then decide again"
                )
            position += 1
            line = self._seal(draft, body, position, previous)
            previous = line.hash
            state = self.fold.evolve(state, line.envelope, previous)
            lines.append(line)
        return lines, Head(state, position, previous)

    def _seal(self, draft: Draft, body: str, position: int, previous: str) -> Line:
        hooks = self.hooks
        envelope = Envelope(
            hooks.new_id(), draft.type, SCHEMA_VERSION, self.run_id, position,
            utc_text(hooks.clock()), previous, draft.refs, draft.body, draft.event,
        )  # fmt: skip
        line = seal(envelope, body)
        if len(line.json) > MAX_EVENT_BYTES:
            raise InvalidRequest(
                f"a {draft.type} event of {len(line.json):,} characters is too large for the "
                f"ledger ({MAX_EVENT_BYTES:,}); keep the text as an artifact and record its hash"
            )
        return line
