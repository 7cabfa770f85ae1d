"""Answers the SQL of people and agents: reading only, inside the file only, bounded."""

import json
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import duckdb

from state.duck import is_damage
from state.ledger import Table
from state.values.errors import InvalidRequest

MEMORY = "512MB"
_READS = {duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN}
# They change the process rather than the file, and DuckDB 1.5 lets a SELECT call them even when
# the configuration is locked (a log file that cannot be written then ends the process); `query`
# hides them in a string.
_FORBIDDEN = (
    "enable_logging", "disable_logging", "enable_profiling", "disable_profiling",
    "truncate_duckdb_logs", "write_log", "checkpoint", "force_checkpoint", "query",
)  # fmt: skip
_CALL = re.compile(
    rf"\b({'|'.join(_FORBIDDEN)})\b[\"'\s]*(?:/\*.*?\*/|--[^\n]*\n|\s)*\(",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long a query may take, in seconds, and how much it may give back.

    `size` is in characters of text and bytes, of all rows together.
    """

    time_s: float = 30.0
    rows: int = 10_000
    size: int = 100_000_000


def answer(
    connection: duckdb.DuckDBPyConnection, sql: str, params: Sequence[Any], bounds: Bounds
) -> Table:
    """Return the answer to `sql`. The connection is read-only, and only closed afterwards.

    Raises `InvalidRequest`.
    """
    if not sql.isascii() and sql != sql.encode(errors="replace").decode():
        raise InvalidRequest("the query is not valid UTF-8")
    with _explained():
        statement = _only_statement(connection, sql)
        _refuse_side_effects(connection, sql)
        connection.execute("SET python_enable_replacements = false")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
    with _explained(), _limited(connection, bounds.time_s):
        result = connection.execute(statement, list(params))
        rows = _rows(result, bounds)
        about = result.description or []
    return Table(
        columns=tuple(str(column[0]) for column in about),
        types=tuple(str(column[1]) for column in about),
        rows=tuple(rows[: bounds.rows]),
        truncated=len(rows) > bounds.rows,
    )


def _rows(result: duckdb.DuckDBPyConnection, bounds: Bounds) -> list[tuple[Any, ...]]:
    """Return up to one row more than allowed. DuckDB's limit of memory ends where Python begins."""
    rows: list[tuple[Any, ...]] = []
    size = 0
    while len(rows) <= bounds.rows and (row := result.fetchone()) is not None:
        size += _size(row)
        if size > bounds.size:
            raise InvalidRequest(
                f"the answer holds more than {bounds.size:,} characters; narrow it with LIMIT, "
                "fewer columns or left(column, 1000)"
            )
        rows.append(row)
    return rows


def _size(value: object) -> int:
    match value:
        case str() | bytes():
            return len(value)
        case dict():
            return sum(_size(key) + _size(held) for key, held in value.items())
        case list() | tuple():
            return sum(map(_size, value))
        case _:
            return 1


def _only_statement(connection: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:
    statements = connection.extract_statements(sql)
    if len(statements) != 1:
        raise InvalidRequest(f"one SELECT at a time, please; this is {len(statements)} statements")
    if statements[0].type not in _READS:
        raise InvalidRequest(
            f"the ledger is only read by SQL, and this is {statements[0].type.name}; use a SELECT"
        )
    return statements[0]


def _refuse_side_effects(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    row = connection.execute("SELECT json_serialize_sql(?)", [sql]).fetchone()
    tree = json.loads(row[0]) if row else {"error": True}
    if tree["error"]:  # SHOW, EXPLAIN and the like have no tree
        found = _CALL.search(sql)
        names = {found[1].lower()} if found else set()
    else:
        names = set(_functions(tree)) & set(_FORBIDDEN)
    if names:
        raise InvalidRequest(f"{', '.join(sorted(names))}() cannot be used on the ledger")


def _functions(tree: object) -> Iterator[str]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if isinstance(name := node.get("function_name"), str):
                yield name.lower()
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except (duckdb.OutOfMemoryException, MemoryError) as error:
        raise InvalidRequest(
            f"the query needs more than {MEMORY} of memory; narrow it with WHERE or LIMIT"
        ) from error
    except (duckdb.Error, RecursionError, OverflowError, ValueError, TypeError) as error:
        if isinstance(error, duckdb.Error) and is_damage(error):
            raise
        # In lines, as DuckDB does: a caret stands below what is wrong.
        text = "\n".join(line.rstrip() for line in str(error).splitlines() if line.strip())
        raise InvalidRequest(f"the query was refused: {text}") from error


@contextmanager
def _limited(connection: duckdb.DuckDBPyConnection, seconds: float) -> Iterator[None]:
    mutex, state = threading.Lock(), {"running": True, "stopped": False}

    def stop() -> None:
        with mutex:
            if state["running"]:
                state["stopped"] = True
                connection.interrupt()

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        yield
    except duckdb.InterruptException as error:
        if not state["stopped"]:
            raise
        raise InvalidRequest(
            f"the query took longer than {seconds:g} s and was stopped; narrow it"
        ) from error
    finally:
        with mutex:
            state["running"] = False
        timer.cancel()
