"""Two machines with one PostgreSQL, one object store and one Prefect server, and what may break."""

import subprocess
import time
from collections import Counter
from collections.abc import Iterator

import pytest

from flows.wiring import Desk
from tests import postgres_server, s3_server
from tests.flows.command_line import PROGRAM
from tests.flows.site import QUESTIONS, Machine, Site, can_isolate, shared_site

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
RUNS = 20


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    try:
        with shared_site(tmp_path_factory.mktemp("site")) as made:
            yield made
    except (postgres_server.Absent, s3_server.Absent) as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def alone(site: Site) -> dict[str, tuple[str, bytes]]:
    """Give what one machine by itself reports on each question, as `run-0` and so on."""
    asked = {f"run-{number}": question for number, question in enumerate(QUESTIONS)}
    site.submit(site.desk("alone", shared=False), asked)
    with site.machine("alone", list(asked), shared=False) as machine:
        assert all(each["status"] == "completed" for each in machine.finish())
    return {
        question: (report_of(machine, run_id), structured(machine, run_id))
        for run_id, question in asked.items()
    }


def report_of(machine: Machine, run_id: str) -> str:
    """Return the report that a machine published, without the name of its run."""
    text = (machine.home / "reports" / run_id / "report.md").read_text()
    assert f"`{run_id}`" in text
    return text.replace(f"`{run_id}`", "`RUN`")


def structured(machine: Machine, run_id: str) -> bytes:
    return (machine.home / "reports" / run_id / "report.json").read_bytes()


def asked_as(name: str, count: int) -> dict[str, str]:
    """Return so many runs, by their ids, with the questions in turn."""
    return {f"{name}-{number}": QUESTIONS[number % len(QUESTIONS)] for number in range(count)}


def check_runs(desk: Desk, run_ids: list[str]) -> None:
    """Assert that each run is completed, that no step settled twice, and that all chains hold."""
    assert {desk.ledger.project(run_id).status for run_id in run_ids} == {"completed"}
    for run_id in run_ids:
        events = [line.envelope for line in desk.ledger.read(run_id)]
        settled = Counter(e.refs.call_id for e in events if e.type == "effect_settled")
        assert set(settled.values()) == {1}, run_id
    found = desk.ledger.verify()
    assert found.is_sound, found.findings


def wait_for_steps(desk: Desk, run_ids: list[str]) -> str:
    """Return a run in whose midst a machine is."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for run_id in run_ids:
            run = desk.ledger.project(run_id)
            settled = sum(effect.state == "settled" for effect in run.effects.values())
            if settled >= 3 and run.status == "running":
                return run_id
        time.sleep(0.02)
    raise AssertionError("no run got anywhere")


def test_two_machines_carry_twenty_runs_as_one_would(
    site: Site, alone: dict[str, tuple[str, bytes]]
) -> None:
    asked, desk = asked_as("run", RUNS), site.desk()
    site.submit(desk, asked)

    with site.machine("a", list(asked)) as one, site.machine("b", list(asked)[::-1]) as other:
        told = {"a": one.finish(), "b": other.finish()}

    assert [each for said in told.values() for each in said if each["status"] != "completed"] == []
    assert sorted(each["run"] for said in told.values() for each in said) == sorted(asked)
    assert min(map(len, told.values())) > 0
    check_runs(desk, list(asked))
    for machine, said in ((one, told["a"]), (other, told["b"])):
        for run_id in (each["run"] for each in said):
            report, content = alone[asked[run_id]]
            assert report_of(machine, run_id) == report, run_id
            if list(asked).index(run_id) < len(QUESTIONS):  # the ids are the same, too
                assert structured(machine, run_id) == content
    # Nobody did twice what another did: each run was leased once.
    assert {desk.ledger.project(run_id).epoch for run_id in asked} == {1}


@pytest.mark.skipif(not can_isolate(), reason="a table of processes of its own needs bubblewrap")
def test_runs_of_a_machine_that_dies_go_on_on_another_when_their_leases_have_run_out(
    site: Site, alone: dict[str, tuple[str, bytes]]
) -> None:
    asked, desk = asked_as("felled", 3), site.desk()
    site.submit(desk, asked)
    with site.machine("felled", list(asked)) as machine:
        cut_off = wait_for_steps(desk, list(asked))
        machine.fell()
    held = desk.ledger.holder(cut_off)

    with site.machine("heir", list(asked)) as heir:
        told = heir.finish()

    assert held is not None  # nobody knew yet
    assert cut_off in {each["run"] for each in told}
    assert {each["status"] for each in told} == {"completed"}
    assert desk.ledger.project(cut_off).epoch > 1
    check_runs(desk, list(asked))
    for run_id in (each["run"] for each in told):
        assert report_of(heir, run_id) == alone[asked[run_id]][0], run_id


def test_runs_go_on_after_every_database_was_killed(
    site: Site, alone: dict[str, tuple[str, bytes]]
) -> None:
    asked, desk = asked_as("killed", 3), site.desk()
    site.submit(desk, asked)

    with site.machine("survivor", list(asked)) as machine:
        wait_for_steps(desk, list(asked))
        for database in (site.postgres, site.records):
            database.stop("kill")
        for database in (site.postgres, site.records):
            database.start()
        machine.finish()

    check_runs(desk, list(asked))
    for run_id, question in asked.items():
        assert report_of(machine, run_id) == alone[question][0], run_id


def test_a_database_that_stays_away_interrupts_runs_with_a_clear_reason(
    site: Site, alone: dict[str, tuple[str, bytes]]
) -> None:
    asked, desk = asked_as("cut", 3), site.desk()
    site.submit(desk, asked)

    with site.machine("patient", list(asked)) as machine:
        wait_for_steps(desk, list(asked))
        site.postgres.stop("kill")
        interrupted = next(each for each in machine.listen() if "run" in each)
        site.postgres.start()
        machine.finish()

    assert interrupted["status"] == "interrupted"
    assert "PostgreSQL at 127.0.0.1" in interrupted["reason"]
    assert "see that it runs and can be reached" in interrupted["reason"]
    check_runs(desk, list(asked))
    for run_id, question in asked.items():
        assert report_of(machine, run_id) == alone[question][0], run_id


def test_a_command_whose_ledger_went_away_says_how_to_go_on(
    site: Site, alone: dict[str, tuple[str, bytes]]
) -> None:
    home, question = site.folder / "person", QUESTIONS[0]
    environment = site.environment(home)
    papers = str(site.folder / "papers")
    ask = [*PROGRAM, "research", question, "--sources", papers, "--run-id", "mine"]
    with subprocess.Popen(
        ask, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        next(line for line in process.stderr if "reading" in line)
        site.postgres.stop("kill")
        _, said = process.communicate(timeout=100)
    site.postgres.start()

    resumed = subprocess.run(
        [*PROGRAM, "resume", "mine", "--quiet"],
        env=environment, capture_output=True, text=True, check=False, timeout=100,
    )  # fmt: skip

    assert process.returncode == 4
    assert "PostgreSQL at 127.0.0.1" in said
    assert "run mine interrupted; when its ledger is back: assay resume mine" in said
    assert resumed.returncode == 0, resumed.stderr
    body = resumed.stdout.partition("## Method")[0]
    assert body.replace("`mine`", "`RUN`") == alone[question][0].partition("## Method")[0]
