"""One run's only way forward: validate by folding, write, sync, and only then say so."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Generic

from state.durable import create_private_folder, sync_file
from state.envelope import SCHEMA_VERSION, Draft, Envelope, Line, seal, spell_body, utc_text
from state.errors import Conflict, CorruptLedger, Fenced
from state.follow import Fold, Follower, S
from state.journal import (
    APPEND_LOCK,
    JOURNAL,
    Cursor,
    JournalWriter,
    Notice,
    run_folder,
)
from state.locks import FileLock, busy
from state.values.errors import InvalidRequest

MAX_EVENT_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Receipt(Generic[S]):
    """What an append wrote (nothing, when all had been recorded before), and the run after it."""

    lines: tuple[Line, ...]
    position: int
    state: S


@dataclass(frozen=True, slots=True)
class Hooks:
    """Where an append gets time, ids and durability from; who watches it before and after."""

    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    new_id: Callable[[], str] = lambda: token_hex(16)
    sync: Callable[[int], None] = sync_file
    after_write: Callable[[Line], None] | None = None
    on_durable: Callable[[Sequence[Line]], None] | None = None


class RunAppender(Generic[S]):
    """Appends to one run, one append at a time over all threads and processes.

    `ingested` tells how many bytes of the journal were taken into the queryable file; it is asked
    only when a torn line is found.
    """

    def __init__(
        self,
        home: Path,
        run_id: str,
        fold: Fold[S],
        hooks: Hooks,
        *,
        ingested: Callable[[], int],
        notify: Callable[[Notice], None],
        timeout: float,
    ) -> None:
        self._run_id = run_id
        self._folder = run_folder(home, run_id)
        self._fold = fold
        self._hooks = hooks
        self._ingested = ingested
        self._notify = notify
        self._timeout = timeout
        self._mutex = threading.Lock()
        self._lock = FileLock(self._folder / APPEND_LOCK)
        self._writer: JournalWriter | None = None
        self._follower = Follower(self._folder, fold)
        self._retired = False

    def append(
        self, drafts: Sequence[Draft], epoch: int | None, expected_position: int | None
    ) -> Receipt[S]:
        """See `Ledger.append`."""
        bodies = [spell_body(draft) for draft in drafts]
        if self._writer is None and not self._folder.is_dir():
            self._compose(bodies, epoch, expected_position)  # refuse before anything is created
            create_private_folder(self._folder)
        if not self._mutex.acquire(timeout=self._timeout):
            raise busy(f"run {self._run_id!r}", self._timeout)
        try:
            if not self._lock.acquire(timeout=self._timeout):
                raise busy(f"run {self._run_id!r}", self._timeout)
            try:
                return self._append(bodies, epoch, expected_position)
            finally:
                self._lock.release()
        finally:
            if self._retired:
                self._close_files()
            self._mutex.release()

    def project(self) -> tuple[S, int]:
        """Return the run's state and position as the journal has them now."""
        with self._mutex:
            self._follower.catch_up()
            return self._follower.state, self._follower.end.position

    def close(self) -> None:
        """Close the files; a thread that still appends opens them for just that append."""
        with self._mutex:
            self._retired = True
            self._close_files()

    def __del__(self) -> None:
        self._close_files()

    def _close_files(self) -> None:
        self._lock.close()
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _append(
        self, drafts: Sequence[tuple[Draft, str]], epoch: int | None, expected_position: int | None
    ) -> Receipt[S]:
        follower = self._follower
        writer = self._writer
        if writer is None or not writer.ends_with(follower.end, follower.last):
            follower.catch_up()
            writer = self._open()
            if follower.torn:
                self._set_aside(writer)
        lines, state = self._compose(drafts, epoch, expected_position)
        start = follower.end
        if lines:
            end = writer.append(lines, start.offset, self._hooks.after_write)
            last = lines[-1]
            follower.advance(lines, Cursor(end, last.envelope.position, last.hash), state)
            if self._hooks.on_durable is not None:
                self._hooks.on_durable(lines)
        elif writer.synced < start.offset:
            # Whoever wrote what is replayed may have died before the sync.
            writer.sync(start.offset, start.offset)
        return Receipt(tuple(lines), follower.end.position, state)

    def _compose(
        self, drafts: Sequence[tuple[Draft, str]], epoch: int | None, expected_position: int | None
    ) -> tuple[list[Line], S]:
        """Return the lines that record `drafts` and the state after them. Writes nothing."""
        state, position, previous = (
            self._follower.state,
            self._follower.end.position,
            self._follower.end.hash,
        )
        if epoch is not None and epoch != state.epoch:
            raise Fenced(
                f"run {self._run_id!r} is executed under lease {state.epoch}, not {epoch}; "
                "this driver must stop"
            )
        lines: list[Line] = []
        for draft, body in drafts:
            if self._fold.replay(state, draft):
                continue
            if not lines and expected_position is not None and expected_position != position:
                raise Conflict(
                    f"run {self._run_id!r} is at position {position}, not {expected_position}; "
                    "read it again, then decide again"
                )
            line = self._seal(draft, body, position + 1, previous)
            state = self._fold.evolve(state, line.envelope, line.hash)
            position, previous = position + 1, line.hash
            lines.append(line)
        return lines, state

    def _seal(self, draft: Draft, body: str, position: int, previous: str) -> Line:
        line = seal(
            Envelope(
                event_id=self._hooks.new_id(),
                type=draft.type,
                schema_version=SCHEMA_VERSION,
                run_id=self._run_id,
                position=position,
                time=utc_text(self._hooks.clock()),
                previous_hash=previous,
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

    def _open(self) -> JournalWriter:
        if self._writer is not None and not self._writer.is_current():
            self._writer.close()
            self._writer = None
        if self._writer is None:
            self._writer = JournalWriter(self._folder, self._hooks.sync)
        return self._writer

    def _set_aside(self, writer: JournalWriter) -> None:
        follower = self._follower
        if (ingested := self._ingested()) > follower.end.offset:
            raise CorruptLedger(
                f"{self._folder / JOURNAL}: {ingested} bytes were recorded and the file is whole "
                f"only up to byte {follower.end.offset}; restore it from a backup"
            )
        side = writer.set_aside(follower.torn, follower.end.offset)
        follower.torn = b""
        self._notify(
            Notice(
                self._run_id,
                f"a write of run {self._run_id!r} had been cut off after event "
                f"{follower.end.position}; it was never acknowledged, and its bytes are in {side}",
            )
        )
