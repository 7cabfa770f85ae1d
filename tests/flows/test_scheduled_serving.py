"""Schedules where `assay serve` runs: slots become reports by themselves, each of them once."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from flows.composing import compose_request
from flows.schedules import Schedules
from flows.settings import Settings
from flows.wiring import make_desk
from state.schedule import spell_slot
from tests.flows.pages_client import until
from tests.flows.served_home import ServedHome, served_home
from tests.flows.test_schedules import let_go, looker

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]
QUESTION = "How long are Meridian audit logs kept?"
SLOTS = "assay-schedule/slots"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedHome]:
    with served_home(tmp_path_factory.mktemp("scheduled")) as made:
        yield made


def add(home: ServedHome, name: str, when: datetime, cron: str) -> None:
    """Add a schedule as it would have been at `when`."""
    desk = make_desk(Settings(home=home.home), now=lambda: when)
    request = compose_request(QUESTION, sources=[home.line.notes], now=when, scope="quick")
    Schedules(desk).add(name, request, cron=cron, timezone="Europe/Berlin")


def shown(home: ServedHome) -> dict[str, Any]:
    """Return the schedules that Prefect's pages show, by name."""
    deployment = home.pages.ask("GET", f"/deployments/name/{SLOTS}")
    return {each["slug"]: each for each in deployment["schedules"]}


def history(home: ServedHome, name: str) -> list[dict[str, Any]]:
    done = home.line.look("schedule", "show", name, "--json")
    assert done.code == 0, done.err
    slots: list[dict[str, Any]] = done.json["slots"]
    return slots


def ended(home: ServedHome, name: str, count: int) -> list[dict[str, Any]]:
    """Return the slots of the schedule once so many runs of it have completed."""
    return list(
        until(
            lambda: history(home, name),
            lambda slots: sum(each["status"] == "completed" for each in slots) >= count,
            within_s=180,
        )
    )


def _missed_slots_are_one_run_however_it_is_interrupted(home: ServedHome) -> None:
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    began = now - timedelta(hours=3, minutes=5)
    cron = f"{(now.minute - 4) % 60} * * * *"
    add(home, "logs", began, cron)
    newest = next(s for s in _slots(cron, began) if s > now - timedelta(hours=1))
    before = (newest - timedelta(minutes=1)).isoformat()
    assert let_go([looker(home.home, "logs", before, "1", "after-submit")]) == [-9]

    home.serve()
    slots = ended(home, "logs", 1)

    run_id = f"logs-{spell_slot(newest)}"
    assert [each["run_id"] for each in slots if each["run_id"]] == [run_id]
    assert {each["reason"] for each in slots if not each["run_id"]} == {"3 slots: missed"}
    assert "30 days" in home.report(run_id)
    assert home.desk.ledger.runs() == [run_id]
    assert home.line.look("verify", run_id).code == 0


def _slots(cron: str, began: datetime) -> list[datetime]:
    from itertools import islice

    from state.timetable import parse_timetable

    return list(islice(parse_timetable(cron, "Europe/Berlin").after(began), 5))


def _a_run_asked_for_now_tells_what_changed_since_the_last_one(home: ServedHome) -> None:
    first = history(home, "logs")[0]["run_id"]
    report = (home.home / "reports" / first / "report.md").read_bytes()
    (home.line.notes / "meridian.md").write_text(
        "# Meridian\n\nMeridian audit logs are kept for 90 days.\n\nThen they go.\n"
    )

    done = home.line.look("schedule", "run", "logs", "--json")
    slots = until(lambda: history(home, "logs"), lambda found: found[0]["changes"])

    assert (done.code, done.json["status"]) == (0, "started")
    assert slots[0]["run_id"] == done.json["run_id"]
    assert (slots[0]["against"], slots[0]["changes"]["changed"]) == (first, 1)
    folder = home.home / "reports" / slots[0]["run_id"]
    assert "30 days → 90 days" in (folder / "changes.md").read_text()
    assert (folder / "changes.json").is_file()
    assert not (folder.parent / first / "changes.md").exists()
    assert (folder.parent / first / "report.md").read_bytes() == report
    artifacts = until(lambda: _artifacts(home, "changes-logs"), bool)
    assert len(artifacts) == 1
    assert "30 days → 90 days" in artifacts[0]["data"]


def _artifacts(home: ServedHome, key: str) -> list[dict[str, Any]]:
    wanted = {"artifacts": {"key": {"any_": [key]}}}
    found: list[dict[str, Any]] = home.pages.ask("POST", "/artifacts/filter", wanted)
    return found


def _prefect_shows_schedules_and_a_slot_that_it_fires_again_is_nothing_new(
    home: ServedHome,
) -> None:
    now = datetime.now(UTC)
    add(home, "shown", now, "0 6 1 1 *")
    schedule = until(lambda: shown(home).get("shown"), bool)
    before = home.desk.ledger.runs()

    flow_run = home.pages.start(SLOTS, {"name": "shown"})
    fired = home.pages.wait(flow_run, "Completed", "Failed", "Crashed")

    assert schedule["schedule"]["timezone"] == "Europe/Berlin"
    assert (schedule["active"], schedule["parameters"]) == (True, {"name": "shown"})
    assert fired["state"]["name"] == "Completed"
    assert "nothing is due" in fired["state"]["message"]
    assert home.desk.ledger.runs() == before

    paused = home.line.look("schedule", "pause", "shown")
    assert "paused" in paused.out
    until(lambda: shown(home)["shown"]["active"], lambda active: not active)
    assert home.line.look("schedule", "remove", "shown").code == 0
    until(lambda: shown(home), lambda there: "shown" not in there)


def _a_schedule_added_meanwhile_runs_at_its_next_slot(home: ServedHome) -> None:
    now = datetime.now(UTC)
    add(home, "often", now - timedelta(minutes=1), "* * * * *")
    added = home.line.look("schedule", "add", "later", "--cron", "0 6 1 1 *", QUESTION,
                           "-s", str(home.line.notes))  # fmt: skip

    slots = ended(home, "often", 1)

    assert added.code == 0
    assert "not running" not in added.err
    assert home.line.look("schedule", "remove", "often").code == 0
    assert Path(home.home / "reports" / slots[-1]["run_id"] / "report.md").is_file()
    until(lambda: shown(home), lambda there: "later" in there and "often" not in there)


def test_schedules_become_reports_where_assay_serves(home: ServedHome) -> None:
    """Cases: B3 40, 41. One server for all that happens, in this order."""
    _missed_slots_are_one_run_however_it_is_interrupted(home)
    _a_run_asked_for_now_tells_what_changed_since_the_last_one(home)
    _prefect_shows_schedules_and_a_slot_that_it_fires_again_is_nothing_new(home)
    _a_schedule_added_meanwhile_runs_at_its_next_slot(home)
