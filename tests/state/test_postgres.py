"""The ledger on PostgreSQL: the contract, and what belongs to a database."""

import threading
from contextlib import ExitStack

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from state.append import Hooks
from state.envelope import Draft, Refs
from state.errors import Conflict, CorruptLedger, StorageError
from state.ledger import Ledger
from state.postgres.ledger import PostgresLedger
from state.values.errors import InvalidRequest
from tests.postgres_server import PostgresServer
from tests.state.counter import Counter, CounterFold, PlainFold, added
from tests.state.ledger_contract import LedgerContract, child, said
from tests.state.postgres_store import PostgresStore


@pytest.fixture
def store(postgres: PostgresServer) -> PostgresStore:
    return PostgresStore(postgres)


class TestPostgresLedger(LedgerContract):
    pass


def _ledger_is_a_ledger(ledger: PostgresLedger[Counter]) -> Ledger[Counter]:
    return ledger


# What was recorded stays


@pytest.mark.parametrize(
    "sql",
    ["UPDATE run_lines SET line = line || ' '", "UPDATE run_lines SET hash = repeat('0', 64)",
     "UPDATE run_lines SET position = position + 10", "DELETE FROM run_lines",
     "TRUNCATE run_lines CASCADE"],
)  # fmt: skip
def test_the_database_itself_refuses_to_change_what_was_recorded(
    store: PostgresStore, sql: str
) -> None:
    store.open().append("r1", [added(1), added(2)])

    with store.connect() as connection, pytest.raises(psycopg.Error, match="never changed"):
        connection.execute(sql)

    assert store.open().verify().is_sound


def test_a_line_whose_hash_is_wrong_cannot_be_written(store: PostgresStore) -> None:
    store.open().append("r1", [added(1)])

    with store.connect() as connection, pytest.raises(psycopg.errors.CheckViolation):
        connection.execute(
            "INSERT INTO run_lines SELECT run, 2, hash, line || ' ', event_id, type, "
            "schema_version, time, turn_id, 'other', flow_run_id, task_run_id, previous_hash, "
            "body_size, body_json FROM run_lines"
        )


@pytest.mark.parametrize(
    ("sql", "place", "advice"),
    [
        ("UPDATE run_lines SET line = replace(line, '2', '9') WHERE position = 2", "event 2",
         "backup"),
        ("UPDATE run_lines SET hash = repeat('0', 64) WHERE position = 2", "event 2", "backup"),
        ("DELETE FROM run_lines WHERE position = 2", "event 2", "backup"),
        ("DELETE FROM run_lines WHERE position = 3", "its head", "backup"),
        ("UPDATE run_heads SET position = 2", "its head", "backup"),
        ("UPDATE run_heads SET hash = repeat('0', 64)", "its head", "backup"),
        ("UPDATE run_lines SET type = 'x' WHERE position = 2", "event 2", "rebuild"),
        ("UPDATE run_lines SET call_id = NULL WHERE position = 3", "event 3", "rebuild"),
        ("UPDATE run_lines SET body_json = '{}' WHERE position = 1", "event 1", "rebuild"),
        ("UPDATE run_lines SET time = time + interval '1 ms' WHERE position = 1", "event 1",
         "rebuild"),
        ("UPDATE run_lines SET body_size = 3 WHERE position = 1", "event 1", "rebuild"),
    ],
)  # fmt: skip
def test_a_row_changed_by_hand_is_found_and_named(
    store: PostgresStore, sql: str, place: str, advice: str
) -> None:
    ledger = store.open()
    ledger.append("r1", [added(1, "c1"), added(2, "c2"), added(3, "c3")])
    ledger.query("SELECT 1")
    store.tamper(sql)

    (finding,) = ledger.verify().findings
    ledger.rebuild()

    assert (finding.run_id, finding.place) == ("r1", f"run 'r1', {place}")
    assert advice in finding.advice
    assert ledger.verify().is_sound == (advice == "rebuild")
    if advice == "backup":
        with pytest.raises(CorruptLedger, match="restore the database from a backup"):
            store.open().read("r1") and store.open().project("r1")
        assert "r1" in ledger.query("SELECT 1").quarantined


def test_an_event_that_was_acknowledged_and_is_gone_is_not_written_over(
    store: PostgresStore,
) -> None:
    ledger = store.open()
    first = ledger.append("r1", [added(1), added(2)]).lines[0]
    store.tamper("DELETE FROM run_lines WHERE position = 2")
    store.tamper(f"UPDATE run_heads SET position = 1, hash = '{first.hash}'")

    with pytest.raises(CorruptLedger, match="event 2 was recorded and is gone"):
        ledger.append("r1", [added(3)])


def test_a_restored_run_is_shown_again(store: PostgresStore) -> None:
    ledger = store.open()
    ledger.append("r1", [added(1), added(2)])
    store.flip_byte("r1", 2)
    assert "event 2" in ledger.query("SELECT * FROM events").quarantined["r1"]
    store.flip_byte("r1", 2)

    table = ledger.query("SELECT count(*) FROM events")

    assert (table.rows, table.quarantined) == (((2,),), {})


# What cannot be kept


@pytest.mark.parametrize(
    "draft",
    [Draft("a\0b", {}), Draft("x", {}, Refs(call_id="c\0")),
     Draft("x", {}, Refs(call_id="é" * 1001))],
)  # fmt: skip
def test_a_name_that_has_no_place_in_a_column_is_refused(
    store: PostgresStore, draft: Draft
) -> None:
    ledger = store.open()

    with pytest.raises(InvalidRequest, match="cannot be an event's type or ref"):
        ledger.append("r1", [draft])
    assert ledger.runs() == []


def test_a_call_id_cannot_be_recorded_twice_even_where_the_rules_let_it(
    store: PostgresStore,
) -> None:
    ledger = PostgresLedger(store.url, PlainFold(), schema=store.schema)
    ledger.append("r1", [added(1, "c1")])

    with pytest.raises(Conflict, match="call id"):
        ledger.append("r1", [added(1, "c1")])
    assert len(ledger.read("r1")) == 1
    ledger.append("r1", [Draft(t, {}, Refs(call_id="s")) for t in ("effect_reserved",) * 2])


def test_a_ledger_of_a_newer_version_is_left_alone(store: PostgresStore) -> None:
    store.open().append("r1", [added(1)])
    store.tamper("UPDATE meta SET value = '2' WHERE key = 'version'")

    with pytest.raises(StorageError, match="install the newer Assay"):
        store.open().append("r1", [added(1)])


def test_a_database_of_another_encoding_is_refused(store: PostgresStore) -> None:
    store.server.admin(
        "CREATE DATABASE latin OWNER ann ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"
    )

    with pytest.raises(StorageError, match="encoded as LATIN1; use one created with"):
        store.open(url=store.server.url("latin")).runs()


def test_a_role_that_may_not_make_a_schema_is_told_so(store: PostgresStore) -> None:
    store.server.admin("CREATE ROLE eve LOGIN PASSWORD 'eve'")
    url = f"postgresql://eve:eve@127.0.0.1:{store.server.port}/assay"

    with pytest.raises(StorageError, match=r"permission denied.*give the role that right"):
        store.open(url=url).runs()


# Several at once


def test_several_make_the_schema_at_once(store: PostgresStore) -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            store.open().append(f"r{number}", [added(1)])
        except BaseException as error:  # noqa: BLE001 - shown below
            failures.append(error)

    threads = [threading.Thread(target=work, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert len(store.open().runs()) == 8


def test_two_ledgers_in_one_database_do_not_see_each_other(postgres: PostgresServer) -> None:
    one, other = PostgresStore(postgres), PostgresStore(postgres)
    one.open().append("r1", [added(1)])

    assert other.open().runs() == []
    assert other.open().query("SELECT * FROM events").rows == ()


@pytest.mark.slow
def test_sixteen_writers_of_one_run_and_a_reader_lose_nothing(store: PostgresStore) -> None:
    body = (
        "print('ready', flush=True); sys.stdin.readline()\n"
        "for n in range(10): ledger.append('r1', [added(1, f'NAME-{n}')])\nprint('done')"
    )
    reader = store.open()
    reader.append("r1", [added(0)])
    seen: list[int] = []
    with ExitStack() as stack:
        writers = [
            stack.enter_context(child(store, body.replace("NAME", str(number))))
            for number in range(16)
        ]
        assert [said(writer) for writer in writers] == ["ready"] * 16
        for writer in writers:
            assert writer.stdin is not None
            writer.stdin.write("\n")
            writer.stdin.flush()
        while not seen or seen[-1] < 161:
            seen.append(reader.query("SELECT count(*) FROM events").rows[0][0])
        assert [said(writer) for writer in writers] == ["done"] * 16

    assert seen == sorted(seen)
    assert reader.project("r1").total == 160
    assert reader.verify().is_sound


def test_time_and_ids_come_from_outside(store: PostgresStore) -> None:
    from datetime import UTC, datetime

    hooks = Hooks(clock=lambda: datetime(2026, 2, 3, 4, 5, 6, 7000, UTC), new_id=lambda: "e1")
    store.open(hooks=hooks).append("r1", [added(1)])

    rows = store.open().query("SELECT event_id, time FROM events").rows
    assert rows == (("e1", datetime(2026, 2, 3, 4, 5, 6, 7000)),)  # noqa: DTZ001 - SQL's TIMESTAMP


# Adopting


def test_a_run_is_adopted_once_and_goes_on(store: PostgresStore, postgres: PostgresServer) -> None:
    other = PostgresStore(postgres).open()
    other.append("r1", [added(1, "c1"), added(2)])
    ledger = store.open()

    assert ledger.adopt("r1", other.read("r1")) == 2
    other.append("r1", [added(3)])
    assert [ledger.adopt("r1", other.read("r1")) for _ in range(2)] == [1, 0]

    assert ledger.read("r1") == other.read("r1")
    assert ledger.append("r1", [added(4)]).state.total == 10
    with pytest.raises(Conflict, match="goes on otherwise"):
        ledger.adopt("r1", other.read("r1"))
    with pytest.raises(CorruptLedger, match="event 1"):
        ledger.adopt("r2", other.read("r1")[1:])
    assert ledger.runs() == ["r1"]


_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
_refs = st.builds(Refs, st.none() | _names, st.none(), st.none() | _names, st.none() | _names)
_drafts = st.builds(Draft, _names, st.dictionaries(_texts, _json, max_size=3), _refs)


@settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(st.lists(_drafts, min_size=1, max_size=5))
def test_the_ledger_returns_what_it_was_given(store: PostgresStore, drafts: list[Draft]) -> None:
    ledger = PostgresLedger(store.url, PlainFold(), schema=store.schema)
    run_id = f"r{len(ledger.runs())}"

    ledger.append(run_id, drafts)
    read = [Draft(e.type, e.body, e.refs) for e in (line.envelope for line in ledger.read(run_id))]
    rows = ledger.query(
        "SELECT type, turn_id, call_id, flow_run_id, task_run_id FROM events WHERE run_id = $1 "
        "ORDER BY position",
        [run_id],
    ).rows

    assert read == drafts
    assert [
        (d.type, d.refs.turn_id, d.refs.call_id, d.refs.flow_run_id, d.refs.task_run_id)
        for d in drafts
    ] == list(rows)
    assert ledger.verify().is_sound
    ledger.close()


def test_a_fold_of_ones_own_makes_a_ledger_too(store: PostgresStore) -> None:
    ledger: PostgresLedger[Counter] = PostgresLedger(store.url, CounterFold(), schema=store.schema)

    assert ledger.append("r1", [added(3)]).state.total == 3
    ledger.close()
    assert ledger.append("r1", [added(3)]).state.total == 6
