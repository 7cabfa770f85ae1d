"""`assay down` ends no server that a run is using, unless it is made to."""

from pathlib import Path

import pytest

from flows.runs import request_of, submit
from flows.server import in_use
from flows.settings import Settings
from flows.wiring import make_desk
from tests.flows.command_line import CommandLine


@pytest.fixture
def line(tmp_path: Path) -> CommandLine:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# A\n\nLogs are kept.\n")
    made = CommandLine(tmp_path / "home", tmp_path / "notes")
    (made.home / "prefect").mkdir(parents=True)
    return made


def test_a_server_that_a_run_uses_is_left_alone_and_the_run_is_named(line: CommandLine) -> None:
    desk = make_desk(Settings(home=line.home))
    submit(desk, request_of(desk, "What is kept?", sources=[line.notes], run_id="busy"))

    with in_use(line.home), desk.ledger.lease("busy", command="assay research"):
        refused = line.look("down")
        forced = line.look("down", "--force")

    assert refused.code == 2
    assert "in use by 1 run: busy" in refused.err
    assert forced.code == 0
    assert line.look("down").code == 0


def test_a_server_that_a_command_uses_is_left_alone(line: CommandLine) -> None:
    with in_use(line.home):
        refused = line.look("down")

    assert refused.code == 2
    assert "in use by a command" in refused.err
