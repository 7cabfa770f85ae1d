"""The ledger's schema: made on first use, versioned, its views those of this version."""

from dataclasses import asdict
from pathlib import Path

from psycopg import errors, sql

from state.dictionary import VIEWS, Entry, comments, read_folder
from state.errors import StorageError
from state.postgres.connections import Connection, Connections
from state.values.ids import canonical_json, sha256_hex

VERSION = 1
_HERE = Path(__file__).parent
_NATIVE = _HERE / "views"
_SCHEMA = _HERE / "schema.sql"
# Not `to_regclass`, which may answer from a cache of before the lock was got.
_IS_THERE = (
    "SELECT 1 FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace "
    "WHERE n.nspname = %s AND c.relname = 'meta'"
)
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
_META = "SELECT key, value FROM {schema}.meta"
_KEEP = (
    "INSERT INTO {schema}.meta VALUES ('views', %s) "
    "ON CONFLICT (key) DO UPDATE SET value = excluded.value"
)
_OLD_VIEWS = "SELECT viewname FROM pg_views WHERE schemaname = %s"


def prepare(connections: Connections) -> None:
    """See that the schema is there and is of this version; changes nothing when it is.

    Raises `StorageError` when it cannot be made, or was made by a newer version.
    """
    if not connections.run(lambda connection: _is_current(connections, connection)):
        connections.run(lambda connection: _make(connections, connection))


def is_made(connections: Connections) -> bool:
    """Tell whether the schema is there, of whatever version."""
    return connections.run(lambda connection: _is_made(connections, connection))


def native_views() -> dict[str, Entry]:
    """Return the views as PostgreSQL has them, described as everywhere, by name."""
    native = read_folder(_NATIVE)
    described = read_folder(VIEWS)
    return {
        name: Entry(name, said.title, said.notes, said.none, said.columns, entry.sql)
        for name, entry in native.items()
        for said in (described.get(name, entry),)
    }


def _views_hash() -> str:
    return sha256_hex(canonical_json([asdict(entry) for entry in native_views().values()]))


def _is_current(connections: Connections, connection: Connection) -> bool:
    if not _is_made(connections, connection):
        return False
    meta: dict[str, str] = dict(connection.execute(connections.statement(_META)).fetchall())
    version = int(meta.get("version", 0))
    if version > VERSION:
        raise StorageError(
            f"the ledger in PostgreSQL at {connections.target.place} is of version {version}, and "
            f"this Assay knows {VERSION}; install the newer Assay"
        )
    return meta.get("views") == _views_hash()


def _is_made(connections: Connections, connection: Connection) -> bool:
    return connection.execute(_IS_THERE, [connections.target.schema]).fetchone() is not None


def _make(connections: Connections, connection: Connection) -> None:
    schema = connections.target.schema
    connection.execute(_LOCK, [f"assay {schema}"])  # others may be at it
    if not _is_made(connections, connection):
        found = connection.execute(
            "SELECT 1 FROM pg_namespace WHERE nspname = %s", [schema]
        ).fetchone()
        if found is None:
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
        tables = _SCHEMA.read_text(encoding="utf-8").replace("{schema}", f'"{schema}"')
        connection.execute(tables)
    if not _is_current(connections, connection):
        refresh_views(connections, connection)


def refresh_views(connections: Connections, connection: Connection) -> None:
    """Make the views again; in one transaction, so that nobody misses one."""
    schema = sql.Identifier(connections.target.schema)
    connection.execute(sql.SQL("SET LOCAL search_path TO {}").format(schema))
    for (name,) in connection.execute(_OLD_VIEWS, [connections.target.schema]).fetchall():
        drop = sql.SQL("DROP VIEW IF EXISTS {} CASCADE").format(sql.Identifier(name))
        connection.execute(drop)
    views = native_views()
    waiting = list(views.values())
    while waiting:
        blocked = [entry for entry in waiting if not _make_view(connection, entry)]
        if len(blocked) == len(waiting):
            connection.execute(_create(blocked[0]))  # raises the reason
        waiting = blocked
    for comment in comments(views, "VIEW"):
        connection.execute(comment)
    connection.execute(connections.statement(_KEEP), [_views_hash()])


def _make_view(connection: Connection, entry: Entry) -> bool:
    """Tell whether the view could be made: another one it reads may have to come first."""
    try:
        with connection.transaction():
            connection.execute(_create(entry))
    except errors.UndefinedTable:
        return False
    return True


def _create(entry: Entry) -> sql.SQL:
    # The views are this package's own files: nothing in them comes from outside.
    return sql.SQL(f'CREATE VIEW "{entry.name}" AS {entry.sql}')
