"""Install: fetch what the plan requires into a folder of its own, before anything is verified."""

from dataclasses import dataclass
from pathlib import Path

from prefect import task

from adapters.models.port import Answer
from adapters.sandbox.port import Limits, Sandbox
from adapters.verification.installing import Index, Installed
from adapters.verification.installing import install as install_into
from state.values.code_plan import Requirement
from tasks.policy import POLICY


@dataclass(frozen=True, slots=True)
class InstallInput:
    """The packages to install, in the plan's order, and what each command of it may use."""

    requirements: tuple[Requirement, ...]
    limits: Limits = Limits()


async def install_requirements(
    given: InstallInput, sandbox: Sandbox, target: Path, index: Index
) -> Answer[Installed]:
    """Install into `target`; what could not be installed is an outcome, with its log."""
    found = await install_into(
        given.requirements, sandbox, target, index=index, limits=given.limits
    )
    return Answer(found)


@task(name="install", task_run_name="install dependencies", **POLICY)
async def install(
    given: InstallInput,
    *,
    sandbox: Sandbox,
    target: Path,
    index: Index = Index(),  # noqa: B008 - frozen
) -> Answer[Installed]:
    """Install the dependencies."""
    return await install_requirements(given, sandbox, target, index)
