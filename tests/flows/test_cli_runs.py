"""The command line with real runs, in real processes, on one real Prefect server."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from flows import runs
from flows.commands import executing
from flows.settings import Settings
from flows.wiring import make_desk
from tests.flows.command_line import NOTES, PROGRAM, QUESTION, CommandLine, Terminal
from tests.migrated import with_database

pytestmark = pytest.mark.xdist_group("command line")


@pytest.fixture(scope="session")
def assay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    """Give the command line with a server that all of these tests share."""
    folder = tmp_path_factory.mktemp("assay")
    notes = folder / "notes"
    notes.mkdir()
    for name, text in NOTES.items():
        (notes / name).write_text(text)
    line = CommandLine(with_database(folder / "home"), notes)
    yield line
    line.look("down")


@pytest.fixture(scope="session")
def done(assay: CommandLine) -> str:
    """Give the id of a run that was completed; `other` is another, and `asks` one that waits."""
    assert assay.research("--run-id", "done", "--quiet").code == 0
    assert assay.research("--run-id", "other", "--quiet").code == 0
    assert assay.research("--run-id", "asks", "--quiet", "--review").code == 3
    return "done"


def test_a_report_goes_to_stdout_and_talk_to_stderr(assay: CommandLine) -> None:
    ran = assay.research("--run-id", "report")

    assert ran.code == 0
    assert ran.out.startswith("# How long are Meridian audit logs kept?\n")
    assert "kept for 30 days" in ran.out
    assert "round 1: reading" in ran.err
    assert "assay verify report" in ran.err
    published = (assay.home / "reports" / "report" / "report.md").read_text()
    assert ran.out == published


def test_the_same_run_again_shows_the_same_report(assay: CommandLine, done: str) -> None:
    first = assay.research("--run-id", done, "--json")
    again = assay.run("resume", done, "--json")

    assert first.code == again.code == 0
    assert first.json == again.json
    assert first.json["answer_status"] == "answered"
    assert Path(first.json["report"]["report.json"]).exists()
    assert not {"code", "reason"} & first.json.keys()


def test_another_request_under_the_same_id_is_refused(assay: CommandLine, done: str) -> None:
    ran = assay.research("--run-id", done, question="What is Pavo?")

    assert ran.code == 2
    assert "another request" in ran.err


def test_a_question_too_vague_is_asked_back(assay: CommandLine) -> None:
    ran = assay.research("-q", "--json", question="What about it?")

    assert ran.code == 5
    assert ran.json["answer_status"] == "needs-clarification"
    assert ran.json["clarification"]


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_leaves_a_run_that_can_be_resumed(
    assay: CommandLine, number: signal.Signals, code: int
) -> None:
    run_id = f"signal-{number}"

    ran = assay.signalled(
        number, "planning", "research", QUESTION, "-s", str(assay.notes), "--run-id", run_id
    )

    assert ran.code == code
    assert f"resume with: assay resume {run_id}" in ran.err
    events = assay.look("watch", run_id, "--json").out.splitlines()
    assert json.loads(events[-1])["type"] == "run_interrupted"
    if number == signal.SIGINT:
        assert assay.run("resume", run_id, "-q").code == 0
        assert assay.look("verify", run_id).code == 0


def test_sigterm_before_the_run_ends_the_command_cleanly(assay: CommandLine) -> None:
    ran = assay.signalled(
        signal.SIGTERM,
        "indexing",
        "research",
        QUESTION,
        "-s",
        str(assay.notes),
        "--run-id",
        "early",
    )

    assert ran.code == 143
    assert "interrupted; run early was not begun" in ran.err


def test_a_run_whose_process_was_killed_shows_as_interrupted(assay: CommandLine) -> None:
    ran = assay.signalled(
        signal.SIGKILL, "planning", "research", QUESTION, "-s", str(assay.notes), "--run-id", "gone"
    )

    assert ran.code == -signal.SIGKILL
    listed = assay.look("runs", "--status", "interrupted", "--json").json
    assert "gone" in [run["run_id"] for run in listed]
    assert assay.look("watch", "gone").code == 4


def test_a_reader_that_goes_away_breaks_nothing(assay: CommandLine) -> None:
    read, write = os.pipe()
    os.close(read)
    with subprocess.Popen(
        [*PROGRAM, "research", QUESTION, "-s", str(assay.notes), "--run-id", "pipe"],
        env=assay.environment(),
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        os.close(write)
        _, err = process.communicate(timeout=60)

    assert process.returncode == 0
    assert "Traceback" not in err
    assert assay.look("show", "pipe", "--json").json["status"] == "completed"


STATES = """
import json, sys
from prefect.client.orchestration import get_client
with get_client(sync_client=True) as client:
    runs = client.read_flow_runs()
print(json.dumps({run.name: [run.state.type.value, run.state.name] for run in runs}))
"""


def states_in_prefect(assay: CommandLine) -> dict[str, list[str]]:
    """Return the type and the name of every flow run's state, as Prefect's pages show them."""
    found = assay.look("doctor", "--ui", "--json").json
    address = {
        "PREFECT_API_URL": f"{found['address']}/api",
        "PREFECT_API_AUTH_STRING": found["login"],
    }
    ran = subprocess.run(
        [sys.executable, "-c", STATES],
        env=assay.environment(address),
        capture_output=True,
        check=True,
    )
    states: dict[str, list[str]] = json.loads(ran.stdout)
    return states


@pytest.mark.parametrize(
    ("point", "inner"),
    [("plan", None), ("round", "knowledge base of {}"), ("report", "report of {}")],
)
def test_a_stop_that_was_asked_for_is_no_failure_in_prefect(
    assay: CommandLine, point: str, inner: str | None
) -> None:
    run_id = f"calm-{point}"
    stopped = assay.research("--run-id", run_id, "--stop-after", point, "--json", "-q")
    states = states_in_prefect(assay)

    assert stopped.code == 4
    assert stopped.json["reason"] == f"stopped after the {point}, as asked"
    assert states[f"research {run_id}"] == ["COMPLETED", "Stopped"]
    if inner:
        assert states[inner.format(run_id)] == ["COMPLETED", "Stopped"]
    assert assay.run("resume", run_id, "-q").code == 0


def test_stop_after_leaves_the_run_there(assay: CommandLine) -> None:
    stopped = assay.research("--run-id", "stop", "--stop-after", "plan", "--json", "-q")

    assert stopped.code == 4
    assert stopped.json["status"] == "interrupted"
    assert stopped.json["usage"]["searches"] == 0
    assert assay.look("cancel", "stop", "--reason", "enough").code == 0
    shown = assay.look("show", "stop", "--json").json
    assert (shown["status"], shown["reason"]) == ("cancelled", "enough")
    refused = assay.run("resume", "stop")
    assert refused.code == 2
    assert "assay retry stop" in refused.err
    retried = assay.run("retry", "stop", "--json", "-q")
    assert retried.code == 0
    assert retried.json["run_id"] == "stop-attempt-2"


def test_logs_are_lines_of_json(assay: CommandLine) -> None:
    ran = assay.research("--run-id", "logged", "--log-json")

    lines = [json.loads(line) for line in ran.err.splitlines() if line.startswith("{")]

    assert ran.code == 0
    assert all(line["run_id"] == "logged" for line in lines)
    assert "effect_settled" in {line["event"] for line in lines}
    assert all(line["call_id"] for line in lines if line["event"] == "effect_settled")


# ---- reviews


def test_a_review_from_another_process(assay: CommandLine) -> None:
    assert assay.research("--run-id", "review", "--review", "-q").code == 3
    shown = assay.look("review", "review", "--json").json
    assert shown["interaction_id"] == "review-1"
    assert assay.look("review", "review", "revise").code == 2
    bad = assay.notes.parent / "bad.json"
    bad.write_text("{")
    assert assay.look("review", "review", "replace", "--plan", str(bad)).code == 2
    plan = assay.notes.parent / "plan.json"
    plan.write_text(json.dumps({**shown, "plan": {**shown["plan"], "goal": "Another goal"}}))

    answered = assay.look("review", "review", "replace", "--plan", str(plan))
    second = assay.look("review", "review", "approve", "--json")

    assert answered.code == 0
    assert "assay resume review" in answered.out
    assert second.code == 2
    assert second.json["error"]["code"] == "WORKFLOW_INTERACTION_INVALID"
    assert second.json["error"]["reason"] == "already_resolved"
    assert assay.run("resume", "review", "-q").code == 0
    assert assay.look("show", "review", "--json").json["plan"]["goal"] == "Another goal"


def test_a_review_that_cancels_ends_a_run_nobody_executes(assay: CommandLine) -> None:
    assert assay.research("--run-id", "unwanted", "--review", "-q").code == 3

    ran = assay.look("review", "unwanted", "cancel", "--reason", "not now")

    assert ran.code == 0
    assert "cancelled" in ran.out


def test_at_a_terminal_nothing_but_an_answer_decides(assay: CommandLine) -> None:
    asked = "[c]ancel > "
    terminal = Terminal(
        assay, "research", QUESTION, "-s", str(assay.notes), "--run-id", "tty", "--review"
    )

    terminal.until(asked)
    terminal.type("\n")
    terminal.until(asked)
    terminal.type("yes please\n")
    terminal.until(asked)
    terminal.type("r\n")
    terminal.until("What should change?")
    terminal.type("\n")
    terminal.until("a revision needs feedback")
    still = assay.look("show", "tty", "--json").json
    terminal.until(asked)
    terminal.type("a\n")
    terminal.until("assay verify tty")

    assert terminal.close() == 0
    assert still["status"] == "waiting"
    shown = assay.look("show", "tty", "--json").json
    assert [review["action"] for review in shown["reviews"]] == ["approve"]


def test_what_is_typed_before_the_plan_is_shown_approves_nothing(assay: CommandLine) -> None:
    asked = "[c]ancel > "
    research = ("research", QUESTION, "-s", str(assay.notes), "--run-id", "ahead", "--review")

    for command in (research, ("resume", "ahead")):
        terminal = Terminal(assay, *command)
        terminal.type("a\na\na")
        terminal.until("Plan 1:")
        terminal.until(asked)
        terminal.type("\n")
        terminal.until("nothing is decided until then")
        terminal.until(asked)
        assert assay.look("show", "ahead", "--json").json["status"] == "waiting"
        terminal.type("r\na\n")
        terminal.until("What should change? > ")
        terminal.process.send_signal(signal.SIGINT)
        terminal.until("assay review ahead")
        assert terminal.close() == 130

    assert assay.look("show", "ahead", "--json").json["reviews"][0]["action"] is None


def test_at_a_terminal_an_answer_from_elsewhere_is_noticed(assay: CommandLine) -> None:
    terminal = Terminal(
        assay, "research", QUESTION, "-s", str(assay.notes), "--run-id", "tty2", "--review"
    )
    terminal.until("[c]ancel > ")

    assert assay.run("resume", "tty2").code == 2  # it is being executed
    assert assay.look("review", "tty2", "approve").code == 0
    terminal.until("answered elsewhere")
    terminal.until("assay verify tty2")

    assert terminal.close() == 0


def test_ctrl_c_at_the_prompt_leaves_the_run_waiting(assay: CommandLine) -> None:
    terminal = Terminal(
        assay, "research", QUESTION, "-s", str(assay.notes), "--run-id", "tty3", "--review"
    )
    terminal.until("[c]ancel > ")

    terminal.process.send_signal(signal.SIGINT)
    terminal.until("assay review tty3")

    assert terminal.close() == 130
    assert assay.look("show", "tty3", "--json").json["status"] == "waiting"


# ---- looking


def test_show_says_what_became_of_every_source(assay: CommandLine, done: str) -> None:
    shown = assay.look("show", done, "--json").json
    text = assay.look("show", done).out

    assert {source["disposition"] for source in shown["sources"]} <= {"cited", "quoted", "read"}
    assert [stage["stage"] for stage in shown["stages"]][:2] == ["planning", "knowledge_base"]
    assert all(stage["duration_s"] >= 0 for stage in shown["stages"])
    assert 0 < shown["worked_s"] <= shown["duration_s"]
    assert shown["waited_s"] == 0
    said = [claim["text"] for claim in shown["claims"]]
    assert len(said) == len(set(said)) < sum(len(each["sections"]) for each in shown["claims"])
    assert shown["usage"]["searches"] >= 1
    assert "meridian.md" in text
    assert "coverage-complete" in text


def test_watch_tells_what_happened_and_ends_with_the_run(assay: CommandLine, done: str) -> None:
    lines = assay.look("watch", done, "--json").out.splitlines()

    assert json.loads(lines[0])["type"] == "run_queued"
    assert json.loads(lines[-1])["type"] == "run_completed"
    assert "round 1: reading" in assay.look("watch", done).out


def test_sql_answers_redacted_in_three_forms(assay: CommandLine, done: str) -> None:
    query = f"SELECT run_id, 'sk-abcdefgh12345678' AS k FROM runs WHERE run_id = '{done}'"

    assert assay.look("sql", query).out == f"run_id\tk\n{done}\t[REDACTED]\n"
    assert assay.look("sql", query, "--csv").out == f"run_id,k\n{done},[REDACTED]\n"
    assert assay.look("sql", "-", "--json", given=query).json == [
        {"run_id": done, "k": "[REDACTED]"}
    ]
    assert assay.look("sql", "DELETE FROM events").code == 2
    assert assay.look("sql", "SELEC").code == 2


# ---- keeping


@pytest.fixture
def own(assay: CommandLine, done: str, tmp_path: Path) -> CommandLine:
    """Give a command line on a copy of the data, to be broken."""
    copy = tmp_path / "copy"
    assert assay.look("backup", str(copy)).code == 0
    return CommandLine(copy, assay.notes)


def test_a_server_that_goes_away_after_the_end_takes_no_report_away(
    assay: CommandLine, done: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object, **__: object) -> None:
        raise ConnectionError("All connection attempts failed")

    monkeypatch.setattr(runs, "execute", gone)
    desk = make_desk(Settings(home=assay.home))
    engine = SimpleNamespace(load=lambda: None, ready=lambda: None)
    progress = SimpleNamespace(note=lambda _: None)

    assert executing.carry_run(desk, done, engine, progress) is None  # type: ignore[arg-type]
    assert runs.read_result(desk, done).status == "completed"


NO_TEXT = os.fsdecode(b"x\xff")


@pytest.mark.parametrize(
    "arguments",
    [
        ["sql", f"SELECT '{NO_TEXT}'"],
        ["cancel", "asks", "--reason", NO_TEXT],
        ["cancel", "asks", "--reason", "x" * 4001],
        ["forget", "done", "--yes", "--reason", NO_TEXT],
        ["forget", "done", "--yes", "--reason", "x" * 4001],
        ["review", "asks", "revise", "--feedback", NO_TEXT],
        ["review", "asks", "cancel", "--reason", "x" * 4001],
        ["backup", NO_TEXT],
        ["ledger", "export", "--to", NO_TEXT],
    ],
    ids=lambda arguments: " ".join(arguments)[:30].encode(errors="replace").decode(),
)
def test_what_cannot_be_recorded_is_refused_and_changes_nothing(
    assay: CommandLine,
    done: str,
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    before = assay.look("sql", "SELECT count(*) FROM events").out

    ran = assay.look(*arguments)

    assert (ran.code, ran.out) == (2, "")
    assert "unexpected" not in ran.err
    assert "incompatible" not in ran.err
    assert list(tmp_path.iterdir()) == []
    assert assay.look("sql", "SELECT count(*) FROM events").out == before


def test_a_backup_is_whole_and_private(own: CommandLine, done: str) -> None:
    assert own.look("ledger", "verify").code == 0
    assert own.look("verify", done).code == 0
    assert own.look("runs", "--json", "--limit", "100").json
    assert own.home.stat().st_mode & 0o077 == 0
    assert not list(own.home.parent.glob(".*tmp*"))
    assert own.look("backup", str(own.home)).code == 2
    packed = own.home.parent / "packed.tar"
    assert own.look("backup", str(packed)).code == 0
    (folder := own.home.parent / "unpacked").mkdir()
    subprocess.run(["tar", "-xf", str(packed), "-C", str(folder)], check=True)
    unpacked = CommandLine(folder / "packed", own.notes)
    assert unpacked.look("verify", done).code == 0


def test_a_backup_is_whole_while_a_run_is_writing(assay: CommandLine, tmp_path: Path) -> None:
    arguments = ["research", QUESTION, "-s", str(assay.notes), "--run-id", "busy", "-q"]
    with subprocess.Popen(
        [*PROGRAM, *arguments], env=assay.environment(), stdout=subprocess.DEVNULL
    ) as process:
        copies: list[Path] = []
        while process.poll() is None:
            copies.append(tmp_path / f"copy-{len(copies)}")
            assert assay.look("backup", str(copies[-1])).code == 0

    held = [CommandLine(copy, assay.notes).look("verify", "busy").code for copy in copies]
    assert process.returncode == 0
    assert set(held) <= {0, 2}  # 2: the run was not there yet
    assert 0 in held


def test_a_changed_body_fails_verification(own: CommandLine, done: str) -> None:
    (source, *_) = own.look("show", done, "--json").json["sources"]
    digest = source["content_hash"].removeprefix("sha256:")
    body = own.home / "artifacts" / "sha256" / digest[:2] / digest[2:]
    body.write_bytes(body.read_bytes().replace(b"30", b"90"))

    one, every = own.look("verify", done), own.look("verify", "--all", "--json")

    assert one.code == every.code == 1
    assert "FAILED" in one.out
    assert False in [audit["ok"] for audit in every.json]


def test_a_changed_journal_is_named_and_nothing_is_collected(own: CommandLine, done: str) -> None:
    for journal in (own.home / "runs").glob("*/journal"):
        if b'"run_id":"done"' in journal.read_bytes():
            journal.write_bytes(journal.read_bytes().replace(b"queued", b"qu3ued", 1))

    assert own.look("ledger", "verify").code == 1
    refused = own.look("gc", "--grace-hours", "0")
    assert refused.code == 1
    assert "nothing was collected" in refused.err
    assert own.look("show", done).code == 1
    assert own.look("verify", done).code == 1
    assert own.look("doctor").code == 1


def test_forget_deletes_what_no_other_run_needs(own: CommandLine, done: str) -> None:
    assert own.look("forget", done, "--reason", "asked for").code == 2  # nobody confirmed it
    forgotten = own.look("forget", done, "--reason", "asked for", "--yes", "--json").json

    assert forgotten["runs"] == [done]
    assert forgotten["deleted"] > 0
    assert forgotten["kept"] > 0
    assert not (own.home / "reports" / done).exists()
    verified = own.look("verify", done)
    assert verified.code == 0
    bodies = f"{forgotten['withheld']} bodies of the archive withheld"
    assert f"{bodies}, {forgotten['deleted']} of them deleted (asked for)" in verified.out
    assert verified.out.startswith(f"{done}: withheld: ")
    assert verified.err == ""
    assert own.look("verify", "other").out.startswith("other: verified: ")
    assert own.look("verify", "asks").out.startswith("asks: nothing to verify: ")
    shown = own.look("show", done)
    assert f"{forgotten['withheld']} bodies of the archive: asked for" in shown.out
    assert "WITHHELD asked for" in shown.out
    assert "report.md" not in shown.out
    assert "asked for" in own.run("resume", done).err
    assert own.look("ledger", "verify").code == 0


def test_forgetting_an_artifact_by_its_hash_concerns_every_run(own: CommandLine, done: str) -> None:
    (source, *_) = own.look("show", done, "--json").json["sources"]
    for run_id in [run["run_id"] for run in own.look("runs", "--json", "--limit", "100").json]:
        own.look("cancel", run_id)  # those that have not ended yet

    ran = own.look("forget", source["content_hash"], "--reason", "wrong", "--yes", "--json")

    assert ran.code == 0
    assert {done, "other"} <= set(ran.json["runs"])
    assert ran.json["kept"] == 0
    assert own.look("verify", "--all").code == 0


def test_a_live_run_is_not_forgotten(own: CommandLine) -> None:
    ran = own.look("forget", "asks", "--reason", "x", "--yes")

    assert ran.code == 2
    assert "assay cancel asks" in ran.err


def test_gc_leaves_what_runs_need(own: CommandLine, done: str) -> None:
    stray = own.home / "artifacts" / "sha256" / "ab"
    stray.mkdir(exist_ok=True)
    (stray / ("c" * 62)).write_bytes(b"nobody needs this")

    assert own.look("gc", "--json").json["bodies"] == 0  # too young
    assert own.look("gc", "--grace-hours", "0", "--dry-run", "--json").json["bodies"] == 1
    assert own.look("gc", "--grace-hours", "0", "--json").json["bodies"] == 1
    assert not (stray / ("c" * 62)).exists()
    assert own.look("verify", done).code == 0


def test_a_backup_that_finds_no_room_leaves_nothing(own: CommandLine, tmp_path: Path) -> None:
    command = f"ulimit -f 8; exec {' '.join(map(repr, PROGRAM))} backup {tmp_path / 'full'}"
    done = subprocess.run(
        ["bash", "-c", command], env=own.environment(), capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["copy"]


def test_a_disabled_policy_starts_nothing(own: CommandLine) -> None:
    assert own.look("policy", "set", "--disable").code == 0

    ran = own.research("--run-id", "denied")

    assert ran.code == 2
    assert "switched off by policy" in ran.err
    assert own.look("show", "denied").code == 2
    assert own.look("down").code == 0
