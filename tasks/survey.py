"""Survey: what the sources hold that no search can find, and why."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from prefect import task

from adapters.documents.folder import Unused
from adapters.models.port import Answer
from state.values.report import Failure
from tasks.policy import POLICY

MAX_NAMED = 200
_MAX_PATH = 2000


@dataclass(frozen=True, slots=True)
class SurveyInput:
    """The provider whose sources are looked through, and how many files are named at most."""

    provider: str
    named: int = MAX_NAMED


def unused_files(unused: Unused, *, named: int = MAX_NAMED) -> tuple[Failure, ...]:
    """Return an entry for each file that was skipped, by name and none twice.

    Files beyond the first `named`, and what is no document by its name, are counted in an entry.
    """
    by_path = {
        path[:_MAX_PATH]: Failure("search", path[:_MAX_PATH], outcome.upper(), reason)
        for path, outcome, reason in reversed(unused.skipped)
    }
    entries = [by_path[path] for path in sorted(by_path)[:named]]
    if more := len(by_path) - len(entries):
        reason = f"only the first {named:,} files that could not be used are named"
        entries.append(Failure("search", f"and {_files(more)} more", "NOT_NAMED", reason))
    if unused.ignored:
        reason = "what is no document by its name, such as a picture or a program, is not opened"
        target = f"{_files(unused.ignored)} of other kinds"
        entries.append(Failure("search", target, "NOT_A_DOCUMENT", reason))
    return tuple(entries)


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"


@task(name="survey", task_run_name="survey {given.provider}", **POLICY)
async def survey(
    given: SurveyInput, *, unused: Callable[[], Awaitable[Unused]]
) -> Answer[tuple[Failure, ...]]:
    """Look for what the sources hold and no search finds."""
    return Answer(unused_files(await unused(), named=given.named))
