"""Frozen tests, run in the sandbox on a copy; what fails is repaired, and never in a test."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from adapters.sandbox.port import Limits, Sandbox
from adapters.sandbox.trees import remove
from adapters.verification.freezing import freeze
from adapters.verification.installing import Installed
from adapters.verification.walking import hash_tree
from adapters.workspace.folder import write_files
from flows.code_tools import CodeTools
from flows.designing import Agreed
from flows.implementing import recorded_in
from flows.mending import Tried, mend_code
from flows.step import Driver, StepFailed, Turn
from state.code_events import (
    CodeDependenciesInstalled,
    CodeTestsFrozen,
    CodeVerified,
    FileHash,
)
from state.code_stages import CodeStage
from state.errors import BudgetExceeded
from state.values.code_plan import FileRole
from state.values.ids import sha256_hex
from state.values.verification import FrozenFile, Verdict, Verification
from tasks.install import InstallInput
from tasks.install import install as install_task
from tasks.verify import VerifyInput
from tasks.verify import verify as verify_task

_REFUSED_SHOWN = 3


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
    most = driver.paper2code.request.budgets.max_repairs
    found: list[Verification] = []
    repairs: list[Tried] = []
    with _folder(driver) as folder:
        bench = _Bench(driver, agreed, tools, folder)
        for attempt in range(most + 1):
            verification = await bench.verification(attempt)
            found.append(verification)
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
                if tried.refused:
                    ended += f"; not allowed: {'; '.join(tried.refused[:_REFUSED_SHOWN])}"
                return Verified(tuple(found), tuple(repairs), ended)
    raise AssertionError("the loop returns")


class _Bench:
    """Where code is verified: the sandbox, and what is installed, are had when a test is to run.

    A verification that was recorded is taken from the archive: here, or now, its dependencies may
    not be to be had, and what was seen with them stands.
    """

    def __init__(self, driver: Driver, agreed: Agreed, tools: CodeTools, folder: Path) -> None:
        self._driver, self._agreed, self._tools, self._folder = driver, agreed, tools, folder
        self._ready: _Ready | None = None

    async def verification(self, attempt: int) -> Verification:
        """Return verification number `attempt`, and record it."""
        driver = self._driver
        recorded = driver.paper2code.verifications
        if attempt < len(recorded):
            get = driver.desk.artifacts.get
            body = await anyio.to_thread.run_sync(get, recorded[attempt].result_hash)
            return Verification.from_json(json.loads(body))
        ready = self._ready = self._ready or await self._prepared()
        with _checked_out(driver, self._folder, driver.paper2code.file_hashes) as workspace:
            given = VerifyInput(
                tree_hash=await anyio.to_thread.run_sync(hash_tree, workspace),
                attempt=attempt,
                frozen=ready.frozen,
                environment_hash=ready.environment_hash,
                limits=_limits(driver),
            )
            verification = await driver.step(
                Turn(CodeStage.VERIFYING, attempt + 1), verify_task, given, Verification,
                inherit=False, workspace=workspace, sandbox=ready.sandbox,
                environment=ready.environment,
            )  # fmt: skip
        await _record(driver, attempt, verification)
        return verification

    async def _prepared(self) -> "_Ready":
        sandbox = await anyio.to_thread.run_sync(self._tools.open_sandbox)
        environment, environment_hash = await _install(
            self._driver, self._agreed, self._tools, sandbox, self._folder
        )
        frozen = await _freeze(self._driver, self._folder)
        return _Ready(sandbox, environment, environment_hash, frozen)


@dataclass(frozen=True, slots=True)
class _Ready:
    sandbox: Sandbox
    environment: Path | None
    environment_hash: str
    frozen: tuple[FrozenFile, ...]


def _tests(driver: Driver) -> list[str]:
    files = driver.paper2code.files
    return [path for path, file in files.items() if file.role == FileRole.TEST.value]


def _limits(driver: Driver) -> Limits:
    seconds = driver.paper2code.request.budgets.verification_seconds
    return Limits(wall_s=float(seconds), cpu_s=seconds)


# ---- the workspace on disk: made anew from the archive each time, so nothing on it is trusted


@contextmanager
def _folder(driver: Driver) -> Iterator[Path]:
    """Lend a folder of this run's own; what a kill left in it is deleted first."""
    name = f"run-{sha256_hex(driver.run.run_id)[:32]}"
    folder = driver.desk.settings.cache / "workspaces" / name
    remove(folder)
    folder.mkdir(parents=True, mode=0o700)
    try:
        yield folder
    finally:
        with suppress(OSError):  # what is left is deleted when the run goes on
            remove(folder)


@contextmanager
def _checked_out(driver: Driver, folder: Path, hashes: Mapping[str, str]) -> Iterator[Path]:
    """Give a workspace with the files that `hashes` names, by path."""
    get = driver.desk.artifacts.get
    with TemporaryDirectory(prefix="code-", dir=folder, ignore_cleanup_errors=True) as made:
        workspace = Path(made)
        write_files(workspace, {path: get(each) for path, each in hashes.items()}, ours={})
        yield workspace


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
        inherit=False, sandbox=sandbox, target=target, index=tools.index,
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
    """Freeze what decides what is tested, as it was first written, and record it.

    Of a file that only in part decides that, the part is frozen, and the rest can be repaired.
    """
    first = driver.paper2code.file_hashes
    first |= {event.path: event.content_hash for event in recorded_in(driver.run, 0)}
    with _checked_out(driver, folder, first) as workspace:
        frozen = await anyio.to_thread.run_sync(freeze, workspace)
    if driver.paper2code.frozen is None:
        hashes = {path: first[path] for path in _tests(driver)}
        hashes |= {each.path: each.content_hash for each in frozen}
        files = tuple(FileHash(path=path, content_hash=hashes[path]) for path in sorted(hashes))
        await driver.record(Turn(CodeStage.VERIFYING), CodeTestsFrozen(files=files))
    return frozen


async def _record(driver: Driver, attempt: int, found: Verification) -> None:
    body = json.dumps(found.as_json(), indent=2, ensure_ascii=False).encode()
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
        tampered=found.tampered,
        result_hash=await anyio.to_thread.run_sync(driver.archive, body),
        reason=found.reason[:4000],
    )
    await driver.record(Turn(CodeStage.VERIFYING, attempt + 1), event)
