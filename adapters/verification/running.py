"""Running one test command in the sandbox, with what counts its tests beside it."""

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from adapters.sandbox import toolchains
from adapters.sandbox.commands import SEARCHED
from adapters.sandbox.port import Command, Finished, Limits
from adapters.sandbox.system import outside_system
from adapters.sandbox.toolchains import Toolchain
from adapters.verification import environments
from adapters.verification.counting import Record, read_record
from adapters.verification.discovery import Runner, TestCommand
from adapters.verification.npm_scripts import Tool, read_results, recognise, report_options
from state.values.errors import ObstructedError

GUEST = Path(__file__).resolve().parent / "guest"
_END = "END OF ORDER"


class NoToolchain(ObstructedError):
    """What the code is written for is not on this machine."""

    code = "TOOLCHAIN_MISSING"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A command for the sandbox, and how to read what it counts; `counted_by` names that."""

    command: Command
    read: Callable[[Finished], Record | None]
    counted_by: str


@dataclass(frozen=True, slots=True)
class _Job:
    """What is run with what, and where its record goes: `name`, `up` from the command's folder."""

    asked: TestCommand
    environment: Path
    limits: Limits
    name: str
    nonce: str

    @property
    def up(self) -> str:
        return "/".join([".."] * len(PurePosixPath(self.asked.cwd).parts)) or "."

    @property
    def path(self) -> str:
        return f"{self.up}/{self.name}"

    @property
    def readable(self) -> tuple[Path, ...]:
        base = environments.base_python().parent.parent
        return (GUEST, self.environment, *outside_system((base,)))

    def read(self, finished: Finished) -> Record | None:
        return read_record(finished.collected.get(self.name), self.nonce)


def prepare(asked: TestCommand, environment: Path, limits: Limits) -> Prepared:
    """Return how `asked` is run, with a record whose name nobody can know beforehand.

    `environment` is what `environments.create` made, perhaps with more installed. Raises
    `NoToolchain` when there is no Node or Cargo here: nothing can be said of the code then.
    """
    name = f".assay-{secrets.token_hex(8)}.json"
    job = _Job(asked, environment, limits, name, secrets.token_hex(16))
    match asked.runner:
        case Runner.PYTEST:
            return _pytest(job)
        case Runner.CARGO:
            return _cargo(job)
        case Runner.NPM:
            return _npm(job)


def _pytest(job: _Job) -> Prepared:
    inside = PurePosixPath(job.asked.cwd)
    left_out = [PurePosixPath(each).relative_to(inside) for each in job.asked.left_out]
    options = [*job.asked.options, *(f"--ignore={each}" for each in left_out)]
    # What a test wrote before it hung is lost with it; where it hung is shown shortly before.
    patience = job.limits.wall_s - min(10.0, job.limits.wall_s / 4)
    command = _python(job, "run_pytest.py", root=job.up, options=options, patience_s=patience)
    return Prepared(command, job.read, "pytest, each test watched from below")


def _cargo(job: _Job) -> Prepared:
    found = _found(toolchains.cargo(), "Cargo")
    command = _python(job, "run_cargo.py")
    made = replace(
        command,
        environment={**command.environment, **found.environment},
        read_only=(*job.readable, *found.read_only),
    )
    return Prepared(made, job.read, "cargo's result lines, against its list of tests")


def _python(job: _Job, script: str, **said: object) -> Command:
    """Return a command that runs a script of ours, with nothing of the workspace on its path.

    The shell is only there to hand over the order, which is not to be seen afterwards.
    """
    python = environments.interpreter(job.environment)
    order = json.dumps({"record": job.path, "nonce": job.nonce, **said})
    handing = f'exec "$0" -I "$1" <<\'{_END}\'\n{order}\n{_END}\n'
    return Command(
        argv=("/bin/sh", "-c", handing, str(python), str(GUEST / script)),
        cwd=job.asked.cwd,
        environment={"PATH": f"{python.parent}:{SEARCHED}", "PYTHONUNBUFFERED": "1"},
        read_only=job.readable,
        collect=(job.name,),
        limits=job.limits,
    )


def _npm(job: _Job) -> Prepared:
    found = _found(toolchains.npm(), "npm")
    tool = recognise(job.asked.script)
    added = report_options(tool, job.path) if tool else ()
    node, npm = found.argv_prefix
    argv = (npm, "test", *(("--", *added) if added else ()))
    if (modules := job.environment / "node_modules").is_dir():
        argv = (str(GUEST / "run_npm.mjs"), str(modules), f"{job.up}/node_modules", *argv)
    command = Command(
        argv=(node, *argv),
        cwd=job.asked.cwd,
        environment={
            **found.environment,
            "npm_config_offline": "true",
            **(_node_reporter(job) if tool == Tool.NODE else {}),
        },
        read_only=(*job.readable, *found.read_only),
        collect=(job.name,),
        limits=job.limits,
    )
    if tool is None:
        return Prepared(command, lambda _: None, "")
    if tool == Tool.NODE:
        return Prepared(command, job.read, "a reporter of Node's test runner")
    return Prepared(
        command,
        lambda finished: read_results(tool, finished.collected.get(job.name)),
        f"the JSON results of {tool}",
    )


def _node_reporter(job: _Job) -> dict[str, str]:
    reporter = (GUEST / "node_reporter.mjs").as_uri()
    options = (
        "--test-reporter=spec --test-reporter-destination=stdout"
        f" --test-reporter={reporter} --test-reporter-destination={job.path}"
    )
    return {"ASSAY_NONCE": job.nonce, "ASSAY_UP": job.up, "NODE_OPTIONS": options}


def _found(toolchain: Toolchain | None, name: str) -> Toolchain:
    if toolchain is None:
        raise NoToolchain(f"the code's tests need {name}, which is not to be found on this machine")
    return toolchain
