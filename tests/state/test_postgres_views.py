"""The views in PostgreSQL say what those in DuckDB say of the same events; so does the copy."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from state.dictionary import VIEWS, read_folder
from state.local_ledger import LocalLedger
from state.postgres.ledger import PostgresLedger
from state.postgres.schema import native_views
from state.projection import Run, RunFold
from state.questions import Period, ask, questions
from tests.postgres_server import PostgresServer
from tests.state.many_runs import TEMPLATES, make_runs

NAMES = tuple(read_folder(VIEWS))


@dataclass(frozen=True)
class Both:
    """The same events in a local ledger and in PostgreSQL."""

    local: LocalLedger[Run]
    shared: PostgresLedger[Run]


@pytest.fixture(scope="module")
def both(postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    folder = tmp_path_factory.mktemp("views")
    make_runs(folder / "home", TEMPLATES)
    local: LocalLedger[Run] = LocalLedger(folder / "home", RunFold())
    shared = PostgresLedger(
        postgres.create("views"), RunFold(), copies=folder / "copies" / "ledger"
    )
    for run_id in local.runs():
        shared.adopt(run_id, local.read(run_id))
    yield Both(local, shared)
    shared.close()
    local.close()


def _rounded(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a row without the digits that depend on the order in which threads add."""
    return tuple(round(value, 9) if isinstance(value, float) else value for value in row)


def _rows(rows: tuple[tuple[Any, ...], ...]) -> list[tuple[Any, ...]]:
    return sorted(rows, key=repr)


@pytest.mark.parametrize("name", NAMES)
def test_a_view_has_the_same_columns_and_rows(both: Both, name: str) -> None:
    told = both.local.query(f"SELECT * FROM {name}")
    found = both.shared.query(f"SELECT * FROM {name}")

    assert found.columns == told.columns
    assert told.rows
    assert _rows(found.rows) == _rows(told.rows)


def test_events_are_the_same_and_have_a_body_that_can_be_searched(both: Both) -> None:
    columns = (
        "run_id, position, event_id, type, schema_version, time, turn_id, call_id, flow_run_id, "
        "task_run_id, previous_hash, hash, body"
    )
    told = both.local.query(f"SELECT {columns} FROM events")
    found = both.shared.query(f"SELECT {columns} FROM events")
    odd = both.shared.query("SELECT count(*) FROM events WHERE body_json <> body::jsonb")

    assert _rows(found.rows) == _rows(told.rows)
    assert odd.rows == ((0,),)


@pytest.mark.parametrize("name", native_views())
def test_the_database_describes_each_column(both: Both, name: str) -> None:
    entry = native_views()[name]
    said = both.shared.query(
        "SELECT a.attname, col_description(a.attrelid, a.attnum) FROM pg_attribute AS a "
        "WHERE a.attrelid = $1::text::regclass AND a.attnum > 0 ORDER BY a.attnum",
        [name],
    )
    about = both.shared.query("SELECT obj_description($1::text::regclass, 'pg_class')", [name])

    assert said.rows == tuple((column.name, column.text) for column in entry.columns)
    assert about.rows == ((f"{entry.title} {entry.notes}".strip(),),)


@pytest.mark.parametrize("name", questions())
def test_a_ready_question_has_the_same_answer_of_the_copy(both: Both, name: str) -> None:
    now, question = datetime(2026, 6, 1), questions()[name]  # noqa: DTZ001 - the ledger's times are UTC
    assert both.shared.copies is not None
    copy = both.shared.copy(both.shared.copies)

    found = ask(copy, question, Period(), now=now)
    told = ask(both.local, question, Period(), now=now)

    assert replace(found, rows=()) == replace(told, rows=())
    assert [_rounded(row) for row in found.rows] == [_rounded(row) for row in told.rows]


def test_sql_for_duckdb_can_be_asked_of_the_copy(both: Both) -> None:
    sql = "SELECT count(*), count(DISTINCT run_id) FROM events WHERE (body ->> '$.round') = '1'"

    assert both.shared.analyse(sql).rows == both.local.query(sql).rows


def test_adopted_runs_are_the_runs_they_were(both: Both) -> None:
    for run_id in both.local.runs():
        assert both.shared.read(run_id) == both.local.read(run_id)
        assert both.shared.project(run_id) == both.local.project(run_id)
    assert both.shared.verify().is_sound


def test_the_parquet_files_of_both_hold_the_same_events(both: Both, tmp_path: Path) -> None:
    import duckdb

    for ledger, name in ((both.local, "local"), (both.shared, "shared")):
        ledger.export(tmp_path / name)
    missing = duckdb.execute(
        f"FROM '{tmp_path}/local/events.parquet' EXCEPT FROM '{tmp_path}/shared/events.parquet'"
    )

    assert missing.fetchall() == []
