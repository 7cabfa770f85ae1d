"""SIGKILL in Paper2Code runs: the same commit and report, no call or approval repeated or lost."""

import json
import queue
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from adapters.sandbox.choose import open_sandbox
from adapters.sandbox.port import SandboxUnavailable
from adapters.workspace.folder import MARK
from flows.server import stop_server
from state.envelope import Line
from tests.flows.code_kill_server import CodeJob
from tests.flows.code_killed import LIFE
from tests.flows.code_world import FILES, PAPER, SMOOTHER
from tests.flows.killing import ENDED_WELL, KillServer, journal
from tests.migrated import with_database

RUN = "code"
SAMPLE = 4
AT_ONCE = 2
ASKED = [
    "analyse", "design", "write_file smoother.py", "write_file README.md",
    "write_file requirements.txt", "write_file tests/test_smoother.py", "repair",
]  # fmt: skip


def _sandbox_is_missing() -> str:
    try:
        open_sandbox()
    except SandboxUnavailable as error:
        return error.message
    return ""


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(_sandbox_is_missing()), reason=_sandbox_is_missing() or "there is one"),
]


@dataclass
class Bench:
    """Forking processes, a paper, and an unbroken run to compare with."""

    folder: Path
    servers: "queue.Queue[KillServer]"
    unbroken: CodeJob

    def job(self, name: str, **kill: Any) -> CodeJob:
        """Return the job to execute a run in the home `name`."""
        return CodeJob(
            str(self.folder / name), str(self.folder / f"{name}.jsonl"),
            str(self.folder / "paper.md"), RUN, str(self.folder / "memo"), **kill,
        )  # fmt: skip

    def run(self, job: CodeJob) -> dict[str, Any]:
        """Execute the run, new or again."""
        return self.run_all([job])[0]

    def run_all(self, jobs: Sequence[CodeJob]) -> list[dict[str, Any]]:
        """Execute runs at once, each in a process of its own."""
        server = self.servers.get()
        try:
            return server.run(jobs)
        finally:
            self.servers.put(server)

    def broken_and_resumed(self, name: str, **kill: Any) -> CodeJob:
        """Break a new run as `kill` says, resume it, and hold it to the unbroken one."""
        job = self.job(name, **kill)
        broken = self.run(job)
        assert broken["signal"] == 9, broken["said"]
        whole = self.job(name, is_confined=job.is_confined, workspace=job.workspace)
        assert self.run(whole) == ENDED_WELL
        check_same(self, whole)
        return whole


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("code-kills")
    (folder / "paper.md").write_text(PAPER)
    engine = with_database(folder / "engine")
    started = [KillServer(engine, "code_kill_server.py") for _ in range(AT_ONCE)]
    servers: queue.Queue[KillServer] = queue.Queue()
    try:
        for server in started:
            server.wait_until_ready()
            servers.put(server)
        made = Bench(folder, servers, CodeJob("", "", "", "", ""))
        made.unbroken = made.job("unbroken")
        assert made.run(made.unbroken) == ENDED_WELL
        assert asked(made.unbroken) == Counter(ASKED)
        yield made
    finally:
        for server in started:
            server.end()
        stop_server(engine)


def events(job: CodeJob) -> tuple[Line, ...]:
    return journal(Path(job.home), RUN)


def notes(job: CodeJob, what: str) -> list[Any]:
    """Return what the processes of the run noted of `what`."""
    lines = map(json.loads, Path(job.diary).read_text().splitlines())
    return [rest for kind, *rest in lines if kind == what]


def asked(job: CodeJob) -> Counter[str]:
    """Return how often the coder was asked for what."""
    return Counter(call for (call,) in notes(job, "asked"))


def git(job: CodeJob, *arguments: str) -> str:
    command = ["git", "-c", "safe.directory=*", "-C", str(job.folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def check_same(bench: Bench, job: CodeJob) -> None:
    """Assert that the run ended as the unbroken one, with nothing lost, repeated or left behind."""
    home, unbroken = Path(job.home), Path(bench.unbroken.home)
    for name in ("REPORT.md", "report.json", "PLAN.json"):
        made = (home / "reports" / RUN / name).read_bytes()
        if not job.is_confined:  # whose tests are others
            assert made == (unbroken / "reports" / RUN / name).read_bytes(), name
    assert (home / "reports" / RUN / "manifest.json").exists()
    check_workspace(job)
    if not job.is_confined:
        assert git(job, "rev-parse", "HEAD") == git(bench.unbroken, "rev-parse", "HEAD")
    check_events(job)
    assert list((home / "cache" / "workspaces").iterdir()) == []


def check_workspace(job: CodeJob) -> None:
    there = {str(path.relative_to(job.folder)) for path in job.folder.rglob("*") if path.is_file()}
    there = {path for path in there if not path.startswith(".git/")}
    assert there == {*FILES, "REPORT.md", "PLAN.json", MARK}
    assert (job.folder / "smoother.py").read_text() == SMOOTHER
    assert git(job, "status", "--porcelain", "--", ":!" + MARK) == ""
    subjects = git(job, "log", "--format=%s", "--reverse").splitlines()
    assert subjects == ["Plan", "Implement the plan", "Repair 1", "Report"]


def check_events(job: CodeJob) -> None:
    """Assert that no event was lost, and nothing settled, asked or approved twice."""
    lines = events(job)
    by_position = {line.envelope.position: line.hash for line in lines}
    for position, line_hash in notes(job, "durable"):
        assert by_position[position] == line_hash, f"acknowledged event {position} was lost"
    settled = Counter(e.refs.call_id for e in (x.envelope for x in lines) if "settled" in e.type)
    assert set(settled.values()) == {1}
    types = Counter(line.envelope.type for line in lines)
    assert (types["review_requested"], types["review_answered"]) == (1, 1)
    assert (types["code_plan_recorded"], types["code_sealed"], types["run_completed"]) == (1, 1, 1)


@pytest.mark.timeout(300)
def test_killed_after_every_event_a_run_comes_to_the_same_end(bench: Bench) -> None:
    """Cases: B 14; E 38, 40, 43. Whatever comes between, the coder is asked each thing once."""

    def kill_on(first: int) -> int:
        """Kill a run after its event number `first`, and then after every second; count that."""
        job, kills = bench.job(f"every-second-from-{first}", kill_after_new=first), 0
        while bench.run(job)["signal"] == 9:
            kills += 1
            job = replace(job, kill_after_new=2)
            assert kills < 100
        job = replace(job, kill_after_new=None)
        assert bench.run(job) == ENDED_WELL
        check_same(bench, job)
        assert asked(job) == Counter(ASKED)
        return kills

    with ThreadPoolExecutor(AT_ONCE) as pool:
        kills = sum(pool.map(kill_on, (1, 2)))

    types = [line.envelope.type for line in events(bench.unbroken)]
    assert kills == sum(type_ not in LIFE for type_ in types) > 50


@pytest.mark.timeout(300)
def test_killed_once_after_an_event_a_run_comes_to_the_same_end(bench: Bench) -> None:
    """Cases: E 38."""
    last = len(events(bench.unbroken))

    def kill_at(position: int) -> None:
        bench.broken_and_resumed(f"after-{position}", kill_after=position, at_once=4)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(kill_at, sorted({1, 2, 3, *range(5, last, last // SAMPLE), last})))


@pytest.mark.timeout(120)
@pytest.mark.parametrize("operation", ["analyse", "design", "write_file smoother", "repair"])
def test_killed_while_the_coder_is_asked_only_that_is_asked_again(
    bench: Bench, operation: str
) -> None:
    """Cases: B 14, E 40."""
    job = bench.broken_and_resumed(f"in-{operation.split(maxsplit=1)[0]}", kill_in=operation)

    again = asked(job) - Counter(ASKED)
    assert list(again.values()) == [1]
    assert next(iter(again)).startswith(operation)


@pytest.mark.timeout(60)
def test_killed_while_a_person_is_asked_the_same_question_stays(bench: Bench) -> None:
    """Cases: D 28."""
    job = bench.broken_and_resumed("asking", kill_in="ask")

    assert asked(job) == Counter(ASKED)


@pytest.mark.timeout(120)
def test_killed_while_a_test_runs_nothing_of_it_lives_on(bench: Bench) -> None:
    """Cases: H 65."""
    job = bench.job("testing", kill_in="test", is_confined=True)

    broken = bench.run(job)

    assert broken["signal"] == 9, broken["said"]
    below = [tuple(each) for each in notes(job, "below")[0][0]]
    assert below
    deadline = time.monotonic() + 20
    while (alive := [each for each in below if is_alive(*each)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert alive == []
    whole = replace(job, kill_in="")
    assert bench.run(whole) == ENDED_WELL
    check_same(bench, whole)
    assert asked(whole) == Counter(ASKED)


def is_alive(pid: int, created: float) -> bool:
    try:
        found = psutil.Process(pid)
        return found.create_time() == created and found.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.timeout(120)
@pytest.mark.parametrize("number", [1, 14, 18])
def test_killed_while_it_writes_the_workspace_every_file_is_there_in_the_end(
    bench: Bench, number: int
) -> None:
    """Cases: E 43."""
    job = bench.broken_and_resumed(f"replacing-{number}", kill_at_replace=number)

    assert asked(job) == Counter(ASKED)


KILLING = """#!/bin/sh
case " $* " in
*" fast-import "*) {act} ;;
esac
exec {git} "$@"
"""
IMPORTS = {
    "before": "kill -9 $PPID",
    "in part": 'kill -9 $PPID; head -c 400 | {git} "$@"; exit',
    "after": '{git} "$@"; kill -9 $PPID; exit',
}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("moment", IMPORTS)
def test_killed_while_git_imports_the_history_is_whole_in_the_end(
    bench: Bench, moment: str
) -> None:
    """Cases: E 43."""
    program = bench.folder / f"bin-{moment.replace(' ', '-')}" / "git"
    program.parent.mkdir()
    real = shutil.which("git")
    program.write_text(KILLING.format(git=real, act=IMPORTS[moment].format(git=real)))
    program.chmod(0o755)

    job = bench.broken_and_resumed(program.parent.name, path=str(program.parent))

    assert asked(job) == Counter(ASKED)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(mount, check=False).returncode != 0:
        pytest.skip("mounting a small file system is not permitted here")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("share", [0.3, 0.7, 0.95])
def test_a_full_disk_interrupts_a_run_that_goes_on_when_there_is_space(
    bench: Bench, small_disk: Path, share: float
) -> None:
    """Cases: E 40."""
    position = int(len(events(bench.unbroken)) * share)
    name = f"full-{position}"
    job = replace(bench.job(name), home=str(small_disk / "home"))

    full = bench.run(replace(job, fill_disk_after=position))
    for filler in Path(job.home).glob("filler-*"):
        filler.unlink()

    assert full == {"signal": None, "code": 0, "said": "interrupted"}
    assert bench.run(job) == ENDED_WELL
    check_same(bench, job)
    assert asked(job).total() <= len(ASKED) + 1


@pytest.mark.timeout(60)
def test_two_processes_on_one_run_are_one_too_many(bench: Bench) -> None:
    job = bench.job("twice")

    ended = bench.run_all([job, job])

    assert sorted(str(each["said"]) for each in ended) in (
        ["completed", "held"],
        ["completed", "completed"],  # one came when the other was done
    )
    check_same(bench, job)
    assert asked(job) == Counter(ASKED)


@pytest.mark.timeout(60)
def test_of_two_runs_in_one_workspace_the_second_is_refused(bench: Bench) -> None:
    shared = str(bench.folder / "shared")
    first = bench.job("first", workspace=shared)
    second = replace(bench.job("second", workspace=shared), run_id="other")

    ended = bench.run_all([first, second])

    assert sorted(str(each["said"]) for each in ended) == ["completed", "failed"]
    owner = (first.folder / MARK).read_text().strip()
    assert owner in (RUN, "other")
    winner, loser = (first, second) if owner == RUN else (second, first)
    assert asked(winner) == Counter(ASKED)
    assert not Path(loser.diary).exists() or "asked" not in Path(loser.diary).read_text()
    check_workspace(winner)
