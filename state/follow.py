"""A run's state, kept up to date by folding its journal; what a fold is."""

from collections.abc import Sequence
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from state.envelope import NO_HASH, Draft, Envelope, Line
from state.errors import CorruptLedger, Refused
from state.journal import JOURNAL, Cursor, Scan, probe, read_journal
from state.values.swift import swift


class HasEpoch(Protocol):
    """What the ledger knows of a run's state: the number of the lease that is live."""

    @property
    def epoch(self) -> int:
        """The epoch of the last lease that was recorded; 0 before the first."""
        ...


S = TypeVar("S", bound=HasEpoch)


class Fold(Protocol[S]):
    """How events become a state, and the rules of what may follow what. States are immutable."""

    def start(self) -> S:
        """Return the state before the first event."""
        ...

    def evolve(self, state: S, envelope: Envelope, line_hash: str) -> S:
        """Return the state after the event. Raises `Refused` when it may not follow."""
        ...

    def replay(self, state: S, draft: Draft) -> bool:
        """Tell whether `draft` was recorded before, under the same call id with the same input.

        Raises `Conflict` when the call id was used with another input.
        """
        ...


@swift(frozen=True, slots=True)
class Head(Generic[S]):
    """Where a run stands: its state, and the position and hash of its last event."""

    state: S
    position: int = 0
    hash: str = NO_HASH


class Follower(Generic[S]):
    """Keeps the state of one run up to date with its journal, reading only what was added."""

    def __init__(self, folder: Path, fold: Fold[S]) -> None:
        self.folder = folder
        self.fold = fold
        self.head = Head(fold.start())
        self.offset = 0  # where the last line ends in the file
        self.last = 0  # and where it begins
        self.torn = b""
        self.acknowledged = self.head  # what this process knows to be durable
        self._inode = 0

    def catch_up(self) -> None:
        """Fold what was added. Takes no lock; a line still being written is left for later.

        Raises `CorruptLedger`, and then the state is that of before.
        """
        head = self.head
        seen = probe(self.folder, self.last, len(head.hash))
        if seen is not None and self._continues(seen.inode, seen.size, seen.found):
            if seen.size == self.offset:
                self.torn = b""
                return
            end = Cursor(self.offset, head.position, head.hash)
            try:
                self._fold(head.state, read_journal(self.folder, end))
                return
            except CorruptLedger:
                pass  # complain only when the journal is also wrong when read as a whole
        found = read_journal(self.folder)
        self._check_acknowledged(found)
        self._fold(self.fold.start(), found)
        self._inode = seen.inode if seen is not None else 0

    def advance(self, lines: Sequence[Line], offset: int, head: Head[S]) -> None:
        """Take over `lines`, just written here and durable, after which the run is at `head`."""
        self.head = self.acknowledged = head
        self.offset, self.last = offset, offset - lines[-1].size

    def _continues(self, inode: int, size: int, found: bytes) -> bool:
        if inode != self._inode or size < self.offset:
            return False
        return self.offset == 0 or found == self.head.hash.encode()

    def _check_acknowledged(self, found: Scan) -> None:
        known = self.acknowledged
        if known.position and (
            found.end.position < known.position
            or found.lines[known.position - 1].hash != known.hash
        ):
            raise CorruptLedger(
                f"{self.folder / JOURNAL}: event {known.position} was recorded and is gone; "
                "restore the file from a backup"
            )

    def _fold(self, state: S, found: Scan) -> None:
        for line in found.lines:
            try:
                state = self.fold.evolve(state, line.envelope, line.hash)
            except Refused as error:
                raise CorruptLedger(
                    f"{self.folder / JOURNAL}: event {line.envelope.position} may not follow the "
                    f"events before it: {error.message}"
                ) from error
        self.head = Head(state, found.end.position, found.end.hash)
        self.offset, self.torn = found.end.offset, found.torn
        if found.lines:
            self.last = self.offset - found.lines[-1].size
