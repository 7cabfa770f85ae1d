"""Implement: write one whole file, which is archived only when it is one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import anyio
from prefect import task

from adapters.models.coder import Coder, FileDraft, WriteFileInput
from adapters.models.coding.names import undefined_names
from adapters.models.coding.provided import unprovided_imports
from adapters.models.coding.stubs import find_stubs
from adapters.models.coding.syntax import check_syntax
from adapters.models.port import Answer
from state.artifacts import Artifacts
from tasks.policy import POLICY

MOST_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file in the archive; with a `problem` it is no file yet, and `content_hash` is ''.

    With a `doubt` it is one that can be taken, and that a coder had better write again.
    """

    path: str
    content_hash: str
    size: int
    summary: str
    problem: str = ""
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class Project:
    """What a file is part of: the paths of all files, the hashes of those written, by path."""

    planned: tuple[str, ...] = ()
    written: Mapping[str, str] = field(default_factory=dict)


async def write_one(
    given: WriteFileInput, coder: Coder, artifacts: Artifacts, project: Project
) -> Answer[WrittenFile]:
    """Return the file, archived, or what is wrong with it: empty, a stub, or it does not parse.

    Of a file in Python it is also said which names it uses that nothing defines, and what it
    imports that no file of `project` provides; one of these that is lost is told before the coder
    is asked. Other errors are the coder's.
    """
    beside = await anyio.to_thread.run_sync(_texts_beside, given.file.path, project, artifacts)
    answer = await coder.write_file(given)
    draft = replace(answer.value, path=given.file.path)
    written = await archive_draft(draft, artifacts)
    if not written.problem:
        packages = [each.name for each in given.requirements]
        doubt = await anyio.to_thread.run_sync(doubt_of, draft, project.planned, beside, packages)
        written = replace(written, doubt=doubt[:2000])
    return answer.giving(written)


async def archive_draft(draft: FileDraft, artifacts: Artifacts) -> WrittenFile:
    """Archive `draft` when it is a whole file of its form; else say what is wrong with it."""
    problem = await anyio.to_thread.run_sync(problem_of, draft)
    if problem:
        return WrittenFile(draft.path, "", 0, draft.summary, problem[:2000])
    body = draft.text.encode()
    address = await anyio.to_thread.run_sync(artifacts.put, body)
    return WrittenFile(draft.path, address, len(body), draft.summary)


def problem_of(draft: FileDraft) -> str:
    """Return why `draft` is no finished file, or ''."""
    if not draft.text.strip():
        return f"{draft.path} is empty"
    try:
        size = len(draft.text.encode())
    except UnicodeEncodeError:
        return f"{draft.path} holds half a character (a lone surrogate)"
    if size > MOST_BYTES:
        return f"{draft.path} has {size} bytes; at most {MOST_BYTES} are taken"
    if wrong := check_syntax(draft.path, draft.text):
        return f"{draft.path} does not parse: {wrong}"
    if stubs := find_stubs(draft.path, draft.text):
        return f"{draft.path} is not finished: {'; '.join(stubs[:5])}"
    return ""


def doubt_of(
    draft: FileDraft,
    planned: Sequence[str],
    beside: Mapping[str, str],
    packages: Sequence[str],
) -> str:
    """Return which names of a Python file lead nowhere, or ''; what cannot be told for sure is ''.

    So what is right is never sent back for long: the file can be taken as it is.
    """
    if not draft.path.endswith(".py"):
        return ""
    wrong = [f"{name} is used and defined nowhere" for name in undefined_names(draft.text)]
    wrong += unprovided_imports(
        draft.path, draft.text, planned=planned, written=beside, packages=packages
    )
    return f"{draft.path} will not run: {'; '.join(wrong[:5])}" if wrong else ""


def _texts_beside(path: str, project: Project, artifacts: Artifacts) -> dict[str, str]:
    """Return the text of each Python file that was written, but for the one at `path`."""
    if not path.endswith(".py"):
        return {}
    return {
        other: artifacts.read_text(content_hash)
        for other, content_hash in project.written.items()
        if other.endswith(".py") and other != path
    }


@task(name="implement", task_run_name="write {given.file.path}", **POLICY)
async def implement(
    given: WriteFileInput,
    *,
    coder: Coder,
    artifacts: Artifacts,
    project: Project = Project(),
) -> Answer[WrittenFile]:
    """Write a file."""
    return await write_one(given, coder, artifacts, project)
