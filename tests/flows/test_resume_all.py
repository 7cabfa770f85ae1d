"""`assay resume --all`: what a crash left goes on, and what a person left does not."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.runs import request_of, submit
from flows.settings import Settings
from flows.wiring import make_desk
from state.events import Holder, draft
from state.run_events import RunLeased, RunStarted
from tests.flows.command_line import NOTES, QUESTION, CommandLine
from tests.migrated import with_database

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture
def assay(tmp_path: Path) -> Iterator[CommandLine]:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name, text in NOTES.items():
        (notes / name).write_text(text)
    line = CommandLine(with_database(tmp_path / "home"), notes)
    yield line
    line.look("down")


def test_what_a_crash_left_goes_on_and_what_a_person_left_does_not(assay: CommandLine) -> None:
    desk = make_desk(Settings(home=assay.home))
    for run_id in ("lost", "lost-too"):
        submit(desk, request_of(desk, QUESTION, sources=[assay.notes], run_id=run_id))
        leased = RunLeased(epoch=1, holder=Holder(pid=1, host="elsewhere"))
        desk.ledger.append(run_id, [draft(leased), draft(RunStarted())])
    assay.research("--run-id", "stopped", "--stop-after", "plan", "--quiet")
    assay.research("--run-id", "asks", "--review", "--quiet")

    ran = assay.run("resume", "--all", "--quiet")
    again = assay.run("resume", "--all", "--json")

    assert ran.code == 0, ran.err
    assert ran.out.split() == [*"lost completed answered lost-too completed answered".split()]
    assert "stopped is left as it is: stopped after the plan, as asked" in ran.err
    assert "asks is left as it is: it waits for a person" in ran.err
    assert again.json == []


@pytest.mark.parametrize("given", [[], ["r1", "--all"]])
def test_either_one_run_or_all_of_them(assay: CommandLine, given: list[str]) -> None:
    ran = assay.look("resume", *given)

    assert ran.code == 2
    assert "--all" in ran.err
