"""Checks that what is in the database is what was recorded, and makes again what can be."""

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, LiteralString

from psycopg import sql

from state.envelope import NO_HASH, Line
from state.errors import CorruptLedger
from state.ledger import Finding, LedgerReport, SyncReport
from state.postgres.connections import Connection, Connections
from state.postgres.lines import BACKUP, body_as_jsonb, parse_row, promoted, promoted_columns
from state.postgres.schema import refresh_views

_REBUILD = "run `assay ledger rebuild`"
_BATCH = 500
# What stands after the body of a line tells its place in the chain; nobody's text can forge it,
# since quotes in a text are escaped.
_CHECK: LiteralString = """
WITH behind AS (
    SELECT h.run, h.position AS head, h.hash AS head_hash,
        CASE WHEN c.quarantined IS NULL THEN coalesce(c.position, 0) ELSE 0 END AS start,
        CASE WHEN c.quarantined IS NULL THEN coalesce(c.hash, %(none)s) ELSE %(none)s END AS hash
    FROM {schema}.run_heads AS h
    LEFT JOIN {schema}.run_checks AS c USING (run)
    WHERE c.run IS NULL OR h.position <> c.position OR c.quarantined IS NOT NULL
), seen AS (
    SELECT b.run, l.position, l.hash,
        encode(sha256(convert_to(l.line, 'UTF8')), 'hex') = l.hash AS is_whole,
        l.position = b.start + row_number() OVER chain
        AND strpos(
            substr(l.line, 9 + l.body_size),
            concat(',"position":', l.position, ',"previous_hash":"',
                lag(l.hash, 1, b.hash) OVER chain, '",')
        ) > 0 AS follows
    FROM behind AS b
    JOIN {schema}.run_lines AS l ON l.run = b.run AND l.position > b.start
    WINDOW chain AS (PARTITION BY b.run ORDER BY l.position)
), found AS (
    SELECT b.run, b.start, b.hash, b.head, b.head_hash,
        min(s.position) FILTER (WHERE NOT (s.is_whole AND s.follows)) AS broken,
        coalesce(bool_and(s.is_whole) FILTER (WHERE NOT s.follows), true) AS is_whole,
        coalesce(max(s.position), b.start) AS reached,
        coalesce((array_agg(s.hash ORDER BY s.position DESC))[1], b.hash) AS reached_hash
    FROM behind AS b
    LEFT JOIN seen AS s USING (run)
    GROUP BY b.run, b.start, b.hash, b.head, b.head_hash
), judged AS (
    SELECT run, start, hash, reached, reached_hash, CASE
        WHEN broken IS NOT NULL THEN concat(
            'event ', broken, ': ', CASE WHEN is_whole
            THEN 'its content does not match its hash, or it does not follow the one before it'
            ELSE 'it does not follow the event before it' END
        )
        WHEN reached <> head OR reached_hash <> head_hash
        THEN concat('it ends at event ', reached, ' and should at event ', head)
    END AS trouble
    FROM found
), kept AS (
    INSERT INTO {schema}.run_checks AS c (run, position, hash, quarantined)
    SELECT run,
        CASE WHEN trouble IS NULL THEN reached ELSE start END,
        CASE WHEN trouble IS NULL THEN reached_hash ELSE hash END,
        trouble || %(advice)s
    FROM judged
    ON CONFLICT (run) DO UPDATE
    SET position = excluded.position, hash = excluded.hash, quarantined = excluded.quarantined
    WHERE excluded.position >= c.position OR excluded.quarantined IS NOT NULL
)
SELECT coalesce(sum(reached - start) FILTER (WHERE trouble IS NULL), 0)::bigint FROM judged
"""
_QUARANTINED = (
    "SELECT h.run_id, c.quarantined FROM {schema}.run_checks AS c "
    "JOIN {schema}.run_heads AS h USING (run) WHERE c.quarantined IS NOT NULL ORDER BY h.run_id"
)
_TRY = "SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 1))"
_WAIT = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 1))"
_HEADS = "SELECT run_id, run, position, hash FROM {schema}.run_heads ORDER BY run_id"
_ROWS = (
    "SELECT position, hash, line, {columns}, body_json::text FROM {schema}.run_lines "
    "WHERE run = %s ORDER BY position"
)
_MEND = (
    "UPDATE {schema}.run_lines SET ({columns}, body_json) = ROW({values}, %s::jsonb) "
    "WHERE run = %s AND position = %s"
)


def check_new(connections: Connections, *, wait: bool = True) -> SyncReport | None:
    """Check the chains of what was recorded since the last time, and quarantine what is damaged.

    Damage of what had been checked before is found by `verify` alone. A run that is quarantined is
    looked at again each time, so that one that was restored comes back. Without `wait`, return
    None when others are at it.
    """

    def work(connection: Connection) -> SyncReport | None:
        lock = _WAIT if wait else _TRY
        row = connection.execute(lock, [f"assay {connections.target.schema}"]).fetchone()
        if not wait and (row is None or not row[0]):
            return None
        return _check(connections, connection)

    return connections.run(work)


def quarantined(connections: Connections, connection: Connection) -> dict[str, str]:
    """Return the runs that are known to be damaged, and why."""
    return dict(connection.execute(connections.statement(_QUARANTINED)).fetchall())


def _check(connections: Connections, connection: Connection) -> SyncReport:
    row = connection.execute(
        connections.statement(_CHECK), {"none": NO_HASH, "advice": f"; {BACKUP}"}
    ).fetchone()
    return SyncReport(int(row[0]) if row else 0, quarantined(connections, connection))


def verify(connections: Connections, manifests: Mapping[str, tuple[int, str]]) -> LedgerReport:
    """Recompute every chain and compare the columns beside it. Changes nothing.

    `manifests` maps runs to the last position and hash they must reach.
    """

    def work(connection: Connection) -> LedgerReport:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        findings: list[Finding] = []
        events, ends = 0, dict[str, dict[int, str]]()
        for head in connection.execute(connections.statement(_HEADS)).fetchall():
            wanted = {manifests[head[0]][0]} if head[0] in manifests else set[int]()
            checker = _Checker(head, wanted)
            findings += checker.check(_rows(connections, connection, head[1]))
            events += checker.position
            ends[head[0]] = checker.hashes
        for run_id, (position, hash_) in sorted(manifests.items()):
            findings += _reaches(run_id, position, hash_, ends.get(run_id, {}))
        return LedgerReport(len(ends), events, tuple(findings))

    return connections.run(work)


def rebuild(connections: Connections) -> SyncReport:
    """Make the columns beside the lines, the views and the checks again from the lines."""

    def work(connection: Connection) -> SyncReport:
        connection.execute(_WAIT, [f"assay {connections.target.schema}"])
        for run_id, run, _, _ in connection.execute(connections.statement(_HEADS)).fetchall():
            _mend(connections, connection, run_id, run)
        refresh_views(connections, connection)
        connection.execute(connections.statement("DELETE FROM {schema}.run_checks"))
        return _check(connections, connection)

    return connections.run(work)


def _rows(connections: Connections, connection: Connection, run: int) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a run, few at a time."""
    with connection.cursor(name="rows") as cursor:
        cursor.itersize = _BATCH
        cursor.execute(_with_columns(connections, _ROWS), [run])
        yield from cursor


def _with_columns(connections: Connections, text: LiteralString) -> sql.Composed:
    names = promoted_columns()
    return sql.SQL(text).format(
        schema=sql.Identifier(connections.target.schema),
        columns=sql.SQL(", ").join(map(sql.Identifier, names)),
        values=sql.SQL(", ").join(sql.Placeholder() * len(names)),
    )


class _Checker:
    """Goes through one run's rows; `position` and `hashes` tell what it found where it holds."""

    def __init__(self, head: tuple[Any, ...], wanted: set[int]) -> None:
        self._run_id, _, self._end, self._end_hash = head
        self._wanted = wanted | {self._end}
        self.position = 0
        self.hashes: dict[int, str] = {}

    def check(self, rows: Iterator[tuple[Any, ...]]) -> Iterator[Finding]:
        """Yield what does not check out, up to where the chain breaks."""
        previous = NO_HASH
        for position, hash_, text, *beside in rows:
            try:
                line = parse_row(hash_, text, self.position + 1, previous, self._run_id)
            except CorruptLedger as error:
                yield self._finding(f"event {self.position + 1}", error.message, BACKUP)
                return
            self.position, previous = position, hash_
            if position in self._wanted:
                self.hashes[position] = hash_
            if wrong := _differs(line, beside):
                what = f"{', '.join(wrong)} beside it: not what its line holds"
                yield self._finding(f"event {position}", what, _REBUILD)
        self.hashes[self.position] = previous
        if (self.position, previous) != (self._end, self._end_hash):
            what = f"the run ends at event {self.position} and should at event {self._end}"
            yield self._finding("its head", what, BACKUP)

    def _finding(self, place: str, what: str, advice: str) -> Finding:
        return Finding(self._run_id, f"run {self._run_id!r}, {place}", what, advice)


def _differs(line: Line, beside: list[Any]) -> list[str]:
    """Return the names of the columns beside `line` that do not hold what it does."""
    *found, body = beside
    pairs = zip(promoted_columns(), promoted(line), found, strict=True)
    wrong = [name for name, right, held in pairs if right != held]
    if _exactly(body) != _exactly(body_as_jsonb(line)):
        wrong.append("body_json")
    return wrong


def _exactly(text: str) -> object:
    """Return what the JSON says, where jsonb spells numbers another way."""
    return json.loads(text, parse_float=Decimal, parse_int=Decimal)


def _reaches(
    run_id: str, position: int, hash_: str, hashes: Mapping[int, str]
) -> Iterator[Finding]:
    if position == 0 or hashes.get(position) == hash_:
        return
    place, end = f"run {run_id!r}, event {position}", max(hashes, default=0)
    if position in hashes:
        yield Finding(run_id, place, "its hash is not the one its manifest has", BACKUP)
    else:
        what = f"the run ends at event {end}; its manifest says it had {position}"
        yield Finding(run_id, place, what, BACKUP)


def _mend(connections: Connections, connection: Connection, run_id: str, run: int) -> None:
    """Make the columns beside a run's lines again, up to where its chain breaks."""
    statement, previous = _with_columns(connections, _MEND), NO_HASH
    for at, (position, hash_, text, *beside) in enumerate(_rows(connections, connection, run), 1):
        try:
            line = parse_row(hash_, text, at, previous, run_id)
        except CorruptLedger:
            return  # nothing is made of a line that is damaged: the check names it
        previous = hash_
        if _differs(line, beside):
            values = [*promoted(line), body_as_jsonb(line), run, position]
            connection.execute(statement, values)
