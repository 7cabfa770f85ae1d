"""Verifying and installing as steps: their inputs are plain, and say all that they depend on."""

import asyncio
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from adapters.sandbox.fake import FakeSandbox, finished
from adapters.sandbox.port import SandboxUnavailable
from adapters.verification.freezing import freeze
from adapters.verification.installing import Index
from adapters.verification.walking import hash_tree
from state.values.code_plan import Requirement
from state.values.errors import ObstructedError
from state.values.ids import step_call_id
from state.values.verification import Verdict
from tasks.install import InstallInput, install_requirements
from tasks.verify import VerifyInput, verify_workspace

TEST = "def test_it():\n    assert True\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Return a workspace with one test."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "test_it.py").write_text(TEST)
    return folder


def _asked(workspace: Path) -> VerifyInput:
    return VerifyInput(hash_tree(workspace), attempt=0, frozen=freeze(workspace))


def _verify(given: VerifyInput, workspace: Path, sandbox: FakeSandbox) -> Verdict:
    return asyncio.run(verify_workspace(given, workspace, sandbox, None)).value.verdict


def test_a_workspace_is_verified_with_what_was_asked(workspace: Path) -> None:
    sandbox = FakeSandbox([finished(1)])

    verdict = _verify(_asked(workspace), workspace, sandbox)

    assert verdict is Verdict.FAILED
    assert [command.limits for command in sandbox.asked] == [_asked(workspace).limits]


def test_a_workspace_that_somebody_changed_is_not_verified(workspace: Path) -> None:
    given = _asked(workspace)
    (workspace / "more.py").write_text("")

    with pytest.raises(ObstructedError, match="changed by somebody else"):
        _verify(given, workspace, FakeSandbox([]))


def test_a_sandbox_that_broke_is_no_outcome(workspace: Path) -> None:
    with pytest.raises(SandboxUnavailable):
        _verify(_asked(workspace), workspace, FakeSandbox([]))


def test_tests_that_were_changed_are_an_outcome(workspace: Path) -> None:
    frozen = freeze(workspace)
    (workspace / "test_it.py").write_text("")
    given = replace(_asked(workspace), frozen=frozen)

    assert _verify(given, workspace, FakeSandbox([])) is Verdict.TAMPERED


def test_the_call_depends_on_all_that_was_asked(workspace: Path) -> None:
    given = _asked(workspace)
    others = (
        replace(given, attempt=1),
        replace(given, tree_hash="sha256:" + "0" * 64),
        replace(given, environment_hash="sha256:" + "1" * 64),
        replace(given, frozen=()),
        replace(given, limits=replace(given.limits, wall_s=1.0)),
    )

    calls = {step_call_id("verifying/1", "verify", asdict(each)) for each in (given, *others)}

    assert len(calls) == 6


def test_requirements_are_installed_by_a_step(tmp_path: Path) -> None:
    given = InstallInput((Requirement("numpy", ">=1"), Requirement("left-pad; rm")))
    sandbox = FakeSandbox([])

    answer = asyncio.run(install_requirements(given, sandbox, tmp_path / "there", Index()))

    assert (answer.value.outcome, sandbox.asked_in_place) == ("failed", [])
    assert "left-pad; rm" in answer.value.reason
