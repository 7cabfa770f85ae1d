"""Measures the researcher without a model: `python -m tests.evals [--data DIR] [--only NAME]`.

With `--model NAME [--limit N]` a language model judges claims, beside the check that works without.

DIR holds labelled data sets, laid out as `tests/evals/README.md` says; what is not there is left
out and said to be. Figures come with their sample size and, where there is one, a simple baseline
computed in the same run. The same data give the same figures.
"""

import argparse
import importlib
import json
import sys
import time
from pathlib import Path

from tests.evals.data import Absent, BadData, default_folder
from tests.evals.measuring import Row, table

NAMES = (
    "wice", "attribution", "verdicts", "ramdocs", "climate", "cranfield", "quoting", "citations",
    "invented", "libraries",
)  # fmt: skip


def main() -> int:
    """Measure what is asked for; return 1 where data could not be read, 0 otherwise."""
    parser = argparse.ArgumentParser(prog="python -m tests.evals", description=__doc__)
    parser.add_argument("--data", type=Path, default=default_folder(), metavar="DIR")
    parser.add_argument("--only", action="append", choices=NAMES, metavar="NAME",
                        help=f"one of {', '.join(NAMES)}; may be given several times")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="write one JSON object to stdout")
    parser.add_argument("--model", metavar="NAME", help="measure this language model instead")
    parser.add_argument(
        "--limit",
        type=int,
        default=20,
        metavar="N",
        help="ask a model about N claims, 20 by default",
    )
    asked = parser.parse_args()
    if asked.limit < 1:
        parser.error("--limit: 1 or more")
    names = ["modelled"] if asked.model else asked.only or NAMES
    told = {"model": asked.model, "limit": asked.limit} if asked.model else {}
    rows: list[Row] = []
    skipped: dict[str, str] = {}
    broken: dict[str, str] = {}
    for name in names:
        began = time.monotonic()
        try:
            rows += importlib.import_module(f"tests.evals.{name}").measure(asked.data, **told)
        except Absent as reason:
            skipped[name] = str(reason)
        except BadData as reason:
            broken[name] = str(reason)
        sys.stderr.write(f"{name}: {time.monotonic() - began:.1f} s\n")
    if asked.json:
        found = {"rows": [row.as_json() for row in rows], "skipped": skipped, "broken": broken}
        sys.stdout.write(json.dumps(found, indent=2, ensure_ascii=False) + "\n")
    else:
        lines = [table(rows), *(f"left out, {name}: {why}" for name, why in skipped.items())]
        sys.stdout.write("\n".join(lines) + "\n")
    for name, why in broken.items():
        sys.stderr.write(f"{name} could not be measured: {why}\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
