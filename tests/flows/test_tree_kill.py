"""Processes killed in the middle of a conversion: nothing holds the run, nothing lives on."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from state.local_ledger import LocalLedger
from state.projection import RunFold
from tests.flows.command_line import PROGRAM, CommandLine
from tests.migrated import with_database

RUN = "felled"
PAGES = 3
# Large enough for a conversion to take a second or more.
PAGE = "<title>Page {n}</title>" + "<p>The Quill lathe turns at 900 rounds a minute.</p>" * 4000


@pytest.fixture(scope="module")
def assay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    folder = tmp_path_factory.mktemp("felled")
    (folder / "pages").mkdir()
    for number in range(PAGES):
        (folder / "pages" / f"{number}.html").write_text(PAGE.format(n=number))
    made = CommandLine(with_database(folder / "home"), folder / "pages")
    yield made
    made.run("down")


def workers(root: psutil.Process) -> list[psutil.Process]:
    """Return the processes below `root` that convert documents."""
    return [
        child for child in root.children(recursive=True) if "worker" in " ".join(child.cmdline())
    ]


def research(assay: CommandLine, run_id: str) -> "subprocess.Popen[str]":
    """Start a run whose conversions are not remembered, and return once it reads."""
    for cached in (assay.home / "cache").glob("**/documents/**/*.json"):
        cached.unlink()
    command = ["research", "How fast does the Quill lathe turn?", "--run-id", run_id]
    process = subprocess.Popen(
        [*PROGRAM, *command, "--sources", str(assay.notes)],
        env=assay.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "reading" in line:
            break
        if "searching" in line:
            for cached in (assay.home / "cache").glob("**/documents/**/*.json"):
                cached.unlink()
    return process


def wait_until_gone(processes: list[psutil.Process], *, within_s: float) -> None:
    """Assert that all `processes` end in time."""
    _, alive = psutil.wait_procs(processes, timeout=within_s)
    assert alive == []


@pytest.mark.timeout(120)
@pytest.mark.parametrize("whole_tree", [True, False], ids=["the whole tree", "the driver alone"])
def test_kill_9_while_converting_leaves_nothing_that_holds_the_lease(
    assay: CommandLine, tmp_path: Path, *, whole_tree: bool
) -> None:
    run_id = f"{RUN}-{'tree' if whole_tree else 'driver'}"
    with research(assay, run_id) as process:
        root = psutil.Process(process.pid)
        deadline = time.monotonic() + 10
        while not (converting := workers(root)) and time.monotonic() < deadline:
            time.sleep(0.01)

        if whole_tree:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.wait(timeout=10)

    wait_until_gone(converting, within_s=3)
    assert converting
    ledger = LocalLedger(assay.home, RunFold())
    assert ledger.holder(run_id) is None
    assert "interrupted" in assay.run("show", run_id).out
    resumed = assay.run("resume", run_id, "--json", "--quiet")
    assert resumed.json["status"] == "completed", resumed.err
    assert any("900 rounds" in citation["quote"] for citation in resumed.json["citations"])
