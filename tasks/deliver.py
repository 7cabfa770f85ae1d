"""Deliver: put the code into its workspace with its history, the same bytes each time."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import anyio
from prefect import task

from adapters.models.port import Answer
from adapters.workspace.folder import remove_files, write_files
from adapters.workspace.git import Commit, write_history
from state.artifacts import Artifacts
from tasks.policy import POLICY


@dataclass(frozen=True, slots=True)
class CommitInput:
    """One commit; `files` are paths with the content hashes of what they become, `at` is UTC."""

    message: str
    at: str
    files: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class DeliverInput:
    """The workspace, and its history from the first commit of this run on.

    `ours` are the paths with all the content hashes that may stand there to be overwritten.
    `dropped` are those of them that the plan has no more: what stands there is removed.
    """

    run_id: str
    workspace: str
    commits: tuple[CommitInput, ...]
    ours: tuple[tuple[str, tuple[str, ...]], ...]
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Delivered:
    """The last commit, '' where git is not installed, and the dropped files that are gone."""

    commit: str
    removed: tuple[str, ...] = ()


def deliver_files(given: DeliverInput, artifacts: Artifacts) -> Answer[Delivered]:
    """Write the last state of each file, remove what was dropped, then write the history.

    Raises `ObstructedError` (PUBLICATION) naming what is in the way.
    """
    folder = Path(given.workspace)
    bodies = {
        address: artifacts.get(address)
        for address in {address for commit in given.commits for _, address in commit.files}
    }
    latest: dict[str, bytes] = {}
    for commit in given.commits:
        latest |= {path: bodies[address] for path, address in commit.files}
    ours = {path: frozenset(hashes) for path, hashes in given.ours}
    write_files(folder, latest, ours=ours)
    dropped = {path: ours.get(path, frozenset()) for path in given.dropped if path not in latest}
    removed = remove_files(folder, dropped)
    history = [
        Commit(
            commit.message,
            datetime.fromisoformat(commit.at),
            {path: bodies[address] for path, address in commit.files},
            removed if number == 0 else (),
        )
        for number, commit in enumerate(given.commits)
    ]
    return Answer(Delivered(write_history(folder, given.run_id, history), removed))


@task(name="deliver", task_run_name="deliver the code", **POLICY)
async def deliver(given: DeliverInput, *, artifacts: Artifacts) -> Answer[Delivered]:
    """Deliver the code."""
    return await anyio.to_thread.run_sync(deliver_files, given, artifacts)
