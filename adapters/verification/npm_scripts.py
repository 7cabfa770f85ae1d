"""What an npm script runs, and how that can be made to say in a file what its tests did."""

import json
import re
import shlex
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from adapters.verification.counting import Record
from state.values.verification import Counts

# With any of these, what fails need not be what the record shows.
_INTRICATE = re.compile(r"\|\||[;|&\n`<>]|\$\(")
_BEFORE = frozenset({"npx", "cross-env", "c8", "nyc", "exec", "--no", "--no-install", "-y", "--"})
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*")


class Tool(StrEnum):
    """A test runner of Node's world whose results can be read."""

    NODE = "node"
    JEST = "jest"
    VITEST = "vitest"
    MOCHA = "mocha"


def recognise(script: str) -> Tool | None:
    """Return what the last command of `script` runs, or None where its result could not be read.

    The commands before it must be joined to it by `&&`.
    """
    *_, last = script.split("&&")
    if _INTRICATE.search(script.replace("&&", " ")):
        return None
    try:
        words = shlex.split(last)
    except ValueError:
        return None
    while words and (words[0] in _BEFORE or _ASSIGNMENT.fullmatch(words[0])):
        words.pop(0)
    name = words[0].rpartition("/")[2] if words else ""
    return Tool(name) if name in list(Tool) else None


def report_options(tool: Tool, path: str) -> tuple[str, ...]:
    """Return what is added to the tool's command line so that it writes its results to `path`.

    Node's runner is given a reporter by its environment instead, since its options come first.
    """
    match tool:
        case Tool.NODE:
            return ()
        case Tool.JEST:
            return ("--ci", "--json", f"--outputFile={path}")
        case Tool.VITEST:
            reporters = ("--reporter=default", "--reporter=json")
            return ("--watch=false", *reporters, f"--outputFile.json={path}")
        case Tool.MOCHA:
            # Else a test that is marked `only` leaves out all others, and that is not told.
            return ("--forbid-only", "--reporter=json", f"--reporter-option=output={path}")


def read_results(tool: Tool, data: bytes | None) -> Record | None:
    """Return what jest, vitest or mocha wrote, or None when that is no result of theirs."""
    try:
        said = json.loads(data or b"")
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict):
        return None
    return _mocha(said) if tool == Tool.MOCHA else _jest(said)


def _jest(said: Mapping[str, Any]) -> Record | None:
    passed, failed = said.get("numPassedTests"), said.get("numFailedTests")
    if not isinstance(passed, int) or not isinstance(failed, int):
        return None
    broken = _number(said, "numRuntimeErrorTestSuites")
    suites = _dicts(said.get("testResults"))
    broken = max(broken, sum(_is_broken(each) for each in suites))
    skipped = _number(said, "numPendingTests") + _number(said, "numTodoTests")
    faults = tuple(
        str(test.get("fullName"))[:400]
        for suite in suites
        for test in _dicts(suite.get("assertionResults"))
        if test.get("status") == "failed"
    )
    counts = Counts(passed + failed, passed, failed, broken, skipped)
    files = tuple(str(each["name"]) for each in suites if "name" in each)
    return Record(counts, is_complete=True, faults=faults, files=files)


def _is_broken(suite: Mapping[str, Any]) -> bool:
    return suite.get("status") == "failed" and not suite.get("assertionResults")


def _mocha(said: Mapping[str, Any]) -> Record | None:
    stats = said.get("stats")
    if not isinstance(stats, dict) or not isinstance(stats.get("passes"), int):
        return None
    passed, failures = _number(stats, "passes"), _number(stats, "failures")
    faults = [str(each.get("fullTitle"))[:400] for each in _dicts(said.get("failures"))]
    hooks = sum('" hook' in fault for fault in faults)
    failed = max(0, failures - hooks)
    pending = _number(stats, "pending")
    unrun = max(0, _number(stats, "tests") - passed - failures - pending)
    counts = Counts(passed + failed, passed, failed, hooks, pending)
    return Record(
        counts,
        is_complete=True,
        faults=tuple(faults),
        unrun_count=unrun,
        files=tuple(str(each["file"]) for each in _dicts(said.get("tests")) if "file" in each),
        details="\n\n".join(_told(each) for each in _dicts(said.get("failures"))),
    )


def _told(failure: Mapping[str, Any]) -> str:
    error = failure.get("err")
    known = error if isinstance(error, dict) else {}
    return f"{failure.get('fullTitle')}\n{known.get('stack') or known.get('message') or ''}"


def _dicts(value: object) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _number(said: Mapping[str, Any], key: str) -> int:
    value = said.get(key)
    return value if isinstance(value, int) and value >= 0 else 0
