"""The command line making code: a real model server on loopback, real processes, a real sandbox."""

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.models.chat.openai_server import Hang, serving
from tests.flows.code_answerer import CodeAnswerer, fenced
from tests.flows.code_world import PAPER, SMOOTHER, TEST, WRONG
from tests.flows.command_line import NOTES, PROGRAM, CommandLine, Ran, Terminal
from tests.flows.test_paper2code import git, needs_sandbox
from tests.migrated import with_database

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("code command line"), needs_sandbox]
WRITING = {"write", "tests", "document"}
WORSE = WRONG.replace("self.t += 1", "self.t = self.t + 1")


@pytest.fixture(scope="module")
def model() -> CodeAnswerer:
    return CodeAnswerer()


@pytest.fixture(autouse=True)
def honest(model: CodeAnswerer) -> None:
    """Let no test's lies reach the next, and count from the start."""
    model.lies.clear()
    model.asked.clear()


@pytest.fixture(scope="module")
def assay(tmp_path_factory: pytest.TempPathFactory, model: CodeAnswerer) -> Iterator[CommandLine]:
    folder = tmp_path_factory.mktemp("assay-code")
    (folder / "notes").mkdir()
    for name, text in NOTES.items():
        (folder / "notes" / name).write_text(text)
    with serving(answer=model) as server:
        settings = {
            "ASSAY_MODEL": "served",
            "ASSAY_MODEL_URL": server.base_url,
            "ASSAY_MODEL_CONTEXT": "32768",  # a small one is asked for less
        }
        made = CommandLine(with_database(folder / "home"), folder / "notes", settings)
        yield made
        made.look("down")


def paper(assay: CommandLine, run_id: str = "done") -> Path:
    """Return a paper that no other run is made from: so nothing is answered from what was kept."""
    folder = assay.home.parent / "papers"
    folder.mkdir(exist_ok=True)
    path = folder / f"{run_id}.md"
    path.write_text(f"{PAPER}\n## Copy\n\nThis is the copy for {run_id}.\n")
    return path


def workspace(assay: CommandLine, run_id: str) -> Path:
    return assay.home.parent / f"code of {run_id}"


def options(assay: CommandLine, run_id: str, *more: str) -> tuple[str, ...]:
    place = str(workspace(assay, run_id))
    return (
        "paper2code",
        str(paper(assay, run_id)),
        "--run-id",
        run_id,
        "--workspace",
        place,
        *more,
    )


@pytest.fixture(scope="module")
def mixed(assay: CommandLine) -> str:
    """Give the id of a completed run of code, in a home that also has research and a waiting one.

    They are made with `--model` where that differs from what the settings say.
    """
    assert assay.run(*options(assay, "done", "--no-review", "-q")).code == 0
    assert assay.run(*options(assay, "asks", "-q")).code == 3
    assert assay.research("--run-id", "notes", "--model", "extractive", "-q").code == 0
    return "done"


# ---- runs


def test_code_is_made_reported_and_delivered(assay: CommandLine) -> None:
    """Cases: A 1, A 8, C 23."""
    ran = assay.run(*options(assay, "first", "--no-review"))

    assert ran.code == 0
    assert ran.out.startswith("# A smoother with a correction\n")
    assert "Complete: every planned file is there" in ran.out
    assert "3 of 3 citations found in the source" in ran.err
    assert "attempt 0: passed; 1 tests executed, 1 passed" in ran.err
    assert f"code in {workspace(assay, 'first')}" in ran.err
    made = workspace(assay, "first")
    assert (made / "smoother.py").read_text() == SMOOTHER
    assert (made / "tests/test_smoother.py").read_text() == TEST
    assert git(made, "log", "--format=%s", "--reverse").splitlines()[0] == "Plan"


def test_the_same_command_again_makes_nothing_again(
    assay: CommandLine, model: CodeAnswerer, mixed: str
) -> None:
    model.asked.clear()

    again = assay.run(*options(assay, mixed, "--no-review", "--json"))
    other = assay.run(*options(assay, mixed, "--no-review", "--max-files", "9"))

    assert again.code == 0
    assert (again.json["status"], again.json["outcome"]) == ("completed", "complete")
    assert again.json["verifications"][-1]["executed"] == 1
    assert not {"coverage", "claims", "citations", "code", "reason"} & again.json.keys()
    assert other.code == 2
    assert "another request" in other.err
    assert model.asked == []


def test_two_commands_for_one_run_make_one(assay: CommandLine, model: CodeAnswerer) -> None:
    command = [*PROGRAM, *options(assay, "at-once", "--no-review", "--json", "-q")]
    started = [
        subprocess.Popen(
            command, env=assay.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    ended = [(*process.communicate(timeout=110), process.returncode) for process in started]

    assert any(code == 0 for *_, code in ended), ended
    for out, err, code in ended:
        assert "Traceback" not in err
        assert code in (0, 2), err
        if code == 2:
            assert "is being executed" in err + out
    assert len(model.asked) == len(set(model.asked))


def test_tests_that_do_not_pass_end_the_command_with_1_and_a_retry_goes_on(
    assay: CommandLine, model: CodeAnswerer
) -> None:
    """Cases: A 2, B 14, E 38."""
    model.lies["write"] = lambda prompt, honest: fenced(WRONG)
    model.lies["repair"] = lambda prompt, honest: (
        f"Cause: unsure.\n\nFile: smoother.py\n{fenced(WORSE)}"
    )

    ran = assay.run(*options(assay, "wrong", "--no-review", "--json", "-q", "--max-repairs", "1"))

    assert ran.code == 1
    assert (ran.json["status"], ran.json["code"]) == ("failed", "WORKFLOW_INCOMPLETE")
    assert "1 failed" in ran.json["reason"]
    assert len(ran.json["verifications"]) == 2
    assert "Incomplete" in (workspace(assay, "wrong") / "REPORT.md").read_text()
    model.lies.clear()
    model.asked.clear()

    again = assay.run("retry", "wrong", "-q", "--json")

    assert again.code == 0, again.out
    assert again.json["run_id"] == "wrong-attempt-2"
    assert model.asked == ["repair"]
    assert (workspace(assay, "wrong") / "smoother.py").read_text() == SMOOTHER
    assert assay.look("show", "wrong", "--json").json["status"] == "failed"


def test_ctrl_c_leaves_a_run_that_goes_on(assay: CommandLine, model: CodeAnswerer) -> None:
    """Cases: E 38, E 40."""
    model.lies["tests"] = lambda prompt, honest: Hang()

    ran = assay.signalled(
        signal.SIGINT, "wrote smoother.py", *options(assay, "stopped", "--no-review")
    )

    assert ran.code == 130
    assert "resume with: assay resume stopped" in ran.err
    assert not (workspace(assay, "stopped") / "smoother.py").exists()
    model.lies.clear()
    asked = list(model.asked)
    assert assay.run("resume", "stopped", "-q", "--json").json["outcome"] == "complete"
    assert sorted(model.asked[len(asked) :]) == ["document", "tests"]


def test_stop_after_the_plan_ends_with_4(assay: CommandLine, model: CodeAnswerer) -> None:
    ran = assay.run(*options(assay, "plan-only", "--no-review", "--stop-after", "plan", "--json"))

    assert ran.code == 4
    assert ran.json["reason"] == "stopped after the plan, as asked"
    assert not WRITING & set(model.asked)


# ---- the review


def test_at_a_terminal_nothing_is_written_before_an_answer(
    assay: CommandLine, model: CodeAnswerer
) -> None:
    """Cases: D 28, D 29, D 37."""
    asked = "[c]ancel > "
    terminal = Terminal(assay, *options(assay, "seat"))
    terminal.until("Plan 1: A smoother with a correction")
    terminal.until(asked)
    terminal.type("yes, do it\n")
    terminal.until(asked)
    still = assay.look("show", "seat", "--json").json
    asked_before = list(model.asked)
    terminal.type("r\n")
    terminal.until("What should change?")
    terminal.type("name the weight beta\n")
    terminal.until("Plan 2: A smoother with a correction")
    terminal.until("Changed since the last version:")
    terminal.until(asked)
    terminal.type("a\n")
    terminal.until("tests executed and passed", timeout_s=100)

    assert terminal.close() == 0
    assert still["status"] == "waiting"
    assert not WRITING & set(asked_before)
    shown = assay.look("show", "seat", "--json").json
    assert [review["action"] for review in shown["reviews"]] == ["revise", "approve"]


def test_a_plan_is_answered_from_another_process(
    assay: CommandLine, model: CodeAnswerer, tmp_path: Path
) -> None:
    """Cases: D 28, D 37."""
    waiting = assay.run(*options(assay, "apart", "--json", "-q"))
    assert (waiting.code, waiting.json["status"]) == (3, "waiting")
    shown = assay.look("review", "apart", "--json").json
    no_json, no_plan, outside = tmp_path / "a.json", tmp_path / "b.json", tmp_path / "c.json"
    no_json.write_text("PLAN: write it well")
    no_plan.write_text('{"title": "x"}')
    outside.write_text(json.dumps(shown["plan"]).replace("smoother.py", "../smoother.py"))

    for bad in (no_json, no_plan, outside, tmp_path / "absent.json"):
        refused = assay.look("review", "apart", "replace", "--plan", str(bad))
        assert refused.code == 2, bad
        assert refused.err.startswith("assay: ")
    assert assay.look("review", "apart", "yes").code == 2
    assert assay.run("resume", "apart", "-q").code == 3
    other = {**shown["plan"], "title": "My own smoother"}
    mine = tmp_path / "mine.json"
    mine.write_text(json.dumps(other))
    assert assay.look("review", "apart", "replace", "--plan", str(mine)).code == 0
    model.asked.clear()

    ran = assay.run("resume", "apart", "-q", "--json")

    assert ran.code == 0
    assert set(model.asked) == WRITING
    assert "My own smoother" in (workspace(assay, "apart") / "REPORT.md").read_text()


# ---- looking at a home with both kinds


def test_lists_and_tables_tell_both_kinds_apart(assay: CommandLine, mixed: str) -> None:
    listed = {each["run_id"]: each for each in assay.look("runs", "--limit", "99", "--json").json}
    shown = assay.look("runs", "--limit", "99").out
    told = assay.look("show", mixed).out

    assert listed[mixed]["kind"] == "paper2code"
    assert listed[mixed]["so_far"] == "1/1 tests passed"
    assert listed[mixed]["question"] == "A smoother with a correction"
    assert listed["asks"]["so_far"] == "66%"
    assert listed["notes"]["so_far"] == "100% covered"
    assert "1/1 tests passed" in shown
    assert str(paper(assay)) in told
    assert "version 1, 3 of 3 quotes found in the source" in told
    assert "smoother.py" in told


def test_a_finished_run_can_be_watched_verified_and_queried(assay: CommandLine, mixed: str) -> None:
    watched = assay.look("watch", mixed)
    events = [json.loads(line) for line in assay.look("watch", mixed, "--json").out.splitlines()]
    waiting = assay.look("watch", "asks")
    verified = assay.look("verify", mixed, "--json")
    found = assay.look("sql", "SELECT run_id, kind FROM runs ORDER BY run_id", "--json")

    assert watched.code == 0
    assert "wrote smoother.py" in watched.out
    assert events[-1]["type"] == "run_completed"
    assert waiting.code == 3
    assert verified.code == 0
    assert {"done", "notes"} <= {row["run_id"] for row in found.json}
    for question in ("coders", "passing", "repairs", "plans", "outcomes", "stages"):
        assert assay.look("stats", question).code == 0, question


def test_code_is_exported_from_the_archive_into_a_new_folder(
    assay: CommandLine, mixed: str, tmp_path: Path
) -> None:
    (workspace(assay, mixed) / "smoother.py").write_text("changed by hand\n")

    ran = assay.look("export", mixed, "--to", str(tmp_path / "out"), "--json")
    again = assay.look("export", mixed, "--to", str(tmp_path / "out"))
    early = assay.look("export", "asks", "--to", str(tmp_path / "none"))

    assert ran.code == 0
    assert {"smoother.py", "REPORT.md", "PLAN.json"} <= set(ran.json["files"])
    assert (tmp_path / "out" / "smoother.py").read_text() == SMOOTHER
    assert again.code == 2
    assert "not empty" in again.err
    assert early.code == 2
    assert "nothing to export yet" in early.err
    assert not (tmp_path / "none").exists()


def test_code_is_not_compared_as_if_it_were_a_report(assay: CommandLine, mixed: str) -> None:
    ran = assay.look("diff", "notes", mixed)

    assert ran.code == 2
    assert "made code" in ran.err


# ---- refused before anything is recorded


def refused(assay: CommandLine, *arguments: str) -> Ran:
    """Run a command that has to be refused; assert that it made neither a run nor a folder."""
    made = {path for path in assay.home.parent.iterdir() if path != assay.home}
    before = assay.look("runs", "--limit", "999", "--json").json
    ran = assay.look("paper2code", *arguments)
    assert ran.code == 2, ran.out + ran.err
    assert ran.err.startswith("assay: ")
    assert "Traceback" not in ran.err
    assert assay.look("runs", "--limit", "999", "--json").json == before
    assert {path for path in assay.home.parent.iterdir() if path != assay.home} == made
    return ran


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "say what to make code from"),
        (("",), "say what to make code from"),
        (("--requirement", "  "), "say what to make code from"),
        (("/nowhere/paper.pdf",), "No such file"),
        (("/dev/null",), "no regular file"),
        (("ftp://example.org/p.pdf",), "http or https"),
        (("https://",), "http or https"),
        (("PAPER", "--max-files", "0"), "max_files"),
        (("PAPER", "--max-repairs", "9"), "max_repairs"),
        (("PAPER", "--reference", "https://github.com/a/b"), "--indexing"),
        (("PAPER", "--run-id", "../x"), "id"),
        (("PAPER", "--workspace", "HOME/code"), "keeps its own data"),
        (("PAPER", "--workspace", "NOTES"), "not empty"),
        (("PAPER", "--workspace", "PAPER"), "Not a directory"),
        (("PAPER", "--model", "extractive"), "ASSAY_MODEL"),
    ],
)
def test_what_cannot_be_done_is_refused_at_once(
    assay: CommandLine, mixed: str, arguments: tuple[str, ...], said: str
) -> None:
    places = {"PAPER": str(paper(assay)), "NOTES": str(assay.notes)}
    home = str(assay.home)
    given = [places.get(each, each.replace("HOME", home)) for each in arguments]

    ran = refused(assay, *given)

    assert said in ran.err


def test_the_workspace_of_another_run_is_refused_at_once(assay: CommandLine, mixed: str) -> None:
    ran = refused(assay, str(paper(assay)), "--workspace", str(workspace(assay, mixed)))

    assert "workspace of run 'done'" in ran.err


def test_without_a_model_nothing_is_begun(tmp_path: Path) -> None:
    (tmp_path / "paper.md").write_text(PAPER)
    assay = CommandLine(tmp_path / "home", tmp_path)

    ran = assay.look("paper2code", str(tmp_path / "paper.md"), "--json")

    assert ran.code == 2
    assert "ASSAY_MODEL" in ran.out + ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["paper.md"]
