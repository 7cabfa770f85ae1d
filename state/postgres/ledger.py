"""The ledger on PostgreSQL, for several machines: one schema of one database."""

import re
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, LiteralString

from psycopg.errors import InsufficientPrivilege, ReadOnlySqlTransaction

from state.append import Hooks, Receipt
from state.compose import Composer
from state.envelope import NO_HASH, Draft, Line
from state.errors import NotFound, StorageError
from state.follow import Fold, S
from state.lease import Lease, LeaseHolder
from state.ledger import LedgerReport, SyncReport, Table
from state.local_ledger import LocalLedger
from state.postgres import checking
from state.postgres.connections import Connection, Connections
from state.postgres.copies import copy_ledger, discard_copy
from state.postgres.lease import TTL_S, lease_holder, take_lease
from state.postgres.lines import parse_rows
from state.postgres.queries import answer
from state.postgres.runs import PostgresRun
from state.postgres.schema import is_made, prepare
from state.postgres.target import SCHEMA, parse_target
from state.query import Bounds
from state.values.errors import InvalidRequest

_OPEN_RUNS = 64
_RUN_ID = re.compile(r"[^\s\x00-\x1f]{1,512}\Z")
_EXISTS = "SELECT 1 FROM {schema}.run_heads WHERE run_id = %s"
_RUNS = "SELECT run_id FROM {schema}.run_heads ORDER BY run_id"
_LINES = (
    "SELECT l.hash, l.line FROM {schema}.run_lines AS l JOIN {schema}.run_heads USING (run) "
    "WHERE run_id = %s ORDER BY l.position"
)


@dataclass(frozen=True, slots=True)
class Waits:
    """How long things may take, in seconds.

    A driver that is not heard of for `lease_s` has lost its run. `lock_s` bounds each wait for
    another process, and `outage_s` how long a server that was there may be away.
    """

    lease_s: float = TTL_S
    lock_s: float = 60.0
    outage_s: float = 20.0


class PostgresLedger(Generic[S]):
    """See `state.ledger.Ledger`. Making one connects to nothing.

    `url` is `postgresql://user:password@host:port/database`; several ledgers share a database by
    `schema`, which is made on first use. `copies` is a folder for a copy that `analyse` keeps;
    without one, each call makes it anew.
    """

    def __init__(
        self,
        url: str,
        fold: Fold[S],
        *,
        schema: str = SCHEMA,
        hooks: Hooks | None = None,
        bounds: Bounds | None = None,
        waits: Waits | None = None,
        copies: Path | None = None,
    ) -> None:
        self._fold = fold
        self._hooks = hooks or Hooks()
        self._bounds = bounds or Bounds()
        self._waits = waits or Waits()
        self.copies = copies
        self._connections = Connections(
            parse_target(url, schema), timeout=self._waits.lock_s, outage=self._waits.outage_s
        )
        self._mutex = threading.Lock()
        self._runs: OrderedDict[str, PostgresRun[S]] = OrderedDict()
        self._is_prepared = False

    @property
    def place(self) -> str:
        """Where the ledger is, for people: host, database and schema, never a password."""
        return self._connections.target.place

    def is_made(self) -> bool:
        """Tell whether the ledger was ever begun; makes nothing."""
        return is_made(self._connections)

    def append(
        self,
        run_id: str,
        drafts: Sequence[Draft],
        *,
        epoch: int | None = None,
        expected_position: int | None = None,
    ) -> Receipt[S]:
        """See `Ledger.append`."""
        if not _RUN_ID.match(run_id):
            raise InvalidRequest(f"{run_id!r} cannot be a run's id: 1 to 512 characters, no spaces")
        if not drafts:
            raise InvalidRequest(f"there is no event to append to run {run_id!r}")
        return self._run(run_id).append(drafts, epoch, expected_position)

    def lease(self, run_id: str, command: str) -> Lease:
        """See `Ledger.lease`."""
        return take_lease(
            self._ready(), run_id, command, ttl=self._waits.lease_s, clock=self._hooks.clock
        )

    def is_held(self, run_id: str) -> bool:
        """See `Ledger.is_held`."""
        return self.holder(run_id) is not None

    def holder(self, run_id: str) -> LeaseHolder | None:
        """See `Ledger.holder`."""
        return lease_holder(self._ready(), run_id)

    def read(self, run_id: str, from_position: int = 1) -> list[Line]:
        """See `Ledger.read`. The whole run is checked, wherever reading begins."""
        rows = self._fetch(_LINES, [run_id])
        if not rows:
            raise _unknown(run_id)
        lines = parse_rows(rows, 0, NO_HASH, run_id, self.place)
        return lines[max(from_position, 1) - 1 :]

    def project(self, run_id: str) -> S:
        """See `Ledger.project`."""
        head = self._run(run_id).project()
        if head.position == 0:
            raise _unknown(run_id)
        return head.state

    def exists(self, run_id: str) -> bool:
        """See `Ledger.exists`."""
        return bool(self._fetch(_EXISTS, [run_id]))

    def runs(self) -> list[str]:
        """See `Ledger.runs`."""
        return [run_id for (run_id,) in self._fetch(_RUNS)]

    def query(self, sql: str, params: Sequence[Any] = ()) -> Table:
        """See `Ledger.query`. The SQL is PostgreSQL's; parameters are `$1`, `$2` and so on."""
        connections = self._ready()
        try:
            checking.check_new(connections)
        except StorageError as error:
            if not _may_only_read(error):
                raise  # who may only read sees what others have checked
        return answer(connections, sql, params, self._bounds)

    def analyse(self, sql: str, params: Sequence[Any] = ()) -> Table:
        """See `Ledger.analyse`; asked of a copy that is brought up to date before."""
        if self.copies is not None:
            return self.copy(self.copies).query(sql, params)
        with tempfile.TemporaryDirectory(prefix="assay-copy-") as folder:
            return self.copy(Path(folder) / "ledger").query(sql, params)

    def adopt(self, run_id: str, lines: Sequence[Line]) -> int:
        """Record the events of a run of another ledger as they are; return how many were new.

        `lines` is the whole run. Raises `Conflict` when there is another run of that id here, and
        `CorruptLedger` when the lines do not make up a run.
        """
        return self._run(run_id).adopt(lines)

    def copy(self, home: Path) -> LocalLedger[S]:
        """Bring the copy in `home` up to date, making it when there is none, and return it."""
        return copy_ledger(
            self._ready(), home, self._fold, bounds=self._bounds, timeout=self._waits.lock_s
        )

    def sync(self, *, wait: bool = True) -> SyncReport | None:
        """See `Ledger.sync`. Events can be queried at once; this checks the chains of new ones."""
        return checking.check_new(self._ready(), wait=wait)

    def verify(self, manifests: Mapping[str, tuple[int, str]] | None = None) -> LedgerReport:
        """See `Ledger.verify`."""
        return checking.verify(self._ready(), manifests or {})

    def rebuild(self) -> SyncReport:
        """See `Ledger.rebuild`: what can be queried is made again from the recorded lines."""
        report = checking.rebuild(self._ready())
        if self.copies is not None:
            discard_copy(self.copies, timeout=self._waits.lock_s)
        return report

    def export(self, folder: Path) -> list[Path]:
        """See `Ledger.export`."""
        with tempfile.TemporaryDirectory(prefix="assay-export-") as temporary:
            return self.copy(Path(temporary) / "ledger").export(folder)

    def close(self) -> None:
        """See `Ledger.close`. A lease that is held is kept."""
        self._connections.close()

    def _run(self, run_id: str) -> PostgresRun[S]:
        connections = self._ready()
        with self._mutex:
            run = self._runs.pop(run_id, None) or PostgresRun(
                connections, Composer(run_id, self._fold, self._hooks)
            )
            self._runs[run_id] = run
            if len(self._runs) > _OPEN_RUNS:
                self._runs.popitem(last=False)
            return run

    def _ready(self) -> Connections:
        """Return the connections, once the schema is known to be there."""
        if not self._is_prepared:
            prepare(self._connections)
            self._is_prepared = True
        return self._connections

    def _fetch(self, statement: LiteralString, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        connections = self._ready()

        def work(connection: Connection) -> list[tuple[Any, ...]]:
            return connection.execute(connections.statement(statement), params).fetchall()

        return connections.retry(work)


def _may_only_read(error: StorageError) -> bool:
    return isinstance(error.__cause__, (ReadOnlySqlTransaction, InsufficientPrivilege))


def _unknown(run_id: str) -> NotFound:
    return NotFound(f"there is no run {run_id!r}; `assay runs` lists those there are")
