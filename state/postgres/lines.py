"""The recorded lines of a run in the database: how they are read, checked, and written."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, LiteralString

import psycopg

from state.envelope import Line, parse_line
from state.errors import CorruptLedger
from state.postgres.connections import Connection, Connections
from state.values.errors import InvalidRequest

BACKUP = "restore the database from a backup"
_BODY_AT = len('{"body":')
_AFTER_BODY = ',"event_id":'
_ESCAPE = re.compile(r"\\(u0000|.)", re.DOTALL)
_LONGEST_NAME = 2_000  # bytes; an index entry has 2,704
_COLUMNS = (
    "event_id", "type", "schema_version", "time", "turn_id", "call_id", "flow_run_id",
    "task_run_id", "previous_hash", "body_size",
)  # fmt: skip
_RECORD: LiteralString = """
WITH moved AS (
    UPDATE {schema}.run_heads SET position = %s, hash = %s
    WHERE run = %s AND position = %s AND hash = %s
    RETURNING run
)
INSERT INTO {schema}.run_lines (
    run, position, hash, line, event_id, type, schema_version, time, turn_id, call_id,
    flow_run_id, task_run_id, previous_hash, body_size, body_json
)
SELECT
    moved.run, l.position, l.hash, l.line, l.event_id, l.type, l.schema_version, l.time, l.turn_id,
    l.call_id, l.flow_run_id, l.task_run_id, l.previous_hash, l.body_size,
    coalesce(l.json, substr(l.line, 9, l.body_size))::jsonb
FROM moved, (VALUES {{rows}}) AS l (
    position, hash, line, event_id, type, schema_version, time, turn_id, call_id, flow_run_id,
    task_run_id, previous_hash, body_size, json
)
"""
# The first row tells the types of the columns.
_FIRST = (
    "(%s::bigint, %s, %s, %s, %s, %s::integer, %s::timestamp, %s::text, %s::text, %s::text, "
    "%s::text, %s, %s::integer, %s::text)"
)
_NEXT = "(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"


def parse_row(hash_: str, text: str, position: int, previous: str, run_id: str) -> Line:
    """Return the line that the row at `position` spells; raises `CorruptLedger` with the reason."""
    line = parse_line(f"{hash_}\t{text}".encode())
    envelope = line.envelope
    if envelope.position != position:
        raise CorruptLedger(f"its position is {envelope.position}")
    if envelope.previous_hash != previous:
        raise CorruptLedger("it does not follow the event before it")
    if envelope.run_id != run_id:
        raise CorruptLedger(f"it belongs to run {envelope.run_id!r}")
    return line


def parse_rows(
    rows: Iterable[tuple[str, str]], position: int, previous: str, run_id: str, place: str
) -> list[Line]:
    """Return the lines of `rows`, which follow the event at `position`, all of them checked."""
    lines: list[Line] = []
    for hash_, text in rows:
        position += 1
        try:
            line = parse_row(hash_, text, position, previous, run_id)
        except CorruptLedger as error:
            raise CorruptLedger(
                f"PostgreSQL at {place}, run {run_id!r}, event {position}: "
                f"{error.message}; {BACKUP}"
            ) from error
        lines.append(line)
        previous = line.hash
    return lines


def promoted(line: Line) -> tuple[Any, ...]:
    """Return what the columns beside the line hold, in the order of `promoted_columns`."""
    envelope, refs = line.envelope, line.envelope.refs
    return (
        envelope.event_id,
        envelope.type,
        envelope.schema_version,
        datetime.fromisoformat(envelope.time).replace(tzinfo=None),
        refs.turn_id,
        refs.call_id,
        refs.flow_run_id,
        refs.task_run_id,
        envelope.previous_hash,
        line.json.rindex(_AFTER_BODY) - _BODY_AT,
    )


def promoted_columns() -> tuple[str, ...]:
    """Return the names of the columns that are read from the line."""
    return _COLUMNS


def body_as_jsonb(line: Line) -> str:
    """Return the body's JSON as jsonb can hold it: NUL is U+FFFD there."""
    return _without_nul(line.json[_BODY_AT : line.json.rindex(_AFTER_BODY)])


def record(
    connections: Connections,
    connection: Connection,
    run: int,
    lines: Sequence[Line],
    *,
    commit: bool,
) -> int:
    """Write `lines` and move the run's head past them. The caller holds the run's lock.

    Return how many were written: none when the head is not where they begin. What is written and
    its commit are one message, so that no lock is held for a client that is gone between them.
    """
    first, last = lines[0].envelope, lines[-1]
    head = [last.envelope.position, last.hash, run, first.position - 1, first.previous_hash]
    values: list[object] = []
    for line in lines:
        values += (line.envelope.position, line.hash, line.json, *promoted(line), _json(line))
    rows = ", ".join([_FIRST, *[_NEXT] * (len(lines) - 1)])
    statement = connections.statement(_RECORD).replace("{rows}", rows)
    with psycopg.ClientCursor(connection) as cursor:
        return cursor.execute(f"{statement}{'; COMMIT' if commit else ''}", head + values).rowcount


def refuse_unfit_names(names: Iterable[str | None]) -> None:
    """Raise `InvalidRequest` when an event's type or one of its refs has no place in a column."""
    for name in names:
        if name is not None and ("\0" in name or len(name.encode()) > _LONGEST_NAME):
            raise InvalidRequest(
                f"{name[:80]!r} cannot be an event's type or ref in PostgreSQL: at most "
                f"{_LONGEST_NAME:,} bytes, and no NUL"
            )


def _json(line: Line) -> str | None:
    """Return the body as jsonb can hold it where that is not what the line itself holds."""
    return body_as_jsonb(line) if "\\u0000" in line.json else None


def _without_nul(text: str) -> str:
    def mend(found: re.Match[str]) -> str:
        return "\\ufffd" if found[1] == "u0000" else found[0]

    return _ESCAPE.sub(mend, text) if "\\u0000" in text else text
