"""Verifying a workspace: find what tests it, run that in the sandbox, and judge what truly ran.

Tests and what counts them share a process (pytest, Node) or an output (Cargo). What this therefore
cannot exclude is code that was written against it: that searches the process for the watch, strips
assertions from the tests' own code as it is imported, or prints the result lines of a Rust test
binary. Nor can it tell whether the tests demand anything; those that a plan asks for are frozen,
and reading them is for people.
"""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from adapters.sandbox.port import Limits, Sandbox
from adapters.sandbox.temporary import temporary_folder
from adapters.verification import environments
from adapters.verification.discovery import TestCommand, discover
from adapters.verification.freezing import Change, tampered
from adapters.verification.judging import judge
from adapters.verification.running import prepare
from state.values.errors import ObstructedError
from state.values.verification import CommandResult, FrozenFile, Verdict, Verification

# The worst is what is said of the whole.
_ORDER = (Verdict.FAILED, Verdict.TIMEOUT, Verdict.NOT_EXECUTED, Verdict.PASSED)


async def verify(
    workspace: Path,
    sandbox: Sandbox,
    *,
    frozen: Iterable[FrozenFile] | None,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    environment: Path | None = None,
) -> Verification:
    """Run the tests of `workspace`, each command on a clean copy and without a network.

    Passed means that at least one test was executed, that all that were passed, and that none was
    left out silently. `frozen` is what `freeze` gave (None: nothing was frozen yet); when it does
    not hold any more nothing is run. `environment` is what `install` made; without it there is
    pytest and no more. Raises `SandboxUnavailable`, `NoToolchain` or `NoPytest` when nothing was
    learnt about the code: that is never a test's failure.
    """
    level = str(sandbox.level)
    changes = () if frozen is None else await anyio.to_thread.run_sync(tampered, workspace, frozen)
    if changes:
        return _tampered(level, changes)
    commands = await anyio.to_thread.run_sync(discover, workspace)
    if not commands:
        return Verification(level, (), (), Verdict.NO_TESTS, "there is nothing that tests the code")
    async with _environment(environment) as ready:
        results = [await _run(each, workspace, sandbox, ready, limits) for each in commands]
    verdict = min((each.verdict for each in results), key=_ORDER.index)
    reasons = [f"{each.name}: {each.reason}" for each in results if each.reason]
    return Verification(level, tuple(results), (), verdict, "\n".join(reasons)[:4000])


async def _run(
    asked: TestCommand, workspace: Path, sandbox: Sandbox, environment: Path, limits: Limits
) -> CommandResult:
    prepared = await anyio.to_thread.run_sync(prepare, asked, environment, limits)
    finished = await sandbox.run(workspace, prepared.command)
    return judge(
        asked,
        finished,
        prepared.read(finished),
        counted_by=prepared.counted_by,
        workspace=workspace,
        limits=limits,
    )


@asynccontextmanager
async def _environment(installed: Path | None) -> AsyncIterator[Path]:
    """Give the folder of a clean environment: the one that was installed, or one for this time."""
    if installed is not None:
        if not environments.interpreter(installed).exists():
            raise ObstructedError(f"{installed} is no environment; install the dependencies again")
        yield installed
        return
    with temporary_folder("assay-environment-") as folder:
        await anyio.Path(folder).chmod(0o755)  # the sandbox runs as nobody
        made = folder / "environment"
        await anyio.to_thread.run_sync(environments.create, made)
        yield made


def _tampered(level: str, changes: tuple[Change, ...]) -> Verification:
    said = ", ".join(f"{each.path} ({each.how})" for each in changes)
    reason = f"what decides the tests is not what was frozen: {said}"[:4000]
    paths = tuple(each.path for each in changes)
    return Verification(level, (), paths, Verdict.TAMPERED, reason)
