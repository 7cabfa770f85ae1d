"""The lease: one driver a run, named, and free again however the driver ends."""

import subprocess
import sys
from pathlib import Path

import pytest

from state.errors import LeaseHeld
from state.lease import lease_holder, take_lease

ROOT = Path(__file__).resolve().parents[2]
_CHILD = """
import sys
from pathlib import Path
from state.lease import take_lease
lease = take_lease(Path(sys.argv[1]), "r1", "assay research")
print(lease.holder.pid, flush=True)
sys.stdin.read()
"""


def _driver(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _CHILD, str(folder)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip


def test_a_second_driver_is_refused_and_told_who_holds_the_run(tmp_path: Path) -> None:
    with _driver(tmp_path) as driver:
        assert driver.stdout is not None
        pid = driver.stdout.readline().strip()

        with pytest.raises(LeaseHeld, match=f"pid {pid} on host .* since .*assay research"):
            take_lease(tmp_path, "r1", "assay resume")
        holder = lease_holder(tmp_path)
        assert holder is not None
        assert holder.pid == driver.pid
        driver.kill()


def test_the_lease_of_a_killed_driver_is_free(tmp_path: Path) -> None:
    with _driver(tmp_path) as driver:
        assert driver.stdout is not None
        driver.stdout.readline()
        driver.kill()
        driver.wait()

        assert lease_holder(tmp_path) is None
        take_lease(tmp_path, "r1", "assay resume").release()


def test_the_lease_is_given_back_at_the_end_of_the_block(tmp_path: Path) -> None:
    with take_lease(tmp_path, "r1", "one") as lease:
        assert lease_holder(tmp_path) == lease.holder
    lease.release()

    assert lease_holder(tmp_path) is None
    take_lease(tmp_path, "r1", "two").release()


def test_looking_at_a_run_nobody_ever_executed_creates_nothing(tmp_path: Path) -> None:
    assert lease_holder(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_a_child_that_was_started_by_exec_does_not_keep_the_lease(tmp_path: Path) -> None:
    lease = take_lease(tmp_path, "r1", "driver")
    with subprocess.Popen(["sleep", "30"], close_fds=False) as child:
        lease.release()

        assert lease_holder(tmp_path) is None
        child.kill()
