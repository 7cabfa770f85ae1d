"""A site of several machines: one PostgreSQL, one object store, one Prefect server that they share.

Each machine is a process with a data folder of its own, and where bubblewrap can be used with a
table of processes of its own, so that none can tell by looking whether another's process is gone.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from flows.runs import request_of, submit
from flows.settings import Settings
from flows.wiring import Desk, make_desk
from tests.flows.command_line import ROOT
from tests.flows.killing import PAPERS
from tests.flows.machine import FIXED
from tests.postgres_server import PostgresServer, postgres_server
from tests.prefect_server import prefect_on_postgres
from tests.s3_server import S3Server, s3_server

QUESTIONS = (
    "How warm is the Ostrel kiln?",
    "How long does a tile stay in the Vell drying loft?",
)
LEASE_S, OUTAGE_S = 2.0, 1.0
_OWN_PROCESSES = (
    *("bwrap", "--dev-bind", "/", "/", "--proc", "/proc", "--unshare-pid", "--die-with-parent"),
)


def can_isolate() -> bool:
    """Tell whether a machine can have a table of processes of its own."""
    try:
        return (
            subprocess.run([*_OWN_PROCESSES, "true"], capture_output=True, check=False).returncode
            == 0
        )
    except FileNotFoundError:
        return False


@dataclass
class Machine:
    """A machine at work. `said` is what it told of runs it stopped executing."""

    home: Path
    process: "subprocess.Popen[str]"
    log: Path
    said: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def listen(self) -> Iterator[dict[str, Any]]:
        """Yield what the machine says, until it ends."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(json.loads(line))
            yield self.said[-1]

    def finish(self) -> list[dict[str, Any]]:
        """Wait for the end of its work and return all it said of runs."""
        for _ in self.listen():
            pass
        assert self.process.wait(30) == 0, self.log.read_text()[-3000:]
        return [each for each in self.said if "run" in each]

    def fell(self) -> None:
        """Cut its power."""
        self.process.kill()
        self.process.wait(30)


@dataclass
class Site:
    """What the machines of a site share, and the folder that their own folders are in.

    The ledger is in `postgres`, and what Prefect records in `records`.
    """

    folder: Path
    postgres: PostgresServer
    records: PostgresServer
    store: S3Server
    ledger_url: str
    archive_url: str
    prefect_url: str

    def environment(self, home: Path, *, shared: bool = True) -> dict[str, str]:
        """Return the variables of a machine whose data folder is `home`."""
        own = {k: v for k, v in os.environ.items() if not k.startswith(("PREFECT_", "ASSAY_"))}
        own |= {
            "ASSAY_HOME": str(home),
            "PREFECT_API_URL": self.prefect_url,
            "PREFECT_HOME": str(home / "prefect-client"),
            "PYTHONPATH": str(ROOT),
        }
        return own | self.memory() if shared else own

    def memory(self) -> dict[str, str]:
        """Return the variables that lead to the shared memory."""
        return {
            "ASSAY_LEDGER_URL": self.ledger_url,
            "ASSAY_LEDGER_LEASE_S": str(LEASE_S),
            "ASSAY_LEDGER_OUTAGE_S": str(OUTAGE_S),
            "ASSAY_ARTIFACTS_URL": self.archive_url,
            "ASSAY_ARTIFACTS_ENDPOINT": self.store.endpoint,
            **self.store.environment,
        }

    def desk(self, name: str = "office", *, shared: bool = True) -> Desk:
        """Return a desk of this process, as on a machine of that name."""
        named = Settings(
            home=self.folder / name,
            ledger_url=SecretStr(self.ledger_url if shared else ""),
            artifacts_url=self.archive_url if shared else "",
            artifacts_endpoint=self.store.endpoint if shared else "",
        )
        return make_desk(named, now=lambda: FIXED)

    def submit(self, desk: Desk, run_ids: Mapping[str, str]) -> None:
        """Queue runs: their ids, and what each asks.

        They may read more than there is, since what a crash cut off is counted twice.
        """
        sources = [self.folder / "papers"]
        for run_id, question in run_ids.items():
            submit(desk, request_of(desk, question, sources=sources, run_id=run_id))

    @contextmanager
    def machine(self, name: str, run_ids: list[str], *, shared: bool = True) -> Iterator[Machine]:
        """Let a machine work on runs for the block."""
        home = self.folder / name
        program = [sys.executable, str(ROOT / "tests" / "flows" / "machine.py"), *run_ids]
        isolated = _OWN_PROCESSES if shared and can_isolate() else ()
        log = self.folder / f"{name}.log"
        with (
            log.open("w") as file,
            subprocess.Popen(
                [*isolated, *program],
                env=self.environment(home, shared=shared),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=file,
                text=True,
            ) as process,
        ):
            try:
                yield Machine(home, process, log)
            finally:
                process.kill()


@contextmanager
def shared_site(folder: Path) -> Iterator[Site]:
    """Start what machines share; raises `Absent` of the server that is not installed."""
    papers = folder / "papers"
    papers.mkdir()
    for name, text in PAPERS.items():
        (papers / name).write_text(text)
    with postgres_server() as postgres, postgres_server() as records, s3_server() as store:
        before = {name: os.environ.get(name) for name in store.environment}
        os.environ.update(store.environment)
        try:
            with prefect_on_postgres(records.create("prefect"), folder) as prefect_url:
                ledger_url, archive_url = postgres.create("ledger"), f"{store.create('assay')}/team"
                yield Site(folder, postgres, records, store, ledger_url, archive_url, prefect_url)
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value
