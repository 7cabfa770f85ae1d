"""One run in the database: followed by folding what was added, appended to in one transaction."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic

import psycopg

from state.append import Receipt
from state.compose import Composer
from state.envelope import NO_HASH, Draft, Line, spell_body
from state.errors import Conflict, CorruptLedger, Refused, StorageError
from state.follow import Head, S
from state.locks import busy
from state.postgres.connections import Connection, Connections, is_lost
from state.postgres.lease import Granted, lease_query, refuse_without_lease
from state.postgres.lines import BACKUP, parse_rows, record, refuse_unfit_names

_IDLE = psycopg.pq.TransactionStatus.IDLE
_LOCK = "SELECT run, position, hash FROM {schema}.run_heads WHERE run_id = %s FOR NO KEY UPDATE"
_BEGIN = (
    "INSERT INTO {schema}.run_heads (run_id, position, hash) VALUES (%s, 0, %s) "
    "ON CONFLICT (run_id) DO NOTHING"
)
# One statement, so that the head and the lines are of one moment.
_SINCE = (
    "SELECT h.position, h.hash, l.hash, l.line FROM {schema}.run_heads AS h "
    "LEFT JOIN {schema}.run_lines AS l ON l.run = h.run AND l.position > %s "
    "WHERE h.run_id = %s ORDER BY l.position"
)
_HAS = "SELECT hash = %s FROM {schema}.run_lines WHERE run = %s AND position = %s"


@dataclass(frozen=True, slots=True)
class _Locked:
    """A run whose lock is held: its number, where it ends, and its lease."""

    run: int
    end: tuple[int, str]
    lease: Granted | None


class PostgresRun(Generic[S]):
    """Appends to one run, one append at a time over all threads, processes and machines."""

    def __init__(self, connections: Connections, composer: Composer[S]) -> None:
        self._connections = connections
        self._composer = composer
        self._run_id = composer.run_id
        self._mutex = threading.Lock()
        self._head = composer.start()
        self._acknowledged = (0, NO_HASH)  # the last event that this process knows to be durable

    def project(self) -> Head[S]:
        """Return where the run stands now; position 0 for one without events."""
        with self._mutex:
            self._connections.retry(self._catch_up)
            return self._head

    def append(
        self, drafts: Sequence[Draft], epoch: int | None, expected_position: int | None
    ) -> Receipt[S]:
        """See `Ledger.append`."""
        bodies = [spell_body(draft) for draft in drafts]
        for draft in drafts:
            refs = draft.refs
            refuse_unfit_names(
                (draft.type, refs.turn_id, refs.call_id, refs.flow_run_id, refs.task_run_id)
            )
        if not self._mutex.acquire(timeout=self._connections.timeout):
            raise busy(f"run {self._run_id!r}", self._connections.timeout)
        try:
            return self._append(bodies, epoch, expected_position)
        finally:
            self._mutex.release()

    def adopt(self, lines: Sequence[Line]) -> int:
        """Record `lines`, the whole run, as they are; return how many were not there yet."""
        with self._mutex:
            return self._connections.retry(lambda connection: self._adopt(connection, lines))

    def _adopt(self, connection: Connection, lines: Sequence[Line]) -> int:
        start = self._composer.start()
        checked = [(line.hash, line.json) for line in lines]
        whole = parse_rows(checked, 0, NO_HASH, self._run_id, "the ledger that is adopted from")
        head = self._fold(start, whole)
        with self._locked(connection) as locked:
            here = self._head
            if here.position > head.position or (
                here.position and whole[here.position - 1].hash != here.hash
            ):
                raise Conflict(
                    f"run {self._run_id!r} is there already, up to event {here.position}, and goes "
                    "on otherwise; it was left as it is"
                )
            new = whole[here.position :]
            if new:
                self._record(connection, locked.run, new)
        self._head, self._acknowledged = head, (head.position, head.hash)
        return len(new)

    def _append(
        self, drafts: Sequence[tuple[Draft, str]], epoch: int | None, expected_position: int | None
    ) -> Receipt[S]:
        sent: list[Line] = []  # what a lost connection may have committed

        def work(connection: Connection) -> tuple[list[Line], Head[S]]:
            with self._locked(connection) as locked:
                # Whoever has the lock knows how every transaction before it ended.
                if sent and self._has(connection, locked.run, sent[-1]):
                    return list(sent), self._head
                sent.clear()
                lines, head = self._composer.compose(self._head, drafts, epoch, expected_position)
                if epoch is not None or head.state.epoch > self._head.state.epoch:
                    refuse_without_lease(self._connections, locked.lease, self._run_id)
                if lines:
                    sent.extend(lines)
                    try:
                        self._record(connection, locked.run, lines)
                    except psycopg.Error as error:
                        if not is_lost(connection, error):
                            sent.clear()
                        raise
            return lines, head

        try:
            lines, head = self._connections.retry(work)
        except StorageError as error:
            if not sent:
                raise
            raise StorageError(
                f"{error.message}; whether what was being recorded of run {self._run_id!r} is kept "
                "is not known: read the run before that is recorded again"
            ) from error
        self._head, self._acknowledged = head, (head.position, head.hash)
        if lines and self._composer.hooks.on_durable is not None:
            self._composer.hooks.on_durable(lines)
        return Receipt(tuple(lines), head.position, head.state)

    @contextmanager
    def _locked(self, connection: Connection) -> Iterator[_Locked]:
        """Take the run's lock and catch up, in a transaction that is undone if not committed."""
        try:
            locked = self._lock(connection)
            if locked is None:
                begin = self._connections.statement(_BEGIN)
                connection.execute(begin, [self._run_id, NO_HASH])
                locked = self._lock(connection)
            if locked is None:
                raise self._corrupt("its row was taken away")
            if locked.end != (self._head.position, self._head.hash):
                self._catch_up(connection)
            yield locked
        finally:
            if not connection.closed and connection.info.transaction_status != _IDLE:
                connection.execute("ROLLBACK")

    def _lock(self, connection: Connection) -> _Locked | None:
        """Begin, lock the run's row, and see its lease as of then; None when there is no row.

        That is one message: a client that is gone in the middle of it leaves nothing locked, and
        one that is gone after it is known to be idle.
        """
        begin = "BEGIN; " if connection.info.transaction_status == _IDLE else ""
        statements = (
            f"{begin}{self._connections.statement(_LOCK)}; {lease_query(self._connections)}"
        )
        with psycopg.ClientCursor(connection) as cursor:
            cursor.execute(statements, [self._run_id] * 2)
            if begin:
                cursor.nextset()
            row = cursor.fetchone()
            cursor.nextset()
            return _Locked(int(row[0]), (row[1], row[2]), Granted.read(cursor)) if row else None

    def _record(self, connection: Connection, run: int, lines: Sequence[Line]) -> None:
        """Write `lines` and commit, again in one message. Raises `CorruptLedger`."""
        after_write = self._composer.hooks.after_write
        written = record(self._connections, connection, run, lines, commit=after_write is None)
        if after_write is not None:
            for line in lines:
                after_write(line)
            connection.execute("COMMIT")
        if written != len(lines):
            raise self._corrupt("it does not end where its events do")

    def _has(self, connection: Connection, run: int, line: Line) -> bool:
        statement = self._connections.statement(_HAS)
        row = connection.execute(statement, [line.hash, run, line.envelope.position]).fetchone()
        return row is not None and bool(row[0])

    def _catch_up(self, connection: Connection) -> None:
        """Fold what was added. Raises `CorruptLedger`, and then the state is that of before."""
        try:
            head = self._read_on(connection, self._head)
        except CorruptLedger:
            if self._head.position == 0:
                raise
            # Complain only when the run is also wrong when read as a whole.
            head = self._read_on(connection, self._composer.start())
        self._head = head

    def _read_on(self, connection: Connection, head: Head[S]) -> Head[S]:
        statement = self._connections.statement(_SINCE)
        rows = connection.execute(statement, [head.position, self._run_id]).fetchall()
        position, hash_ = rows[0][:2] if rows else (0, NO_HASH)
        added = [(row[2], row[3]) for row in rows if row[2] is not None]
        place = self._connections.target.place
        lines = parse_rows(added, head.position, head.hash, self._run_id, place)
        self._check_acknowledged(head, lines)
        end = self._fold(head, lines)
        if (position, hash_) != (end.position, end.hash):
            raise self._corrupt(f"it ends at event {end.position} and should at event {position}")
        return end

    def _fold(self, head: Head[S], lines: Sequence[Line]) -> Head[S]:
        """Return the head after `lines`, whose chain was checked."""
        state = head.state
        for line in lines:
            try:
                state = self._composer.fold.evolve(state, line.envelope, line.hash)
            except Refused as error:
                raise self._corrupt(
                    f"event {line.envelope.position} may not follow the events before it: "
                    f"{error.message}"
                ) from error
        return Head(state, head.position + len(lines), lines[-1].hash) if lines else head

    def _check_acknowledged(self, head: Head[S], lines: Sequence[Line]) -> None:
        position, hash_ = self._acknowledged
        if position <= head.position:
            return
        at = position - head.position - 1
        if at >= len(lines) or lines[at].hash != hash_:
            raise self._corrupt(f"event {position} was recorded and is gone")

    def _corrupt(self, what: str) -> CorruptLedger:
        place = self._connections.target.place
        return CorruptLedger(f"PostgreSQL at {place}, run {self._run_id!r}: {what}; {BACKUP}")
