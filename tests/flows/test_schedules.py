"""Schedules on a real ledger: each slot is one run, whoever looks, and whatever is killed."""

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from flows.composing import compose_request, principal
from flows.memory import has_schedules
from flows.runs import cancel, submit
from flows.schedules import Look, Schedules, schedule_of
from flows.settings import Settings
from flows.wiring import Desk, make_desk
from state.errors import NotFound, Refused, StorageError
from state.policy import PolicyFile
from state.schedule_events import SlotEnded, SlotQueued, SlotStarted
from state.values.errors import InvalidRequest, ObstructedError
from tests import postgres_server
from tests.flows.world import Clock

BEGAN = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SIX = "0 6 * * *"
LOOKER = Path(__file__).with_name("looking_at.py")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "ferry.md").write_text("# Ferry\n\nThe Ostra ferry carries 120 passengers.\n")
    return folder


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    try:
        with postgres_server.postgres_server() as server:
            yield server.url()
    except postgres_server.Absent as error:
        pytest.skip(str(error))


class Bench:
    """A desk with a clock, its schedules, and one of them, called `ferry`."""

    def __init__(self, settings: Settings, notes: Path) -> None:
        self.clock = Clock(BEGAN)
        self.desk: Desk = make_desk(settings, now=self.clock)
        self.notes = notes
        self.schedules = Schedules(self.desk)

    def add(self, name: str = "ferry", *, cron: str = SIX, **options: Any) -> None:
        request = compose_request("How many passengers?", sources=[self.notes], now=BEGAN)
        self.schedules.add(name, request, cron=cron, **options)

    def look(self, **after: float) -> Look:
        self.clock.advance(**after)
        return self.schedules.look("ferry")

    def statuses(self) -> dict[str, str]:
        return {slot: each.status for slot, each in self.schedules.get("ferry").slots.items()}


@pytest.fixture(params=["local", "postgres"])
def bench(request: pytest.FixtureRequest, assay_home: Path, notes: Path) -> Iterator[Bench]:
    settings = Settings(home=assay_home)
    if request.param == "postgres":
        url = request.getfixturevalue("database")
        schema = f"s{abs(hash(str(assay_home))):x}"
        settings = Settings(home=assay_home, ledger_url=SecretStr(url), ledger_schema=schema)
    made = Bench(settings, notes)
    yield made
    made.schedules.close()
    made.desk.ledger.close()


# ---- slots become runs


def test_a_slot_that_is_due_is_submitted_once_under_an_id_made_of_it(bench: Bench) -> None:
    bench.add(timezone="Europe/Berlin")
    assert bench.look() == Look("ferry")

    look = bench.look(days=1)

    assert [type(event) for event in look.recorded] == [SlotQueued, SlotStarted]
    assert look.to_execute == "ferry-20260302T0500Z"
    run = bench.desk.ledger.project(look.to_execute)
    assert run.status == "queued"
    assert run.research is not None
    assert run.research.started.request.sources == (str(bench.notes),)
    assert bench.look() == Look("ferry", to_execute="ferry-20260302T0500Z")
    assert bench.desk.ledger.runs() == ["ferry-20260302T0500Z"]
    assert bench.schedules.ledger.verify().is_sound
    assert bench.desk.ledger.verify().is_sound


def test_the_next_slot_waits_until_the_run_has_ended(bench: Bench) -> None:
    """Cases: B3 40."""
    bench.add()
    first = bench.look(days=1).to_execute
    bench.look(days=1)
    assert bench.statuses() == {"20260302T0600Z": "started", "20260303T0600Z": "queued"}

    cancel(bench.desk, first, "not today")
    look = bench.look()

    assert look.to_execute == "ferry-20260303T0600Z"
    ended = bench.schedules.get("ferry").slots["20260302T0600Z"].ended
    assert ended is not None
    assert (ended.outcome, ended.reason, ended.changes) == ("cancelled", "not today", None)


def test_what_a_person_asks_for_runs_besides_the_slots(bench: Bench) -> None:
    bench.add()

    record, look = bench.schedules.ask_for("ferry")
    again, _ = bench.schedules.ask_for("ferry")
    bench.clock.advance(seconds=1)
    waits, _ = bench.schedules.ask_for("ferry")

    assert (record.run_id, record.by) == ("ferry-20260301T120000Z", principal())
    assert look.to_execute == again.run_id == record.run_id
    assert (waits.run_id, waits.status) == ("ferry-20260301T120001Z", "queued")


def test_a_pause_and_a_removal_are_decisions_that_last(bench: Bench) -> None:
    bench.add()
    bench.schedules.pause("ferry")
    with pytest.raises(Refused, match="paused already"):
        bench.schedules.pause("ferry")
    bench.look(days=2)
    bench.schedules.resume("ferry")
    with pytest.raises(Refused, match="is not paused"):
        bench.schedules.resume("ferry")
    bench.look(days=1)
    bench.look(days=1)
    bench.schedules.remove("ferry")

    schedule = bench.schedules.get("ferry")
    assert [(each.count, each.reason) for each in schedule.skipped.values()] == [(2, "paused")]
    assert bench.statuses() == {"20260304T0600Z": "started", "20260305T0600Z": "dropped"}
    assert bench.schedules.all() == []
    for decide in (bench.schedules.pause, bench.schedules.remove, bench.schedules.ask_for):
        with pytest.raises(NotFound, match="was removed"):
            decide("ferry")
    cancel(bench.desk, "ferry-20260304T0600Z", "no longer")
    bench.look(days=1)
    assert bench.statuses()["20260304T0600Z"] == "ended", "what had started is seen to its end"
    bench.add()
    assert [each.name for each in bench.schedules.all()] == ["ferry"]


# ---- what is refused


def test_a_slot_whose_run_is_refused_says_why_and_the_next_one_is_tried(bench: Bench) -> None:
    bench.add()
    other = compose_request(
        "Else?", sources=[bench.notes], now=BEGAN, run_id="ferry-20260302T0600Z"
    )
    submit(bench.desk, other)

    bench.look(days=1)
    look = bench.look(days=1)

    ended = bench.schedules.get("ferry").slots["20260302T0600Z"].ended
    assert ended is not None
    assert ended.outcome == "refused"
    assert "was started with another request" in ended.reason
    assert look.to_execute == "ferry-20260303T0600Z"


def test_what_can_be_no_schedule_is_refused_and_leaves_nothing(
    assay_home: Path, notes: Path
) -> None:
    settings = Settings(home=assay_home)
    bench = Bench(settings, notes)
    for name in ("", "Ferry", "-f", "f-", "a b", "a" * 61, "é", "a/b", "..", "f\n"):
        with pytest.raises(InvalidRequest, match="cannot name a schedule"):
            bench.add(name)
    with pytest.raises(InvalidRequest, match="five fields"):
        bench.add(cron="daily")
    with pytest.raises(InvalidRequest, match="no time zone"):
        bench.add(timezone="Ostra")
    secret = compose_request(
        "Why is ghp_0123456789abcdefghijklmnopqrstuvwxyzAB refused?", sources=[notes], now=BEGAN
    )
    with pytest.raises(InvalidRequest, match="secret"):
        bench.schedules.add("ferry", secret, cron=SIX)
    assert not has_schedules(settings)

    bench.add()
    with pytest.raises(InvalidRequest, match="already; choose another name"):
        bench.add()
    with pytest.raises(NotFound, match="no schedule 'harbour'"):
        bench.schedules.look("harbour")


def test_one_schedule_that_cannot_be_looked_at_keeps_no_other_from_its_slot(
    assay_home: Path, notes: Path
) -> None:
    bench = Bench(Settings(home=assay_home), notes)
    bench.add("alpha")
    bench.add("ferry")
    journals = sorted((assay_home / "schedules" / "runs").glob("*/journal"))
    broken = next(path for path in journals if b'"run_id":"alpha"' in path.read_bytes())
    broken.write_bytes(broken.read_bytes().replace(b"passengers", b"Passengers"))

    bench.clock.advance(days=1)
    looks = {look.name: look for look in Schedules(bench.desk).look_at_all()}

    assert looks["alpha"].problem
    assert looks["ferry"].to_execute == "ferry-20260302T0600Z"


def test_a_schedule_whose_file_is_damaged_is_not_called_a_run_that_is_not_there(
    assay_home: Path, notes: Path
) -> None:
    bench = Bench(Settings(home=assay_home), notes)
    bench.add("alpha")
    (journal,) = (assay_home / "schedules" / "runs").glob("*/journal")
    journal.write_bytes(b"not what was written\n" * 20)

    with pytest.raises(StorageError, match=r"file of a schedule, .*, is damaged"):
        Schedules(bench.desk).all()


def test_the_schedule_of_a_run_is_told_by_its_id() -> None:
    assert schedule_of("audit-logs-20260302T0600Z") == "audit-logs"
    assert schedule_of("audit-logs-20260302T060001Z-attempt-2") == "audit-logs"
    assert schedule_of("20260302-060000-a1b2") == ""


# ---- killed, and at once


def looker(home: Path, *arguments: str) -> "subprocess.Popen[str]":
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PREFECT_", "ASSAY_"))}
    return subprocess.Popen(
        [sys.executable, str(LOOKER), *arguments],
        env={**kept, "ASSAY_HOME": str(home), "PYTHONPATH": str(LOOKER.parents[2])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def let_go(processes: list["subprocess.Popen[str]"]) -> list[int]:
    """Let the processes look as soon as all are there; return how they ended."""
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    ended = [(process.communicate(timeout=90)[1], process.returncode) for process in processes]
    assert all("Traceback" not in said for said, _ in ended), ended
    return [code for _, code in ended]


@pytest.mark.parametrize("moment", ["before-submit", "after-submit"])
def test_a_slot_is_one_run_when_whoever_looks_is_killed_around_its_submission(
    assay_home: Path, notes: Path, moment: str
) -> None:
    """Cases: B3 41."""
    bench = Bench(Settings(home=assay_home), notes)
    bench.add()

    six = (BEGAN + timedelta(hours=18)).isoformat()
    assert let_go([looker(assay_home, "ferry", six, "1", moment)]) == [-9]
    bench.clock.advance(days=1)
    look = bench.schedules.look("ferry")

    assert look == Look("ferry", to_execute="ferry-20260302T0600Z")
    assert bench.desk.ledger.runs() == ["ferry-20260302T0600Z"]
    events = [line.envelope.type for line in bench.schedules.ledger.read("ferry")]
    assert events == ["schedule_added", "slot_queued", "slot_started"]


def test_processes_that_look_at_once_decide_each_slot_once(assay_home: Path, notes: Path) -> None:
    """Cases: B3 41."""
    bench = Bench(Settings(home=assay_home), notes)
    bench.add(cron="*/2 * * * *", missed="all")

    begin = BEGAN.isoformat()
    assert let_go([looker(assay_home, "ferry", begin, "20") for _ in range(3)]) == [0, 0, 0]
    bench.clock.advance(minutes=20)
    while run_id := bench.schedules.look("ferry").to_execute:
        cancel(bench.desk, run_id, "enough")

    slots = [f"20260301T12{minute:02}Z" for minute in range(2, 21, 2)]
    schedule = bench.schedules.get("ferry")
    assert sorted(schedule.slots) == slots
    assert not schedule.skipped
    assert bench.desk.ledger.runs() == [f"ferry-{slot}" for slot in slots]
    lines = bench.schedules.ledger.read("ferry")
    for kind in (SlotQueued, SlotStarted, SlotEnded):
        recorded = [line.envelope.body["slot"] for line in lines if line.envelope.type == kind.type]
        assert recorded == slots, "in their order, and each once"


def test_two_machines_on_one_database_make_one_run_of_a_slot(
    database: str, tmp_path: Path, notes: Path
) -> None:
    machines = [
        Bench(
            Settings(
                home=tmp_path / name, ledger_url=SecretStr(database), ledger_schema="two_machines"
            ),
            notes,
        )
        for name in ("one", "two")
    ]
    machines[0].add()

    looks = [machine.look(days=1) for machine in machines]

    assert len(looks[0].recorded) == 2
    assert looks[1].recorded == ()
    assert {look.to_execute for look in looks} == {"ferry-20260302T0600Z"}
    for machine in machines:
        machine.schedules.close()
        machine.desk.ledger.close()


def test_the_policy_decides_when_a_slot_is_due_as_well(assay_home: Path, notes: Path) -> None:
    bench = Bench(Settings(home=assay_home), notes)
    bench.add()

    bench.desk.policy.write(PolicyFile(principals=("somebody-else",)))
    bench.look(days=1)

    ended = bench.schedules.get("ferry").slots["20260302T0600Z"].ended
    assert ended is not None
    assert ended.outcome == "refused"
    assert principal() in ended.reason
    assert bench.desk.ledger.runs() == []
    with pytest.raises(ObstructedError):
        bench.add("harbour")
