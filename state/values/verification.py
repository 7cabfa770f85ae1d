"""What running a workspace's tests showed: counts by command, and the verdict on the whole."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """What may be said of tests that were run; only `passed` is a success.

    `no_tests`: nothing was found to run. `not_executed`: a command ended without having run the
    tests that there are, or without a count that can be trusted. `tampered`: files that decide
    what is tested are not those that were frozen.
    """

    PASSED = "passed"
    FAILED = "failed"
    NO_TESTS = "no_tests"
    NOT_EXECUTED = "not_executed"
    TIMEOUT = "timeout"
    TAMPERED = "tampered"


@dataclass(frozen=True, slots=True)
class Counts:
    """How many tests ran, and how they ended. Adding two gives what both saw.

    `executed` is `passed` + `failed`. `errors` are faults outside of a test's body (collection,
    fixtures). `skipped` are those that said they would not run, or were expected to fail and did.
    """

    executed: int = 0
    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.executed + other.executed,
            self.passed + other.passed,
            self.failed + other.failed,
            self.errors + other.errors,
            self.skipped + other.skipped,
        )


@dataclass(frozen=True, slots=True)
class FrozenFile:
    """A file that decides what is tested, by content.

    `path` is relative to the workspace; after a `#` it names the part of the file that counts
    (`pyproject.toml#tool.pytest`), the rest of which may change.
    """

    path: str
    content_hash: str


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How one test command ended.

    `argv` is what a person would type in `cwd` (relative to the workspace). `exit_code` is None
    when a signal or a limit (`limit` names it) ended the command. `counts` is None when what it
    ran could not be counted, else `counted_by` says how that was done. `output_tail` is the end
    of its output, without secrets. `tests` are the first tests that failed, by name.
    """

    argv: tuple[str, ...]
    cwd: str
    exit_code: int | None
    signal: int | None
    limit: str
    wall_s: float
    counts: Counts | None
    counted_by: str
    output_tail: str
    verdict: Verdict
    reason: str = ""
    tests: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the command as it is shown: `python -m pytest -q (in sub)`."""
        where = "" if self.cwd == "." else f" (in {self.cwd})"
        return " ".join(self.argv) + where


@dataclass(frozen=True, slots=True)
class Verification:
    """What was learnt of a workspace: one result a command, in the order they ran.

    `level` is how far the commands were confined. `tampered` names changed, missing and added
    files that decide what is tested; nothing is run then.
    """

    level: str
    commands: tuple[CommandResult, ...]
    tampered: tuple[str, ...]
    verdict: Verdict
    reason: str = ""

    @property
    def counts(self) -> Counts:
        """Return the sum over all commands that could be counted."""
        return sum((result.counts for result in self.commands if result.counts), Counts())

    def as_json(self) -> dict[str, Any]:
        """Return the whole record in the form that is archived."""
        return {**asdict(self), "counts": asdict(self.counts)}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Verification":
        """Return what `as_json` gave, from JSON that was written by it."""
        return cls(
            level=record["level"],
            commands=tuple(_command(each) for each in record["commands"]),
            tampered=tuple(record["tampered"]),
            verdict=Verdict(record["verdict"]),
            reason=record["reason"],
        )


def _command(record: Mapping[str, Any]) -> CommandResult:
    counts = record["counts"]
    return CommandResult(
        **{
            **record,
            "argv": tuple(record["argv"]),
            "counts": None if counts is None else Counts(**counts),
            "verdict": Verdict(record["verdict"]),
            "tests": tuple(record["tests"]),
        }
    )
