"""One run's only way forward: validate by folding, write, sync, and only then say so."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic

from state.compose import Composer, Hooks
from state.durable import create_private_folder
from state.envelope import Draft, Line, spell_body
from state.errors import CorruptLedger
from state.follow import Fold, Follower, Head, S
from state.journal import APPEND_LOCK, JOURNAL, JournalWriter, Notice, run_folder
from state.locks import FileLock, busy
from state.values.swift import swift

__all__ = ["Hooks", "Receipt", "RunAppender"]


@swift(frozen=True, slots=True)
class Receipt(Generic[S]):
    """What an append wrote (nothing, when all had been recorded before), and the run after it."""

    lines: tuple[Line, ...]
    position: int
    state: S


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
        self._hooks = hooks
        self._composer = Composer(run_id, fold, hooks)
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
            return self._follower.head.state, self._follower.head.position

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
        if writer is None or not writer.ends_with(
            follower.head.hash, follower.last, follower.offset
        ):
            follower.catch_up()
            writer = self._open()
            if follower.torn:
                self._set_aside(writer)
        lines, head = self._compose(drafts, epoch, expected_position)
        start = follower.offset
        if lines:
            end = writer.append(lines, start, self._hooks.after_write)
            follower.advance(lines, end, head)
            if self._hooks.on_durable is not None:
                self._hooks.on_durable(lines)
        elif writer.synced < start:
            # Whoever wrote what is replayed may have died before the sync.
            writer.sync(start, start)
        return Receipt(tuple(lines), head.position, head.state)

    def _compose(
        self, drafts: Sequence[tuple[Draft, str]], epoch: int | None, expected_position: int | None
    ) -> tuple[list[Line], Head[S]]:
        """Return the lines that record `drafts` and the head after them. Writes nothing."""
        return self._composer.compose(self._follower.head, drafts, epoch, expected_position)

    def _open(self) -> JournalWriter:
        if self._writer is not None and not self._writer.is_current():
            self._writer.close()
            self._writer = None
        if self._writer is None:
            self._writer = JournalWriter(self._folder, self._hooks.sync)
        return self._writer

    def _set_aside(self, writer: JournalWriter) -> None:
        follower = self._follower
        if (ingested := self._ingested()) > follower.offset:
            raise CorruptLedger(
                f"{self._folder / JOURNAL}: {ingested} bytes were recorded and the file is whole "
                f"only up to byte {follower.offset}; restore it from a backup"
            )
        side = writer.set_aside(follower.torn, follower.offset)
        follower.torn = b""
        self._notify(
            Notice(
                self._run_id,
                f"a write of run {self._run_id!r} had been cut off after event "
                f"{follower.head.position}; it was never acknowledged, and its bytes are in {side}",
            )
        )
