"""Publish: put a sealed report where people find it, once."""

from dataclasses import dataclass
from pathlib import Path

import anyio
from prefect import task

from adapters.models.port import Answer
from state.artifacts import Artifacts
from state.durable import create_private_folder, write_new
from state.errors import Conflict
from state.values.errors import ObstructedError
from tasks.policy import POLICY


@dataclass(frozen=True, slots=True)
class PublishInput:
    """File names and the content hashes of what they shall hold, and the folder they go to."""

    folder: str
    files: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Published:
    """The paths that now hold the report, by file name."""

    paths: tuple[tuple[str, str], ...]


def publish_files(given: PublishInput, artifacts: Artifacts) -> Answer[Published]:
    """Write each file once: identical bytes pass, different bytes are refused and left as they are.

    Raises `ObstructedError` (PUBLICATION) naming the file that is in the way.
    """
    folder = Path(given.folder)
    create_private_folder(folder)
    paths = []
    for name, content_hash in given.files:
        path = folder / name
        try:
            write_new(path, artifacts.get(content_hash))
        except Conflict as error:
            raise ObstructedError(
                f"{path} holds something else and is not overwritten; move it away and "
                "'assay resume' the run",
                code="PUBLICATION",
            ) from error
        paths.append((name, str(path)))
    return Answer(Published(tuple(paths)))


@task(name="publish", task_run_name="publish", **POLICY)
async def publish(given: PublishInput, *, artifacts: Artifacts) -> Answer[Published]:
    """Publish the report."""
    return await anyio.to_thread.run_sync(publish_files, given, artifacts)
