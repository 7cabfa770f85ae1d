"""Frozen tests, run in the sandbox on a copy; what fails is repaired, and never in a test."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from adapters.verification.installing import Installed

from adapters.sandbox.port import Limits, Sandbox
from adapters.verification.freezing import freeze
from adapters.verification.walking import hash_tree
from adapters.workspace.folder import write_files
from flows.code_tools import CodeTools
from flows.designing import Agreed
from flows.mending import Tried, mend_code
from flows.step import Driver, StepFailed, Turn
from state.code_events import (
    CodeDependenciesInstalled,
    CodeFileRecorded,
    CodeTestsFrozen,
    CodeVerified,
    FileHash,
)
from state.code_stages import CodeStage
from state.errors import BudgetExceeded
from state.values.code_plan import FileRole
from state.values.verification import FrozenFile, Verdict, Verification
from tasks.install import InstallInput
from tasks.install import install as install_task
from tasks.verify import VerifyInput
from tasks.verify import verify as verify_task


@dataclass(frozen=True, slots=True)
class Verified:
    """Every verification in order, the repairs between them, and why it went no further."""

    verifications: tuple[Verification, ...] = ()
    repairs: tuple[Tried, ...] = ()
    ended: str = ""


async def install_and_verify(driver: Driver, agreed: Agreed, tools: CodeTools) -> Verified:
    """Run the tests of what was written, and repair it while tests fail and repairs are left.

    Raises `SandboxUnavailable` when nothing can be learnt here: the run can be resumed elsewhere.
    """
    if not _tests(driver):
        return Verified(ended="no test of the plan was written, so there is nothing to run")
    sandbox = await anyio.to_thread.run_sync(tools.open_sandbox)
    with _folder(driver) as folder:
        environment, environment_hash = await _install(driver, agreed, tools, sandbox, folder)
        frozen = await _freeze(driver, folder)
        found: list[Verification] = []
        repairs: list[Tried] = []
        most = driver.paper2code.request.budgets.max_repairs
        for attempt in range(most + 1):
            with _checked_out(driver, folder, driver.paper2code.file_hashes) as workspace:
                given = VerifyInput(
                    tree_hash=await anyio.to_thread.run_sync(hash_tree, workspace),
                    attempt=attempt,
                    frozen=frozen,
                    environment_hash=environment_hash,
                    limits=_limits(driver),
                )
                verification = await driver.step(
                    Turn(CodeStage.VERIFYING, attempt + 1), verify_task, given, Verification,
                    workspace=workspace, sandbox=sandbox, environment=environment,
                )  # fmt: skip
            found.append(verification)
            await _record(driver, attempt, verification)
            if verification.verdict is Verdict.PASSED:
                return Verified(tuple(found), tuple(repairs))
            if attempt == most:
                return Verified(tuple(found), tuple(repairs), f"all {most} repairs were made")
            try:
                tried = await mend_code(driver, agreed, tools, verification, repairs)
            except (StepFailed, BudgetExceeded) as failure:
                return Verified(tuple(found), tuple(repairs), failure.message)
            repairs.append(tried)
            if not tried.changed:
                ended = f"repair {attempt + 1} changed nothing"
                return Verified(tuple(found), tuple(repairs), ended)
    raise AssertionError("the loop returns")


def _tests(driver: Driver) -> list[str]:
    files = driver.paper2code.files
    return [path for path, file in files.items() if file.role == FileRole.TEST.value]


def _limits(driver: Driver) -> Limits:
    seconds = driver.paper2code.request.budgets.verification_seconds
    return Limits(wall_s=float(seconds), cpu_s=seconds)


# ---- the workspace on disk: made anew from the archive each time, so nothing on it is trusted


@contextmanager
def _folder(driver: Driver) -> Iterator[Path]:
    parent = driver.desk.settings.cache / "workspaces"
    parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with TemporaryDirectory(prefix="run-", dir=parent, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@contextmanager
def _checked_out(driver: Driver, folder: Path, hashes: Mapping[str, str]) -> Iterator[Path]:
    """Give a workspace with the files that `hashes` names, by path."""
    get = driver.desk.artifacts.get
    with TemporaryDirectory(prefix="code-", dir=folder, ignore_cleanup_errors=True) as made:
        workspace = Path(made)
        write_files(workspace, {path: get(each) for path, each in hashes.items()}, ours={})
        yield workspace


def _first_written(driver: Driver) -> dict[str, str]:
    """Return path and content hash of every file as it was before the first repair."""
    present = driver.paper2code.file_hashes
    first = {
        event.path: event.content_hash
        for event in driver.run.calls.values()
        if isinstance(event, CodeFileRecorded) and event.attempt == 0
    }
    return {path: first.get(path, address) for path, address in present.items()}


# ---- dependencies and tests


async def _install(
    driver: Driver, agreed: Agreed, tools: CodeTools, sandbox: Sandbox, folder: Path
) -> tuple[Path | None, str]:
    """Install what the plan requires; return the folder with it and its hash.

    The folder is of this machine and this execution: a run that goes on elsewhere installs again.
    """
    requirements = agreed.plan.environment_setup.requirements
    if not requirements:
        return None, ""
    given = InstallInput(requirements, _limits(driver))
    target = folder / "environment"
    target.mkdir()
    turn = Turn(CodeStage.VERIFYING, driver.epoch)
    installed = await driver.step(
        turn, install_task, given, Installed,
        sandbox=sandbox, target=target, index=tools.index,
    )  # fmt: skip
    log = await anyio.to_thread.run_sync(driver.archive, installed.log.encode())
    if driver.paper2code.dependencies is None:
        event = CodeDependenciesInstalled(
            outcome=installed.outcome,
            requirements=tuple(f"{r.name}{r.specifier}"[:200] for r in requirements),
            log_hash=log,
            reason=installed.reason[:2000],
        )
        await driver.record(Turn(CodeStage.VERIFYING), event)
    return target, installed.environment_hash


async def _freeze(driver: Driver, folder: Path) -> tuple[FrozenFile, ...]:
    """Freeze what decides what is tested, as it was first written, and record it."""
    hashes = _first_written(driver)  # also when this goes on after repairs
    with _checked_out(driver, folder, hashes) as workspace:
        frozen = await anyio.to_thread.run_sync(freeze, workspace)
    if driver.paper2code.frozen is not None:
        return frozen
    paths = dict.fromkeys([*_tests(driver), *(each.path.partition("#")[0] for each in frozen)])
    files = tuple(FileHash(path=path, content_hash=hashes[path]) for path in paths)
    await driver.record(Turn(CodeStage.VERIFYING), CodeTestsFrozen(files=files))
    return frozen


async def _record(driver: Driver, attempt: int, found: Verification) -> None:
    body = json.dumps(found.as_json(), indent=2, ensure_ascii=False).encode()
    frozen = driver.paper2code.frozen_hashes
    counts = found.counts
    event = CodeVerified(
        attempt=attempt,
        verdict=found.verdict.value,
        level=found.level,
        commands=len(found.commands),
        executed=counts.executed,
        passed=counts.passed,
        failed=counts.failed,
        skipped=counts.skipped,
        tampered=tuple(path for path in found.tampered if path in frozen),
        result_hash=await anyio.to_thread.run_sync(driver.archive, body),
        reason=found.reason[:4000],
    )
    await driver.record(Turn(CodeStage.VERIFYING, attempt + 1), event)
