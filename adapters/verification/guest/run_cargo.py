"""Run `cargo test` in the current folder and write down what its test binaries counted.

    python -I run_cargo.py < ORDER

The order is a line of JSON: `record` (the file to write) and `nonce` (in each line of it).

Cargo's exit code is 0 for no tests at all, and for a test that ends its process early. So the tests
that each binary lists are counted first, and then those whose end the binaries say, line by line.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

RESULT = re.compile(
    rb"test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored;"
    rb" (\d+) measured; (\d+) filtered out"
)
LISTED = re.compile(rb"(\d+) tests?, \d+ benchmarks?$")
NAMED = re.compile(rb"(.{1,300}): test$")
NAMES = 20_000
FAILED = re.compile(rb"test (.{1,300}) \.\.\. FAILED$")
COMMAND = ("cargo", "test", "--workspace", "--no-fail-fast", "--offline")


def listed(names: list[str]) -> tuple[int, int]:
    """Return how many tests there are, and the exit code of asking (101 when it does not build).

    What they are called is added to `names`.
    """
    asked = [*COMMAND, "--", "--list"]
    with subprocess.Popen(asked, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as cargo:
        count = 0
        for line in cargo.stdout or ():
            if (found := LISTED.match(line.rstrip())) is not None:
                count += int(found[1])
            elif (named := NAMED.match(line.rstrip())) is not None and len(names) < NAMES:
                names.append(named[1].decode(errors="replace"))
    return count, cargo.returncode


def main() -> int:
    """Run the tests; return cargo's exit code."""
    asked = json.loads(sys.stdin.readline())
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    path = Path(asked["record"]).resolve()
    with os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8") as record:
        names: list[str] = []
        count, code = listed(names)
        sums = dict.fromkeys(("passed", "failed", "skipped", "errors"), 0)
        faults: list[str] = []
        if code == 0:
            code = run(sums, faults)
        else:
            sums["errors"] = 1
        sums["unrun"] = max(0, count - sums["passed"] - sums["failed"] - sums["skipped"])
        said = {"end": True, "exit": code, "sums": sums, "faults": faults[:50]}
        said["seen"] = [["", name] for name in names]
        record.write(json.dumps({"nonce": asked["nonce"], **said}) + "\n")
    return code


def run(sums: dict[str, int], faults: list[str]) -> int:
    """Run the tests, pass their output on, and add up what it says."""
    with subprocess.Popen(COMMAND, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as cargo:
        for line in cargo.stdout or ():
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
            if (found := RESULT.match(line)) is not None:
                passed, failed, ignored = (int(found[group]) for group in (1, 2, 3))
                sums["passed"] += passed
                sums["failed"] += failed
                sums["skipped"] += ignored
            elif (fault := FAILED.match(line.rstrip())) is not None:
                faults.append(fault[1].decode(errors="replace"))
    return cargo.returncode


if __name__ == "__main__":
    sys.exit(main())
