"""Analysing: the ten ready questions that read most, over a million events, against SQLite.

SQLite holds the same events in one table, what they say as JSON text. It keeps its connection open,
has an index for each way events are looked for, and is asked the same in SQL that suits it
(`sqlite/NAME.sql`). Assay opens its file anew for each question, and first sees that nothing that
was recorded is missing. ASSAY_BENCH_EVENTS is how many events there are.
"""

import os
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import duckdb

from state.local_ledger import LocalLedger
from state.projection import Run, RunFold
from state.questions import Period, ask, question_named
from tests.bench.measuring import Row, Samples
from tests.state.many_runs import make_runs

EVENTS = int(os.environ.get("ASSAY_BENCH_EVENTS", "1000000"))
EVENTS_OF_A_RUN = 115  # in the mean, as `many_runs` tells them
TIMES = 3
NAMED = "SQLite, JSON1, indexed"
NOW = datetime(2026, 6, 1, tzinfo=UTC)
QUESTIONS = tuple(sorted(path.stem for path in (Path(__file__).parent / "sqlite").glob("*.sql")))
_BATCH = 20_000
_TABLE = """
CREATE TABLE events (
    run_id TEXT NOT NULL, position INTEGER NOT NULL, event_id TEXT NOT NULL, type TEXT NOT NULL,
    schema_version INTEGER NOT NULL, time TEXT NOT NULL, turn_id TEXT, call_id TEXT,
    flow_run_id TEXT, task_run_id TEXT, previous_hash TEXT NOT NULL, hash TEXT NOT NULL,
    body TEXT NOT NULL, PRIMARY KEY (run_id, position)
)
"""
_INDEXES = """
CREATE INDEX by_type ON events (type, run_id, position);
CREATE INDEX by_call ON events (run_id, call_id);
CREATE INDEX by_time ON events (time);
ANALYZE;
"""


def measure(folder: Path) -> Iterator[Row]:
    """Yield the time of each question, and of all of them, whose target is a fifth of SQLite's."""
    home = folder / "analysing"
    events = make_runs(home, max(1, EVENTS // EVENTS_OF_A_RUN), events=EVENTS)
    ledger: LocalLedger[Run] = LocalLedger(home, RunFold())
    taking_in = Samples()
    with taking_in.one():
        ledger.sync()
    yield Row(f"{events:,} events made queryable", taking_in.median)
    connection = copied(home)
    ours = theirs = 0.0
    for name in QUESTIONS:
        assay, sqlite = _both(ledger, connection, name)
        yield Row(f"assay stats {name}", assay.least, sqlite.least, NAMED)
        ours, theirs = ours + assay.least, theirs + sqlite.least
    what = f"all {len(QUESTIONS)} questions over {events:,} events"
    yield Row(what, ours, theirs, NAMED, most_ratio=0.2)
    connection.close()
    ledger.close()
    shutil.rmtree(home)  # 1.7 GB for a million events


def _both(
    ledger: LocalLedger[Run], connection: sqlite3.Connection, name: str
) -> tuple[Samples, Samples]:
    """Ask both in turn; they must agree."""
    assay, sqlite = Samples(), Samples()
    question, sql = question_named(name), sqlite_sql(name)
    for _ in range(TIMES):
        with assay.one():
            ours = ask(ledger, question, Period(), now=NOW).rows
        with sqlite.one():
            theirs = connection.execute(sql).fetchall()
        if not ours or comparable(ours) != comparable(theirs):
            raise AssertionError(f"{name}: {ours[:3]} is not {theirs[:3]}")
    return assay, sqlite


def sqlite_sql(name: str) -> str:
    """Return the question `name` as SQLite is asked it."""
    return (Path(__file__).parent / "sqlite" / f"{name}.sql").read_text()


def comparable(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return `rows` as both databases give them: dates as text, means to six digits."""
    return [
        [
            round(value, 6)
            if isinstance(value, float)
            else value.isoformat()
            if isinstance(value, date)
            else value
            for value in row
        ]
        for row in rows
    ]


def copied(home: Path) -> sqlite3.Connection:
    """Return SQLite with the events of the ledger in `home`."""
    connection = sqlite3.connect(home / "events.sqlite", isolation_level=None)
    for pragma in ("journal_mode = OFF", "synchronous = OFF", "temp_store = MEMORY"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("PRAGMA cache_size = -524288")  # KiB: what a query on the ledger may use
    connection.execute("PRAGMA mmap_size = 8589934592")
    connection.execute(_TABLE)
    connection.execute("BEGIN")
    with duckdb.connect(str(home / "ledger.duckdb"), read_only=True) as file:
        rows = file.execute(
            "SELECT * EXCLUDE facts REPLACE (strftime(time, '%Y-%m-%d %H:%M:%S.%g') AS time) "
            "FROM events"
        )
        while batch := rows.fetchmany(_BATCH):
            connection.executemany(f"INSERT INTO events VALUES ({', '.join('?' * 13)})", batch)
    connection.execute("COMMIT")
    connection.executescript(_INDEXES)
    return connection
