"""Querying: how fast new events become queryable, and how long a fresh answer takes meanwhile."""

import json
import multiprocessing
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from state.envelope import Draft
from state.local_ledger import LocalLedger
from state.projection import Run, RunFold
from tests.bench.appending import open_sqlite
from tests.bench.histories import research_drafts
from tests.bench.measuring import Row, Samples, repeat

WRITERS, EVENTS, PAUSE_S = 4, 150, 0.03  # about what four runs with a quick researcher record
FORK = multiprocessing.get_context("fork")
COUNT = "SELECT count(*) FROM events"


def measure(folder: Path) -> Iterator[Row]:
    """Yield the time to take in a run's events, and that of a query while four writers append."""
    yield from _syncing(folder / "sync")
    assay, sqlite = _querying(folder / "query")
    named = "SQLite WAL, kept open"
    yield Row("query while 4 append, median", assay.median, sqlite.median, named)
    yield Row("query while 4 append, 99 of 100 within", assay.at(0.99), sqlite.at(0.99), named)


def _syncing(home: Path, runs: int = 4) -> Iterator[Row]:
    ledger: LocalLedger[Run] = LocalLedger(home, RunFold())
    for number in range(runs):
        drafts = islice(research_drafts(f"run-{number}"), 500)
        ledger.append(f"run-{number}", list(drafts))
    lines = [line for run_id in ledger.runs() for line in ledger.read(run_id)]
    values = [(each.envelope.run_id, each.envelope.position, each.json) for each in lines]

    def insert() -> None:
        (home / "sqlite").mkdir(exist_ok=True)
        (home / "sqlite" / "events.sqlite").unlink(missing_ok=True)
        connection = open_sqlite(home / "sqlite")
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO events VALUES (?, ?, ?)", values)
        connection.execute("COMMIT")
        connection.close()

    assay, sqlite = repeat(3, ledger.rebuild, insert)
    ledger.close()
    named = "SQLite WAL, insert"
    yield Row(f"{len(lines):,} events made queryable", assay.median, sqlite.median, named)


def _querying(home: Path) -> tuple[Samples, Samples]:
    """Ask both databases in turn; every answer must hold all that was acknowledged before."""
    home.mkdir()
    connection = open_sqlite(home)
    ledger: LocalLedger[Run] = LocalLedger(home, RunFold())
    ledger.sync()
    jobs = [(f"run-{n}", list(islice(research_drafts(f"run-{n}"), EVENTS))) for n in range(WRITERS)]
    acknowledged = FORK.Value("q", 0)
    writers = [FORK.Process(target=_write, args=(home, *job, acknowledged)) for job in jobs]
    for writer in writers:
        writer.start()
    assay, sqlite = Samples(), Samples()
    try:
        while any(writer.is_alive() for writer in writers):
            least = acknowledged.value
            with assay.one():
                found = ledger.query(COUNT).rows[0][0]
            _require(found, least)
            least = acknowledged.value
            with sqlite.one():
                found = connection.execute(COUNT).fetchone()[0]
            _require(found, least)
    finally:
        for writer in writers:
            writer.join(30)
            writer.kill()
        ledger.close()
        connection.close()
    return assay, sqlite


def _require(found: int, least: int) -> None:
    if found < least:
        raise AssertionError(f"a stale answer: {found} of {least} events")


def _write(home: Path, run_id: str, drafts: Sequence[Draft], acknowledged: Any) -> None:
    """Append to both, at the pace of a run."""
    ledger: LocalLedger[Run] = LocalLedger(home, RunFold())
    connection = open_sqlite(home)
    for position, made in enumerate(drafts):
        values = (run_id, position, json.dumps(made.body))
        connection.execute("INSERT INTO events VALUES (?, ?, ?)", values)
        ledger.append(run_id, [made])
        with acknowledged.get_lock():
            acknowledged.value += 1
        time.sleep(PAUSE_S)
