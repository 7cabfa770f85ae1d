"""How a verification goes: what is run at all, what ends it, and what is kept of it."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.sandbox.fake import FakeSandbox, finished
from adapters.sandbox.port import Limits, Sandbox, SandboxUnavailable
from adapters.verification.freezing import freeze
from adapters.verification.verifying import verify
from state.values.verification import CommandResult, Counts, Verdict, Verification
from tests.adapters.verification.projects import FAILING, PASSING, Files, write


def _verify(workspace: Path, sandbox: Sandbox, environment: Path, **more: object) -> Verification:
    given = {"frozen": None, "environment": environment, **more}
    return asyncio.run(verify(workspace, sandbox, **given))  # type: ignore[arg-type] # by name


def test_without_tests_nothing_is_run(tmp_path: Path, environment: Path) -> None:
    sandbox = FakeSandbox([])

    found = _verify(write(tmp_path, {"model.py": ""}), sandbox, environment)

    assert (found.verdict, found.commands, sandbox.asked) == (Verdict.NO_TESTS, (), [])
    assert found.reason


def test_tests_that_are_not_the_frozen_ones_are_not_run(tmp_path: Path, environment: Path) -> None:
    frozen = freeze(write(tmp_path, {"test_it.py": FAILING, "test_more.py": PASSING}))
    write(tmp_path, {"test_it.py": PASSING, "conftest.py": ""})
    (tmp_path / "test_more.py").unlink()
    sandbox = FakeSandbox([])

    found = _verify(tmp_path, sandbox, environment, frozen=frozen)

    assert (found.verdict, sandbox.asked) == (Verdict.TAMPERED, [])
    assert found.tampered == ("conftest.py", "test_it.py", "test_more.py")
    assert "conftest.py (added), test_it.py (changed), test_more.py (missing)" in found.reason


def test_a_broken_sandbox_says_nothing_of_the_code(tmp_path: Path, environment: Path) -> None:
    workspace = write(tmp_path, {"test_it.py": PASSING})
    sandbox = FakeSandbox([SandboxUnavailable("the disk is full")])

    with pytest.raises(SandboxUnavailable, match="the disk is full"):
        _verify(workspace, sandbox, environment)


def test_an_exit_code_of_zero_alone_proves_nothing(tmp_path: Path, environment: Path) -> None:
    """Cases: measured, a false green."""
    workspace = write(tmp_path, {"test_it.py": PASSING})

    found = _verify(workspace, FakeSandbox([finished(0, output=b"1 passed")]), environment)

    assert (found.verdict, found.commands[0].counts) == (Verdict.NOT_EXECUTED, None)


@pytest.mark.parametrize(
    ("limit", "verdict", "reason"),
    [
        ("wall", Verdict.TIMEOUT, "it had not ended after 300 s"),
        ("cpu", Verdict.TIMEOUT, "it had not ended after 240 s of CPU"),
        ("memory", Verdict.FAILED, "it used more memory than allowed"),
        ("disk", Verdict.FAILED, "it used more disk than allowed"),
        ("", Verdict.FAILED, "ended by signal 9"),
    ],
)
def test_a_limit_is_named_and_the_output_kept(
    tmp_path: Path, environment: Path, limit: str, verdict: Verdict, reason: str
) -> None:
    """Cases: B 13, H 74."""
    workspace = write(tmp_path, {"test_it.py": PASSING})
    ended = finished(None, signal=9, limit=limit, output=b"epoch 1\x1b[31m of 9\x1b[0m")

    found = _verify(workspace, FakeSandbox([ended]), environment)

    assert (found.verdict, found.commands[0].output_tail) == (verdict, "epoch 1 of 9")
    assert reason.removeprefix("it ") in found.reason


def test_no_secret_is_kept_of_the_output(tmp_path: Path, environment: Path) -> None:
    workspace = write(tmp_path, {"test_it.py": PASSING})
    said = b"api_key = 'abcdef0123456789'\n" + b"\xff\0"

    (result,) = _verify(workspace, FakeSandbox([finished(1, output=said)]), environment).commands

    assert "abcdef0123456789" not in result.output_tail
    assert "\0" not in result.output_tail


def test_every_command_is_run_and_the_worst_counts(tmp_path: Path, environment: Path) -> None:
    files: Files = {
        "test_it.py": PASSING,
        "back/pyproject.toml": "",
        "back/test_it.py": PASSING,
        "core/setup.py": "",
        "core/test_it.py": PASSING,
    }
    results = [finished(0), finished(1), finished(None, limit="wall")]

    found = _verify(write(tmp_path, files), FakeSandbox(results), environment)

    assert [each.verdict for each in found.commands] == ["not_executed", "failed", "timeout"]
    assert found.verdict is Verdict.FAILED
    assert "(in back): it ended with exit code 1" in found.reason


def test_commands_have_no_network_and_see_only_what_they_need(
    tmp_path: Path, environment: Path
) -> None:
    sandbox = FakeSandbox([finished(0)])
    limits = Limits(wall_s=7.0)

    _verify(write(tmp_path, {"test_it.py": PASSING}), sandbox, environment, limits=limits)

    (command,) = sandbox.asked
    assert not command.network
    assert command.limits == limits
    assert environment in command.read_only
    assert not any(tmp_path.is_relative_to(folder) for folder in command.read_only)


@pytest.mark.timeout(600)
def test_tests_that_hang_are_ended_and_it_is_known_where(
    tmp_path: Path, sandbox: Sandbox, environment: Path
) -> None:
    """Cases: B 13; H 64, 74."""
    endless = "import time\ndef test_train():\n    while True:\n        time.sleep(1)\n"
    workspace = write(tmp_path, {"test_it.py": PASSING + endless})

    limits = Limits(wall_s=6.0)
    found = _verify(workspace, sandbox, environment, limits=limits)

    assert found.verdict is Verdict.TIMEOUT
    assert found.counts == Counts(executed=1, passed=1)
    assert "in test_train" in found.commands[0].output_tail


@pytest.mark.timeout(600)
def test_without_an_environment_there_is_pytest_and_no_more(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    """Cases: F 52."""
    workspace = write(tmp_path, {"test_it.py": PASSING + "import prefect\n"})

    found = asyncio.run(verify(workspace, sandbox, frozen=freeze(workspace)))

    assert found.verdict is Verdict.FAILED
    assert "No module named 'prefect'" in found.commands[0].output_tail


counts = st.builds(Counts, *(st.integers(0, 9) for _ in range(5)))
results = st.builds(
    CommandResult,
    argv=st.tuples(st.text(max_size=5)),
    cwd=st.just("."),
    exit_code=st.none() | st.integers(0, 255),
    signal=st.none() | st.integers(1, 64),
    limit=st.sampled_from(["", "wall"]),
    wall_s=st.floats(0, 99),
    counts=st.none() | counts,
    counted_by=st.text(max_size=5),
    output_tail=st.text(max_size=9),
    verdict=st.sampled_from(Verdict),
)


@given(st.lists(results, max_size=3), st.sampled_from(Verdict))
def test_a_record_is_read_back_as_it_was(commands: list[CommandResult], verdict: Verdict) -> None:
    found = Verification("namespaces", tuple(commands), ("a.py",), verdict, "why")

    assert Verification.from_json(json.loads(json.dumps(found.as_json()))) == found
    assert found.counts.passed == sum(each.counts.passed for each in commands if each.counts)
    assert replace(found, commands=()).counts == Counts()
