"""The DuckDB file that everybody queries: who may open it when, how it is made, what it holds.

Every opening of the file, for reading too, happens inside a lock of our own: DuckDB's does not
keep two processes apart well enough (2.0.0 and 2.0.1 lose commits). Everybody first passes a
turnstile, since overlapping readers would otherwise keep a writer out for ever.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

import duckdb

from state.dictionary import TABLES, VIEWS, Entry, comments, read_folder
from state.durable import sync_file
from state.errors import CorruptLedger, StorageError
from state.facts import extraction, facts_type
from state.kept import KEPT, prepare
from state.locks import FileLock, busy
from state.values.ids import canonical_json, sha256_hex

DATABASE = "ledger.duckdb"
# The storage version is the newest that DuckDB 1.5 and 2.0 both write. With the usual row groups of
# 122,880 a checkpoint after a few new events writes up to 30 MB again.
_WRITABLE = "STORAGE_VERSION 'v1.5.0', ROW_GROUP_SIZE 16384"
# A sync ends in DuckDB's log (synced, replayed by whoever opens the file next) and not in a
# checkpoint, which takes ten times as long. A log of 1 MB would take each opening 0.15 s to replay.
_LOG_ONLY = "PRAGMA disable_checkpoint_on_shutdown; SET wal_autocheckpoint = '256KB'"
_LOCAL: dict[str, str | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "temp_directory": "",
    "threads": 2,
}

_REFUSED_BY_THE_DISK = ("no space", "could not write", "permission denied")
_DAMAGE = (duckdb.SerializationException, duckdb.InternalException, duckdb.FatalException)


class DuckFile:
    """The queryable file in the ledger's `home`. `timeout` bounds each wait, in seconds."""

    def __init__(self, home: Path, *, timeout: float = 60.0) -> None:
        self.path = home / DATABASE
        self._lock = home / "ledger.lock"
        self._turnstile = home / "ledger.turnstile"
        self._timeout = timeout

    @contextmanager
    def gate(self, *, shared: bool, wait: bool = True) -> Iterator[bool]:
        """Keep the file for this block, alone or with other readers; give whether it was got.

        Without `wait` it may not be. Raises `StorageError` when the wait was too long.
        """
        timeout = self._timeout if wait else 0.0
        turnstile, lock = FileLock(self._turnstile), FileLock(self._lock)
        try:
            got = turnstile.acquire(timeout=timeout) and lock.acquire(
                shared=shared, timeout=timeout
            )
            turnstile.close()
            if wait and not got:
                raise busy(str(self.path), timeout)
            yield got
        finally:
            turnstile.close()
            lock.close()

    @contextmanager
    def reading(self, *, memory: str = "2GB") -> Iterator[duckdb.DuckDBPyConnection]:
        """Give a read-only connection. Callers are inside the gate, and the file exists."""
        with self._connected(self.path, "READ_ONLY", memory) as connection:
            yield connection

    @contextmanager
    def writing(self, path: Path | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
        """Give a connection that may write (to `path`), in a transaction kept when all went well.

        Callers are inside the gate, alone. A file that is missing is made.
        """
        target = path or self.path
        is_new = not target.exists()
        with self._connected(target, _WRITABLE, "2GB") as connection:
            target.chmod(0o600)
            if path is None:
                connection.execute(_LOG_ONLY)
            if is_new or not _has_schema(connection):
                connection.execute(f"BEGIN; {';'.join(_tables().values())}; COMMIT")
            _refresh_views(connection)
            connection.execute("BEGIN")
            yield connection
            connection.execute("COMMIT")
            if path is not None:
                # Closing does this too and tells nobody when the disk is full; and this file moves
                # without its log.
                connection.execute("CHECKPOINT")
            with suppress(FileNotFoundError):
                self._log_of(target).chmod(0o600)

    def replace_with(self, path: Path) -> None:
        """Put the file `path` in place of this one. Callers are inside the gate, alone."""
        with path.open("rb") as file:
            sync_file(file.fileno())
        # First the old file's log: DuckDB would play it into the new file.
        self._log_of(self.path).unlink(missing_ok=True)
        path.replace(self.path)

    def _log_of(self, path: Path) -> Path:
        return path.with_name(f"{path.name}.wal")

    @contextmanager
    def _connected(
        self, path: Path, options: str, memory: str
    ) -> Iterator[duckdb.DuckDBPyConnection]:
        with damage_explained(path):
            connection = duckdb.connect(":memory:", config={**_LOCAL, "memory_limit": memory})
            try:
                self._attach(connection, path, options)
                connection.execute("USE ledger")
                yield connection
            finally:
                connection.close()

    def _attach(self, connection: duckdb.DuckDBPyConnection, path: Path, options: str) -> None:
        quoted = str(path).replace("'", "''")
        deadline, pause = time.monotonic() + self._timeout, 0.02
        while True:
            try:
                connection.execute(f"ATTACH '{quoted}' AS ledger ({options})")
                return
            except duckdb.IOException as error:
                if "Could not set lock" not in str(error):
                    raise
                if time.monotonic() + pause > deadline:
                    raise StorageError(
                        f"another program has {path} open; close it, then try again ({error})"
                    ) from error
            time.sleep(pause)
            pause = min(pause * 2, 1.0)


@contextmanager
def damage_explained(path: Path) -> Iterator[None]:
    """Turn what DuckDB says of a damaged file or a full disk into this room's errors."""
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise StorageError(f"{path}: {error}; stop something else, then try again") from error
    except duckdb.Error as error:  # what users ask is explained by `state.query`: this is our SQL
        text = str(error).lower()  # a full disk comes as one of several classes
        if any(sign in text for sign in _REFUSED_BY_THE_DISK):
            raise StorageError(f"{path}: {error}; free some space or make it writable") from error
        if "read-only" in text and "cannot open" in text:
            raise StorageError(f"{path}: {error}") from error
        raise damaged(path, error) from error


def is_damage(error: duckdb.Error) -> bool:
    """Tell whether DuckDB complains about its file rather than about the SQL."""
    return isinstance(error, (*_DAMAGE, duckdb.IOException)) or "Corrupt database" in str(error)


def damaged(path: Path, error: object) -> CorruptLedger:
    """Return the error that says that the file `path` is damaged and how to mend it."""
    reason = str(error).splitlines()[0]
    return CorruptLedger(
        f"{path} is damaged or not a ledger ({reason}); "
        "`assay ledger rebuild` makes it again from the journals"
    )


def views_hash() -> str:
    """Return the hash of tables and views as they are in this version, and of what they say."""
    entries = [*read_folder(TABLES).values(), *read_folder(VIEWS).values()]
    said = [asdict(entry) for entry in entries]
    return sha256_hex(canonical_json([facts_type(), list(KEPT), *said]))


def current_views(connection: duckdb.DuckDBPyConnection) -> bool:
    """Tell whether the file's views are those of this version of Assay."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'views'").fetchone()
    return row is not None and row[0] == views_hash()


def _tables() -> dict[str, str]:
    """Return the statement that makes each table, by its name."""
    tables = read_folder(TABLES)
    return {name: entry.sql.replace("{facts}", facts_type()) for name, entry in tables.items()}


def _has_schema(connection: duckdb.DuckDBPyConnection) -> bool:
    found = connection.execute(
        "SELECT count(*) FROM duckdb_tables() WHERE database_name = 'ledger' AND "
        "table_name IN ('events', 'journals', 'meta')"
    ).fetchone()
    return found is not None and found[0] == 3


def _refresh_views(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the views again when their text changed: `views/NAME.sql` holds the SELECT of NAME.

    Not in one transaction, which a view that has to wait for another would end. When this is cut
    off the hash is still the old one, and the next writer does it again.
    """
    if current_views(connection):
        return
    old = connection.execute(
        "SELECT view_name FROM duckdb_views() WHERE database_name = 'ledger' AND NOT internal"
    ).fetchall()
    for (name,) in old:
        connection.execute(f'DROP VIEW "{name}"')
    _promote_facts(connection)
    views = read_folder(VIEWS)
    prepare(connection, views)
    waiting = [entry for entry in views.values() if entry.name not in KEPT]
    while waiting:
        blocked = [entry for entry in waiting if not _make_view(connection, entry)]
        if len(blocked) == len(waiting):
            entry = waiting[0]
            connection.execute(f'CREATE VIEW "{entry.name}" AS {entry.sql}')  # raises the reason
        waiting = blocked
    said = [*comments(read_folder(TABLES), "TABLE"), *comments(views, "VIEW")]
    connection.execute("; ".join(["BEGIN", *said, "COMMIT"]))
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('views', ?)", [views_hash()])


def _promote_facts(connection: duckdb.DuckDBPyConnection) -> None:
    """Read the facts from all bodies again when another version of Assay promoted others."""
    has = connection.execute(
        "SELECT data_type FROM duckdb_columns() WHERE database_name = 'ledger' "
        "AND table_name = 'events' AND column_name = 'facts'"
    ).fetchall()
    if has == connection.execute(f"SELECT typeof(NULL::{facts_type()})").fetchall():
        return
    made = _tables()["events"].replace("TABLE events", "TABLE events_again", 1)
    kept = ", ".join(column.name for column in read_folder(TABLES)["events"].columns[:-1])
    steps = (
        "BEGIN",
        made,
        f"INSERT INTO events_again SELECT {kept}, {extraction('body')} FROM events",  # noqa: S608 - no text of others
        "DROP TABLE events",
        "ALTER TABLE events_again RENAME TO events",
        "COMMIT",
    )
    connection.execute(";\n".join(steps))


def _make_view(connection: duckdb.DuckDBPyConnection, entry: Entry) -> bool:
    """Tell whether the view could be made: another one it reads may have to come first."""
    try:
        connection.execute(f'CREATE VIEW "{entry.name}" AS {entry.sql}')
    except duckdb.CatalogException:
        return False
    return True
