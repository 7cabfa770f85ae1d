"""Every command on a shared memory, from a machine that executed none of the runs."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import SecretStr

from adapters.documents.direct import DirectConverter
from flows.runs import execute, request_of, submit
from flows.settings import Settings, load_settings
from flows.wiring import Desk, Tools, local_tools, make_desk
from state.request import ResearchRequest
from state.values.errors import InvalidRequest
from tests import postgres_server, s3_server
from tests.flows.command_line import PROGRAM, ROOT, CommandLine, Ran

pytestmark = pytest.mark.usefixtures("prefect_server")
NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
QUESTION = "How many passengers does the Ostra ferry carry?"
PASSWORD = "%40ss%3Aword"  # a part of it, as the address spells it


@dataclass(frozen=True)
class Memory:
    """A shared memory, and what machines know of it."""

    postgres: postgres_server.PostgresServer
    folder: Path
    variables: Mapping[str, str]

    def desk(self, machine: str) -> Desk:
        """Return the desk of a machine, which converts documents in this process."""
        settings = Settings(
            home=self.folder / machine,
            ledger_url=SecretStr(self.variables["ASSAY_LEDGER_URL"]),
            artifacts_url=self.variables["ASSAY_ARTIFACTS_URL"],
            artifacts_endpoint=self.variables["ASSAY_ARTIFACTS_ENDPOINT"],
        )
        desk = make_desk(settings, now=lambda: NOW)

        def tools(request: ResearchRequest) -> Tools:
            return replace(local_tools(settings, request.sources), converter=DirectConverter())

        desk.tools, desk.converter = tools, DirectConverter
        return desk

    def answer(self, run_id: str, *, machine: str = "a", plan_review: bool = False) -> str:
        """Ask the question on a machine, and return what became of the run."""
        desk = self.desk(machine)
        asked = request_of(
            desk, QUESTION, sources=[self.folder / "notes"], run_id=run_id, plan_review=plan_review
        )
        submit(desk, asked)
        return execute(desk, run_id).status


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    folder = tmp_path_factory.mktemp("shared")
    (folder / "notes").mkdir()
    (folder / "notes" / "ferry.md").write_text(
        "# Ferry\n\nThe Ostra ferry carries 120 passengers.\n"
    )
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        try:
            postgres = stack.enter_context(postgres_server.postgres_server())
            store = stack.enter_context(s3_server.s3_server())
        except (postgres_server.Absent, s3_server.Absent) as error:
            pytest.skip(str(error))
        variables = {
            "ASSAY_LEDGER_URL": postgres.create("ledger"),
            "ASSAY_ARTIFACTS_URL": f"{store.create('assay')}/team",
            "ASSAY_ARTIFACTS_ENDPOINT": store.endpoint,
            **store.environment,
        }
        for name, value in variables.items():
            patch.setenv(name, value)
        yield Memory(postgres, folder, variables)


@pytest.fixture(scope="module")
def done(memory: Memory) -> list[str]:
    """Give two completed runs of one question, executed on machine a."""
    assert [memory.answer(run_id) for run_id in ("one", "two")] == ["completed"] * 2
    return ["one", "two"]


@pytest.fixture
def other(memory: Memory, tmp_path: Path) -> CommandLine:
    """Give the command line of another machine."""
    return CommandLine(tmp_path / "home", tmp_path)


def shown(ran: Ran) -> str:
    """Return all that a command said, in which no password may be."""
    assert PASSWORD not in ran.out + ran.err
    assert postgres_server.PASSWORD not in ran.out + ran.err
    return ran.out + ran.err


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("runs", 0, "two"),
        ("show two", 0, "not on this machine; write it with: assay resume two"),
        ("watch two", 0, "run two is completed"),
        ("review two", 0, "Nothing is asked"),
        ("verify two", 0, "two: verified"),
        ("verify --all --json", 0, '"outcome": "verified"'),
        ("diff two", 0, "# What changed"),
        ("stats cost", 0, "What a supported claim costs"),
        ("stats --columns runs", 0, "one row a run"),
        ("sql -", 0, "two,completed"),
        ("ledger verify", 0, "sound"),
        ("gc --dry-run", 0, "would be deleted"),
        ("doctor --json", 0, "(schema assay)"),
        ("cancel two", 2, "already completed"),
        ("retry two", 2, "only a failed or cancelled run is retried"),
        ("policy show", 0, "research is on"),
    ],
)
def test_commands_answer_on_another_machine(
    other: CommandLine, done: list[str], command: str, code: int, said: str
) -> None:
    extra = ["--csv"] if command.startswith("sql") else []

    ran = other.look(
        *command.split(), *extra, given="SELECT run_id, status FROM runs WHERE status = 'completed'"
    )

    assert said.lower() in shown(ran).lower()
    assert ran.code == code


def test_a_report_is_written_where_its_run_is_resumed(
    other: CommandLine, memory: Memory, done: list[str]
) -> None:
    ran = other.look("resume", "one", "--json")

    assert ran.code == 0
    report = Path(ran.json["report"]["report.md"])
    assert report.is_relative_to(other.home)
    there = memory.folder / "a" / "reports" / "one" / "report.md"
    assert report.read_bytes() == there.read_bytes()
    assert other.look("show", "one").out.count(str(report)) == 1


def test_sql_takes_duckdb_s_dialect_and_is_never_stale(
    other: CommandLine, memory: Memory, done: list[str]
) -> None:
    count = "SELECT count(*) FILTER (type = 'run_queued')::INT AS n FROM events"
    before = other.look("sql", count, "--json").json[0]["n"]
    desk = memory.desk("a")
    asked = request_of(desk, QUESTION, sources=[memory.folder / "notes"], run_id="queued")

    submit(desk, asked)

    assert other.look("sql", count, "--json").json[0]["n"] == before + 1
    assert "coverage" in other.look("sql", "SHOW TABLES").out
    assert other.look("cancel", "queued").code == 0
    assert other.look("sql", "SELECT status FROM runs WHERE run_id = 'queued'", "--json").json == [
        {"status": "cancelled"}
    ]


def test_rebuild_makes_a_copy_that_was_damaged_again(other: CommandLine, done: list[str]) -> None:
    assert other.look("stats", "outcomes").code == 0
    (copy,) = other.home.glob("ledger-copy/ledger.duckdb")
    copy.write_bytes(b"no database")

    assert other.look("ledger", "rebuild").code == 0

    assert other.look("stats", "outcomes").code == 0
    assert other.look("ledger", "export", "--to", str(other.notes / "parquet")).code == 0


def test_a_plan_is_approved_on_another_machine(other: CommandLine, memory: Memory) -> None:
    assert memory.answer("asks", plan_review=True) == "waiting"
    assert other.look("resume", "asks", "--json").code == 3

    assert other.look("review", "asks", "approve").code == 0

    assert memory.answer("asks", machine="b", plan_review=True) == "completed"


def test_a_backup_needs_neither_database_nor_store(
    other: CommandLine, memory: Memory, done: list[str], tmp_path: Path
) -> None:
    ran = other.look("backup", str(tmp_path / "copy"))

    assert (ran.code, ran.err) == (0, "")
    alone = CommandLine(tmp_path / "copy", tmp_path)
    nothing = dict.fromkeys(memory.variables, "")
    assert alone.run("ledger", "verify", env=nothing).code == 0
    assert "verified" in alone.run("verify", "two", env=nothing).out


def test_forgotten_bytes_are_gone_for_every_machine(other: CommandLine, memory: Memory) -> None:
    assert memory.answer("secret", machine="c") == "completed"

    ran = other.look("forget", "secret", "--reason", "asked for", "--yes")

    assert ran.code == 0
    assert "withheld" in CommandLine(memory.folder / "d", other.notes).look("verify", "secret").out


def test_looking_at_a_database_without_a_ledger_makes_nothing(
    other: CommandLine, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_LEDGER_URL", memory.postgres.create("fresh"))

    assert "no runs yet" in shown(other.look("runs"))
    assert "no runs yet in PostgreSQL at 127.0.0.1" in shown(other.look("sql", "SELECT 1"))
    assert "no runs yet in PostgreSQL at 127.0.0.1" in shown(other.look("show", "one"))
    assert "no runs yet" in shown(other.look("doctor"))

    schemas = memory.postgres.admin("SELECT nspname FROM pg_namespace", "fresh")
    assert ("assay",) not in schemas
    assert not other.home.exists()


def test_the_doctor_tells_what_cannot_be_reached(
    other: CommandLine, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_LEDGER_URL", f"postgresql://ann:{PASSWORD}@127.0.0.1:1/assay")
    monkeypatch.setenv("ASSAY_ARTIFACTS_URL", "s3://nowhere")

    ran = other.look("doctor", "--json")

    said = {each["name"]: each for each in ran.json}
    assert ran.code == 1
    assert not said["ledger"]["ok"]
    assert "see that it runs" in said["ledger"]["detail"]
    assert not said["archive"]["ok"]
    assert "no such bucket" in said["archive"]["detail"]
    assert PASSWORD not in shown(ran)


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"ASSAY_LEDGER_URL": "mysql://ann:pass%2Fword@db/assay"}, "ASSAY_LEDGER_URL"),
        ({"ASSAY_LEDGER_SCHEMA": "A-b"}, "ASSAY_LEDGER_SCHEMA: 'A-b' cannot name"),
        ({"ASSAY_LEDGER_LEASE_S": "0"}, "ASSAY_LEDGER_LEASE_S"),
        ({"ASSAY_ARTIFACTS_URL": "https://bucket/x"}, "write s3://BUCKET or s3://BUCKET/PREFIX"),
        ({"ASSAY_ARTIFACTS_URL": "s3://key:pass%2Fword@bucket"}, "ASSAY_ARTIFACTS_URL"),
        ({"ASSAY_ARTIFACTS_ENDPOINT": "store:9000"}, "write https://HOST or http://HOST:PORT"),
        ({"ASSAY_LEDGER_URL": ""}, "set both, or neither"),
    ],
)
def test_a_setting_that_is_wrong_is_named(
    memory: Memory,
    assay_home: Path,
    variables: Mapping[str, str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(InvalidRequest) as caught:
        make_desk(load_settings())

    assert said in caught.value.message
    assert "pass%2Fword" not in caught.value.message
    assert not assay_home.exists()


def test_settings_are_shown_without_the_password(memory: Memory) -> None:
    settings = load_settings()

    assert settings.is_shared
    assert PASSWORD not in f"{settings!r} {settings} {settings.model_dump()}"


@pytest.mark.parametrize(("library", "extra"), [("psycopg", "postgres"), ("obstore", "s3")])
def test_an_extra_that_is_missing_is_named(
    memory: Memory, tmp_path: Path, library: str, extra: str
) -> None:
    code = f"import sys; sys.modules[{library!r}] = None; {PROGRAM[-1]}"

    ran = subprocess.run(
        [sys.executable, "-c", code, "research", "q?", "-s", str(tmp_path), "-q"],
        env={**os.environ, "ASSAY_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert ran.returncode == 2
    assert f"pip install 'assay-research[{extra}]'" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
