"""The command line without a run: how quick it is, what it refuses, what it leaves behind."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import get_args

import pytest
import typer
from typer.testing import CliRunner

from flows import terminal
from flows.boundary import exit_code
from flows.cli import app
from flows.commands import running
from flows.runs import principal
from flows.settings import load_settings
from tests.flows.command_line import PROGRAM, ROOT, CommandLine

HEAVY = {"prefect", "duckdb", "rich", "tantivy", "pydantic", "pydantic_settings", "httpx", "lxml"}


def invoke(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, arguments)
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture
def bare(tmp_path: Path) -> CommandLine:
    """Give the command line on a data folder that does not exist, with a folder of notes."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# A\n\nAudit logs are kept for 30 days.\n")
    return CommandLine(tmp_path / "home", notes)


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys, flows.cli\n"
        "try: flows.cli.app(['--help'])\nexcept SystemExit: pass\n"
        "print('LOADED', *sorted(m for m in sys.modules if '.' not in m))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )

    loaded = set(done.stdout.rpartition("LOADED ")[2].split())

    assert "research" in done.stdout
    assert not HEAVY & loaded


def test_help_is_quick(bare: CommandLine) -> None:
    def once() -> float:
        began = time.monotonic()
        subprocess.run([*PROGRAM, "--help"], env=bare.environment(), check=True, stdout=-3)
        return time.monotonic() - began

    assert min(once() for _ in range(4)) < 1.5, "something heavy is imported for it"


def commands() -> list[list[str]]:
    def walk(group: typer.Typer, path: list[str]) -> list[list[str]]:
        found = [
            [*path, command.name or command.callback.__name__.strip("_")]
            for command in group.registered_commands
            if command.callback
        ]
        for sub in group.registered_groups:
            assert sub.typer_instance is not None
            found += walk(sub.typer_instance, [*path, str(sub.name)])
        return found

    return walk(app, [])


def test_the_list_of_commands_fits_a_terminal() -> None:
    _, _, listed = invoke("--help")[1].partition("Commands:")

    assert "verify" in listed
    assert "..." not in listed


@pytest.mark.parametrize("path", commands(), ids=" ".join)
def test_no_help_shows_the_types_of_python(path: list[str]) -> None:
    _, out, _ = invoke(*path, "--help")

    assert not re.search(r"<(str|path|list\[.*|Path)>|\[\[", out), out


@pytest.mark.parametrize("path", commands(), ids=" ".join)
def test_every_command_s_help_shows_an_example(path: list[str]) -> None:
    code, out, _ = invoke(*path, "--help")

    assert code == 0
    (example,) = [line for line in out.splitlines() if "Example:" in line]
    assert example.startswith(f"  Example: assay {' '.join(path)}")
    assert out.partition(example)[2].startswith("\n\n"), "the example does not fit on a line"


@pytest.mark.parametrize("group", [str(each.name) for each in app.registered_groups])
def test_the_help_of_a_group_shows_an_example_of_one_of_its_commands(group: str) -> None:
    code, out, _ = invoke(group, "--help")

    assert code == 0
    (example,) = [line for line in out.splitlines() if "Example:" in line]
    assert example.split()[1:3] == ["assay", group]
    assert [group, example.split()[3]] in commands()
    assert out.partition(example)[2].startswith("\n\n"), "the example does not fit on a line"


@pytest.mark.parametrize("port", [0, 80, 1023, 65536])
def test_a_port_that_cannot_be_had_is_refused_in_words(port: int, assay_home: Path) -> None:
    code, _, err = invoke("serve", "--port", str(port))

    assert code == 2
    assert f"port {port}" in err
    assert "1024 to 65535" in err
    assert not assay_home.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["research"],
        ["research", "q", "--scope", "huge"],
        ["research", "q", "--stop-after", "tests"],
        ["paper2code", "x.md", "--stop-after", "round"],
        ["runs", "--limit", "0"],
        ["runs", "--limit", "many"],
        ["forget", "x"],
        ["review", "x", "perhaps"],
    ],
    ids=" ".join,
)
def test_a_wrong_command_line_is_a_usage_error(arguments: list[str]) -> None:
    code, out, err = invoke(*arguments)

    assert code == 2
    assert out == ""
    assert "Error" in err
    assert "Value error" not in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["research", "  ", "-s", "notes"], "the question is empty"),
        (["research", "What is it?"], "name a folder or file with --sources"),
        (["research", "What is it?", "-s", "missing"], "'missing': No such file"),
        (["research", "What is it?", "-s", "notes", "--run-id", "a b"], "a run id has"),
        (["research", "What is it?", "-s", "notes", "--max-rounds", "9"], "allows 1 to 4"),
        (["research", "What is it?", "-s", "notes", "--max-model-calls", "7"], "allows 8 to 24"),
        (["research", "q" * 1201, "-s", "notes"], "1200"),
        (["research", "What is it?", "-s", "bare"], "holds no document"),
        (["research", "What is it?", "-s", "notes", "-s", "binary"], "holds no document"),
        (["show", "nothing"], "there is no run 'nothing'"),
        (["show", "\x1b]0;title\x07"], "is no run id"),
        (["verify"], "name one run, or ask for --all"),
        (["sql", "SELECT 1"], "there are no runs yet"),
        (["policy", "set"], "say what to set"),
        (["policy", "set", "--principal", "a b"], "is no principal"),
        (["policy", "revoke", "--principal", "ada"], "does not name ada"),
        (["backup", "copy"], "there are no runs yet"),
    ],
)
def test_what_is_refused_leaves_nothing_behind(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    assay_home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, files in {
        "notes": {"a.md": b"Logs are kept."},
        "bare": {},
        "binary": {"b.md": b"\0\1\2" * 99},
    }.items():
        (tmp_path / name).mkdir()
        for file, data in files.items():
            (tmp_path / name / file).write_bytes(data)
    monkeypatch.chdir(tmp_path)

    code, out, err = invoke(*arguments)

    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
    assert "\x1b" not in err
    assert not assay_home.exists()


def test_an_error_is_an_object_for_scripts() -> None:
    code, out, _ = invoke("show", "nothing", "--json")

    assert code == 2
    assert re.search(r'"error": \{\s+"code": "NOT_FOUND",\s+"message": "there is no run', out)


def test_what_only_looks_makes_no_data_folder(assay_home: Path) -> None:
    assert invoke("runs")[:2] == (0, "")
    assert invoke("runs", "--json")[:2] == (0, "[]\n")
    assert invoke("policy", "show")[0] == 0
    assert invoke("doctor")[0] == 0
    assert "no Prefect server was running" in invoke("down")[1]
    assert not assay_home.exists()


def test_the_unexpected_is_one_line_and_a_redacted_log(
    monkeypatch: pytest.MonkeyPatch, assay_home: Path
) -> None:
    def explode() -> None:
        raise RuntimeError("broken with password=hunter2hunter2")

    monkeypatch.setattr("flows.commands.verifying.settings", explode)

    code, out, err = invoke("doctor")

    (log,) = (assay_home / "logs").glob("*.log")
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert str(log) in err
    assert "RuntimeError" in log.read_text()
    assert "hunter2" not in err + log.read_text()
    assert log.stat().st_mode & 0o077 == 0


def test_a_wrong_setting_names_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_STEPS_AT_ONCE", "none")

    code, _, err = invoke("runs")

    assert code == 2
    assert "ASSAY_STEPS_AT_ONCE" in err


@pytest.mark.parametrize(
    ("status", "answer", "code"),
    [
        ("completed", "answered", 0),
        ("completed", "conflicting-evidence", 0),
        ("completed", "insufficient-evidence", 5),
        ("completed", "needs-clarification", 5),
        ("failed", "", 1),
        ("cancelled", "", 1),
        ("waiting", "", 3),
        ("interrupted", "", 4),
    ],
)
def test_the_exit_code_says_what_a_run_came_to(status: str, answer: str, code: int) -> None:
    assert exit_code(status, answer) == code


def test_the_policy_is_written_shown_and_revoked(assay_home: Path) -> None:
    assert invoke("policy", "set", "--principal", "ada", "--principal", "bob")[0] == 0
    assert "ada, bob" in invoke("policy", "show")[1]
    assert "principals: ada" in invoke("policy", "revoke", "--principal", "bob")[1]
    assert "research is off" in invoke("policy", "revoke", "--principal", "ada")[1]
    assert invoke("policy", "set", "--everybody", "--principal", "ada")[0] == 2
    assert "principals: everybody" in invoke("policy", "set", "--everybody")[1]
    assert "research is off" in invoke("policy", "show")[1]
    assert "research is on" in invoke("policy", "set", "--enable")[1]
    assert assay_home.stat().st_mode & 0o077 == 0


def test_the_choices_are_those_of_a_request() -> None:
    from state import request
    from state.values.profiles import PROFILES

    assert get_args(running.Scope) == get_args(request.Scope)
    assert get_args(running.Kind) == get_args(request.ResearchType)
    assert get_args(running.Profile) == tuple(PROFILES)


@pytest.mark.parametrize("command", [["runs"], ["doctor"], ["down"], ["policy", "show"]], ids=str)
def test_a_file_is_no_data_folder(assay_home: Path, command: list[str]) -> None:
    assay_home.write_text("mine")

    code, _, err = invoke(*command)

    assert code == 2
    assert "ASSAY_HOME" in err
    assert assay_home.read_text() == "mine"


def test_a_folder_without_runs_stays_as_it_is(assay_home: Path) -> None:
    assay_home.mkdir(mode=0o700)

    assert invoke("runs")[0] == 0
    assert invoke("doctor")[0] == 0
    assert invoke("sql", "SELECT 1")[0] == 2
    assert list(assay_home.iterdir()) == []


# ---- what reaches the terminal


def test_nothing_harmful_reaches_the_terminal() -> None:
    shown = terminal.clean(
        "a\x1b[31mred\x1b]0;t\x07 \x9b1m \u202eabc\u2066 \r\n\tkey sk-abcdefgh12345"
    )

    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)
    assert "\n\t" in shown
    assert "[REDACTED]" in shown


def test_json_stays_json_and_harmless() -> None:
    import json

    text = terminal.as_json({"a": "\x1b[31m\x9b\u202e", "token": "abc", "ü": [1, None]})

    assert json.loads(text) == {"a": "\x1b[31m\x9b\u202e", "token": "[REDACTED]", "ü": [1, None]}
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)
    assert "ü" in text


def test_a_cell_is_one_short_line() -> None:
    assert terminal.one_line("a\n b\t c") == "a b c"
    assert len(terminal.one_line("x" * 1000)) == 400


def test_an_empty_setting_is_as_good_as_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_HOME", "")

    assert load_settings().home != tmp_path


def test_a_data_folder_whose_name_is_no_text_is_refused(bare: CommandLine) -> None:
    odd = os.fsdecode(os.fsencode(bare.home) + b"\xff")

    ran = bare.run("research", "What?", "-s", str(bare.notes), env={"ASSAY_HOME": odd})

    assert (ran.code, ran.out) == (2, "")
    assert "not valid UTF-8" in ran.err
    assert not Path(odd).exists()


def test_a_user_without_a_home_folder_is_told_what_to_set(
    bare: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(_: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", unknown)

    code, out, err = invoke("runs")

    assert (code, out) == (2, "")
    assert "set ASSAY_HOME" in err


def test_a_user_without_a_name_can_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 2_000_123_456)

    assert principal() == "uid-2000123456"


def test_a_query_from_a_closed_stdin_is_refused(bare: CommandLine) -> None:
    (bare.home / "runs").mkdir(parents=True)
    done = subprocess.run(
        ["sh", "-c", '"$@" <&-', "sh", *PROGRAM, "sql", "-"],
        env=bare.environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert (done.returncode, done.stdout) == (2, "")
    assert "stdin is closed" in done.stderr
