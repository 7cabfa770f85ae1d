"""`assay schedule` as people use it: what it says, and what it refuses before anything is made."""

import inspect
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from flows.commands.running import research
from flows.commands.scheduling import add
from tests.flows.command_line import NOTES, QUESTION, CommandLine

SIX = ("--cron", "0 6 * * 1-5", "--timezone", "Europe/Berlin")


@pytest.fixture
def assay(tmp_path: Path) -> Iterator[CommandLine]:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name, text in NOTES.items():
        (notes / name).write_text(text)
    made = CommandLine(tmp_path / "home", notes)
    yield made
    if (made.home / "prefect").exists():
        made.run("down")


def added(assay: CommandLine, *more: str, name: str = "logs") -> None:
    done = assay.look("schedule", "add", name, *SIX, QUESTION, "-s", str(assay.notes), *more)
    assert done.code == 0, done.err


def test_whatever_can_be_asked_once_can_be_asked_on_a_schedule(assay: CommandLine) -> None:
    """Cases: B3 40."""
    once = set(inspect.signature(research).parameters)
    again = set(inspect.signature(add).parameters)

    assert once - again == {"run_id", "stop_after", "quiet", "log_json"}
    assert again - once == {"name", "cron", "timezone", "missed", "overlap"}
    added(assay, "--scope", "quick", "--review", "--max-searches", "2", "--audience", "Operators")
    said = assay.look("schedule", "show", "logs", "--json").json
    assert (said["scope"], said["review"], said["sources"]) == ("quick", True, [str(assay.notes)])


def test_the_next_slots_are_said_in_the_zone_of_the_schedule(assay: CommandLine) -> None:
    done = assay.look("schedule", "add", "logs", *SIX, QUESTION, "-s", str(assay.notes))
    listed = assay.look("schedule", "list", "--json").json

    assert done.code == 0
    assert "schedule logs is active: 0 6 * * 1-5 in Europe/Berlin" in done.out
    assert done.out.count("  next: ") == 3
    assert " 06:00 CE" in done.out
    assert "'assay serve' is not running: slots are due only while it runs" in done.err
    (schedule,) = listed
    moments = [datetime.fromisoformat(each) for each in schedule["next"]]
    assert [each.hour for each in moments] == [6, 6, 6]
    assert all(each.weekday() < 5 and each.utcoffset() for each in moments)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("logs", "--cron", "0 25 * * *", "Q?", "-s", "{notes}"), "its hour is wrong"),
        (("logs", "--cron", "daily", "Q?", "-s", "{notes}"), "five fields"),
        (
            ("logs", "--cron", "0 6 * * *", "--timezone", "Europe/Berln", "Q?", "-s", "{notes}"),
            "did you mean Europe/Berlin?",
        ),
        (("Logs!", "--cron", "0 6 * * *", "Q?", "-s", "{notes}"), "cannot name a schedule"),
        (("logs", "--cron", "0 6 * * *", "Q?", "-s", "{notes}/gone"), "No such file"),
        (("logs", "--cron", "0 6 * * *", "Q?"), "say where to research"),
        (("logs", "--cron", "0 6 * * *", "Q?", "--search", "gogle"), "no search provider"),
        (
            ("logs", "--cron", "0 6 * * *", "Q?", "-s", "{notes}", "--max-rounds", "99"),
            "max_rounds",
        ),
        (("logs", "--cron", "0 6 * * *", "", "-s", "{notes}"), "the question is empty"),
    ],
)
def test_what_cannot_be_scheduled_is_refused_and_leaves_nothing(
    assay: CommandLine, arguments: tuple[str, ...], said: str
) -> None:
    given = [each.format(notes=assay.notes) for each in arguments]

    done = assay.look("schedule", "add", *given)
    as_json = assay.look("schedule", "add", *given, "--json")

    assert done.code == 2
    assert said in done.err
    assert said in as_json.json["error"]["message"]
    assert not assay.home.exists()


def test_a_name_that_is_taken_or_unknown_is_said_to_be(assay: CommandLine) -> None:
    empty = assay.look("schedule", "list")
    nothing = assay.look("schedule", "show", "logs")
    home_made = assay.home.exists()
    added(assay)
    again = assay.look("schedule", "add", "logs", *SIX, QUESTION, "-s", str(assay.notes))
    unknown = [assay.look("schedule", each, "log") for each in ("show", "pause", "remove", "run")]

    assert (empty.code, empty.out) == (0, "there are no schedules; 'assay schedule add' adds one\n")
    assert (nothing.code, "there are no schedules in" in nothing.err) == (2, True)
    assert not home_made
    assert (again.code, "assay schedule remove logs" in again.err) == (2, True)
    assert all(each.code == 2 and "no schedule 'log'" in each.err for each in unknown)


def test_a_schedule_is_paused_resumed_and_removed(assay: CommandLine) -> None:
    added(assay)
    paused = assay.look("schedule", "pause", "logs")
    twice = assay.look("schedule", "pause", "logs")
    shown = assay.look("schedule", "show", "logs", "--json").json
    resumed = assay.look("schedule", "resume", "logs", "--json").json
    removed = assay.look("schedule", "remove", "logs")
    gone = assay.look("schedule", "pause", "logs")
    remembered = assay.look("schedule", "show", "logs")

    assert paused.out == "schedule logs is paused: 0 6 * * 1-5 in Europe/Berlin\n"
    assert (twice.code, "paused already" in twice.err) == (2, True)
    assert (shown["state"], shown["next"]) == ("paused", [])
    assert (resumed["state"], len(resumed["next"])) == ("active", 3)
    assert "removed" in removed.out
    assert (gone.code, "was removed" in gone.err) == (2, True)
    assert (remembered.code, "removed" in remembered.out) == (0, True)
    assert "no schedules" in assay.look("schedule", "list").out


@pytest.mark.slow
def test_where_nobody_serves_a_run_asked_for_now_is_executed_here(assay: CommandLine) -> None:
    added(assay, "--scope", "quick")

    first = assay.run("schedule", "run", "logs", "--quiet")
    (assay.notes / "meridian.md").write_text(NOTES["meridian.md"].replace("30", "90"))
    second = assay.run("schedule", "run", "logs", "--json", "--quiet")

    assert first.code == 0, first.err
    assert "30 days" in first.out
    assert second.code == 0, second.err
    assert second.json["status"] == "completed"
    changes = assay.home / "reports" / second.json["run_id"] / "changes.md"
    assert f"assay: what changed since logs-{second.json['run_id'][5:13]}" in second.err
    assert str(changes) in second.err
    assert "30 days → 90 days" in changes.read_text()
    assert "claims: 1 changed" in assay.look("schedule", "show", "logs").out
