"""Following a run: each line says how the run stood then, not how it stands in the end."""

from pathlib import Path

import pytest

from flows.settings import Settings
from flows.wiring import make_desk
from state.envelope import Refs
from state.events import Event, draft
from state.run_events import RunStarted
from state.values.evidence import Coverage
from tests.flows.command_line import CommandLine
from tests.state.builders import leased, planned, queued, research_started, text_source
from tests.state.method_builders import coverage, evidence, reading, schedule


@pytest.fixture
def line(tmp_path: Path) -> CommandLine:
    made = CommandLine(tmp_path / "home", tmp_path)
    desk = make_desk(Settings(home=made.home))
    open_rows = [{"subquestion_id": id_, "coverage": Coverage.GAP} for id_ in ("q1", "q2")]
    first: list[Event] = [queued("r1"), research_started(run_id="r1"), leased(), RunStarted()]
    desk.ledger.append("r1", [draft(event) for event in first])
    rest: list[Event] = [
        planned(), schedule(1), reading(1), coverage(1, rows=open_rows),
        schedule(2), reading(2), text_source(), evidence(round=2), coverage(2, new_evidence=1),
    ]  # fmt: skip
    for number, event in enumerate(rest):
        desk.ledger.append("r1", [draft(event, Refs("t/1", f"c{number}"))])
    return made


def test_each_round_is_told_with_its_own_figures(line: CommandLine) -> None:
    told = line.look("watch", "r1").out.splitlines()

    rounds = [each.split("  ", 1)[1] for each in told if "covered" in each]
    assert rounds == [
        "round 1: 0 of 2 subquestions covered, 0 quotes from 0 sources",
        "round 2: 1 of 2 subquestions covered, 1 quote from 1 source",
    ]
