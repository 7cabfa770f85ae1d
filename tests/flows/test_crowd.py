"""Many runs in many processes, readers among them, and a disk that fills up in the middle."""

import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from state.local_ledger import LocalLedger
from state.projection import RunFold
from tests.flows.killing import ENDED_WELL, Bench, check_same, journal, kill_bench

RUNS = 16


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with kill_bench(tmp_path_factory.mktemp("crowd"), at_once=1) as made:
        yield made


@dataclass
class Reader:
    """Queries in a loop, and remembers every answer that was older than what was acknowledged."""

    bench: Bench
    home: Path
    stop: threading.Event = field(default_factory=threading.Event)
    queries: int = 0
    stale: list[str] = field(default_factory=list)
    slowest_s: float = 0.0

    def run(self) -> None:
        ledger = LocalLedger(self.home, RunFold())
        while not self.stop.is_set():
            acknowledged = sum(note[0] == "durable" for note in self.bench.notes(self.home))
            began = time.monotonic()
            ((events,),) = ledger.query("SELECT count(*) FROM events").rows
            self.slowest_s = max(self.slowest_s, time.monotonic() - began)
            self.queries += 1
            if events < acknowledged:
                self.stale.append(f"{events} of {acknowledged}")
        ledger.close()


@pytest.mark.timeout(200)
def test_16_runs_in_16_processes_and_a_reader_that_is_never_stale(bench: Bench) -> None:
    """Cases: B3 46."""
    home = bench.folder / "crowd"
    home.mkdir()
    reader = Reader(bench, home)
    thread = threading.Thread(target=reader.run)
    thread.start()

    ended = bench.run_all([bench.job(home, run_id=f"run-{number}") for number in range(RUNS)])
    reader.stop.set()
    thread.join()

    assert ended == [ENDED_WELL] * RUNS
    assert reader.stale == []
    assert reader.queries > RUNS
    ledger = LocalLedger(home, RunFold())
    assert ledger.verify().is_sound
    counted = dict(ledger.query("SELECT run_id, count(*) FROM events GROUP BY run_id").rows)
    assert counted == {f"run-{n}": len(journal(home, f"run-{n}")) for n in range(RUNS)}
    reports = [(home / "reports" / f"run-{n}" / "report.md").read_text() for n in range(RUNS)]
    bodies = {text.replace(f"run-{n}", "run") for n, text in enumerate(reports)}
    assert len(bodies) == 1


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(mount, check=False).returncode != 0:
        pytest.skip("mounting a small file system is not permitted here")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("position", [6, 14, 25, 40, 60, 75])
def test_a_full_disk_interrupts_a_run_that_goes_on_when_there_is_space(
    bench: Bench, small_disk: Path, position: int
) -> None:
    home = small_disk / "home"

    broken = bench.run(home, fill_disk_after=position)
    for filler in home.glob("filler-*"):
        filler.unlink()
    resumed = bench.run(home)

    assert broken == {"signal": None, "code": 0, "said": "interrupted"}
    assert resumed == ENDED_WELL
    check_same(bench, home)
