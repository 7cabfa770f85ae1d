"""`assay stats`: answers, listings and descriptions on stdout, and clear refusals."""

import os
import pty
import re
import struct
import subprocess
import termios
from fcntl import ioctl
from pathlib import Path

import pytest

from flows.step import _jsonable
from state.journal import JOURNAL, run_folder
from state.questions import questions
from state.values.ids import canonical_json, sha256_hex
from tasks.read import ReadInput
from tasks.search import SearchInput
from tests.flows.command_line import PROGRAM, CommandLine
from tests.state.builders import plan
from tests.state.many_runs import TEMPLATES, make_runs
from tests.state.stories import Clock, Story, open_ledger

NAMES = tuple(questions())


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Give the command line on a ledger with some runs of each kind."""
    home = tmp_path_factory.mktemp("stats") / "home"
    make_runs(home, 2 * TEMPLATES)
    return CommandLine(home, home)


@pytest.fixture
def bare(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path / "home", tmp_path)


def on_terminal(line: CommandLine, columns: int, *arguments: str) -> str:
    """Return what the command shows on a terminal of so many columns."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    env = {k: v for k, v in line.environment().items() if k not in ("COLUMNS", "LINES")}
    with subprocess.Popen(
        [*PROGRAM, *arguments], env=env, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                data = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            shown += data
        process.wait(60)
    os.close(ours)
    return re.sub(r"\x1b\[[0-9;]*m", "", shown.decode().replace("\r\n", "\n"))


def test_the_questions_are_listed_with_what_they_answer(bare: CommandLine) -> None:
    ran = bare.look("stats")

    names = [row.split("\t")[0] for row in ran.out.splitlines()]
    assert (ran.code, names) == (0, ["question", *NAMES])
    assert [each["question"] for each in bare.look("stats", "--json").json["questions"]] == [*NAMES]
    assert not bare.home.exists()


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_states_its_period_and_its_runs(many: CommandLine, name: str) -> None:
    ran = many.look("stats", name, "--since", "2026-01-05")

    title, about, blank, *table = ran.out.splitlines()
    assert (ran.code, ran.err, blank) == (0, "", "")
    assert title == questions()[name].title
    assert about == "48 runs asked for from 2026-01-05 (2026-01-05 to 2026-05-02; UTC)."
    assert len({line.count("\t") for line in table if "\t" in line}) == 1


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_for_programs_is_one_object(many: CommandLine, name: str) -> None:
    found = many.look("stats", name, "--json").json

    columns = [column["name"] for column in found["columns"]]
    assert (found["question"], found["runs"], found["left_out"]) == (name, 48, {})
    assert found["period"]["since"] is None
    assert found["period"]["first_run"] == "2026-01-05T08:00:00.000Z"
    assert found["rows"]
    assert all(list(row) == columns for row in found["rows"])


@pytest.mark.parametrize("columns", [80, 120])
def test_tables_fit_the_terminal(many: CommandLine, columns: int) -> None:
    for name in ("models", "readings", "stuck", "slowest", "outcomes"):
        shown = on_terminal(many, columns, "stats", name)

        lines = shown.splitlines()
        assert max(map(len, lines)) <= min(columns, 100), shown
        assert any(line.startswith("───") for line in lines)


def test_figures_have_units_and_stand_at_the_right(many: CommandLine) -> None:
    shown = on_terminal(many, 100, "stats", "providers").splitlines()

    rule = next(line for line in shown if line.startswith("───"))
    ends = [match.end() for match in re.finditer("─+", rule)]
    rows = shown[shown.index(rule) + 1 :][:3]
    assert all(re.search(r"\d+\.\d%", row) and re.search(r"\d+ ms", row) for row in rows)
    assert all(row[ends[1] - 1].isdigit() and row[ends[3] - 1] == "%" for row in rows)


def test_without_any_runs_the_answer_is_that_there_are_none(bare: CommandLine) -> None:
    ran = bare.look("stats", "cost")
    found = bare.look("stats", "cost", "--json").json

    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[1] == "No runs: there are none yet."
    assert (found["runs"], found["rows"]) == (0, [])
    assert not bare.home.exists()


def test_a_period_without_runs_is_said_to_be_so(many: CommandLine) -> None:
    ran = many.look("stats", "cost", "--since", "2027-01-01", "--until", "2027-01-31")

    assert ran.code == 0
    assert ran.out.splitlines()[1:] == [
        "No runs: none was asked for from 2027-01-01 and before 2027-02-01."
    ]


def test_runs_without_an_answer_are_said_to_have_none(bare: CommandLine) -> None:
    clock = Clock()
    Story(open_ledger(bare.home, clock), clock, "r1").queued()

    lines = bare.look("stats", "reviews").out.splitlines()

    assert lines[1:] == [
        "1 run, asked for on 2026-01-02 (UTC).",
        "",
        "No plan was put before a person.",
    ]


def test_the_last_days_are_counted_from_now(many: CommandLine) -> None:
    assert many.look("stats", "outcomes", "--last", "36500", "--json").json["runs"] == 48
    assert many.look("stats", "outcomes", "--last", "1", "--json").json["runs"] == 0


@pytest.mark.parametrize("name", NAMES)
def test_the_sql_that_is_shown_can_be_asked(many: CommandLine, name: str) -> None:
    text = many.look("stats", name, "--sql", "--until", "2026-03-01").out

    answer = many.look("sql", "-", "--json", given=text)

    assert answer.code == 0, answer.err
    assert len(answer.json) == len(
        many.look("stats", name, "--until", "2026-03-01", "--json").json["rows"]
    )


def test_sql_is_shown_without_any_runs(bare: CommandLine) -> None:
    assert "FROM model_calls" in bare.look("stats", "models", "--sql", "--json").json["sql"]
    assert not bare.home.exists()


def test_columns_are_explained(bare: CommandLine) -> None:
    every = bare.look("stats", "--columns").out
    one = bare.look("stats", "--columns", "stages").out
    (found,) = bare.look("stats", "--columns", "stages", "--json").json["views"]

    assert "stages: One row a stage of a run" in every
    assert "input_hash\tSHA-256 of its input" in every
    assert one.splitlines()[2:4] == ["column\twhat it holds", "run_id\tthe run"]
    assert [column["name"] for column in found["columns"]][:2] == ["run_id", "stage"]
    assert not bare.home.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["provider"], "the nearest: providers"),
        (["x'; DROP TABLE events"], "there is no question"),
        (["\x1b]0;title\x07"], "there is no question"),
        (["cost", "--since", "soon"], "--since 'soon' is no date"),
        (["cost", "--since", "2026-01-02", "--last", "3"], "not both"),
        (["cost", "--since", "2026-02-01", "--until", "2026-01-01"], "before it begins"),
        (["--last", "3"], "name the question"),
        (["--columns", "nothing"], "there is no view 'nothing'"),
        (["--columns", "runs", "--sql"], "--columns goes with"),
    ],
    ids=str,
)
def test_what_cannot_be_answered_is_refused(
    bare: CommandLine, arguments: list[str], said: str
) -> None:
    ran = bare.look("stats", *arguments)
    error = bare.look("stats", *arguments, "--json").json["error"]

    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert "\x1b" not in ran.err
    assert error["code"] == "INVALID_REQUEST"
    assert said in error["message"]


@pytest.mark.parametrize("days", ["0", "-1", "many", "99999999999"])
def test_a_number_of_days_that_is_none_is_a_usage_error(bare: CommandLine, days: str) -> None:
    assert bare.look("stats", "cost", "--last", days).code == 2


def test_a_damaged_run_is_named_and_left_out(bare: CommandLine) -> None:
    clock = Clock()
    ledger = open_ledger(bare.home, clock)
    for run_id in ("good", "bad"):
        Story(ledger, clock, run_id).queued().started().plan(plan())
    journal = run_folder(bare.home, "bad") / JOURNAL
    journal.write_bytes(journal.read_bytes().replace(b"run_started", b"run_STARTED"))

    ran = bare.look("stats", "outcomes")
    found = bare.look("stats", "outcomes", "--json").json

    assert ran.out.splitlines()[1].startswith("1 run,")
    assert "run bad is left out, it is damaged" in ran.err
    assert (found["runs"], list(found["left_out"])) == (1, ["bad"])


def test_hostile_text_is_harmless_on_the_terminal(bare: CommandLine) -> None:
    clock = Clock()
    question = "\x1b[31mred\x07 \u202e key sk-" + "a1B2c3D4e5F6"
    Story(open_ledger(bare.home, clock), clock, "r1").queued(question=question)

    shown = on_terminal(bare, 100, "stats", "stuck")

    assert "\ufffd[31mred\ufffd" in shown
    assert not re.search("[\x07\x1b\u202e]|a1B2c3D4e5F6", shown)


def test_a_question_about_a_thousand_runs_takes_seconds_of_work(tmp_path: Path) -> None:
    line = CommandLine(tmp_path / "home", tmp_path)
    make_runs(line.home, 1000)
    line.look("stats", "outcomes")  # takes the journals in

    def spent() -> float:
        """Return the processor time of ended children: how busy the machine is, is not ours."""
        return os.times().children_user + os.times().children_system

    before = spent()
    ran = line.run("stats", "cited")

    assert "All 1,000 runs" in ran.out
    assert spent() - before < 6


def test_the_views_know_how_searches_and_readings_are_recorded(bare: CommandLine) -> None:
    asked = SearchInput(query='"x" ü', subquestion_id="q1", provider="local")
    opened = ReadInput(locator="/notes/ü.md")
    clock = Clock()
    ledger = open_ledger(bare.home, clock)
    story = Story(ledger, clock, "r1").queued().started().plan(plan(ids=["q1"]))
    story.scheduled(1, {asked.query: "q1"}).reading(1, [opened.locator])
    story.step("search", canonical_json(_jsonable(asked)))
    story.step("read", canonical_json(_jsonable(opened)))

    found = ledger.query("SELECT provider, query, locator FROM searches, readings").rows

    assert found == (("local", asked.query, opened.locator),)
    assert sha256_hex(canonical_json(_jsonable(asked))) in str(ledger.query("FROM steps").rows)
