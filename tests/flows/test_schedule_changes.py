"""What changed from slot to slot: told once, to the same bytes by whoever tells it, and kept."""

import asyncio
import json
from datetime import timedelta
from pathlib import Path

import pytest

from adapters.documents.direct import DirectConverter
from flows.answering import answer_review
from flows.backup import back_up
from flows.composing import compose_request
from flows.keeping import collect, forget
from flows.report_changes import changes_files
from flows.runs import cancel, execute
from flows.runs import retry as queue_retry
from flows.schedule_keeping import schedule_lines
from flows.scheduled import look_once
from flows.schedules import Schedules
from flows.settings import Settings
from flows.wiring import Desk, make_desk
from state.schedule import SlotRecord
from state.schedule_events import RecordedChanges
from tests.annex import QUESTION as ANNEX_QUESTION
from tests.annex import serving
from tests.flows.command_line import CommandLine
from tests.flows.test_local_run import desk_at
from tests.flows.test_schedules import BEGAN, let_go, looker
from tests.flows.world import Clock

pytestmark = pytest.mark.usefixtures("prefect_server")
QUESTION = "How many passengers does the Ostra ferry carry?"
FERRY = "# The Ostra ferry\n\nThe Ostra ferry carries {} passengers.\n"


class Daily:
    """A question about notes that is asked every day at six."""

    def __init__(self, home: Path, notes: Path, *, added: bool = True) -> None:
        self.notes = notes
        self.clock = Clock(BEGAN)
        self.desk: Desk = desk_at(home)
        self.desk.now = self.clock
        self.schedules = Schedules(self.desk)
        if added:
            notes.mkdir()
            self.say(120)
            request = compose_request(QUESTION, sources=[notes], now=BEGAN, scope="quick")
            self.schedules.add("ferry", request, cron="0 6 * * *")

    def say(self, passengers: int) -> None:
        (self.notes / "ferry.md").write_text(FERRY.format(passengers))

    def begin(self) -> str:
        """Let a day pass and start its slot; return the run."""
        self.clock.advance(days=1)
        return self.schedules.look("ferry").to_execute

    def run(self) -> str:
        """Let a day pass, and execute its slot but for what comes after the run."""
        run_id = self.begin()
        assert execute(self.desk, run_id).status == "completed"
        return run_id

    def told(self) -> SlotRecord:
        """Look, and return the last slot."""
        self.schedules.look("ferry")
        return self.schedules.get("ferry").ended()[0]

    def folder(self, run_id: str) -> Path:
        return self.desk.reports / run_id


def changes_of(record: SlotRecord) -> RecordedChanges:
    assert record.ended is not None
    assert record.ended.changes is not None
    return record.ended.changes


@pytest.fixture
def daily(assay_home: Path, tmp_path: Path) -> Daily:
    return Daily(assay_home, tmp_path / "notes")


def test_each_report_after_the_first_comes_with_what_changed(daily: Daily) -> None:
    first = daily.run()
    alone = daily.told()
    daily.say(150)
    second = daily.run()
    report = (daily.folder(second) / "report.md").read_bytes()
    changed = daily.told()
    third = daily.run()
    same = daily.told()

    assert alone.ended is not None
    assert alone.ended.changes is None
    assert not (daily.folder(first) / "changes.md").exists()
    changes = changes_of(changed)
    assert (changes.against, changes.anything, changes.counts.changed) == (first, True, 1)
    assert changes.counts.changed_sources == 1
    assert "120 → 150" in (daily.folder(second) / "changes.md").read_text()
    told = json.loads((daily.folder(second) / "changes.json").read_text())
    assert (told["changed"], told["before"]["run_id"]) == (True, first)
    assert (daily.folder(second) / "report.md").read_bytes() == report
    assert (changes_of(same).against, changes_of(same).anything) == (second, False)
    assert "**Nothing changed.**" in (daily.folder(third) / "changes.md").read_text()

    # Whoever computes it again comes to the same bytes.
    files = changes_files(daily.desk, first, second)
    assert files.markdown == (daily.folder(second) / "changes.md").read_bytes()
    assert files.data == (daily.folder(second) / "changes.json").read_bytes()
    assert files.markdown == daily.desk.artifacts.get(changes.markdown)


def test_what_changed_is_shown_with_the_history_of_the_schedule(
    daily: Daily, assay_home: Path
) -> None:
    daily.run()
    daily.told()
    daily.say(150)
    daily.run()
    daily.told()
    line = CommandLine(assay_home, daily.notes)

    shown = line.look("schedule", "show", "ferry")
    listed = line.look("schedule", "list")
    said = line.look("schedule", "show", "ferry", "--json").json

    assert "claims: 1 changed; sources: 1 changed" in shown.out
    assert "completed, answered" in shown.out
    assert "'assay serve' is not running" in shown.err
    assert "claims: 1 changed" in listed.out
    assert [slot["status"] for slot in said["slots"]] == ["completed", "completed"]
    assert said["slots"][0]["changes"]["changed"] == 1
    assert said["slots"][0]["against"] == said["slots"][1]["run_id"]


@pytest.mark.parametrize("moment", ["archived", "recorded"])
def test_what_changed_is_told_once_when_whoever_tells_it_is_killed(
    daily: Daily, assay_home: Path, moment: str
) -> None:
    """Cases: B3 34."""
    daily.run()
    daily.told()
    daily.say(150)
    run_id = daily.run()

    begin = (daily.clock() - timedelta(minutes=1)).isoformat()
    assert let_go([looker(assay_home, "ferry", begin, "1", moment)]) == [-9]
    assert not (daily.folder(run_id) / "changes.md").exists()
    record = daily.told()

    assert record.run_id == run_id
    assert "120 → 150" in (daily.folder(run_id) / "changes.md").read_text()
    kinds = [line.envelope.type for line in daily.schedules.ledger.read("ferry")]
    assert kinds.count("slot_ended") == 2


def test_a_slot_is_compared_with_the_last_one_that_has_a_report(daily: Daily) -> None:
    first = daily.run()
    failed = daily.begin()
    cancel(daily.desk, failed, "not today")
    daily.say(150)
    daily.run()

    assert changes_of(daily.told()).against == first


def test_a_retry_that_completes_mends_the_slot_of_the_run_it_goes_on_from(daily: Daily) -> None:
    first = daily.run()
    daily.told()
    cancel(daily.desk, daily.begin(), "by mistake")
    before = daily.told()
    daily.say(150)
    attempt = queue_retry(daily.desk, before.run_id).run_id
    execute(daily.desk, attempt)

    mended = daily.told()

    assert (before.ended and before.ended.outcome) == "cancelled"
    assert mended.slot == before.slot
    assert (mended.ended and mended.ended.run_id) == attempt
    assert changes_of(mended).against == first
    assert (daily.folder(attempt) / "changes.md").is_file()


def test_a_file_in_the_place_of_the_changes_stays_and_is_complained_of(daily: Daily) -> None:
    daily.run()
    daily.told()
    run_id = daily.run()
    (daily.folder(run_id) / "changes.json").write_text("mine")

    problem = daily.schedules.look("ferry").problem

    assert "changes.json holds something else and is not overwritten" in problem
    assert (daily.folder(run_id) / "changes.json").read_text() == "mine"
    assert (daily.folder(run_id) / "changes.md").is_file()


# ---- kept


def test_changes_are_kept_copied_and_forgotten_with_a_run_that_they_quote(
    daily: Daily, tmp_path: Path, assay_home: Path
) -> None:
    first = daily.run()
    daily.told()
    daily.say(150)
    second = daily.run()
    changes = changes_of(daily.told())

    collect(daily.desk, grace_hours=0)
    assert daily.desk.artifacts.has(changes.markdown)
    made = back_up(daily.desk, tmp_path / "copy")
    assert made.problems == ()
    copy = Daily(tmp_path / "copy", daily.notes, added=False)
    assert schedule_lines(copy.desk) == schedule_lines(daily.desk)
    assert copy.desk.artifacts.get(changes.data) == daily.desk.artifacts.get(changes.data)
    assert (copy.folder(second) / "changes.md").is_file()
    line = CommandLine(assay_home, daily.notes)
    assert "1 schedule, 7 events: sound" in line.look("ledger", "verify").out

    forget(daily.desk, first, "asked for by the author")

    assert not daily.desk.artifacts.has(changes.markdown)
    assert not daily.desk.artifacts.has(changes.data)
    assert not (daily.folder(second) / "changes.md").exists()
    assert (daily.folder(second) / "report.md").is_file()
    record = daily.told()
    assert record.withheld == "asked for by the author"
    assert not (daily.folder(second) / "changes.md").exists()
    assert "changes withheld" in line.look("schedule", "show", "ferry").out
    daily.run()
    assert changes_of(daily.told()).against == second


def test_verify_tells_of_changes_that_are_not_what_was_recorded(
    daily: Daily, assay_home: Path
) -> None:
    daily.run()
    daily.told()
    daily.say(150)
    run_id = daily.run()
    changes = changes_of(daily.told())
    line = CommandLine(assay_home, daily.notes)
    before = line.look("verify", run_id)
    (daily.folder(run_id) / "changes.md").write_text("nothing to see here")
    daily.desk.artifacts.delete(changes.data)

    after = line.look("verify", run_id)

    assert (before.code, "FAILED" in before.out) == (0, False)
    assert after.code == 1
    assert "FAILED changes: " in after.out
    assert "changes.md is not what was recorded" in after.out
    assert "changes.json: " in after.out


def test_changes_that_were_lost_are_computed_again(daily: Daily) -> None:
    daily.run()
    daily.told()
    daily.say(150)
    run_id = daily.run()
    changes = changes_of(daily.told())
    written = (daily.folder(run_id) / "changes.md").read_bytes()

    daily.desk.artifacts.delete(changes.markdown)
    (daily.folder(run_id) / "changes.md").unlink()
    daily.told()

    assert (daily.folder(run_id) / "changes.md").read_bytes() == written
    assert daily.desk.artifacts.get(changes.markdown) == written


# ---- the web


def test_a_second_run_asks_for_pages_only_if_they_are_other_by_now(
    assay_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving() as annex:
        monkeypatch.setenv("ASSAY_SEARXNG_URL", annex.a)
        monkeypatch.setenv("ASSAY_SERVICES", ",".join(annex.origins))
        clock = Clock(BEGAN)
        settings = Settings(home=assay_home, services=annex.origins, searxng_url=annex.a)
        desk = make_desk(settings, now=clock)
        desk.converter = DirectConverter
        schedules = Schedules(desk)
        request = compose_request(
            ANNEX_QUESTION, search=["searxng"], origins=annex.origins, now=BEGAN
        )
        schedules.add("annex", request, cron="0 6 * * *")

        reports = []
        for day in range(3):
            annex.days = 30 if day < 2 else 45
            annex.sent.clear()
            annex.unchanged.clear()
            clock.advance(days=1)
            result = execute(desk, schedules.look("annex").to_execute)
            schedules.look("annex")
            reports.append((result, sorted(set(annex.sent)), sorted(set(annex.unchanged))))

        (first, sent, unchanged), (second, sent_again, same), (third, sent_anew, _) = reports
        assert first.answer_status == second.answer_status == "answered"
        assert {path for _, path in sent} == {"/pavo", "/meridian"}
        assert unchanged == []
        assert sent_again == [], "nothing that is the same is sent again"
        assert same == sent, "and each of the pages was asked for"
        assert {path for _, path in sent_anew} == {"/meridian"}
        assert third.answer_status == "answered"
        records = schedules.get("annex").ended()
        assert [changes_of(record).anything for record in records[:2]] == [True, False]
        text = (desk.reports / third.run_id / "changes.md").read_text()
        assert "30 days → 45 days" in text


# ---- waiting, and looks from Prefect


def test_a_slot_waits_while_the_run_before_it_waits_for_a_person(
    assay_home: Path, tmp_path: Path
) -> None:
    """Cases: B4 50."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "ferry.md").write_text(FERRY.format(120))
    daily = Daily(assay_home, notes, added=False)
    request = compose_request(QUESTION, sources=[notes], now=BEGAN, scope="quick", plan_review=True)
    daily.schedules.add("ferry", request, cron="0 6 * * *")

    first = daily.begin()
    assert execute(daily.desk, first).status == "waiting"
    assert daily.begin() == ""
    assert daily.begin() == ""
    answer_review(daily.desk, first, "approve", by="ann", channel="test")
    assert execute(daily.desk, first).status == "completed"
    second = daily.schedules.look("ferry").to_execute

    schedule = daily.schedules.get("ferry")
    assert second == "ferry-20260304T0600Z"
    assert schedule.slots["20260303T0600Z"].reason == "superseded"


def test_the_recovery_of_prefect_looks_at_schedules_too(daily: Daily) -> None:
    daily.clock.advance(days=1)

    lines = asyncio.run(look_once(daily.desk))
    again = asyncio.run(look_once(daily.desk))

    assert lines == ["schedule ferry: slot 20260302T0600Z is due; slot 20260302T0600Z starts"]
    assert again == []
    assert daily.desk.ledger.runs() == ["ferry-20260302T0600Z"]
