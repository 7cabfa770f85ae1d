"""The verdict on a command: exit code and counts must agree, and no test be left out."""

import re
from collections.abc import Iterator
from pathlib import Path

from adapters.sandbox.port import TAIL_BYTES, Finished, Limits
from adapters.verification.counting import Record
from adapters.verification.defined import plain_tests
from adapters.verification.discovery import Runner, TestCommand
from adapters.verification.javascript_tests import seems_to_test, stem
from adapters.verification.walking import read_own, walk
from state.values.redaction import redact
from state.values.verification import CommandResult, Verdict

SHOWN = 10
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_OUT_OF_TIME = frozenset({"wall", "cpu"})


def judge(
    command: TestCommand,
    finished: Finished,
    record: Record | None,
    *,
    counted_by: str,
    workspace: Path,
    limits: Limits,
) -> CommandResult:
    """Return what `finished` and the record that it left say of the tests."""
    verdict, reason = _verdict(command, finished, record, workspace, limits)
    return CommandResult(
        argv=command.argv,
        cwd=command.cwd,
        exit_code=finished.exit_code,
        signal=finished.signal,
        limit=finished.limit,
        wall_s=round(finished.wall_s, 3),
        counts=None if record is None else record.counts,
        counted_by="" if record is None else counted_by,
        output_tail=_tail(finished, record),
        verdict=verdict,
        reason=redact(reason),
        tests=tuple(redact(each) for each in (record.faults if record else ())),
    )


def _tail(finished: Finished, record: Record | None) -> str:
    said = finished.output_tail.decode(errors="replace").replace("\0", "\ufffd")
    details = f"\n{record.details}\n" if record is not None and record.details else ""
    return redact(_COLOURS.sub("", said + details))[-TAIL_BYTES:]


def _verdict(
    command: TestCommand,
    finished: Finished,
    record: Record | None,
    workspace: Path,
    limits: Limits,
) -> tuple[Verdict, str]:
    if finished.limit in _OUT_OF_TIME:
        allowed = f"{limits.wall_s:g} s" if finished.limit == "wall" else f"{limits.cpu_s} s of CPU"
        return Verdict.TIMEOUT, f"it had not ended after {allowed}"
    if finished.limit:
        return Verdict.FAILED, f"it was ended because it used more {finished.limit} than allowed"
    if record is not None and record.counts.failed + record.counts.errors:
        return Verdict.FAILED, _failures(record)
    if finished.exit_code is None:
        return Verdict.FAILED, f"it was ended by signal {finished.signal}"
    if finished.exit_code != 0:
        return Verdict.FAILED, f"it ended with exit code {finished.exit_code}"
    doubts = list(_doubts(command, record, workspace))
    return (Verdict.NOT_EXECUTED, "; ".join(doubts)) if doubts else (Verdict.PASSED, "")


def _failures(record: Record) -> str:
    counts = record.counts
    said = f"{counts.failed} of {counts.executed} tests failed"
    if counts.errors:
        broken = f"{counts.errors} could not be run to the end"
        said = f"{said}, {broken}" if counts.failed else broken
    if record.rewritten:
        said += f"; of these were reported as something else: {_list(record.rewritten)}"
    return said


def _doubts(command: TestCommand, record: Record | None, workspace: Path) -> Iterator[str]:
    """Yield reasons why an exit code of 0 does not mean that the tests passed."""
    if record is None:
        yield "what it ran could not be counted, and an exit code of 0 proves nothing"
        return
    if not record.is_complete:
        yield "it ended before its tests did"
    elif record.exit_code not in (None, 0):
        yield f"its exit code became 0 after it had been {record.exit_code}"
    if not record.counts.executed:
        skipped = record.counts.skipped
        yield "no test was executed" + (f", {skipped} skipped" if skipped else "")
    if record.unrun_count:
        named = f": {_list(record.unrun)}" if record.unrun else ""
        yield f"{record.unrun_count} of the tests that there are did not run{named}"
    if missed := tuple(_missed(command, record)):
        yield f"{len(missed)} tests that the files define were never collected: {_list(missed)}"
    if left := tuple(_left_out(command, record)):
        yield f"of these files no test was run: {_list(left)}"
    if command.own_harness:
        yield f"its tests count themselves (harness = false): {_list(command.own_harness)}"
    if replaced := tuple(_replaced(record, workspace)):
        yield f"other code was run in the place of {len(replaced)} tests: {_list(replaced)}"
    if record.replaced:
        yield f"what tests assert with was replaced: {_list(record.replaced)}"
    if hollow := tuple(_hollow(record, workspace)):
        yield f"of these files none of the tests was reported: {_list(hollow)}"


def _missed(command: TestCommand, record: Record) -> Iterator[str]:
    if command.runner is Runner.CARGO:
        listed = {part for _, name in record.seen for part in name.split("::")}
        for path, names in command.expected:
            yield from (f"{path}::{name}" for name in names if name not in listed)
        return
    for path, names in command.expected:
        if (path, "") not in record.seen:
            yield from (f"{path}::{name}" for name in names if (path, name) not in record.seen)


def _left_out(command: TestCommand, record: Record) -> Iterator[str]:
    """Yield the files with tests that the npm script did not run, where it tells what it ran."""
    if command.runner is Runner.NPM and record.files:
        ran = {stem(each) for each in (*record.files, *record.idle)}
        yield from (path for path, _ in command.expected if stem(path) not in ran)


def _replaced(record: Record, workspace: Path) -> Iterator[str]:
    """Yield the tests that were collected with another file's code, for no reason in their own."""
    for path, name in sorted(record.foreign):
        if name in plain_tests(read_own(workspace, path) or b""):
            yield f"{path}::{name}"


def _hollow(record: Record, workspace: Path) -> Iterator[str]:
    """Yield the files that were run without a test, though they seem to define some."""
    own = {entry.path for entry in walk(workspace).entries} if record.idle else set()
    for path in record.idle:
        # What is no file of the workspace was made by what ran, and cannot be looked into.
        data = read_own(workspace, path) if path in own else None
        if data is None or seems_to_test(data):
            yield path


def _list(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
