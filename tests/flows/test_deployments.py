"""`deployments/prefect.yaml`: `prefect deploy --all` works, and a worker executes a run."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from flows.deploying import CODE, RECOVERY, RESEARCH, RESUME
from flows.runs import existing_run
from flows.settings import Settings
from flows.wiring import make_desk
from tests.flows.command_line import NOTES, QUESTION, ROOT
from tests.flows.pages_client import PagesClient, until
from tests.prefect_server import prefect_on

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]
FILE = ROOT / "deployments" / "prefect.yaml"


@pytest.fixture
def pages(tmp_path: Path) -> Iterator[PagesClient]:
    database = f"sqlite+aiosqlite:///{tmp_path}/prefect.db"
    with prefect_on(database, tmp_path) as url:
        yield PagesClient(url)


def environment(pages: PagesClient, folder: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PREFECT_", "ASSAY_"))}
    own = {"PREFECT_API_URL": pages.url, "PREFECT_HOME": str(folder / "client")}
    return {**kept, **own, "ASSAY_HOME": str(folder / "home"), "PYTHONPATH": str(ROOT)}


def prefect(*arguments: str, env: dict[str, str], cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "prefect", *arguments],
        env=env, cwd=cwd, capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@contextmanager
def worker(env: dict[str, str], folder: Path) -> Iterator[None]:
    log = folder / "worker.log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "prefect", "worker", "start", "--pool", "assay"],
            env=env, cwd=folder, stdin=subprocess.DEVNULL, stdout=file, stderr=file,
        )  # fmt: skip
    try:
        yield
    finally:
        process.terminate()
        process.wait(60)


def test_what_is_deployed_by_prefect_is_executed_by_a_worker(
    pages: PagesClient, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name, text in NOTES.items():
        (notes / name).write_text(text)
    env = environment(pages, tmp_path)
    asked = {"question": QUESTION, "sources": [str(notes)], "run_id": "worked", "review": True}

    prefect("work-pool", "create", "assay", "--type", "process", env=env, cwd=tmp_path)
    deploy = ["--no-prompt", "deploy", "--all", "--prefect-file", str(FILE)]
    prefect(*deploy, env=env, cwd=tmp_path)
    flow_run = pages.start(RESEARCH, {"run": asked})
    with worker(env, tmp_path):
        pages.wait(flow_run, "Suspended")
        answer = pages.resume(flow_run, decision="approve")
        ended = pages.wait(flow_run, "Completed", "Failed", "Crashed")
        until(lambda: pages.flow_runs("assay"), any_recovery_completed)

    deployed = [pages.ask("GET", f"/deployments/name/{name}") for name in (CODE, RESUME, RECOVERY)]
    assert all(each["entrypoint"].startswith("flows.served.") for each in deployed)
    assert [len(each["schedules"]) for each in deployed] == [0, 0, 1]
    assert answer["status"] == "ACCEPT"
    assert ended["state"]["name"] == "Completed", json.dumps(ended["state"])
    desk = make_desk(Settings(home=tmp_path / "home"))
    assert existing_run(desk, "worked").status == "completed"


def any_recovery_completed(flow_runs: list[dict[str, object]]) -> bool:
    return any(
        each["name"] == "recovery" and each["state_name"] == "Completed" for each in flow_runs
    )
