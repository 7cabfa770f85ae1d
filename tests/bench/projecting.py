"""Projection: reading a history at the limits, checking every hash and link, and folding it."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from state.journal import JOURNAL, run_folder
from state.local_ledger import LocalLedger
from state.projection import Run, RunFold
from tests.bench.histories import research_drafts
from tests.bench.measuring import Row, repeat

RUN = "limits"


def write_history(home: Path) -> None:
    """Record a run at the limits in the ledger under `home`, unless it is there."""
    ledger: LocalLedger[Run] = LocalLedger(home, RunFold())
    if ledger.exists(RUN):
        return
    run = ledger.append(RUN, list(research_drafts(RUN))).state
    ledger.close()
    research = run.research
    assert research is not None
    sizes = (len(research.artifacts), len(research.steps), len(research.checkpoints))
    assert sizes == (2000, 500, 500), sizes


def measure(folder: Path) -> Iterator[Row]:
    """Yield how long a process that knows nothing takes to know the run."""
    home = folder / "projection"
    write_history(home)

    def project() -> None:
        ledger: LocalLedger[Run] = LocalLedger(home, RunFold())
        ledger.project(RUN)
        ledger.close()

    def parse() -> None:
        for line in (run_folder(home, RUN) / JOURNAL).read_bytes().splitlines():
            digest, _, body = line.partition(b"\t")
            assert hashlib.sha256(body).hexdigest().encode() == digest
            json.loads(body)

    assay, plain = repeat(5, project, parse)
    named = "hash and json.loads"
    yield Row("projection at the limits", assay.median, plain.median, named, most_s=1.0)
