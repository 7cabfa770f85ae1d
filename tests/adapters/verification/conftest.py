"""The best sandbox of this machine, a clean environment, and projects that are really run."""

from pathlib import Path

import pytest

from adapters.sandbox.choose import open_sandbox
from adapters.sandbox.port import Sandbox, SandboxUnavailable
from adapters.verification import environments


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    """Return what confines best here."""
    try:
        return open_sandbox()
    except SandboxUnavailable as error:
        pytest.skip(f"generated code cannot be run here: {error.message}")


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a clean environment with pytest and no more."""
    folder = tmp_path_factory.mktemp("environment")
    folder.chmod(0o755)
    environments.create(folder)
    return folder
