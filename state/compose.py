"""What an append would record: drafts become lines that follow a run's head, or are refused."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

from state.append import MAX_EVENT_BYTES, Hooks
from state.envelope import NO_HASH, SCHEMA_VERSION, Draft, Envelope, Line, seal, utc_text
from state.errors import Conflict, Fenced
from state.follow import Fold, S
from state.values.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class Head(Generic[S]):
    """Where a run stands: its state, and the position and hash of its last event."""

    state: S
    position: int = 0
    hash: str = NO_HASH


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
        if epoch is not None and epoch != head.state.epoch:
            raise Fenced(
                f"run {self.run_id!r} is executed under lease {head.state.epoch}, not {epoch}; "
                "this driver must stop"
            )
        lines: list[Line] = []
        for draft, body in drafts:
            if self.fold.replay(head.state, draft):
                continue
            if not lines and expected_position is not None and expected_position != head.position:
                raise Conflict(
                    f"run {self.run_id!r} is at position {head.position}, not "
                    f"{expected_position}; read it again, then decide again"
                )
            line = self._seal(draft, body, head)
            state = self.fold.evolve(head.state, line.envelope, line.hash)
            head = Head(state, head.position + 1, line.hash)
            lines.append(line)
        return lines, head

    def _seal(self, draft: Draft, body: str, head: Head[S]) -> Line:
        line = seal(
            Envelope(
                event_id=self.hooks.new_id(),
                type=draft.type,
                schema_version=SCHEMA_VERSION,
                run_id=self.run_id,
                position=head.position + 1,
                time=utc_text(self.hooks.clock()),
                previous_hash=head.hash,
                refs=draft.refs,
                body=draft.body,
                event=draft.event,
            ),
            body,
        )
        if len(line.json) > MAX_EVENT_BYTES:
            raise InvalidRequest(
                f"a {draft.type} event of {len(line.json):,} characters is too large for the "
                f"ledger ({MAX_EVENT_BYTES:,}); keep the text as an artifact and record its hash"
            )
        return line
