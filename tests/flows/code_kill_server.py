"""Executes Paper2Code runs in forked children, to kill them where it hurts; see `kill_server`.

    python code_kill_server.py PREFECT_HOME

A job is the fields of `CodeJob`; what is done with it is in `code_killed`, which is imported when
Prefect is configured.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.flows.kill_server import fork_child, serve, wait_for


@dataclass(frozen=True, slots=True)
class CodeJob:
    """One execution of the run in `home`: new, or resumed when it is there.

    The process dies after the event at `kill_after`; after as many events as `kill_after_new` says
    that no execution before has recorded; while the operation `kill_in` of the coder, the answer of
    a person ("ask") or a test ("test") is awaited; or when it has replaced as many files of the
    workspace as `kill_at_replace` says. `path` are folders in which programs are looked for first.
    """

    home: str
    diary: str
    paper: str
    run_id: str
    memo: str
    kill_after: int | None = None
    kill_after_new: int | None = None
    kill_in: str = ""
    kill_at_replace: int = 0
    fill_disk_after: int | None = None
    is_confined: bool = False
    at_once: int = 1
    path: str = ""
    workspace: str = ""
    answer: str = "approve"

    @property
    def folder(self) -> Path:
        """Return the workspace."""
        return Path(self.workspace or f"{self.home}-code")


def run_all(jobs: Sequence[dict[str, Any]]) -> list[dict[str, object]]:
    """Carry out all `jobs` at once, each in a child of its own; return how each ended."""
    from tests.flows.code_killed import carry_out

    made = [CodeJob(**job) for job in jobs]
    children = [fork_child(partial(carry_out, job), job.home) for job in made]
    return [wait_for(pid, pipe) for pid, pipe in children]


if __name__ == "__main__":
    serve(run_all, ("tests.flows.code_killed",))
