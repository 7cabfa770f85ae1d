"""What every ledger promises; a subclass of `LedgerContract` says how to open one."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Protocol

import duckdb
import pytest

from state.errors import Conflict, CorruptLedger, Fenced, LeaseHeld, NotFound, Refused
from state.ledger import Ledger
from state.values.errors import InvalidRequest
from tests.state.counter import Counter, added, leased

ROOT = Path(__file__).resolve().parents[2]


class Store(Protocol):
    """Where a ledger under test keeps its events."""

    amount: str  # the SQL, in the ledger's own dialect, of the amount in an event's body

    def open(self) -> Ledger[Counter]:
        """Return a new handle, as another process would have."""
        ...

    def code(self) -> str:
        """Return Python that opens the same ledger as `ledger`, for a child process."""
        ...

    def flip_byte(self, run_id: str, position: int) -> None:
        """Damage the body of a recorded event."""
        ...


@contextmanager
def child(store: Store, body: str) -> Iterator[subprocess.Popen[str]]:
    """Run `body` in a process of its own, which ends with the block."""
    prelude = "import sys, time\nfrom tests.state.counter import *\n" + store.code() + "\n"
    process = subprocess.Popen(
        [sys.executable, "-c", prelude + body],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def said(process: subprocess.Popen[str]) -> str:
    """Return the next line the process prints."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


_APPEND_FOR_EVER = """
name = {name!r}
for number in range(100_000):
    ledger.append({run!r}, [added(1, f"{{name}}-{{number}}")])
    print(number, flush=True)
"""


class LedgerContract:
    """The suite. Subclasses provide the fixture `store`."""

    def test_reading_gives_what_was_recorded(self, store: Store) -> None:
        ledger = store.open()
        lines = [
            *ledger.append("r1", [added(1, "c1", text="ünï\u2028\x00\n"), added(2, x=[1.5])]).lines,
            *ledger.append("r1", [added(3)]).lines,
        ]  # fmt: skip

        assert store.open().read("r1") == lines
        assert store.open().read("r1", 3) == lines[2:]
        assert store.open().read("r1", 4) == []
        assert store.open().project("r1").total == 6

    def test_a_run_nobody_began_is_not_found(self, store: Store) -> None:
        ledger = store.open()

        assert (ledger.exists("r1"), ledger.runs(), ledger.is_held("r1")) == (False, [], False)
        for ask in (ledger.read, ledger.project, lambda run: ledger.lease(run, "x")):
            with pytest.raises(NotFound, match="no run 'r1'"):
                ask("r1")

    def test_runs_are_listed_by_their_ids(self, store: Store) -> None:
        ledger = store.open()
        for run_id in ("b", "a/ü", "c" * 300):
            ledger.append(run_id, [added(1)])

        assert store.open().runs() == sorted(["b", "a/ü", "c" * 300])
        assert store.open().exists("a/ü")

    @pytest.mark.parametrize("run_id", ["", "a b", "a\n", "x" * 600])
    def test_an_impossible_run_id_is_refused(self, store: Store, run_id: str) -> None:
        with pytest.raises(InvalidRequest, match="cannot be a run's id"):
            store.open().append(run_id, [added(1)])

    def test_an_exact_replay_records_nothing(self, store: Store) -> None:
        store.open().append("r1", [added(1, "c1")])

        receipt = store.open().append("r1", [added(1, "c1"), added(2, "c2")], expected_position=1)

        assert [line.envelope.refs.call_id for line in receipt.lines] == ["c2"]
        assert store.open().append("r1", [added(1, "c1")], expected_position=0).lines == ()
        with pytest.raises(Conflict):
            store.open().append("r1", [added(9, "c1")])

    def test_a_stale_decision_is_a_conflict(self, store: Store) -> None:
        ledger = store.open()
        ledger.append("r1", [added(1)], expected_position=0)

        with pytest.raises(Conflict, match="position 1"):
            store.open().append("r1", [added(1)], expected_position=0)

    def test_a_fenced_driver_writes_nothing_more(self, store: Store) -> None:
        old, new = store.open(), store.open()
        old.append("r1", [leased(1)])
        new.append("r1", [leased(2)])

        with pytest.raises(Fenced):
            old.append("r1", [added(1)], epoch=1)
        new.append("r1", [added(1)], epoch=2)
        assert len(store.open().read("r1")) == 3

    def test_what_the_rules_refuse_leaves_no_trace(self, store: Store) -> None:
        ledger = store.open()
        with pytest.raises(Refused):
            ledger.append("r1", [added(1), added(-1)])

        assert ledger.runs() == []
        assert ledger.query("SELECT * FROM events").rows == ()

    def test_two_drivers_cannot_execute_one_run(self, store: Store) -> None:
        store.open().append("r1", [added(1)])
        body = "lease = ledger.lease('r1', 'one'); print('held', flush=True); sys.stdin.read()"
        with child(store, body) as driver:
            assert said(driver) == "held"
            ledger = store.open()

            with pytest.raises(LeaseHeld, match=f"pid {driver.pid} "):
                ledger.lease("r1", "two")
            holder = ledger.holder("r1")
            assert holder is not None
            assert (holder.pid, holder.command) == (driver.pid, "one")

        assert not store.open().is_held("r1")
        with store.open().lease("r1", "two"):
            assert store.open().is_held("r1")

    def test_a_command_reaches_a_run_that_is_being_executed(self, store: Store) -> None:
        ledger = store.open()
        ledger.append("r1", [leased(1)])
        with ledger.lease("r1", "driver"):
            body = "print(ledger.append('r1', [added(5, 'command')], expected_position=1).position)"
            with child(store, body) as command:
                assert said(command) == "2"

            receipt = ledger.append("r1", [added(1)], epoch=1)

        assert (receipt.position, receipt.state.total) == (3, 6)

    def test_a_query_sees_every_acknowledged_event(self, store: Store) -> None:
        with child(store, _APPEND_FOR_EVER.format(name="w", run="r1")) as writer:
            ledger = store.open()
            for _ in range(5):
                acknowledged = int(said(writer)) + 1
                rows = ledger.query("SELECT count(*), max(position) FROM events").rows
                assert rows[0][0] == rows[0][1] >= acknowledged

    def test_every_acknowledged_event_survives_kill_9(self, store: Store) -> None:
        acknowledged = 0
        for attempt in range(3):
            with child(store, _APPEND_FOR_EVER.format(name=attempt, run="r1")) as writer:
                said(writer)
                time.sleep(0.011 * (attempt + 1))
                writer.kill()
                assert writer.stdout is not None
                acknowledged += 1 + len(writer.stdout.read().splitlines())

        ledger = store.open()
        kept = len(ledger.read("r1"))
        assert acknowledged <= kept <= acknowledged + 3
        assert ledger.query("SELECT count(*) FROM events").rows == ((kept,),)
        assert ledger.verify().is_sound

    def test_many_writers_and_a_reader_lose_nothing(self, store: Store) -> None:
        body = (
            "for n in range(40): ledger.append(f'r{n % 4}', [added(1, f'NAME-{n}')])\nprint('done')"
        )
        answers: list[int] = []
        done = threading.Event()

        def ask() -> None:
            ledger = store.open()
            while not done.is_set():
                answers.append(ledger.query("SELECT count(*) FROM events").rows[0][0])

        reader = threading.Thread(target=ask)
        reader.start()
        try:
            with ExitStack() as stack:
                writers = [
                    stack.enter_context(child(store, body.replace("NAME", str(number))))
                    for number in range(6)
                ]
                assert [said(writer) for writer in writers] == ["done"] * 6
        finally:
            done.set()
            reader.join()

        ledger = store.open()
        assert sorted(answers) == answers
        assert ledger.query("SELECT count(*) FROM events").rows == ((240,),)
        assert sum(ledger.project(run).total for run in ledger.runs()) == 240
        assert ledger.verify().is_sound

    def test_a_damaged_run_is_named_and_the_others_go_on(self, store: Store) -> None:
        ledger = store.open()
        for run_id in ("good", "bad"):
            ledger.append(run_id, [added(1), added(2), added(3)])
        store.flip_byte("bad", 2)
        fresh = store.open()

        table = fresh.query("SELECT DISTINCT run_id FROM events")
        findings = fresh.verify().findings

        assert table.rows == (("good",),)
        assert "event 2" in table.quarantined["bad"]
        assert {finding.run_id for finding in findings} == {"bad"}
        assert fresh.project("good").total == 6
        for use in (fresh.project, fresh.read, lambda run: fresh.append(run, [added(1)])):
            with pytest.raises(CorruptLedger, match="event 2"):
                use("bad")

    def test_a_rebuild_gives_the_same_answers(self, store: Store) -> None:
        ledger = store.open()
        ledger.append("r1", [added(1, "c1", text="\x00ü\\\"'\t"), added(2, x=1e20)])
        ledger.append("r2", [added(3)])
        every = "SELECT * FROM events ORDER BY run_id, position"
        before = ledger.query(every)

        report = ledger.rebuild()

        assert report.events == 3
        assert store.open().query(every) == before
        assert store.open().verify().is_sound

    def test_a_run_that_ends_before_its_manifest_is_found(self, store: Store) -> None:
        ledger = store.open()
        line = ledger.append("r1", [added(1)]).lines[0]
        ledger.append("r2", [added(1)])

        assert ledger.verify({"r1": (1, line.hash)}).is_sound
        (short,) = ledger.verify({"r1": (2, line.hash)}).findings
        (other,) = ledger.verify({"r1": (1, "0" * 64)}).findings
        (gone,) = ledger.verify({"r3": (1, line.hash)}).findings
        assert (short.run_id, other.run_id, gone.run_id) == ("r1", "r1", "r3")
        assert "ends at event 1" in short.what

    def test_the_export_holds_every_event(self, store: Store, tmp_path: Path) -> None:
        ledger = store.open()
        ledger.append("r1", [added(1), added(2)])

        files = ledger.export(tmp_path / "out put")

        assert {path.name for path in files} >= {"events.parquet"}
        assert {path.name for path in (tmp_path / "out put").iterdir()} == {p.name for p in files}
        found = duckdb.execute(f"SELECT count(*) FROM '{tmp_path}/out put/events.parquet'")
        assert found.fetchall() == [(2,)]

    def test_parameters_are_bound_and_bodies_are_json(self, store: Store) -> None:
        ledger = store.open()
        ledger.append("r1", [added(7, "it's")])

        table = ledger.query(
            f"SELECT {store.amount} AS amount FROM events WHERE call_id = $1", ["it's"]
        )

        assert (table.columns, table.rows) == (("amount",), ((7,),))

    def test_duckdb_s_sql_is_answered_as_of_the_last_event(self, store: Store) -> None:
        ledger = store.open()
        sql = "SELECT count(*) FILTER (type = $1), list(run_id ORDER BY run_id) FROM events"
        for number in range(1, 3):
            store.open().append(f"r{number}", [added(number, "it's")])

            table = ledger.analyse(sql, ["added"])

            assert table.rows == ((number, [f"r{each}" for each in range(1, number + 1)]),)
        for wrong in ("SELEC 1", "DELETE FROM events", "SELECT * FROM read_text('/etc/passwd')"):
            with pytest.raises(InvalidRequest):
                ledger.analyse(wrong)

    @pytest.mark.parametrize(
        "sql",
        ["", "SELEC 1", "SELECT nothing FROM events", "SELECT 1; SELECT 2", "SELECT ?",
         "INSERT INTO events SELECT * FROM events", "DROP TABLE events", "CREATE TABLE x (a INT)",
         "DELETE FROM events", "UPDATE events SET body = ''"],
    )  # fmt: skip
    def test_sql_that_is_wrong_or_writes_is_refused(self, store: Store, sql: str) -> None:
        ledger = store.open()
        ledger.append("r1", [added(1)])

        with pytest.raises(InvalidRequest):
            ledger.query(sql)
        assert ledger.query("SELECT count(*) FROM events").rows == ((1,),)
