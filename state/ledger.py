"""The port of the ledger: what every implementation promises, and the values it gives back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from state.append import Receipt
from state.envelope import Draft, Line
from state.follow import S
from state.lease import Lease, LeaseHolder

__all__ = ["Finding", "Ledger", "LedgerReport", "Receipt", "SyncReport", "Table"]


@dataclass(frozen=True, slots=True)
class Table:
    """The answer to a query. `types` are SQL types; `truncated`: there were more rows.

    `quarantined` names the runs whose events may be missing, because their journal is damaged,
    and says why.
    """

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    truncated: bool = False
    quarantined: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SyncReport:
    """How many events became queryable, and the runs that did not because they are damaged."""

    events: int
    quarantined: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that does not check out: the run ('' for all), where, what, and what to do."""

    run_id: str
    place: str
    what: str
    advice: str


@dataclass(frozen=True, slots=True)
class LedgerReport:
    """What a verification went through, and what it found (nothing: everything checks out)."""

    runs: int
    events: int
    findings: tuple[Finding, ...]

    @property
    def is_sound(self) -> bool:
        """Tell whether everything checks out."""
        return not self.findings


class Ledger(Protocol[S]):
    """The events of all runs: appended one run at a time, queried as one database.

    Safe to use from several threads, and from any number of processes.
    """

    def append(
        self,
        run_id: str,
        drafts: Sequence[Draft],
        *,
        epoch: int | None = None,
        expected_position: int | None = None,
    ) -> Receipt[S]:
        """Record `drafts`, oldest first, and return once they are durable.

        A draft whose call id was recorded with the same input is skipped. With `epoch`, the run's
        live lease must be that one; with `expected_position`, the run must stand there unless all
        was recorded before. When one draft is refused nothing is written; a crash may keep the
        first few. The first append makes the run.

        Raises `Fenced`, `Conflict`, `Refused`, `InvalidRequest`, `CorruptLedger`, `StorageError`.
        """
        ...

    def lease(self, run_id: str, command: str) -> Lease:
        """Take the right to execute the run, or raise `LeaseHeld`; `command` tells others what by.

        Raises `NotFound` for a run without events.
        """
        ...

    def is_held(self, run_id: str) -> bool:
        """Tell whether a process executes the run."""
        ...

    def holder(self, run_id: str) -> LeaseHolder | None:
        """Return the process that executes the run, if any."""
        ...

    def read(self, run_id: str, from_position: int = 1) -> list[Line]:
        """Return the run's events from that position on. Raises `NotFound`, `CorruptLedger`."""
        ...

    def project(self, run_id: str) -> S:
        """Return the run's state. Raises `NotFound`, `CorruptLedger`."""
        ...

    def exists(self, run_id: str) -> bool:
        """Tell whether the run has an event."""
        ...

    def runs(self) -> list[str]:
        """Return the ids of all runs, sorted."""
        ...

    def query(self, sql: str, params: Sequence[Any] = ()) -> Table:
        """Answer one SELECT over every event acknowledged before this call, in the ledger's SQL.

        Raises `InvalidRequest` for SQL that is wrong, writes, leaves the ledger or takes too long.
        """
        ...

    def analyse(self, sql: str, params: Sequence[Any] = ()) -> Table:
        """Answer as `query` does one SELECT in DuckDB's SQL, whatever that of the ledger is."""
        ...

    def sync(self, *, wait: bool = True) -> SyncReport | None:
        """Make recorded events queryable; without `wait`, return None when others are at it."""
        ...

    def verify(self, manifests: Mapping[str, tuple[int, str]] | None = None) -> LedgerReport:
        """Recompute every chain. `manifests`: the last position and hash that runs must reach."""
        ...

    def rebuild(self) -> SyncReport:
        """Make the queryable file again from the journals."""
        ...

    def export(self, folder: Path) -> list[Path]:
        """Write one Parquet file a table into `folder` and return the files."""
        ...

    def close(self) -> None:
        """Let go of open files."""
        ...
