"""Who may execute a run: a row with an expiry by the database's clock, renewed while it is held.

A holder that does not say for `ttl` seconds that it is there has lost the run, and every append of
it is refused from then on, also when nobody else has taken the run. What its own clock says plays
no part. A process of the same machine that is known to be gone need not be waited for.
"""

import os
import secrets
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import LiteralString, Self

import psycopg
from psycopg.rows import TupleRow

from state.envelope import utc_text
from state.errors import Fenced, LeaseHeld, NotFound, StorageError
from state.lease import Lease, LeaseHolder
from state.postgres.connections import Connection, Connections

TTL_S = 30.0
_BEATS = 5  # renewals in the time of one lease, so that a few may fail
_PROC = Path("/proc")
_FIND_RUN = "SELECT run FROM {schema}.run_heads WHERE run_id = %s FOR NO KEY UPDATE"
_FIND = (
    "SELECT token, expires_at > clock_timestamp(), pid, host, process, command, since "
    "FROM {schema}.run_leases JOIN {schema}.run_heads USING (run) WHERE run_id = %s"
)
_TAKE = (
    "INSERT INTO {schema}.run_leases AS l "
    "(run, epoch, token, pid, host, process, command, since, expires_at) "
    "VALUES (%s, 1, %s, %s, %s, %s, %s, %s, clock_timestamp() + %s * interval '1 second') "
    "ON CONFLICT (run) DO UPDATE SET epoch = l.epoch + 1, token = excluded.token, "
    "pid = excluded.pid, host = excluded.host, process = excluded.process, "
    "command = excluded.command, since = excluded.since, expires_at = excluded.expires_at"
)
_RENEW = (
    "UPDATE {schema}.run_leases SET expires_at = clock_timestamp() + %s * interval '1 second' "
    "WHERE run = %s AND token = %s AND expires_at > clock_timestamp()"
)
_RELEASE = (
    "UPDATE {schema}.run_leases SET token = NULL, expires_at = clock_timestamp() "
    "WHERE run = %s AND token = %s"
)
_held: dict[tuple[str, str, str], "PostgresLease"] = {}


@dataclass(frozen=True, slots=True)
class Granted:
    """A lease as the database has it: whose, and whether it had not run out when it was asked."""

    token: str
    is_in_time: bool
    process: str
    holder: LeaseHolder

    @classmethod
    def read(cls, answer: psycopg.Cursor[TupleRow]) -> Self | None:
        """Return what `lease_query` asked for; None when nobody has the run."""
        row = answer.fetchone()
        if row is None or row[0] is None:
            return None
        token, is_in_time, pid, host, process, command, since = row
        return cls(token, is_in_time, process, LeaseHolder(pid, host, since, command))

    def is_live(self) -> bool:
        """Tell whether its holder may be there still."""
        return self.is_in_time and not _is_known_to_be_gone(self.holder.pid, self.process)


class PostgresLease(Lease):
    """The right to execute a run, held while a thread of this process renews it in time."""

    def __init__(
        self, connections: Connections, run_id: str, run: int, holder: LeaseHolder, token: str
    ) -> None:
        self.run_id = run_id
        self.holder = holder
        self.token = token
        self._connections = connections
        self._run = run
        self._pid = os.getpid()
        self._done = threading.Event()
        self._key = _key(connections, run_id)

    def keep(self, ttl: float) -> None:
        """Renew the lease from now on, in a thread of its own and on its own connection."""
        _held[self._key] = self
        threading.Thread(target=self._beat, args=[ttl], name="lease", daemon=True).start()

    def release(self) -> None:
        """Let somebody else execute the run; a second release does nothing.

        Where the database cannot be told, the lease runs out by itself.
        """
        if self._pid != os.getpid() or self._done.is_set():
            return
        self._done.set()
        if _held.get(self._key) is self:
            del _held[self._key]
        statement = self._connections.statement(_RELEASE)
        with suppress(StorageError):
            self._connections.run(
                lambda connection: connection.execute(statement, [self._run, self.token]),
                outage=2.0,
            )

    def is_of_this_process(self) -> bool:
        """Tell whether this process took it, and not the one it was forked from."""
        return self._pid == os.getpid()

    def _beat(self, ttl: float) -> None:
        statement = self._connections.statement(_RENEW)
        connection: Connection | None = None
        wait = every = ttl / _BEATS
        known_until = time.monotonic() + ttl
        while not self._done.wait(wait) and time.monotonic() < known_until:
            began = time.monotonic()
            try:
                if connection is None:
                    connection = self._connections.connect(patience=0.0)
                renewed = connection.execute(statement, [ttl, self._run, self.token]).rowcount
            except (psycopg.Error, StorageError):
                # The server may be back in a moment: sooner than the lease runs out.
                if connection is not None:
                    connection.close()
                connection, wait = None, min(every, 0.5)
                continue
            if not renewed:
                break  # it ran out, and perhaps somebody has the run: appends are refused
            known_until, wait = began + ttl, every
        if connection is not None:
            connection.close()


def take_lease(
    connections: Connections,
    run_id: str,
    command: str,
    *,
    ttl: float,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> PostgresLease:
    """Take the lease of the run, at once or not at all.

    Raises `LeaseHeld`, which names the holder, `NotFound` for a run without events, `StorageError`.
    """
    holder = LeaseHolder(os.getpid(), socket.gethostname(), utc_text(clock()), command)
    token = secrets.token_hex(16)

    def take(connection: Connection) -> int:
        # The run's own lock: no append is between its look at the lease and its end.
        found = connection.execute(connections.statement(_FIND_RUN), [run_id]).fetchone()
        if found is None:
            raise NotFound(f"there is no run {run_id!r}; `assay runs` lists those there are")
        other = Granted.read(connection.execute(lease_query(connections), [run_id]))
        if other is not None and other.is_live() and other.token != token:
            by = other.holder
            raise LeaseHeld(
                f"run {run_id!r} is being executed by pid {by.pid} on host {by.host} "
                f"since {by.since} ({by.command})"
            )
        values = [found[0], token, holder.pid, holder.host, _identity(holder.pid), command]
        connection.execute(connections.statement(_TAKE), [*values, holder.since, ttl])
        return int(found[0])

    lease = PostgresLease(connections, run_id, connections.run(take), holder, token)
    lease.keep(ttl)
    return lease


def lease_query(connections: Connections) -> LiteralString:
    """Return the query, given a run's id, that `Granted.read` takes the answer of."""
    return connections.statement(_FIND)


def lease_holder(connections: Connections, run_id: str) -> LeaseHolder | None:
    """Return who executes the run; None when nobody does, or nobody that can be there."""
    granted = connections.retry(
        lambda connection: Granted.read(connection.execute(lease_query(connections), [run_id]))
    )
    return granted.holder if granted is not None and granted.is_live() else None


def refuse_without_lease(connections: Connections, granted: Granted | None, run_id: str) -> None:
    """Raise `Fenced` unless this process may act as the driver of a run that was `granted` so.

    A process that took no lease may, as long as no other holds one.
    """
    own = _held.get(_key(connections, run_id))
    if own is not None and own.is_of_this_process():
        if granted is None or granted.token != own.token or not granted.is_in_time:
            raise Fenced(
                f"the lease under which this process executes run {run_id!r} has run out; "
                "this driver must stop"
            )
    elif granted is not None and granted.is_live():
        by = granted.holder
        raise Fenced(
            f"run {run_id!r} is executed by pid {by.pid} on host {by.host} ({by.command}); "
            "this driver must stop"
        )


def _key(connections: Connections, run_id: str) -> tuple[str, str, str]:
    return connections.target.conninfo, connections.target.schema, run_id


def _identity(pid: int) -> str:
    """Return which process of which machine `pid` is: boot, namespace of pids, and start."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        space = os.readlink(_PROC / "self/ns/pid")  # noqa: PTH115 - it leads to no file
    except OSError:
        return ""
    return f"{boot} {space} {_started(pid)}"


def _is_known_to_be_gone(pid: int, identity: str) -> bool:
    """Tell whether the process is one of this machine, as far as its pids go, and has ended."""
    machine, _, started = identity.rpartition(" ")
    if not machine or machine != _identity(os.getpid()).rpartition(" ")[0]:
        return False
    return _started(pid) != started and not _may_be_hidden(pid)


def _may_be_hidden(pid: int) -> bool:
    """Tell whether there is a process that this user may not look at (`hidepid`)."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return not (_PROC / str(pid)).exists()
    except ProcessLookupError:
        return False
    return False


def _started(pid: int) -> str:
    """Return when the process was started, in clock ticks since boot; '' when it has ended."""
    try:
        status = (_PROC / str(pid) / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    fields = status[status.rindex(")") + 2 :].split()
    return "" if fields[0] in "ZX" else fields[19]
