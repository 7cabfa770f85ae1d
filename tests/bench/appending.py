"""Appending: each process its run, as in production, against JSONL files and one SQLite file.

All processes append to one system at a time and then change to the next, in short turns, so that
the systems share whatever else the machine is doing.
"""

import json
import multiprocessing
import os
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from state.envelope import Draft, Refs
from state.events import draft
from state.local_ledger import LocalLedger
from state.projection import Run, RunFold
from state.research_events import ResearchArtifactRecorded
from state.values.ids import content_hash
from tests.bench.histories import research_drafts
from tests.bench.measuring import Row, Samples

COUNTS = {1: 300, 4: 150, 16: 60}  # events of each process, by the number of processes
TURN = 15
SYSTEMS = ("assay", "jsonl", "sqlite")
FORK = multiprocessing.get_context("fork")  # the workers inherit what is imported


@dataclass(frozen=True, slots=True)
class _Job:
    folder: Path
    number: int
    drafts: list[Draft]
    run_id: str


class _System(Protocol):
    def append(self, number: int) -> None: ...


class _Assay:
    def __init__(self, job: _Job) -> None:
        self._ledger: LocalLedger[Run] = LocalLedger(job.folder / "assay", RunFold())
        self._job = job

    def append(self, number: int) -> None:
        self._ledger.append(self._job.run_id, [self._job.drafts[number]])


class _Jsonl:
    """What a program without a ledger does: spell the event, write the line, sync the file."""

    def __init__(self, job: _Job) -> None:
        path = job.folder / f"{job.number}.jsonl"
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._events = _as_dicts(job)

    def append(self, number: int) -> None:
        os.write(self._fd, json.dumps(self._events[number]).encode() + b"\n")
        os.fdatasync(self._fd)


class _Sqlite:
    def __init__(self, job: _Job) -> None:
        self._job = job
        self._events = _as_dicts(job)
        self._connection = open_sqlite(job.folder)

    def append(self, number: int) -> None:
        text = json.dumps(self._events[number])
        values = (self._job.run_id, self._job.number * 10_000 + number, text)
        self._connection.execute("INSERT INTO events VALUES (?, ?, ?)", values)


def open_sqlite(folder: Path) -> sqlite3.Connection:
    """Return a connection, one transaction a statement, to the one database in `folder`."""
    connection = sqlite3.connect(folder / "events.sqlite", timeout=60, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS events"
        "(run_id TEXT, position INTEGER, body TEXT, PRIMARY KEY (run_id, position))"
    )
    return connection


def _as_dicts(job: _Job) -> list[dict[str, Any]]:
    """Return events with the fields that a ledger's have, so that lines are of equal length."""
    return [
        {
            "body": made.body,
            "event_id": "45e8d93901b64ffdaa1d28bd65afe080",
            "hash": "0" * 64,
            "position": number,
            "previous_hash": "0" * 64,
            "refs": {
                "call_id": made.refs.call_id,
                "flow_run_id": made.refs.flow_run_id,
                "task_run_id": made.refs.task_run_id,
                "turn_id": made.refs.turn_id,
            },
            "run_id": job.run_id,
            "schema_version": 1,
            "time": "2026-01-02T03:04:05.678Z",
            "type": made.type,
        }
        for number, made in enumerate(job.drafts)
    ]


def _work(job: _Job, barrier: Any, answers: Any) -> None:
    systems: dict[str, _System] = {
        "assay": _Assay(job), "jsonl": _Jsonl(job), "sqlite": _Sqlite(job),
    }  # fmt: skip
    samples = {name: Samples() for name in systems}
    for begin in range(0, len(job.drafts), TURN):
        for name, system in systems.items():
            barrier.wait(60)
            for number in range(begin, min(begin + TURN, len(job.drafts))):
                with samples[name].one():
                    system.append(number)
    answers.put({name: sample.seconds for name, sample in samples.items()})


def _together(folder: Path, jobs: list[_Job]) -> dict[str, Samples]:
    """Carry out the jobs in a process each; return the samples of all, by system."""
    folder.mkdir(exist_ok=True)
    open_sqlite(folder).close()
    barrier, answers = FORK.Barrier(len(jobs)), FORK.Queue()
    workers = [FORK.Process(target=_work, args=(job, barrier, answers)) for job in jobs]
    for worker in workers:
        worker.start()
    found = {name: Samples() for name in SYSTEMS}
    try:
        for _ in workers:
            for name, seconds in answers.get(timeout=120).items():
                found[name].seconds += seconds
    finally:
        for worker in workers:
            worker.join(10)
            worker.kill()
    return found


def measure(folder: Path) -> Iterator[Row]:
    """Yield the times of one append at 1, 4 and 16 processes, and with all of them on one run."""
    for processes, events in COUNTS.items():
        place = folder / f"append-{processes}"
        jobs = [_own_run(place, number, events) for number in range(processes)]
        found = _together(place, jobs)
        many = f"{processes} process" + ("es" if processes > 1 else "")
        yield _row(f"append, {many}, median", found, "jsonl", lambda s: s.median, most_ratio=1.3)
        added = found["assay"].median - found["jsonl"].median
        yield Row(f"append, {many}, what is added, median", added)
        yield _row(
            f"append, {many}, 99 of 100 within", found, "sqlite", lambda s: s.at(0.99),
            most_ratio=1.0 if processes == 16 else None,
        )  # fmt: skip
        yield _row(f"append, {many}, longest", found, "sqlite", lambda s: s.at(1.0))
    place = folder / "append-shared"
    found = _together(place, _one_run(place))
    yield _row("append, 4 processes on one run, median", found, "sqlite", lambda s: s.median)
    yield _row(
        "append, 4 processes on one run, 99 of 100 within", found, "sqlite", lambda s: s.at(0.99)
    )


def _own_run(folder: Path, number: int, events: int) -> _Job:
    run_id = f"run-{number}"
    return _Job(folder, number, list(islice(research_drafts(run_id), events)), run_id)


def _one_run(folder: Path, processes: int = 4, events: int = 60) -> list[_Job]:
    """Return jobs that record sources in one run, as commands from several processes do."""
    run_id = "shared"
    ledger: LocalLedger[Run] = LocalLedger(folder / "assay", RunFold())
    ledger.append(run_id, list(islice(research_drafts(run_id), 10)))
    ledger.close()
    return [
        _Job(folder, number, [_source(number, n) for n in range(events)], run_id)
        for number in range(processes)
    ]


def _source(number: int, event: int) -> Draft:
    name = f"{number}-{event}"
    made = ResearchArtifactRecorded.model_validate(
        {
            "artifact_id": f"s-{name}",
            "role": "source",
            "name": name,
            "locator": f"/home/ann/papers/{name}.md",
            "content_hash": content_hash(name),
            "media_type": "text/markdown",
            "size": 6960,
        }
    )
    return draft(made, Refs("workspace/1", f"workspace/1/{name}"))


def _row(
    what: str,
    found: dict[str, Samples],
    baseline: str,
    of: Callable[[Samples], float],
    *,
    most_ratio: float | None = None,
) -> Row:
    named = {"jsonl": "JSONL, fdatasync", "sqlite": "SQLite WAL, FULL"}[baseline]
    return Row(what, of(found["assay"]), of(found[baseline]), named, most_ratio=most_ratio)
