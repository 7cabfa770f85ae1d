"""Connections to the ledger's database: a few that are kept, and what their errors mean.

Sessions are set up once, so a pooler in between must keep sessions apart (`pool_mode = session`).
"""

import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import LiteralString, TypeVar, cast

import psycopg
from psycopg import errors, sql
from psycopg.rows import TupleRow

from state.errors import Conflict, CorruptLedger, StorageError
from state.postgres.target import Target
from state.values.errors import AssayError, InvalidRequest

Connection = psycopg.Connection[TupleRow]
T = TypeVar("T")

_AT_ONCE = 4
_PAUSES_S = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_CONFLICTS = 20  # how often a transaction that lost against another one is tried again
_AGAIN = (errors.SerializationFailure, errors.DeadlockDetected)
_HOPELESS = ("authentication", "does not exist", "no pg_hba.conf", "permission", "certificate")
_SET_UP = (
    "SELECT set_config('statement_timeout', %s, false), set_config('lock_timeout', %s, false), "
    # A transaction whose client is gone keeps its run locked: for less than others wait for it.
    "set_config('idle_in_transaction_session_timeout', %s, false), "
    # Compiling costs a second, and what is asked here takes less.
    "set_config('jit', 'off', false), "
    "set_config('default_transaction_isolation', 'read committed', false), "
    # The server's side of a connection that died on the way is noticed as soon as ours.
    "set_config('tcp_keepalives_idle', '10', false), "
    "set_config('tcp_keepalives_interval', '5', false), "
    "set_config('tcp_keepalives_count', '3', false), "
    "set_config('timezone', 'UTC', false), set_config('standard_conforming_strings', 'on', false), "
    "CASE WHEN current_setting('synchronous_commit') IN ('off', 'local', 'remote_write') "
    "THEN set_config('synchronous_commit', 'on', false) END"
)
_ABOUT = "SELECT current_setting('server_version_num')::int, current_setting('server_encoding')"


class Lost(Exception):
    """The connection broke, or the server ended it; what was under way may have happened or not."""


class Connections:
    """Gives out connections to `target`, ready for the ledger's own statements.

    `timeout` bounds each wait for a lock, and `outage` how long a server that was reached before
    may be away, both in seconds.
    """

    def __init__(self, target: Target, *, timeout: float, outage: float) -> None:
        self.target = target
        self.timeout = timeout
        self._outage = outage
        self._mutex = threading.Lock()
        self._room = threading.BoundedSemaphore(_AT_ONCE)
        self._idle: list[Connection] = []
        self._pid = os.getpid()
        self._was_reached = False
        self._statements: dict[str, str] = {}

    def statement(self, text: LiteralString) -> LiteralString:
        """Return the statement with `{schema}` filled in."""
        if (known := self._statements.get(text)) is None:
            schema = sql.Identifier(self.target.schema)
            known = self._statements[text] = sql.SQL(text).format(schema=schema).as_string()
        return known

    def run(self, work: Callable[[Connection], T], *, outage: float | None = None) -> T:
        """Return what `work` gives in one transaction, begun anew when it could not be kept.

        `work` may therefore be called several times, and may have been kept although it is called
        again: only for what may happen twice. Raises `StorageError` and `CorruptLedger`.
        """

        def kept(connection: Connection) -> T:
            with connection.transaction():
                return work(connection)

        return self.retry(kept, outage=outage)

    def retry(
        self, work: Callable[[Connection], T], *, outage: float | None = None, keep: bool = True
    ) -> T:
        """Return what `work` gives, called anew after a lost connection or a lost race.

        Without `keep` the connection is closed afterwards.
        """
        patience = self._outage if outage is None else outage
        deadline, conflicts, lost = time.monotonic() + patience, 0, 0
        while True:
            try:
                with self.lent(patience, keep=keep) as connection:
                    return work(connection)
            except Lost as error:
                if time.monotonic() > deadline:
                    raise self.unreachable(error.__cause__) from error
                lost += 1
                time.sleep(pause(lost))
            except _AGAIN as error:
                conflicts += 1
                if conflicts > _CONFLICTS:
                    raise StorageError(
                        f"PostgreSQL at {self.target.place}: others were faster {conflicts} times; "
                        "nothing was changed, run it again"
                    ) from error
                time.sleep(pause(conflicts) / 4)

    @contextmanager
    def lent(self, outage: float, *, keep: bool = True) -> Iterator[Connection]:
        """Lend a connection for the block; one that fails in it is not used again.

        Raises `Lost` when the connection broke, and what PostgreSQL refused as this room's errors,
        except for races that were lost.
        """
        if not self._room.acquire(timeout=self.timeout):
            raise StorageError(
                f"all {_AT_ONCE} connections to PostgreSQL have been in use for "
                f"{self.timeout:g} s; run it again"
            )
        try:
            connection = self._take(outage)
            try:
                with self._explained(connection):
                    yield connection
            finally:
                self._give_back(connection, keep=keep)
        finally:
            self._room.release()

    def connect(self, *, patience: float | None = None) -> Connection:
        """Return a new connection, not one of those that are kept.

        Raises `StorageError`, at once when the server was not reached before, or not the last time,
        or does not let us in.
        """
        wait = self._outage if patience is None else patience
        deadline, tries = time.monotonic() + (wait if self._was_reached else 0.0), 0
        while True:
            try:
                connection = self._open()
            except psycopg.Error as error:
                text = str(error)
                if time.monotonic() > deadline or any(sign in text for sign in _HOPELESS):
                    # Whoever asks next, to record that the run was interrupted say, waits no more.
                    self._was_reached = False
                    raise self.unreachable(error) from error
                tries += 1
                time.sleep(pause(tries))
            else:
                self._was_reached = True
                return connection

    def unreachable(self, error: BaseException | None) -> StorageError:
        """Return the error that says that the database cannot be reached, and why."""
        reason = _reason(error) if error is not None else "the connection was lost"
        if "authentication" in reason or "pg_hba" in reason:
            advice = "check the user and the password in its address (or PGPASSWORD)"
        elif "does not exist" in reason:
            advice = "check the names in its address, or create what is missing"
        elif "too many clients" in reason or "connection slots" in reason:
            advice = "raise max_connections or run fewer workers"
        else:
            advice = "see that it runs and can be reached, then run it again"
        return StorageError(f"PostgreSQL at {self.target.place}: {reason}; {advice}")

    def close(self, *, getpid: Callable[[], int] = os.getpid) -> None:
        """Close the connections that are idle; later calls open others."""
        with self._mutex:
            idle, self._idle = self._idle, []
        if self._pid == getpid():  # in a forked child they are the parent's
            for connection in idle:
                connection.close()

    def __del__(self, getpid: Callable[[], int] = os.getpid) -> None:
        self.close(getpid=getpid)  # a default, since at the end of the process `os` may be gone

    def _open(self) -> Connection:
        connection = cast(
            "Connection",
            psycopg.connect(self.target.conninfo, autocommit=True, prepare_threshold=3),
        )
        try:
            limits = [f"{int(self.timeout * share)}ms" for share in (2000, 1000, 250)]
            connection.execute(_SET_UP, limits)
            about = connection.execute(_ABOUT).fetchone()
            version, encoding = about or (0, "")
            self._refuse_unfit(version, encoding)
        except BaseException:
            connection.close()
            raise
        return connection

    def _refuse_unfit(self, version: int, encoding: str) -> None:
        if version < 150_000:
            raise StorageError(
                f"PostgreSQL at {self.target.place} is version {version // 10_000}; "
                "the ledger needs 15 or newer"
            )
        if encoding != "UTF8":
            raise StorageError(
                f"PostgreSQL at {self.target.place}: the database is encoded as {encoding}; "
                "use one created with ENCODING 'UTF8' TEMPLATE template0"
            )

    def _take(self, outage: float) -> Connection:
        with self._mutex:
            if self._pid != os.getpid():  # forked: the sessions are the parent's
                self._idle, self._pid = [], os.getpid()
            while self._idle:
                connection = self._idle.pop()
                if not connection.closed:
                    return connection
        return self.connect(patience=outage)

    def _give_back(self, connection: Connection, *, keep: bool) -> None:
        status = connection.info.transaction_status
        if not keep or connection.closed or status != psycopg.pq.TransactionStatus.IDLE:
            with suppress(psycopg.Error):
                connection.close()
            return
        with self._mutex:
            self._idle.append(connection)

    @contextmanager
    def _explained(self, connection: Connection) -> Iterator[None]:
        try:
            yield
        except _AGAIN:
            raise
        except psycopg.Error as error:
            if is_lost(connection, error):
                connection.close()
                raise Lost from error
            raise explain(error, self.target.place) from error
        except BaseException:
            if connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                connection.close()
            raise


def pause(tries: int) -> float:
    """Return how long to wait before trying again, in seconds, after so many tries."""
    return _PAUSES_S[min(tries, len(_PAUSES_S)) - 1]


def explain(error: psycopg.Error, place: str) -> AssayError:
    """Return what PostgreSQL refused as an error of this room: what, where, and what to do."""
    where, reason = f"PostgreSQL at {place}", _reason(error)
    match error:
        case errors.LockNotAvailable():
            return StorageError(
                f"{where}: what was wanted stayed locked by another process; nothing was changed, "
                "try again when that process is done"
            )
        case errors.QueryCanceled():
            return StorageError(f"{where}: it took too long ({reason}); nothing was changed")
        case errors.InsufficientPrivilege():
            return StorageError(f"{where}: {reason}; give the role that right")
        case errors.ReadOnlySqlTransaction():
            return StorageError(f"{where}: {reason}; is it a standby? give the primary's address")
        case errors.DiskFull() | errors.OutOfMemory():
            return StorageError(f"{where}: {reason}; free some space, then run it again")
        case errors.UniqueViolation():
            return Conflict(f"{where}: the same call id was recorded before ({reason})")
        case errors.CheckViolation() | errors.DataError() | errors.ProgramLimitExceeded():
            return InvalidRequest(f"{where} cannot keep it: {reason}")
        case errors.DataCorrupted() | errors.IndexCorrupted():
            return CorruptLedger(f"{where}: {reason}; restore the database from a backup")
        case errors.UndefinedTable() | errors.UndefinedColumn() | errors.InvalidSchemaName():
            return CorruptLedger(
                f"{where}: {reason}; the ledger's tables were changed: restore the database from "
                "a backup, or choose another schema"
            )
        case _:
            return StorageError(f"{where}: {reason}; see to it, then run it again")


def is_lost(connection: Connection, error: psycopg.Error) -> bool:
    """Tell whether `error` is the end of the connection, and not an answer to what was asked."""
    ended = (
        errors.AdminShutdown, errors.CrashShutdown, errors.CannotConnectNow,
        errors.IdleInTransactionSessionTimeout, errors.DatabaseDropped,
    )  # fmt: skip
    return connection.closed or isinstance(error, ended)


def _reason(error: BaseException) -> str:
    diagnosis = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    text = re.sub(r"\s+", " ", diagnosis or str(error)).strip()
    return re.sub(r"(password\s*=\s*)\S+", r"\1***", text)[:600] or type(error).__name__
