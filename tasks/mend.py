"""Mend: change what a failed verification shows to be wrong, and never what is frozen."""

from dataclasses import dataclass

from prefect import task

from adapters.models.coder import Coder, RepairFilesInput
from adapters.models.port import Answer
from state.artifacts import Artifacts
from tasks.implement import WrittenFile, archive_draft
from tasks.policy import POLICY


@dataclass(frozen=True, slots=True)
class Mended:
    """The changed files, archived, and what was proposed and not taken, with the reason."""

    diagnosis: str
    files: tuple[WrittenFile, ...]
    refused: tuple[str, ...]


async def mend_files(given: RepairFilesInput, coder: Coder, artifacts: Artifacts) -> Answer[Mended]:
    """Return the repair, without what is frozen, unknown, unchanged or no whole file."""
    answer = await coder.repair(given)
    before = {file.path: file.text for file in given.files}
    frozen = {file.path for file in given.frozen}
    taken: dict[str, WrittenFile] = {}
    refused: list[str] = []
    for draft in answer.value.files:
        if draft.path in frozen:
            refused.append(f"{draft.path} is frozen and stays as it is")
        elif draft.path not in before:
            refused.append(f"{draft.path[:200]} is none of the files that were shown")
        elif draft.text != before[draft.path]:
            written = await archive_draft(draft, artifacts)
            if written.problem:
                refused.append(written.problem)
            else:
                taken[draft.path] = written
    mended = Mended(answer.value.diagnosis[:2000], tuple(taken.values()), tuple(refused[:50]))
    return answer.giving(mended)


@task(name="mend", task_run_name="repair {given.attempt}", **POLICY)
async def mend(given: RepairFilesInput, *, coder: Coder, artifacts: Artifacts) -> Answer[Mended]:
    """Repair the code."""
    return await mend_files(given, coder, artifacts)
