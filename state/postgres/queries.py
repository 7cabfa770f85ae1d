"""Answers the SQL of people and agents in PostgreSQL: reading only, the ledger only, bounded.

The role of the ledger may write, so nothing rests on its rights: the transaction is read-only, one
statement is taken, and its plan is looked at before it is carried out.
"""

import json
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, LiteralString

import psycopg
from psycopg import Column, errors
from psycopg.raw_cursor import RawCursor, RawServerCursor
from psycopg.types.string import TextLoader

from state.ledger import Table
from state.postgres.checking import quarantined
from state.postgres.connections import Connection, Connections
from state.query import Bounds
from state.values.errors import InvalidRequest

# They act on other sessions, on files, on this session's limits, or run SQL that no plan shows.
_FORBIDDEN = re.compile(
    r"\b(pg_terminate_backend|pg_cancel_backend|pg_(?:try_)?advisory_\w+|set_config|pg_notify|"
    r"pg_read_\w+|pg_stat_file|pg_ls_\w+|pg_logical_\w+|pg_(?:create|drop|copy|replication)_\w+|"
    r"pg_switch_wal|pg_reload_conf|pg_rotate_logfile|pg_promote|pg_export_snapshot|"
    r"pg_file_\w+|pg_sync_replication_slots|lo_\w+|lowrite|loread|dblink\w*|postgres_fdw_\w+|"
    r"query_to_xml\w*|cursor_to_xml\w*|table_to_xml\w*|schema_to_xml\w*|database_to_xml\w*|"
    r"ts_stat|ts_rewrite|nextval|setval)\"?\s*\(",
    re.IGNORECASE,
)
_CATALOGUES = ("pg_catalog", "information_schema")
_WRITES = ("ModifyTable", "LockRows")
# Classes of errors that the SQL is not to blame for.
_THE_SERVERS = ("08", "53", "57", "58", "XX")
_LIMITS: LiteralString = (
    "SELECT set_config('search_path', %s, true), set_config('statement_timeout', %s, true), "
    "set_config('lock_timeout', '5s', true), set_config('work_mem', '64MB', true), "
    "set_config('temp_buffers', '8MB', true), set_config('row_security', 'on', true)"
)


def answer(connections: Connections, text: str, params: Sequence[Any], bounds: Bounds) -> Table:
    """Return the answer to `text`, one SELECT; parameters are `$1`, `$2` and so on.

    Raises `InvalidRequest`.
    """
    if "\0" in text or text != text.encode(errors="replace").decode():
        raise InvalidRequest("the query is not valid UTF-8 text")
    if not text.strip(" \t\r\n;"):
        raise InvalidRequest("the query is empty; give one SELECT")

    def work(connection: Connection) -> Table:
        with connection.transaction(force_rollback=True):
            return _answer(connections, connection, text.rstrip("; \t\r\n"), params, bounds)

    return connections.retry(work, keep=False)  # what a query set in its session goes with it


def _answer(
    connections: Connections,
    connection: Connection,
    text: str,
    params: Sequence[Any],
    bounds: Bounds,
) -> Table:
    connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
    damaged = quarantined(connections, connection)
    schema = connections.target.schema
    limit = f"{int(bounds.time_s * 1000)}ms"
    connection.execute(_LIMITS, [f'"{schema}", pg_catalog', limit])
    for kind in ("json", "jsonb"):
        connection.adapters.register_loader(kind, TextLoader)
    with _explained(bounds), RawCursor(connection) as cursor:
        _refuse_unfit(_plan(cursor, text, params), schema)
        rows = _rows(cursor, text, params, bounds)
        about = cursor.description or _described(connection, text, params)
    return Table(
        columns=tuple(column.name for column in about),
        types=tuple(column.type_display for column in about),
        rows=tuple(rows[: bounds.rows]),
        truncated=len(rows) > bounds.rows,
        quarantined=damaged,
    )


def _plan(cursor: RawCursor[Any], text: str, params: Sequence[Any]) -> Any:
    explain = f"EXPLAIN (VERBOSE, FORMAT JSON)\n{text}"
    row = next(iter(cursor.stream(explain, list(params))), None)
    return json.loads(row[0]) if row else []


def _refuse_unfit(plan: Any, schema: str) -> None:
    """Raise `InvalidRequest` when the plan leaves the ledger, writes, or acts on the server."""
    for node in _nodes(plan):
        if node.get("Node Type") in _WRITES:
            raise InvalidRequest("the ledger is only read by SQL, and this writes; use a SELECT")
        where = node.get("Schema")
        if where is not None and where not in (schema, *_CATALOGUES):
            name = f"{where}.{node.get('Relation Name') or node.get('Function Name')}"
            raise InvalidRequest(f"{name} is no part of the ledger; use its tables and views")
        if "Foreign" in str(node.get("Node Type")):
            raise InvalidRequest("foreign tables are no part of the ledger")
        for text in _texts(node):
            if found := _FORBIDDEN.search(text):
                raise InvalidRequest(f"{found[1].lower()}() cannot be used on the ledger")


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


def _texts(node: dict[str, Any]) -> Iterator[str]:
    """Yield the expressions of a plan's node, and the functions it calls."""
    for key, value in node.items():
        if key == "Function Name":
            yield f"{value}("
        elif isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (item for item in value if isinstance(item, str))


def _rows(
    cursor: RawCursor[Any], text: str, params: Sequence[Any], bounds: Bounds
) -> list[tuple[Any, ...]]:
    """Return up to one row more than allowed, one after the other, since one may be large."""
    rows: list[tuple[Any, ...]] = []
    size = 0
    # `stream` goes by the extended protocol, which takes one statement only.
    for row in cursor.stream(text, list(params)):
        size += _size(row)
        if size > bounds.size:
            raise InvalidRequest(
                f"the answer holds more than {bounds.size:,} characters; narrow it with LIMIT, "
                "fewer columns or left(column, 1000)"
            )
        rows.append(row)
        if len(rows) > bounds.rows:
            break
    return rows


def _described(connection: Connection, text: str, params: Sequence[Any]) -> list[Column]:
    """Return the columns of an answer without rows, of which a stream says nothing."""
    with RawServerCursor(connection, "described") as cursor:
        cursor.execute(text, list(params))
        return cursor.description or []


def _size(value: object) -> int:
    match value:
        case str() | bytes():
            return len(value)
        case list() | tuple():
            return sum(map(_size, value))
        case _:
            return 1


@contextmanager
def _explained(bounds: Bounds) -> Iterator[None]:
    began = time.monotonic()
    try:
        yield
    except errors.QueryCanceled as error:
        if time.monotonic() - began < bounds.time_s:
            raise
        raise InvalidRequest(
            f"the query took longer than {bounds.time_s:g} s and was stopped; narrow it"
        ) from error
    except (psycopg.Error, UnicodeError, ValueError, TypeError) as error:
        if isinstance(error, psycopg.Error) and _is_the_servers(error):
            raise
        told = error.diag.message_primary if isinstance(error, psycopg.Error) else None
        reason = re.sub(r"\s+", " ", told or str(error)).strip()
        raise InvalidRequest(f"the query was refused: {reason}") from error


def _is_the_servers(error: psycopg.Error) -> bool:
    if error.sqlstate is None:
        return isinstance(error, psycopg.OperationalError)
    # A parameter that is missing, or too many, is a violation of the protocol.
    return error.sqlstate[:2] in _THE_SERVERS and not isinstance(error, errors.ProtocolViolation)
