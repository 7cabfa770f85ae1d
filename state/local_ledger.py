"""The ledger on this machine: a journal for each run, and one DuckDB file for all queries."""

import os
import re
import secrets
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic

from state.append import Hooks, Receipt, RunAppender
from state.duck import DuckFile, current_views
from state.durable import (
    create_private_folder,
    explained,
    refuse_unspellable,
    refuse_unsuitable,
    sync_folder,
)
from state.envelope import Draft, Line
from state.errors import CorruptLedger, NotFound, StorageError
from state.follow import Fold, S
from state.ingest import damaged_runs, ingest, is_current, known_journals
from state.journal import JOURNAL, Notice, read_journal, recorded_run_id, run_folder
from state.lease import Lease, LeaseHolder, lease_holder, take_lease
from state.ledger import LedgerReport, SyncReport, Table
from state.locks import FileLock
from state.query import MEMORY, Bounds, answer
from state.values.errors import InvalidRequest
from state.verify import verify_ledger

_OPEN_RUNS = 64  # two descriptors each
_RUN_ID = re.compile(r"[^\s\x00-\x1f]{1,512}\Z")


class LocalLedger(Generic[S]):
    """See `state.ledger.Ledger`. `notices` collects what was mended on the way.

    `timeout` bounds each wait for another process, in seconds.
    """

    def __init__(
        self,
        home: Path,
        fold: Fold[S],
        *,
        hooks: Hooks | None = None,
        bounds: Bounds | None = None,
        timeout: float = 60.0,
    ) -> None:
        refuse_unsuitable(home)
        self.home = home
        self.notices: list[Notice] = []
        self._fold = fold
        self._hooks = hooks or Hooks()
        self._bounds = bounds or Bounds()
        self._timeout = timeout
        self._duck = DuckFile(home, timeout=timeout)
        self._mutex = threading.Lock()
        self._open: OrderedDict[str, RunAppender[S]] = OrderedDict()
        self._pid = os.getpid()

    def append(
        self,
        run_id: str,
        drafts: Sequence[Draft],
        *,
        epoch: int | None = None,
        expected_position: int | None = None,
    ) -> Receipt[S]:
        """See `Ledger.append`."""
        if run_id not in self._open and not _RUN_ID.match(run_id):
            raise InvalidRequest(f"{run_id!r} cannot be a run's id: 1 to 512 characters, no spaces")
        if not drafts:
            raise InvalidRequest(f"there is no event to append to run {run_id!r}")
        return self._run(run_id).append(drafts, epoch, expected_position)

    def lease(self, run_id: str, command: str) -> Lease:
        """See `Ledger.lease`."""
        folder = self._existing(run_id)
        return take_lease(folder, run_id, command, clock=self._hooks.clock)

    def is_held(self, run_id: str) -> bool:
        """See `Ledger.is_held`."""
        return self.holder(run_id) is not None

    def holder(self, run_id: str) -> LeaseHolder | None:
        """See `Ledger.holder`."""
        return lease_holder(run_folder(self.home, run_id))

    def read(self, run_id: str, from_position: int = 1) -> list[Line]:
        """See `Ledger.read`."""
        lines = read_journal(self._existing(run_id)).lines
        return list(lines[max(from_position, 1) - 1 :])

    def project(self, run_id: str) -> S:
        """See `Ledger.project`."""
        self._existing(run_id)
        state, position = self._run(run_id).project()
        if position == 0:
            raise _unknown(run_id)
        return state

    def exists(self, run_id: str) -> bool:
        """See `Ledger.exists`."""
        return recorded_run_id(run_folder(self.home, run_id)) is not None

    def runs(self) -> list[str]:
        """See `Ledger.runs`."""
        found = (recorded_run_id(path) for path in (self.home / "runs").glob("*"))
        return sorted(run_id for run_id in found if run_id is not None)

    def query(self, sql: str, params: Sequence[Any] = ()) -> Table:
        """See `Ledger.query`."""
        table = self._answer(sql, params, must_be_current=True)
        if table is None:
            self.sync()
            table = self._answer(sql, params, must_be_current=False)
        if table is None:
            raise StorageError(f"{self._duck.path} was taken away; try again")
        return table

    def analyse(self, sql: str, params: Sequence[Any] = ()) -> Table:
        """See `Ledger.analyse`."""
        return self.query(sql, params)

    def sync(self, *, wait: bool = True) -> SyncReport | None:
        """See `Ledger.sync`."""
        create_private_folder(self.home)
        with self._duck.gate(shared=False, wait=wait) as got:
            if not got:
                return None
            if not self._duck.path.exists():
                return self._make_file()
            with self._duck.writing() as connection:
                return ingest(connection, self.home)

    def verify(self, manifests: Mapping[str, tuple[int, str]] | None = None) -> LedgerReport:
        """See `Ledger.verify`."""
        return verify_ledger(self.home, self._duck, manifests or {})

    def rebuild(self) -> SyncReport:
        """See `Ledger.rebuild`. Queries go on meanwhile, on the old file."""
        create_private_folder(self.home)
        lock = FileLock(self.home / "ledger.rebuild.lock")
        try:
            if not lock.acquire(timeout=0):
                raise StorageError("the ledger is being rebuilt by another process; wait for it")
            with self._fresh_file("rebuilt") as (new, report), self._duck.gate(shared=False):
                self._put(new)
            return report
        finally:
            lock.close()

    def export(self, folder: Path) -> list[Path]:
        """See `Ledger.export`."""
        refuse_unspellable(folder)
        self.sync()
        create_private_folder(folder)
        files: list[Path] = []
        with self._duck.gate(shared=True), self._duck.reading() as connection:
            for table, order in (("events", "run_id, position"), ("journals", "run_id")):
                final = folder / f"{table}.parquet"
                part = folder / f".tmp-{secrets.token_hex(8)}.parquet"
                quoted = str(part).replace("'", "''")
                try:
                    connection.execute(
                        f"COPY (FROM {table} ORDER BY {order}) TO '{quoted}' (FORMAT parquet)"
                    )
                    with explained(final):
                        part.chmod(0o600)
                        part.replace(final)
                finally:
                    part.unlink(missing_ok=True)
                files.append(final)
        with explained(folder):
            sync_folder(folder)
        return files

    def close(self) -> None:
        """See `Ledger.close`."""
        with self._mutex:
            while self._open:
                self._open.popitem()[1].close()

    def _run(self, run_id: str) -> RunAppender[S]:
        with self._mutex:
            if self._pid != os.getpid():  # forked: the parent's locks are not ours to share
                self._open.clear()
                self._pid = os.getpid()
            if run_id in self._open:
                self._open.move_to_end(run_id)
                return self._open[run_id]
            run = self._open[run_id] = RunAppender(
                self.home,
                run_id,
                self._fold,
                self._hooks,
                ingested=lambda: self._ingested(run_id),
                notify=self.notices.append,
                timeout=self._timeout,
            )
            if len(self._open) > _OPEN_RUNS:
                self._open.popitem(last=False)[1].close()
            return run

    def _existing(self, run_id: str) -> Path:
        folder = run_folder(self.home, run_id)
        if not (folder / JOURNAL).exists():
            raise _unknown(run_id)
        return folder

    def _answer(self, sql: str, params: Sequence[Any], *, must_be_current: bool) -> Table | None:
        """Return the answer, or None when the file lacks events that were recorded."""
        if not self._duck.path.exists():
            return None
        with self._duck.gate(shared=True), self._duck.reading(memory=MEMORY) as connection:
            if must_be_current and not (
                current_views(connection) and is_current(connection, self.home)
            ):
                return None
            damaged = damaged_runs(connection)
            table = answer(connection, sql, params, self._bounds)
        return Table(table.columns, table.types, table.rows, table.truncated, damaged)

    def _make_file(self) -> SyncReport:
        """Make the file beside its place, so that a crash leaves none that is half made."""
        with self._fresh_file("first") as (new, report):
            self._put(new)
        return report

    @contextmanager
    def _fresh_file(self, name: str) -> Iterator[tuple[Path, SyncReport]]:
        """Give a new file with all events in it; what the block leaves of it is removed.

        Callers hold the lock under which this name is used.
        """
        new = self.home / f"ledger.{name}.duckdb"
        self._remove(new)
        try:
            with self._duck.writing(new) as connection:
                report = ingest(connection, self.home)
            yield new, report
        finally:
            self._remove(new)

    def _remove(self, unfinished: Path) -> None:
        with explained(self.home):
            for left in self.home.glob(f"{unfinished.name}*"):
                left.unlink()

    def _put(self, new: Path) -> None:
        with explained(self._duck.path):
            self._duck.replace_with(new)
            sync_folder(self.home)

    def _ingested(self, run_id: str) -> int:
        """Return how many bytes of the run's journal were taken in, as far as can be told."""
        folder = run_folder(self.home, run_id).name
        try:
            if not self._duck.path.exists():
                return 0
            with self._duck.gate(shared=True), self._duck.reading() as connection:
                known = known_journals(connection).get(folder)
        except (CorruptLedger, StorageError):
            return 0  # an append never depends on the queryable file; `sync` compares again
        return known.end.offset if known else 0


def _unknown(run_id: str) -> NotFound:
    return NotFound(f"there is no run {run_id!r}; `assay runs` lists those there are")
