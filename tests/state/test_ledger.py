"""The ledger on this machine: the contract, and what belongs to journals and DuckDB."""

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from state.append import Hooks
from state.envelope import Draft, Refs
from state.errors import CorruptLedger, StorageError
from state.journal import JOURNAL, run_folder
from state.ledger import Ledger
from state.local_ledger import LocalLedger
from state.query import Bounds
from state.values.errors import InvalidRequest
from tests.state.counter import Counter, CounterFold, PlainFold, added
from tests.state.ledger_contract import LedgerContract, child, said


class LocalStore:
    amount = "(body->>'$.amount')::INT"

    def __init__(self, home: Path) -> None:
        self.home = home

    def open(self, **options: Any) -> LocalLedger[Counter]:
        return LocalLedger(self.home, CounterFold(), **options)

    def code(self) -> str:
        return (
            "from pathlib import Path\nfrom state.local_ledger import LocalLedger\n"
            f"ledger = LocalLedger(Path({str(self.home)!r}), CounterFold())"
        )

    def journal(self, run_id: str) -> Path:
        return run_folder(self.home, run_id) / JOURNAL

    def flip_byte(self, run_id: str, position: int) -> None:
        lines = self.journal(run_id).read_bytes().splitlines(keepends=True)
        line = bytearray(lines[position - 1])
        line[75] ^= 1
        lines[position - 1] = bytes(line)
        self.journal(run_id).write_bytes(b"".join(lines))


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "it's home")


class TestLocalLedger(LedgerContract):
    pass


def _ledger_is_a_ledger(ledger: LocalLedger[Counter]) -> Ledger[Counter]:
    return ledger


def _drop_line(store: LocalStore) -> None:
    lines = store.journal("bad").read_bytes().splitlines(keepends=True)
    store.journal("bad").write_bytes(lines[0] + lines[2])


def _cut_tail(store: LocalStore) -> None:
    lines = store.journal("bad").read_bytes().splitlines(keepends=True)
    store.journal("bad").write_bytes(lines[0] + lines[1])


def _tear_tail(store: LocalStore) -> None:
    os.truncate(store.journal("bad"), store.journal("bad").stat().st_size - 1)


def _remove(store: LocalStore) -> None:
    store.journal("bad").unlink()


def _remove_folder(store: LocalStore) -> None:
    shutil.rmtree(store.journal("bad").parent)


@pytest.mark.parametrize(
    "tamper",
    [lambda s: s.flip_byte("bad", 1), _drop_line, _cut_tail, _tear_tail, _remove, _remove_folder],
)
def test_tampering_with_what_was_queried_before_is_found_and_named(
    store: LocalStore, tamper: Callable[[LocalStore], None]
) -> None:
    ledger = store.open()
    for run_id in ("good", "bad"):
        ledger.append(run_id, [added(1), added(2), added(3)])
    ledger.sync()
    tamper(store)
    fresh = store.open()
    fresh.append("good", [added(4)])

    findings = fresh.verify().findings
    table = fresh.query("SELECT count(*) FROM events WHERE run_id = 'good'")

    assert {finding.run_id for finding in findings} == {"bad"}
    assert all(finding.advice for finding in findings)
    assert set(table.quarantined) == {"bad"}
    assert table.rows == ((4,),)


def test_a_journal_that_is_restored_leaves_quarantine(store: LocalStore) -> None:
    ledger = store.open()
    ledger.append("r1", [added(1), added(2)])
    ledger.sync()
    whole = store.journal("r1").read_bytes()
    store.journal("r1").write_bytes(whole[:-9])
    assert "r1" in ledger.query("SELECT 1").quarantined

    store.journal("r1").write_bytes(whole)

    assert ledger.query("SELECT count(*) FROM events").rows == ((2,),)
    assert ledger.query("SELECT 1").quarantined == {}


def test_a_history_that_was_cut_and_continued_is_found(store: LocalStore) -> None:
    store.open().append("r1", [added(1), added(2)])
    store.open().sync()
    whole = store.journal("r1").read_bytes()
    os.truncate(store.journal("r1"), whole.index(b"\n") + 1)
    store.open().append("r1", [added(3), added(4), added(5)])

    table = store.open().query("SELECT count(*) FROM events")

    assert table.rows == ((2,),)
    assert set(table.quarantined) == {"r1"}


def test_a_torn_line_is_neither_queried_nor_corruption(store: LocalStore) -> None:
    ledger = store.open()
    ledger.append("r1", [added(1)])
    with store.journal("r1").open("ab") as file:
        file.write(b"0123\thalf a line")

    assert ledger.query("SELECT count(*) FROM events").quarantined == {}
    (finding,) = ledger.verify().findings
    assert "cut off" in finding.what
    assert ledger.append("r1", [added(1)]).position == 2
    assert ledger.notices[0].run_id == "r1"
    assert ledger.query("SELECT count(*) FROM events").rows == ((2,),)
    assert ledger.verify().is_sound


def test_a_flipped_byte_of_the_queryable_file_is_found_and_rebuilt(store: LocalStore) -> None:
    ledger = store.open()
    ledger.append("r1", [added(n, note="needle " * 20) for n in range(200)])
    ledger.sync()
    database = store.home / "ledger.duckdb"
    data = bytearray(database.read_bytes())
    data[data.index(b"needle")] ^= 1
    database.write_bytes(data)

    (finding,) = store.open().verify().findings
    with pytest.raises(CorruptLedger, match="assay ledger rebuild"):
        store.open().query("SELECT sum(hash(body)) FROM events")
    ledger.rebuild()

    assert "ledger.duckdb is damaged" in finding.what
    assert store.open().verify().is_sound
    assert ledger.query("SELECT count(*) FROM events").rows == ((200,),)


@pytest.mark.parametrize("content", [b"", b"no database", bytes(20_000)])
def test_a_file_that_is_no_database_is_named_and_appends_go_on(
    store: LocalStore, content: bytes
) -> None:
    store.open().append("r1", [added(1)])
    (store.home / "ledger.duckdb").write_bytes(content)
    ledger = store.open()

    ledger.append("r1", [added(2)])
    with pytest.raises(CorruptLedger, match="assay ledger rebuild"):
        ledger.query("SELECT 1")
    ledger.rebuild()

    assert ledger.query("SELECT count(*) FROM events").rows == ((2,),)


def test_a_database_of_somebody_else_is_named(store: LocalStore) -> None:
    ledger = store.open()
    ledger.append("r1", [added(1)])
    connection = duckdb.connect(str(store.home / "ledger.duckdb"))
    connection.execute("CREATE TABLE events (a INTEGER)")
    connection.close()

    for use in (lambda: ledger.query("SELECT 1"), ledger.sync):
        with pytest.raises(CorruptLedger, match="assay ledger rebuild"):
            use()
    assert not ledger.verify().is_sound
    ledger.rebuild()
    assert ledger.verify().is_sound


def test_events_changed_in_the_queryable_file_are_found(store: LocalStore) -> None:
    ledger = store.open()
    ledger.append("r1", [added(1), added(2), added(3)])
    ledger.sync()
    for sql in (
        "UPDATE events SET body = '{}' WHERE position = 1",
        "UPDATE events SET call_id = 'x' WHERE position = 2",
        "DELETE FROM events WHERE position = 3",
    ):
        with ledger._duck.gate(shared=False), ledger._duck.writing() as connection:
            connection.execute(sql)

    places = {finding.place for finding in ledger.verify().findings}

    assert places == {"ledger.duckdb, event 1", "ledger.duckdb, event 2", "ledger.duckdb"}
    ledger.rebuild()
    assert ledger.verify().is_sound


@pytest.mark.parametrize(
    "sql",
    ["SELECT * FROM read_csv('{secret}')", "SELECT * FROM read_text('{secret}')",
     "SELECT * FROM read_blob('{secret}')", "SELECT * FROM '{secret}'",
     "SELECT * FROM glob('{folder}/*')", "SELECT getenv('HOME')", "SELECT * FROM secret",
     "COPY (SELECT 1) TO '{out}'", "EXPORT DATABASE '{out}'", "ATTACH '{out}' AS other",
     "ATTACH ':memory:' AS other", "INSTALL httpfs", "LOAD httpfs", "SET threads = 1",
     "RESET threads", "PRAGMA threads=1", "USE memory",
     "BEGIN", "VACUUM", "CHECKPOINT", "DETACH ledger",
     "CALL enable_logging()", "SELECT * FROM enable_logging(storage='file', storage_path='{out}')",
     "SELECT * FROM \"enable_logging\"('QueryLog', storage='file', storage_path='{out}')",
     "SELECT * FROM query('SELECT * FROM enable_logging()')",
     "EXPLAIN ANALYZE SELECT * FROM query('SELECT * FROM enable_logging()')",
     "EXPLAIN ANALYZE SELECT * FROM enable_logging /* x */ ()",
     "EXPLAIN ANALYZE INSERT INTO events SELECT * FROM events",
     "SELECT 1 FROM (SELECT checkpoint FROM checkpoint())", "PREPARE p AS SELECT 1"],
)  # fmt: skip
def test_sql_cannot_leave_the_ledger(store: LocalStore, sql: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hidden\n")
    ledger = store.open()
    ledger.append("r1", [added(1)])
    ledger.sync()
    before = sorted(tmp_path.rglob("*"))

    with pytest.raises(InvalidRequest):
        ledger.query(sql.format(secret=secret, folder=tmp_path, out=tmp_path / "out"))

    assert sorted(tmp_path.rglob("*")) == before
    assert ledger.query("SELECT count(*) FROM events").rows == ((1,),)


@pytest.mark.parametrize(
    "sql", ["SHOW TABLES", "DESCRIBE events", "SUMMARIZE events", "EXPLAIN SELECT 1", "FROM events"]
)
def test_looking_around_is_allowed(store: LocalStore, sql: str) -> None:
    store.open().append("r1", [added(1)])

    assert store.open().query(sql).rows


def test_a_caret_stands_below_what_is_wrong_with_a_query(store: LocalStore) -> None:
    store.open().append("r1", [added(1)])

    with pytest.raises(InvalidRequest) as caught:
        store.open().query("SELECT run_id,\n  nope\nFROM events")

    *_, line, caret = caught.value.message.splitlines()
    assert line == "LINE 2:   nope"
    assert caret.rstrip("^") == " " * line.index("nope")  # DuckDB 2 underlines the word


def test_a_query_is_stopped_in_time(store: LocalStore) -> None:
    ledger = store.open(bounds=Bounds(time_s=0.3))
    began = time.monotonic()

    with pytest.raises(InvalidRequest, match=r"longer than 0\.3 s"):
        ledger.query("SELECT count(*) FROM range(100000000000) t(n) WHERE hash(n) % 7 = 3")
    assert time.monotonic() - began < 5


def test_an_answer_is_cut_to_so_many_rows_and_says_so(store: LocalStore) -> None:
    ledger = store.open(bounds=Bounds(rows=3))

    table = ledger.query("SELECT * FROM range(1000000000)")

    assert (len(table.rows), table.truncated) == (3, True)
    assert not ledger.query("SELECT * FROM range(3)").truncated


def test_an_answer_too_large_to_hold_is_refused(store: LocalStore) -> None:
    ledger = store.open(bounds=Bounds(size=1_000))
    ledger.append("r1", [added(1)])

    for sql in (
        "SELECT repeat('x', 600) FROM range(2)",
        "SELECT [repeat('x', 600) FOR i IN [1,2]]",
    ):
        with pytest.raises(InvalidRequest, match="more than 1,000 characters"):
            ledger.query(sql)
    assert ledger.query("SELECT repeat('x', 600)").rows


def test_a_query_that_needs_too_much_memory_is_refused(store: LocalStore) -> None:
    with pytest.raises(InvalidRequest, match="memory"):
        store.open().query("SELECT list(n) FROM range(400000000) t(n)")


def test_an_append_does_not_wait_for_a_shell_that_holds_the_file(store: LocalStore) -> None:
    ledger = store.open(timeout=0.2)
    ledger.append("r1", [added(1)])
    ledger.sync()
    shell = (
        f"import duckdb\nc = duckdb.connect({str(store.home / 'ledger.duckdb')!r})\n"
        "print('open', flush=True); sys.stdin.readline(); c.close(); print('closed', flush=True)"
    )
    with child(store, shell) as process:
        assert said(process) == "open"

        assert ledger.append("r1", [added(2)]).position == 2
        with pytest.raises(StorageError, match="another program has"):
            ledger.query("SELECT 1")
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
        said(process)

    assert ledger.query("SELECT count(*) FROM events").rows == ((2,),)


def test_processes_that_read_while_another_writes_meet_no_lock_and_read_all(
    store: LocalStore,
) -> None:
    """Cases: B3 46, 47."""
    ledger = store.open()
    ledger.append("r1", [added(1)])
    body = (
        "import sys\n"
        "print('go', flush=True)\n"
        "for line in sys.stdin:\n"
        "    ((events,),) = ledger.query('SELECT count(*) FROM events').rows\n"
        "    print(events >= int(line), flush=True)"
    )

    with child(store, body) as one, child(store, body) as other:
        assert (said(one), said(other)) == ("go", "go")
        for _ in range(15):
            written = ledger.append("r1", [added(1)]).state.events
            for process in (one, other):
                assert process.stdin is not None
                process.stdin.write(f"{written}\n")
                process.stdin.flush()
            assert (said(one), said(other)) == ("True", "True")


def test_a_checkpoint_does_not_wait_for_a_reader(store: LocalStore) -> None:
    ledger = store.open()
    ledger.append("r1", [added(1)])
    ledger.sync()

    with ledger._duck.gate(shared=True):
        assert ledger.sync(wait=False) is None

    assert ledger.sync(wait=False) is not None


def test_a_process_killed_while_it_syncs_loses_and_doubles_nothing(store: LocalStore) -> None:
    writer = LocalLedger(store.home, PlainFold())
    body = "print('go', flush=True)\nwhile True: ledger.sync()"
    total = 0
    for pause in (0.0, 0.01, 0.02, 0.03, 0.05):
        writer.append("r1", [added(1)] * 2000)
        total += 2000
        with child(store, body) as process:
            said(process)
            time.sleep(pause)

    assert writer.query("SELECT count(*), max(position) FROM events").rows == ((total, total),)
    assert writer.verify().is_sound


def test_views_are_made_again_when_they_change(
    store: LocalStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    views = tmp_path / "views"
    views.mkdir()
    monkeypatch.setattr("state.duck.VIEWS", views)
    ledger = store.open()
    ledger.append("r1", [added(1)])
    (views / "a_total.sql").write_text("-- Sum.\nSELECT sum(n) AS total FROM z_amounts")
    (views / "z_amounts.sql").write_text("SELECT (body->>'$.amount')::INT AS n FROM events;")

    assert ledger.query("SELECT total FROM a_total").rows == ((1,),)
    (views / "a_total.sql").write_text("SELECT sum(n) * 10 AS total FROM z_amounts")
    assert ledger.query("SELECT total FROM a_total").rows == ((10,),)
    (views / "a_total.sql").unlink()
    with pytest.raises(InvalidRequest, match="a_total"):
        ledger.query("SELECT total FROM a_total")


def test_files_are_their_owners_only(store: LocalStore) -> None:
    ledger = store.open()
    ledger.append("r1", [added(1)])
    ledger.sync()
    ledger.rebuild()

    modes = {path: path.stat().st_mode & 0o777 for path in store.home.rglob("*")}
    assert set(modes.values()) <= {0o600, 0o700}
    assert store.home.stat().st_mode & 0o777 == 0o700


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small file system needs root")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_is_a_clear_error_and_the_ledger_is_unchanged(small_disk: Path) -> None:
    ledger = LocalLedger(small_disk / "home", CounterFold())
    ledger.append("r1", [added(1)])
    (small_disk / "filler").write_bytes(bytes(400_000))
    written = 1

    def fill() -> None:
        nonlocal written
        for _ in range(1000):
            ledger.append("r1", [added(1, text="x" * 3000)])
            written += 1

    with pytest.raises(StorageError, match="free some space"):
        fill()
    with pytest.raises(StorageError):
        ledger.query("SELECT 1")

    (small_disk / "filler").unlink()
    assert ledger.append("r1", [added(1)]).position == written + 1
    fresh = LocalLedger(small_disk / "home", CounterFold())
    assert len(fresh.read("r1")) == written + 1
    assert fresh.notices == []


@pytest.mark.parametrize("left", range(50_000, 1_400_000, 150_000))
def test_a_first_query_that_finds_no_room_leaves_no_half_made_file(
    small_disk: Path, left: int
) -> None:
    subprocess.run(["mount", "-o", "remount,size=8m", str(small_disk)], check=True)
    ledger = LocalLedger(small_disk / "home", CounterFold())
    ledger.append("r1", [added(1, text="x" * 3000)])
    free = os.statvfs(small_disk)
    (small_disk / "filler").write_bytes(bytes(free.f_bavail * free.f_frsize - left))

    for ask in (lambda: ledger.query("SELECT 1"), ledger.rebuild):
        with contextlib.suppress(StorageError):
            ask()
        assert list((small_disk / "home").glob("ledger.*.duckdb*")) == []
    (small_disk / "filler").unlink()

    assert ledger.query("SELECT count(*) FROM events").rows == ((1,),)
    assert LocalLedger(small_disk / "home", CounterFold()).verify().is_sound


def test_a_read_only_folder_is_a_clear_error_and_can_be_read(small_disk: Path) -> None:
    writer = LocalLedger(small_disk / "home", CounterFold())
    writer.append("r1", [added(1)])
    writer.close()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    ledger = LocalLedger(small_disk / "home", CounterFold())

    with pytest.raises(StorageError, match="Read-only file system"):
        ledger.append("r1", [added(2)])
    assert ledger.project("r1").total == 1
    assert len(ledger.read("r1")) == 1


def test_a_ledger_in_use_survives_a_fork(store: LocalStore) -> None:
    ledger = store.open()
    ledger.append("r1", [added(1)])
    if (pid := os.fork()) == 0:
        ok = ledger.append("r1", [added(2)]).position == 2
        os._exit(0 if ok else 1)
    assert os.waitpid(pid, 0)[1] == 0

    assert ledger.append("r1", [added(4)]).state.total == 7


def _open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_more_runs_than_may_stay_open_can_be_used(store: LocalStore) -> None:
    ledger = store.open()
    files = _open_files()
    for _ in range(2):
        for number in range(150):
            ledger.append(f"r{number}", [added(1)])

    assert _open_files() <= files + 130
    assert ledger.query("SELECT count(*) FROM events").rows == ((300,),)
    ledger.close()
    assert _open_files() <= files


def test_time_and_ids_come_from_outside(store: LocalStore) -> None:
    from datetime import UTC, datetime

    hooks = Hooks(clock=lambda: datetime(2026, 2, 3, 4, 5, 6, 7000, UTC), new_id=lambda: "e1")
    store.open(hooks=hooks).append("r1", [added(1)])

    rows = store.open().query("SELECT event_id, time FROM events").rows
    assert rows == (("e1", datetime(2026, 2, 3, 4, 5, 6, 7000)),)  # noqa: DTZ001 - SQL's TIMESTAMP


_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
_refs = st.builds(Refs, *[st.none() | _texts] * 4)
_drafts = st.builds(Draft, _texts, st.dictionaries(_texts, _json, max_size=3), _refs)


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(_drafts, min_size=1, max_size=5))
def test_the_ledger_returns_what_it_was_given(drafts: list[Draft]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ledger = LocalLedger(Path(folder) / "home", PlainFold())

        ledger.append("r1", drafts)
        lines = ledger.read("r1")
        rows = ledger.query(
            "SELECT type, turn_id, call_id, flow_run_id, task_run_id FROM events ORDER BY position"
        ).rows

        read = [Draft(e.type, e.body, e.refs) for e in (line.envelope for line in lines)]
        assert read == drafts
        assert [
            (d.type, d.refs.turn_id, d.refs.call_id, d.refs.flow_run_id, d.refs.task_run_id)
            for d in drafts
        ] == list(rows)
        assert ledger.verify().is_sound
        ledger.close()
