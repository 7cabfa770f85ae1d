"""Verify: run the workspace's tests in the sandbox, and say whether they truly passed."""

from dataclasses import dataclass
from pathlib import Path

from prefect import task

from adapters.models.port import Answer
from adapters.sandbox.port import Limits, Sandbox
from adapters.verification.verifying import verify as run_tests
from adapters.verification.walking import hash_tree
from state.values.errors import ObstructedError
from state.values.verification import FrozenFile, Verification
from tasks.policy import POLICY


@dataclass(frozen=True, slots=True)
class VerifyInput:
    """What is verified: a state of the workspace (`hash_tree`), for the `attempt`-th time.

    `environment_hash` is that of the installed dependencies (`Installed.environment_hash`), ''
    when there are none. `limits` are those of each command.
    """

    tree_hash: str
    attempt: int
    frozen: tuple[FrozenFile, ...]
    environment_hash: str = ""
    limits: Limits = Limits()


async def verify_workspace(
    given: VerifyInput, workspace: Path, sandbox: Sandbox, environment: Path | None
) -> Answer[Verification]:
    """Return what the tests of `workspace` show, with `environment` as its dependencies.

    Raises `ObstructedError` when the workspace is no longer what was to be verified, and
    `SandboxUnavailable` when it was the sandbox that failed: neither says anything of the code.
    """
    if hash_tree(workspace) != given.tree_hash:
        raise ObstructedError(
            f"{workspace} was changed by somebody else; resume the run when that is over"
        )
    found = await run_tests(
        workspace, sandbox, frozen=given.frozen, limits=given.limits, environment=environment
    )
    return Answer(found)


@task(name="verify", task_run_name="verify attempt {given.attempt}", **POLICY)
async def verify(
    given: VerifyInput, *, workspace: Path, sandbox: Sandbox, environment: Path | None = None
) -> Answer[Verification]:
    """Run the tests of a workspace."""
    return await verify_workspace(given, workspace, sandbox, environment)
