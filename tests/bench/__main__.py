"""Measures Assay against baselines in the same run: `python -m tests.bench [NAME…] [--json]`.

Ratios are what to look at: seconds depend on the machine and on what else it does. Everything
happens in a temporary folder, and every process that is started is ended.
"""

import argparse
import importlib
import json
import sys
import tempfile
import time
from pathlib import Path

from tests.bench import engine
from tests.bench.measuring import Row, machine, table

# Those that fork or that threads would disturb come before those that import Prefect.
NAMES = (
    "appending", "appending_postgres", "projecting", "querying", "analysing", "converting",
    "bench_conversion", "searching", "starting", "stepping", "resuming", "modelling",
)  # fmt: skip


def main() -> None:
    """Measure what is named, or everything, and write one table."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of: {', '.join(NAMES)}")
    parser.add_argument("--json", action="store_true", help="write one JSON object to stdout")
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(NAMES):
        parser.error(f"there is no measurement {', '.join(sorted(unknown))}")
    before, rows = machine(), list[Row]()
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        try:
            for name in NAMES:
                if not asked.names or name in asked.names:
                    rows += _measured(name, Path(folder))
        finally:
            engine.stop(Path(folder))
    if asked.json:
        answer = {"before": before, "after": machine(), "rows": [row.as_json() for row in rows]}
        print(json.dumps(answer, indent=2, ensure_ascii=False))
    else:
        print(f"{table(rows)}\n\nbefore: {before}\nafter:  {machine()}")


def _measured(name: str, folder: Path) -> list[Row]:
    began = time.monotonic()
    rows = list(importlib.import_module(f"tests.bench.{name}").measure(folder))
    print(f"{name}: {time.monotonic() - began:.1f} s", file=sys.stderr)
    return rows


if __name__ == "__main__":
    main()
