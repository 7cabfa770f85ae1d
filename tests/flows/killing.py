"""Drives `kill_server`: papers to research, homes to break, and what must hold after a resume."""

import json
import os
import queue
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from state.envelope import Line
from state.journal import read_journal, run_folder
from tests.flows.kill_server import Job
from tests.migrated import with_database

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

ROOT = Path(__file__).resolve().parents[2]
QUESTION = "How warm is the Ostrel kiln, and how long does a tile stay in the Vell drying loft?"
RUN = "matrix"
ENDED_WELL = {"signal": None, "code": 0, "said": "completed"}
PAPERS = {
    "kiln.md": "# The kiln\n\nThe Ostrel kiln is fired at 1040 °C by the night shift.\n\n"
    "How long a tile stays in the drying loft is laid down in the Brannick Rule.\n",
    "rule.md": "# The Brannick Rule\n\nBy this rule of the Vell works, a tile stays in the loft "
    "for nine days.\n\nThe loft is swept on Fridays.\n",
    "leaflet.txt": "For visitors\n\nThe Ostrel kiln is fired at 1100 °C; stand back.\n",
    "canteen.html": "<title>Canteen</title><p>On Monday there is soup in the Vell canteen.</p>",
}


class KillServer:
    """One forking process (see `kill_server`); carries out one list of jobs at a time."""

    def __init__(self, prefect_home: Path, script: str = "kill_server.py") -> None:
        path = ROOT / "tests" / "flows" / script
        self._process = subprocess.Popen(
            [sys.executable, str(path), str(prefect_home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            cwd=prefect_home,
        )

    def run(self, jobs: "Sequence[DataclassInstance]") -> list[dict[str, Any]]:
        """Carry out `jobs` at once and return how each ended."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([asdict(job) for job in jobs]) + "\n")
        self._process.stdin.flush()
        answers: list[dict[str, Any]] = self._answer()
        return answers

    def wait_until_ready(self) -> None:
        """Return when everything is imported."""
        assert self._answer() == "ready"

    def end(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._process.stdout.close()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())


@dataclass
class Bench:
    """Forking processes, the papers to research, and an unbroken run to compare with."""

    folder: Path
    servers: "queue.Queue[KillServer]"
    unbroken: Path

    def run(self, home: Path, **kill: Any) -> dict[str, Any]:
        """Execute the run in `home`, new or again, and break it as `kill` says."""
        return self.run_all([self.job(home, **kill)])[0]

    def run_all(self, jobs: Sequence[Job]) -> list[dict[str, Any]]:
        """Execute `jobs` at once, each in a process of its own."""
        server = self.servers.get()
        try:
            return server.run(jobs)
        finally:
            self.servers.put(server)

    def job(self, home: Path, *, run_id: str = RUN, **kill: Any) -> Job:
        """Return the job to execute the run in `home`."""
        papers = str(self.folder / "papers")
        return Job(str(home), str(self.diary_of(home)), run_id, QUESTION, (papers,), **kill)

    def diary_of(self, home: Path) -> Path:
        """Return the file that notes what happens in `home`, on another disk than a small one."""
        return self.folder / f"{'-'.join(home.parts[-3:])}.jsonl"

    def notes(self, home: Path) -> list[list[Any]]:
        """Return what really happened in `home`: effects carried out, events acknowledged."""
        path = self.diary_of(home)
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@contextmanager
def kill_bench(folder: Path, *, at_once: int) -> Iterator[Bench]:
    """Start `at_once` forking processes on a Prefect server of their own; end all of it."""
    from flows.server import stop_server

    papers, engine = folder / "papers", folder / "engine"
    papers.mkdir()
    with_database(engine)
    for name, text in PAPERS.items():
        (papers / name).write_text(text)
    started = [KillServer(engine) for _ in range(at_once)]
    try:
        servers: queue.Queue[KillServer] = queue.Queue()
        for server in started:
            server.wait_until_ready()
            servers.put(server)
        bench = Bench(folder, servers, folder / "unbroken")
        assert bench.run(bench.unbroken) == ENDED_WELL
        yield bench
    finally:
        for server in started:
            server.end()
        stop_server(engine)


def journal(home: Path, run_id: str = RUN) -> tuple[Line, ...]:
    """Return the recorded events of the run in `home`."""
    return read_journal(run_folder(home, run_id)).lines


def check_same(bench: Bench, home: Path) -> None:
    """Assert that the run in `home` ended as the unbroken one, with nothing lost or repeated."""
    for name in ("report.md", "report.json"):
        made = (home / "reports" / RUN / name).read_bytes()
        assert made == (bench.unbroken / "reports" / RUN / name).read_bytes()
    assert (home / "reports" / RUN / "manifest.json").exists()
    lines = journal(home)
    by_position = {line.envelope.position: line.hash for line in lines}
    for what, *rest in bench.notes(home):
        if what == "durable":
            position, line_hash = rest
            assert by_position[position] == line_hash, f"acknowledged event {position} was lost"
    check_effects(lines, bench.notes(home))


def check_effects(lines: Sequence[Line], notes: Sequence[Sequence[Any]]) -> None:
    """Assert that every step settled once, and was carried out at most once a reservation."""
    envelopes = [line.envelope for line in lines]
    settled = Counter(e.refs.call_id for e in envelopes if e.type == "effect_settled")
    assert set(settled.values()) == {1}
    reserved = [e for e in envelopes if e.type == "effect_reserved"]
    for verb in ("plan", "search", "read", "assess"):
        tries = [e for e in reserved if e.body["verb"] == verb]
        carried_out = [tuple(note) for note in notes if note[0] == verb]
        repeated = len(carried_out) - len(set(carried_out))
        assert len(carried_out) <= len(tries)
        assert repeated <= sum(e.body["attempt"] > 1 for e in tries)


def break_and_resume(bench: Bench, name: str, **kill: Any) -> None:
    """Break a new run as `kill` says, resume it, and hold it to the unbroken one."""
    home = bench.folder / name
    broken = bench.run(home, **kill)
    assert broken["signal"] == 9 or broken == ENDED_WELL, broken["said"]
    assert bench.run(home) == ENDED_WELL
    check_same(bench, home)
    shutil.rmtree(home)
