"""A run is named by its id, or by the beginning of it where only one begins so."""

from pathlib import Path

import pytest

from flows.naming import run_id_of
from flows.runs import request_of, submit
from flows.settings import Settings
from flows.wiring import Desk, make_desk
from state.errors import NotFound
from state.values.errors import InvalidRequest
from tests.flows.command_line import CommandLine

RUNS = ("20260102-1015-a1", "20260102-1015-a1b2", "20260103-0900-c3", "mine")


@pytest.fixture
def line(tmp_path: Path) -> CommandLine:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# A\n\nLogs are kept.\n")
    made = CommandLine(tmp_path / "home", tmp_path / "notes")
    desk = desk_of(made)
    for run_id in RUNS:
        submit(desk, request_of(desk, "What is kept?", sources=[made.notes], run_id=run_id))
    return made


def desk_of(line: CommandLine) -> Desk:
    return make_desk(Settings(home=line.home))


@pytest.mark.parametrize(
    ("given", "meant"),
    [("mine", "mine"), ("m", "mine"), ("20260103", RUNS[2]), (RUNS[0], RUNS[0]),
     (RUNS[1], RUNS[1])],
)  # fmt: skip
def test_a_run_is_found_by_its_id_or_its_beginning(
    line: CommandLine, given: str, meant: str
) -> None:
    assert run_id_of(desk_of(line), given) == meant


def test_several_that_begin_so_are_listed(line: CommandLine) -> None:
    with pytest.raises(InvalidRequest, match="2 runs begin") as caught:
        run_id_of(desk_of(line), "20260102-")

    assert RUNS[0] in caught.value.message
    assert RUNS[1] in caught.value.message


@pytest.mark.parametrize("given", ["else", "minee", "M"])
def test_none_that_begins_so_is_not_found(line: CommandLine, given: str) -> None:
    with pytest.raises(NotFound, match=f"no run '{given}'"):
        run_id_of(desk_of(line), given)


@pytest.mark.parametrize(
    "command",
    [["show", "{}", "--json"], ["review", "{}", "--json"], ["verify", "{}", "--json"],
     ["cancel", "{}", "--json"], ["export", "{}", "--json", "--to", "there"]],
    ids=lambda command: command[0],
)  # fmt: skip
def test_every_command_takes_the_beginning_of_a_run(
    line: CommandLine, command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def given(run: str) -> list[str]:
        return [run if each == "{}" else each for each in command]

    unclear, begun = line.look(*given("20260102")), line.look(*given("mi"))

    assert '"mine"' in begun.out or "'mine'" in begun.out
    assert unclear.code == 2
    assert RUNS[0] in unclear.out


def test_what_is_deleted_for_good_is_named_in_full(line: CommandLine) -> None:
    assert line.look("cancel", "mi").code == 0

    refused = line.look("forget", "mi", "--reason", "asked for", "--yes")

    assert refused.code == 2
    assert "in full" in refused.err
    assert line.look("forget", "mine", "--reason", "asked for", "--yes").code == 0
