"""SQL in PostgreSQL: it reads, it reads the ledger alone, and it ends."""

import time
from datetime import datetime

import pytest

from state.errors import StorageError
from state.postgres.ledger import Waits
from state.query import Bounds
from state.values.errors import InvalidRequest
from tests.postgres_server import PostgresServer
from tests.state.counter import added
from tests.state.postgres_store import PostgresStore


@pytest.fixture
def store(postgres: PostgresServer) -> PostgresStore:
    made = PostgresStore(postgres)
    made.open().append("r1", [added(1, "c1")])
    return made


@pytest.fixture(scope="module")
def shared(postgres: PostgresServer) -> PostgresStore:
    """Give a ledger that none of its tests can change."""
    made = PostgresStore(postgres)
    made.open().append("r1", [added(1)])
    with made.connect() as connection:
        connection.execute("CREATE SCHEMA secret")
        connection.execute("CREATE TABLE secret.things (word TEXT)")
    return made


@pytest.mark.parametrize(
    "sql",
    [
        "COMMIT", "ROLLBACK", "BEGIN", "SELECT 1; DELETE FROM run_lines", "SELECT 1; COMMIT",
        "DELETE FROM run_lines", "TRUNCATE run_lines", "DROP SCHEMA {schema} CASCADE",
        "WITH gone AS (DELETE FROM run_checks RETURNING 1) SELECT * FROM gone",
        "SELECT * INTO copied FROM events", "CREATE TABLE x AS SELECT 1",
        "CREATE TEMP TABLE x (a int)",
        "SELECT * FROM run_heads FOR UPDATE", "LOCK TABLE run_lines", "SET statement_timeout = 0",
        "SET TRANSACTION READ WRITE", "RESET ALL", "DO $$ BEGIN END $$", "CALL nothing()",
        "COPY run_lines TO STDOUT", "COPY run_lines TO PROGRAM 'cat'", "LISTEN x", "NOTIFY x",
        "EXPLAIN ANALYZE DELETE FROM run_lines", "PREPARE p AS SELECT 1", "EXECUTE p",
        "DECLARE c CURSOR FOR SELECT 1", "VACUUM", "ANALYZE",
        "SELECT set_config('transaction_read_only', 'off', true)",
        "SELECT set_config('statement_timeout', '0', false)",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity",
        'SELECT "pg_cancel_backend"(1)', 'SELECT U&"pg\\005fcancel_backend"(1)',
        "SELECT pg_catalog.pg_cancel_backend(1)", "SELECT 1 WHERE pg_try_advisory_lock(1)",
        "SELECT pg_advisory_lock(1)", "SELECT * FROM pg_advisory_lock(1)",
        "SELECT pg_notify('a', 'b')", "SELECT lo_create(0)",
        "SELECT pg_read_file('/etc/passwd')", "SELECT * FROM pg_ls_dir('/')",
        "SELECT query_to_xml('SELECT 1', true, true, '')",
        "SELECT pg_logical_emit_message(false, 'a', 'b')",
        "SELECT nextval('run_heads_run_seq')", "SELECT * FROM secret.things", "SELECT $1",
        "\x00", "SELECT '\ud800'", ";",
    ],
)  # fmt: skip
def test_sql_cannot_write_act_or_leave_the_ledger(shared: PostgresStore, sql: str) -> None:
    ledger = shared.open(waits=Waits(lock_s=2, outage_s=0.1))

    with pytest.raises(InvalidRequest):
        ledger.query(sql.replace("{schema}", shared.schema))

    assert ledger.query("SELECT count(*) FROM events").rows == ((1,),)
    ledger.close()


@pytest.mark.parametrize(
    "sql",
    ["TABLE events", "VALUES (1)", "(SELECT 1)", "SELECT 1;", "-- about\nSELECT 1",
     "/* */ SELECT 1", "WITH x AS (SELECT 1) SELECT * FROM x", "SELECT 1 WHERE 'a%' LIKE '%'",
     "SELECT table_name FROM information_schema.tables", "SELECT relname FROM pg_class",
     "SELECT 'pg_notify' AS word"],
)  # fmt: skip
def test_looking_around_is_allowed(shared: PostgresStore, sql: str) -> None:
    assert shared.open().query(sql).rows


def test_an_answer_without_rows_has_its_columns(store: PostgresStore) -> None:
    table = store.open().query("SELECT run_id, time FROM events WHERE run_id = $1", ["none"])

    assert (table.columns, table.types, table.rows) == (
        ("run_id", "time"),
        ("text", "timestamp(3)"),
        (),
    )


def test_values_come_back_as_those_of_the_local_ledger_do(store: PostgresStore) -> None:
    row = store.open().query("SELECT time, position, body, body_json FROM events").rows[0]

    assert isinstance(row[0], datetime)
    assert row[0].tzinfo is None
    assert row[1:] == (1, '{"amount":1}', '{"amount": 1}')


def test_a_query_is_stopped_in_time(store: PostgresStore) -> None:
    ledger = store.open(bounds=Bounds(time_s=0.3))
    for sql in ("SELECT pg_sleep(60)", "SELECT count(*) FROM generate_series(1, 10000000000)"):
        began = time.monotonic()
        with pytest.raises(InvalidRequest, match=r"longer than 0\.3 s"):
            ledger.query(sql)
        assert time.monotonic() - began < 5


def test_an_answer_is_cut_to_so_many_rows_and_says_so(store: PostgresStore) -> None:
    ledger = store.open(bounds=Bounds(rows=3))
    began = time.monotonic()

    table = ledger.query("SELECT generate_series(1, 1000000000)")

    assert (len(table.rows), table.truncated) == (3, True)
    assert time.monotonic() - began < 5
    assert not ledger.query("SELECT * FROM generate_series(1, 3)").truncated


def test_an_answer_too_large_to_hold_is_refused(store: PostgresStore) -> None:
    ledger = store.open(bounds=Bounds(size=1_000))

    for sql in (
        "SELECT repeat('x', 600) FROM generate_series(1, 2)",
        "SELECT ARRAY[repeat('x', 600), repeat('y', 600)]",
    ):
        with pytest.raises(InvalidRequest, match="more than 1,000 characters"):
            ledger.query(sql)
    assert ledger.query("SELECT repeat('x', 600)").rows


def test_what_a_query_sets_ends_with_it(store: PostgresStore) -> None:
    ledger = store.open()
    for _ in range(3):
        ledger.query("SELECT 1")

    assert ledger.append("r1", [added(2)]).position == 2
    with store.connect() as connection:
        found = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'assay' "
            "AND state = 'idle in transaction'"
        ).fetchall()
    assert found == [(0,)]


def test_a_ledger_that_may_only_be_read_answers_and_says_why_it_does_not_record(
    store: PostgresStore,
) -> None:
    ledger = store.open()
    ledger.append("r2", [added(1)])
    store.server.admin("ALTER ROLE ann SET default_transaction_read_only = on")
    try:
        reader = store.open()

        assert reader.query("SELECT count(*) FROM events").rows == ((2,),)
        assert reader.project("r1").total == 1
        with pytest.raises(StorageError, match="is it a standby"):
            reader.append("r1", [added(1)])
    finally:
        store.server.admin("ALTER ROLE ann RESET default_transaction_read_only")
