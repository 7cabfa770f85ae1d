"""A Prefect server of the tests' own, as a team runs one: on PostgreSQL, or on a file."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_START_S = 120.0


@contextmanager
def prefect_on_postgres(database_url: str, folder: Path) -> Iterator[str]:
    """Run a server for the block on `postgresql://…`, and give the address of its API."""
    with prefect_on(
        database_url.replace("postgresql://", "postgresql+asyncpg://", 1), folder
    ) as url:
        yield url


@contextmanager
def prefect_on(database_url: str, folder: Path) -> Iterator[str]:
    """Run a server for the block on a database that SQLAlchemy names so."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = int(listener.getsockname()[1])
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    settings = {
        **kept,
        "PREFECT_HOME": str(folder / "prefect"),
        "PREFECT_SERVER_DATABASE_CONNECTION_URL": database_url,
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_SERVER_REGISTER_BLOCKS_ON_START": "false",
        "PREFECT_SERVER_UI_ENABLED": "false",
        "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
        "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "100",
        "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "100",
        "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
        "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_BATCH_SIZE": "200",
        "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_READ_BATCH_SIZE": "100",
    }
    log = folder / "prefect.log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1",
             "--port", str(port)],
            stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=settings, cwd=folder,
            start_new_session=True,
        )  # fmt: skip
    url = f"http://127.0.0.1:{port}/api"
    try:
        _wait_for(url, process, log)
        yield url
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # nobody needs its records any more
        process.wait()


def _wait_for(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(OSError), urllib.request.urlopen(f"{url}/health", timeout=5) as answer:
            if answer.read() == b"true":
                return
        time.sleep(0.1)
    raise RuntimeError(f"the Prefect server did not start:\n{log.read_text()[-2000:]}")
