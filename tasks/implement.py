"""Implement: write one whole file, which is archived only when it is one."""

from dataclasses import dataclass, replace

import anyio
from prefect import task

from adapters.models.coder import Coder, FileDraft, WriteFileInput
from adapters.models.coding.stubs import find_stubs
from adapters.models.coding.syntax import check_syntax
from adapters.models.port import Answer
from state.artifacts import Artifacts
from tasks.policy import POLICY

MOST_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file in the archive; with a `problem` it is no file yet, and `content_hash` is ''."""

    path: str
    content_hash: str
    size: int
    summary: str
    problem: str = ""


async def write_one(
    given: WriteFileInput, coder: Coder, artifacts: Artifacts
) -> Answer[WrittenFile]:
    """Return the file, archived, or what is wrong with it: empty, a stub, or it does not parse.

    Errors are the coder's.
    """
    answer = await coder.write_file(given)
    draft = replace(answer.value, path=given.file.path)
    return answer.giving(await archive_draft(draft, artifacts))


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


@task(name="implement", task_run_name="write {given.file.path}", **POLICY)
async def implement(
    given: WriteFileInput, *, coder: Coder, artifacts: Artifacts
) -> Answer[WrittenFile]:
    """Write a file."""
    return await write_one(given, coder, artifacts)
