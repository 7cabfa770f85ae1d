"""Installing what a plan requires: a step of its own, with a network and before any code is run.

Only names and versions reach an installer, only wheels are taken from the Python index and no
scripts of npm packages are run, so that nothing that is fetched is executed here.
"""

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from importlib.metadata import distributions
from pathlib import Path
from typing import Literal

import anyio

from adapters.sandbox import toolchains
from adapters.sandbox.port import MIB, TAIL_BYTES, Command, Finished, Limits, Sandbox
from adapters.sandbox.system import outside_system
from adapters.verification import environments
from adapters.verification.configuration import read_json
from adapters.verification.pip_program import copy_pip
from adapters.verification.requirements import check_index, npm_requirement, pypi_requirement
from adapters.verification.walking import read_own
from state.values.code_plan import Requirement
from state.values.errors import InvalidRequest, ObstructedError
from state.values.ids import canonical_json, content_hash
from state.values.redaction import redact

MAX_REQUIREMENTS = 200
# Packages take more room than tests do.
_ROOM = 8 * 1024 * MIB
_TEMPORARY = ".installing"
# pip asks for the system's name in order to tell it to the index, and ends if it may not read this.
_ABOUT = (Path("/etc/debian_version"),)
_UNREACHABLE = (
    "connection broken by", "Temporary failure in name resolution", "Network is unreachable",
    "ENOTFOUND", "ECONNREFUSED", "EAI_AGAIN", "ETIMEDOUT", "ENETUNREACH",
    "SELF_SIGNED_CERT", "UNABLE_TO_VERIFY", "CERTIFICATE_VERIFY_FAILED",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Index:
    """Where packages come from; '' is each installer's own public index.

    With `wheels`, a folder, Python packages come from there alone, and without a network.
    """

    url: str = ""
    wheels: Path | None = None
    npm_registry: str = ""


@dataclass(frozen=True, slots=True)
class Installed:
    """How an installation ended.

    `requirements` is what the installers were given, `packages` what is there now as
    `name==version` (with `npm:` before those of npm). `log` is the end of what they said.
    `environment_hash` tells environments apart by what is in them.
    """

    outcome: Literal["installed", "nothing", "failed"]
    requirements: tuple[str, ...]
    packages: tuple[str, ...]
    log: str
    environment_hash: str
    reason: str = ""


class IndexUnreachable(ObstructedError):
    """The package index did not answer: nothing was learnt about the requirements."""

    code = "INDEX_UNREACHABLE"


async def install(
    requirements: Iterable[Requirement],
    sandbox: Sandbox,
    target: Path,
    *,
    index: Index = Index(),
    limits: Limits = Limits(),  # noqa: B008 - frozen
    wheels_only: bool = True,
) -> Installed:
    """Make a clean environment in the folder `target`, with `requirements` in it, for `verify`.

    `target` is missing, empty, or holds an earlier environment, which is replaced. What pytest
    needs is there already and is not asked for. A requirement that is none, or cannot be had, is
    the outcome `failed` with a reason; the environment can be used even so. Raises `NoPytest`,
    `IndexUnreachable` and other `ObstructedError`s for what a person has to mend, and
    `InvalidRequest` for an index that may not be used.
    """
    check_index(index.url)
    check_index(index.npm_registry)
    await anyio.to_thread.run_sync(_clear, target)
    await anyio.to_thread.run_sync(environments.create, target)
    try:
        asked = _sorted_out(requirements)
    except InvalidRequest as refusal:
        return await anyio.to_thread.run_sync(_outcome, target, _Asked(), "", refusal.message)
    room = replace(
        limits,
        disk_bytes=max(limits.disk_bytes, _ROOM),
        file_bytes=max(limits.file_bytes, _ROOM),
    )
    log, reason = "", ""
    with environments.writing(target):
        commands = _commands(asked, target, index, room, wheels_only=wheels_only)
    for command in commands:
        finished = await sandbox.run_in_place(target, command)
        log += finished.output_tail.decode(errors="replace")
        if finished.exit_code != 0:
            reason = _why(finished)
            break
    await anyio.to_thread.run_sync(_finish, target)
    return await anyio.to_thread.run_sync(_outcome, target, asked, log, reason)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What each installer is given."""

    pypi: tuple[str, ...] = ()
    npm: tuple[str, ...] = ()


def _sorted_out(requirements: Iterable[Requirement]) -> _Asked:
    pypi: list[str] = []
    npm: list[str] = []
    there = environments.provided()
    for each in requirements:
        ecosystem = each.ecosystem.strip().lower()
        if ecosystem in ("pypi", "pip", "python", ""):
            wanted = pypi_requirement(each)
            if environments.normalised(wanted) not in there:
                pypi.append(wanted)
        elif ecosystem in ("npm", "node"):
            npm.append(npm_requirement(each))
        else:
            raise InvalidRequest(
                f"{each.name!r} is of {each.ecosystem!r}, but only pypi and npm are installed from"
            )
    if len(pypi) + len(npm) > MAX_REQUIREMENTS:
        raise InvalidRequest(f"more than {MAX_REQUIREMENTS} requirements are not installed")
    return _Asked(tuple(dict.fromkeys(pypi)), tuple(dict.fromkeys(npm)))


def _commands(
    asked: _Asked, target: Path, index: Index, limits: Limits, *, wheels_only: bool
) -> list[Command]:
    return [
        *([_pip(asked.pypi, target, index, limits, wheels_only=wheels_only)] if asked.pypi else []),
        *([_npm(asked.npm, target, index, limits)] if asked.npm else []),
    ]


def _pip(
    asked: tuple[str, ...], target: Path, index: Index, limits: Limits, *, wheels_only: bool
) -> Command:
    """Return pip, run by the environment's own Python so that it sees what is there already."""
    folder = target / _TEMPORARY
    folder.mkdir(exist_ok=True)
    pinned = "".join(f"{name}=={version}\n" for name, version in environments.provided().items())
    (folder / "constraints.txt").write_text(pinned)
    program = copy_pip(folder).relative_to(target)
    options = [
        *("install", "--isolated", "--no-input", "--disable-pip-version-check", "--no-cache-dir"),
        *("--progress-bar", "off", "--no-warn-script-location", "--retries", "1"),
        *("--constraint", f"{_TEMPORARY}/constraints.txt"),
        *(("--only-binary", ":all:") if wheels_only else ()),
        *(("--index-url", index.url) if index.url else ()),
        *(("--no-index", "--find-links", str(index.wheels)) if index.wheels else ()),
    ]
    return Command(
        argv=("bin/python", "-I", str(program), *options, "--", *asked),
        environment={"TMPDIR": _TEMPORARY},  # where there is room for what is unpacked
        read_only=(
            *outside_system((environments.base_python().parent.parent,)),
            *(path for path in _ABOUT if path.exists()),
            *((index.wheels,) if index.wheels else ()),
        ),
        network=index.wheels is None,
        limits=limits,
    )


def _npm(asked: tuple[str, ...], target: Path, index: Index, limits: Limits) -> Command:
    found = toolchains.npm()
    if found is None:
        raise ObstructedError(
            "the code requires packages of npm, which is not to be found on this machine",
            code="TOOLCHAIN_MISSING",
        )
    (target / "package.json").write_text('{"private": true}\n')
    options = [
        *("install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save"),
        *("--no-package-lock", "--fetch-retries=1"),
        *((f"--registry={index.npm_registry}",) if index.npm_registry else ()),
    ]
    return Command(
        argv=(*found.argv_prefix, *options, "--", *asked),
        environment={
            **found.environment,
            "npm_config_globalconfig": "/dev/null",
            "NODE_OPTIONS": "--use-openssl-ca",  # this machine's authorities, which pip uses too
            "SSL_CERT_DIR": "/etc/ssl/certs",
        },
        read_only=found.read_only,
        network=True,
        limits=limits,
    )


def _why(finished: Finished) -> str:
    """Return why an installer failed; raises `IndexUnreachable` when it was the network."""
    said = finished.output_tail.decode(errors="replace")
    if any(sign in said for sign in _UNREACHABLE):
        raise IndexUnreachable(
            "the package index could not be reached; connect this machine, name another index or a "
            f"folder of wheels, and resume – {redact(_last_lines(said))}"
        )
    if finished.limit:
        return f"the installer used more {finished.limit} than allowed"
    return redact(_last_lines(said)) or f"the installer ended with code {finished.exit_code}"


def _last_lines(said: str) -> str:
    faults = [line for line in said.splitlines() if "error" in line.lower()]
    return " ".join((faults or said.splitlines())[-3:])[:1000]


def _clear(target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    if not any(target.iterdir()):
        return
    if not (target / "pyvenv.cfg").is_file():
        raise InvalidRequest(f"{target} holds something else; name an empty folder to install into")
    shutil.rmtree(target)
    target.mkdir()


def _finish(target: Path) -> None:
    """Remove what was only for the installers, and let scripts find Python where it is later."""
    shutil.rmtree(target / _TEMPORARY, ignore_errors=True)
    for script in (target / "bin").iterdir():
        data = read_own(target, f"bin/{script.name}") or b""
        first, end, rest = data.partition(b"\n")
        if first.startswith(b"#!") and first.endswith(b"bin/python"):
            script.write_bytes(b"#!" + bytes(environments.interpreter(target)) + end + rest)


def _outcome(target: Path, asked: _Asked, log: str, reason: str) -> Installed:
    packages = tuple(sorted(_packages(target)))
    given = (*asked.pypi, *(f"npm:{each}" for each in asked.npm))
    python = environments.site_packages(Path()).parts[1]
    return Installed(
        outcome="failed" if reason else "installed" if given else "nothing",
        requirements=given,
        packages=packages,
        log=redact(log)[-TAIL_BYTES:],
        environment_hash=content_hash(canonical_json([python, packages])),
        reason=reason[:2000],
    )


def _packages(target: Path) -> Iterator[str]:
    for each in distributions(path=[str(environments.site_packages(target))]):
        yield f"{environments.normalised(each.name)}=={each.version}"
    modules = target / "node_modules"
    for manifest in (*modules.glob("*/package.json"), *modules.glob("@*/*/package.json")):
        said = read_json(read_own(target, str(manifest.relative_to(target)))) or {}
        yield f"npm:{manifest.parent.relative_to(modules).as_posix()}=={said.get('version', '')}"
