"""A run whose ledger is in PostgreSQL and whose archive is an object store: the same report."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.documents.direct import DirectConverter
from flows.audit import audit_run
from flows.backup import back_up
from flows.recovery import mark_orphans
from flows.runs import RunResult, execute, request_of, submit
from flows.settings import Settings
from flows.wiring import Desk, Tools, local_tools, make_desk
from state.append import Hooks
from state.postgres.ledger import PostgresLedger
from state.projection import RunFold
from state.questions import Period, ask, questions
from state.request import ResearchRequest
from state.s3_artifacts import S3Artifacts
from tests import postgres_server, s3_server

pytestmark = pytest.mark.usefixtures("prefect_server")
NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
QUESTION = "How many passengers does the Ostra ferry carry?"


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    try:
        with postgres_server.postgres_server() as server:
            yield server.url()
    except postgres_server.Absent as error:
        pytest.skip(str(error))


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Artifacts]:
    try:
        with s3_server.s3_server() as server:
            for name, value in server.environment.items():
                monkeypatch.setenv(name, value)
            yield S3Artifacts(server.create("assay"), endpoint=server.endpoint)
    except s3_server.Absent as error:
        pytest.skip(str(error))


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "ferry.md").write_text("# Ferry\n\nThe Ostra ferry carries 120 passengers.\n")
    return folder


def _quick(desk: Desk) -> Desk:
    def tools(request: ResearchRequest) -> Tools:
        return replace(local_tools(desk.settings, request.sources), converter=DirectConverter())

    desk.tools, desk.converter = tools, DirectConverter
    return desk


def _local(home: Path) -> Desk:
    return _quick(make_desk(Settings(home=home), now=lambda: NOW))


def _shared(home: Path, database: str, store: S3Artifacts) -> Desk:
    desk = make_desk(Settings(home=home), now=lambda: NOW)
    desk.ledger = PostgresLedger(
        database, RunFold(), hooks=Hooks(clock=lambda: NOW), copies=home / "cache" / "ledger"
    )
    desk.artifacts = store
    return _quick(desk)


def _answered(desk: Desk, notes: Path) -> RunResult:
    submit(desk, request_of(desk, QUESTION, sources=[notes], run_id="r1", scope="quick"))
    return execute(desk, "r1")


def test_a_run_on_a_shared_memory_gives_the_same_report(
    tmp_path: Path, notes: Path, database: str, store: S3Artifacts
) -> None:
    local, shared = _local(tmp_path / "local"), _shared(tmp_path / "shared", database, store)

    told, found = _answered(local, notes), _answered(shared, notes)

    assert (found.status, found.answer_status) == ("completed", "answered")
    for name in ("report.md", "report.json"):
        assert Path(found.report[name]).read_bytes() == Path(told.report[name]).read_bytes(), name
    assert found.claims == told.claims
    assert not shared.ledger.is_held("r1")
    assert shared.ledger.verify().is_sound
    assert mark_orphans(shared) == []
    assert asyncio.run(audit_run(shared, "r1")).ok
    here, there = ({e.hash for e in each.artifacts.entries()} for each in (local, shared))
    assert len(here - there) == len(there - here) == 1  # the manifest tells the ids of events
    assert isinstance(shared.ledger, PostgresLedger)
    copy = shared.ledger.copy(tmp_path / "copy")
    for question in questions().values():
        assert ask(copy, question, Period(), now=NOW).runs == 1
    made = back_up(shared, tmp_path / "backup")
    assert (made.runs, made.problems) == (1, ())
