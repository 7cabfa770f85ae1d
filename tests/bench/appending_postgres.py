"""Appending to PostgreSQL: each process its run, against a plain INSERT of the same events.

Needs a PostgreSQL server that can be started here; without one there is nothing to measure.
"""

import json
import multiprocessing
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import psycopg

from state.envelope import Draft
from state.postgres.ledger import PostgresLedger
from state.projection import Run, RunFold
from tests.bench.histories import research_drafts
from tests.bench.measuring import Row, Samples
from tests.postgres_server import Absent, PostgresServer, postgres_server

COUNTS = {1: 300, 4: 150, 16: 60}  # events of each process, by the number of processes
TURN = 15
SPAWN = multiprocessing.get_context("fork")  # the workers inherit what is imported


@dataclass(frozen=True, slots=True)
class _Job:
    url: str
    run_id: str
    drafts: list[Draft]


class _Plain:
    """What a program without a ledger does: one INSERT a transaction."""

    def __init__(self, job: _Job) -> None:
        self._connection = psycopg.connect(job.url, autocommit=True)
        self._job = job

    def append(self, number: int) -> None:
        made = self._job.drafts[number]
        self._connection.execute(
            "INSERT INTO plain_events VALUES (%s, %s, %s)",
            [self._job.run_id, number, json.dumps(made.body)],
        )


class _Assay:
    def __init__(self, job: _Job) -> None:
        self._ledger: PostgresLedger[Run] = PostgresLedger(job.url, RunFold())
        self._job = job
        self._ledger.exists(job.run_id)  # connects, as the other one has

    def append(self, number: int) -> None:
        self._ledger.append(self._job.run_id, [self._job.drafts[number]])


def _work(job: _Job, barrier: Any, answers: Any) -> None:
    systems: dict[str, _Assay | _Plain] = {"assay": _Assay(job), "plain": _Plain(job)}
    samples = {name: Samples() for name in systems}
    for begin in range(0, len(job.drafts), TURN):
        for name, system in systems.items():
            barrier.wait(60)
            for number in range(begin, min(begin + TURN, len(job.drafts))):
                with samples[name].one():
                    system.append(number)
    answers.put({name: sample.seconds for name, sample in samples.items()})


def _together(jobs: list[_Job]) -> dict[str, Samples]:
    """Carry out the jobs in a process each; return the samples of all, by system."""
    barrier, answers = SPAWN.Barrier(len(jobs)), SPAWN.Queue()
    workers = [SPAWN.Process(target=_work, args=(job, barrier, answers)) for job in jobs]
    for worker in workers:
        worker.start()
    found = {"assay": Samples(), "plain": Samples()}
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
    """Yield the times of one append at 1, 4 and 16 processes, synced to the disk."""
    try:
        with postgres_server(durable=True) as server:
            yield from _measured(server)
    except Absent:
        return


def _measured(server: PostgresServer) -> Iterator[Row]:
    for processes, events in COUNTS.items():
        url = server.create(f"bench_{processes}")
        with psycopg.connect(url) as connection:
            connection.execute(
                "CREATE TABLE plain_events "
                "(run_id TEXT, position BIGINT, body JSONB, PRIMARY KEY (run_id, position))"
            )
        PostgresLedger(url, RunFold()).runs()
        names = [f"run-{number}" for number in range(processes)]
        found = _together(
            [_Job(url, name, list(islice(research_drafts(name), events))) for name in names]
        )
        many = f"{processes} process" + ("es" if processes > 1 else "")
        for what, share in (("median", 0.5), ("99 of 100 within", 0.99), ("longest", 1.0)):
            yield Row(
                f"append to PostgreSQL, {many}, {what}",
                found["assay"].at(share),
                found["plain"].at(share),
                "one INSERT, committed",
            )
