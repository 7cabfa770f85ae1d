"""Generated projects in small, written to a folder and verified together."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from adapters.sandbox.port import Limits, Sandbox
from adapters.verification.verifying import verify
from state.values.verification import Verification

Files = Mapping[str, str | bytes]

# Bounds against hangs, on a machine that is busy with other things.
PATIENT = Limits(wall_s=90.0, cpu_s=60)

PASSING = "def test_good():\n    assert True\n"
FAILING = "def test_bad():\n    assert False\n"


def write(folder: Path, files: Files) -> Path:
    """Write `files` into `folder`, which is made, and return it."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def verify_all(
    projects: Mapping[str, Files],
    tmp_path_factory: pytest.TempPathFactory,
    sandbox: Sandbox,
    environment: Path,
    *,
    limits: Limits = PATIENT,
) -> dict[str, Verification]:
    """Return what is found of each project; three are run at a time."""

    async def one(name: str, files: Files, turns: asyncio.Semaphore) -> Verification:
        folder = write(tmp_path_factory.mktemp("project"), files)
        async with turns:
            return await verify(
                folder, sandbox, frozen=None, limits=limits, environment=environment
            )

    async def every() -> list[Verification]:
        turns = asyncio.Semaphore(3)
        return await asyncio.gather(*(one(*each, turns) for each in projects.items()))

    return dict(zip(projects, asyncio.run(every()), strict=True))
