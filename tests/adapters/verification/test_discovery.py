"""What tests a workspace, and what only looks as if it did."""

import os
import socket
from pathlib import Path

import pytest

from adapters.verification import walking
from adapters.verification.defined import defined_tests
from adapters.verification.discovery import Runner, discover, is_real_script
from adapters.verification.rust_tests import defined_tests as defined_rust_tests
from adapters.verification.walking import WorkspaceTooLarge
from tests.adapters.verification.projects import PASSING, Files, write


def _found(folder: Path, files: Files) -> list[tuple[Runner, str]]:
    return [(each.runner, each.cwd) for each in discover(write(folder, files))]


@pytest.mark.parametrize(
    "path", ["test_it.py", "tests/test_it.py", "src/pkg/tests/test_it.py", "pkg/deep/er/it_test.py"]
)
def test_python_tests_are_found_wherever_they_lie(tmp_path: Path, path: str) -> None:
    """Cases: measured, tests inside of a package."""
    assert _found(tmp_path, {path: PASSING, "pkg/__init__.py": ""}) == [(Runner.PYTEST, ".")]


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"tests": "a regular file"},
        {"tests/__init__.py": "", "tests/data.json": "{}"},
        {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-q'\n", "model.py": ""},
        {"pytest.ini": "[pytest]\n", "setup.cfg": "[tool:pytest]\n"},
        {".hidden/test_it.py": PASSING, "node_modules/x/test_it.py": PASSING},
        {"environment/pyvenv.cfg": "", "environment/lib/test_it.py": PASSING},
        {"vendor/test_it.py": PASSING, "made.egg-info/test_it.py": PASSING},
        {"package.json": '{"scripts": {"test": "echo ok"}}'},
        {"package.json": '{"scripts": {"test": ""}}'},
        {"package.json": '{"scripts": {"test": 7}, "name": "x"}'},
        {"package.json": '{"scripts": ["test"]}'},
        {"package.json": "no JSON"},
        {"package.json": "[" * 100_000},
        {"package.json/index.js": ""},
        {"node_modules/x/package.json": '{"scripts": {"test": "jest"}}'},
        {"a/b/package.json": '{"scripts": {"test": "jest"}}'},
    ],
    ids=range(17),
)
def test_what_only_looks_like_tests_is_none(tmp_path: Path, files: Files) -> None:
    """Cases: measured, settings, a file `tests`, an empty folder and `echo ok`."""
    assert _found(tmp_path, files) == []


def test_each_runner_is_found_at_the_root_and_one_folder_down(tmp_path: Path) -> None:
    """Cases: measured, one folder down, and a mark in package.json."""
    files: Files = {
        "test_it.py": PASSING,
        "pyproject.toml": "",
        "package.json": b'\xef\xbb\xbf{"scripts": {"test": "node --test"}}',
        "Cargo.toml": "[package]\nname = 'x'\n",
        "back/pyproject.toml": "",
        "back/tests/test_it.py": PASSING,
        "core/Cargo.toml": "[package]\nname = 'y'\n",
        "front/package.json": '{"scripts": {"test": "jest"}}',
    }

    assert _found(tmp_path, files) == [
        (Runner.PYTEST, "."),
        (Runner.NPM, "."),
        (Runner.CARGO, "."),
        (Runner.PYTEST, "back"),
        (Runner.CARGO, "core"),
        (Runner.NPM, "front"),
    ]


def test_members_of_a_cargo_workspace_are_tested_from_its_root(tmp_path: Path) -> None:
    files: Files = {
        "Cargo.toml": "[workspace]\nmembers = ['core']\n",
        "core/Cargo.toml": "[package]\nname = 'core'\n",
    }

    assert _found(tmp_path, files) == [(Runner.CARGO, ".")]


def test_a_project_one_folder_down_is_left_out_of_the_roots_tests(tmp_path: Path) -> None:
    files: Files = {
        "test_it.py": PASSING,
        "back/pyproject.toml": "",
        "back/test_it.py": PASSING,
        "third_party/test_it.py": PASSING,
    }

    root, back = discover(write(tmp_path, files))

    assert root.expected == (("test_it.py", ("test_good",)),)
    assert root.left_out == ("back", "third_party")
    assert back.expected == (("back/test_it.py", ("test_good",)),)


def test_a_module_that_is_only_called_like_a_test_is_none(tmp_path: Path) -> None:
    files: Files = {
        "stats/__init__.py": "from .sign_test import test_signs\n",
        "stats/sign_test.py": "def test_signs(a, b): ...\n",
        "stats/rank_test.py": PASSING,
        "tests/helpers.py": "import rank_test\n",
        "tests/test_it.py": "from stats import sign_test, rank_test\n" + PASSING,
    }

    (command,) = discover(write(tmp_path, files))

    assert [path for path, _ in command.expected] == ["stats/rank_test.py", "tests/test_it.py"]


def test_names_of_test_files_are_taken_from_the_settings(tmp_path: Path) -> None:
    files: Files = {
        "pyproject.toml": "[tool.pytest.ini_options]\npython_files = ['check_*.py']\n",
        "check_it.py": PASSING,
    }

    assert _found(tmp_path, files) == [(Runner.PYTEST, ".")]


def test_links_pipes_and_sockets_are_no_tests(tmp_path: Path) -> None:
    elsewhere = write(tmp_path / "elsewhere", {"test_it.py": PASSING})
    workspace = write(tmp_path / "workspace", {"model.py": ""})
    (workspace / "tests").symlink_to(elsewhere)
    (workspace / "test_link.py").symlink_to(elsewhere / "test_it.py")
    os.mkfifo(workspace / "test_pipe.py")
    os.mkfifo(workspace / "package.json")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(workspace / "Cargo.toml"))

        assert discover(workspace) == ()


def test_names_that_are_no_text_and_names_like_options_do_no_harm(tmp_path: Path) -> None:
    write(tmp_path, {"--help/test_it.py": PASSING, "new\nline/test_it.py": PASSING})
    (tmp_path / os.fsdecode(b"test_\xff.py")).write_text(PASSING)

    assert [each.cwd for each in discover(tmp_path)] == ["--help", "new\nline"]


def test_a_workspace_that_nests_too_deep_is_refused(tmp_path: Path) -> None:
    tmp_path.joinpath(*["x"] * 20).mkdir(parents=True)

    with pytest.raises(WorkspaceTooLarge, match="nested deeper"):
        discover(tmp_path)


def test_a_workspace_of_too_many_entries_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walking, "MAX_ENTRIES", 5)
    write(tmp_path, {f"{number}.py": "" for number in range(6)})

    with pytest.raises(WorkspaceTooLarge, match="more than 5"):
        discover(tmp_path)


@pytest.mark.parametrize(
    ("script", "is_real"),
    [
        ("jest", True),
        ("tsc && node --test", True),
        ("echo testing; vitest run", True),
        ("echo 'Error: no test specified' && exit 1", False),
        ("echo ok && exit 0 # jest", False),
        ("true || :", False),
        ("'unclosed", True),
    ],
)
def test_a_script_is_real_when_it_runs_something(script: str, is_real: bool) -> None:
    assert is_real_script(script) is is_real


def test_tests_are_read_off_a_file_without_running_it() -> None:
    source = b"""
import pytest
raise SystemExit(0)

def test_plain(): ...
async def test_async(): ...
@pytest.fixture
def test_client(): ...
def helper(): ...
if False:
    def test_conditional(): ...
class TestThing:
    def test_method(self): ...
    def help(self): ...
class TestWithState:
    def __init__(self): ...
    def test_not_collected(self): ...
class TestOff:
    __test__ = False
    def test_off(self): ...
class Other:
    def test_other(self): ...
@dataclass
class TestData:
    def test_made(self): ...
class TestBase:
    def test_inherited(self): ...
del TestBase
def test_tool(): ...
test_tool.__test__ = False
"""

    assert defined_tests(source) == ("TestThing.test_method", "test_async", "test_plain")
    assert defined_tests(source + b"__test__ = False\n") == ()


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("#[test]\nfn one() {}\n#[tokio::test(flavor = 'x')]\npub async fn two() {}", "one two"),
        ('#[cfg(test)]\nmod t {\n#[test]\n#[should_panic(expected = "x")]\nfn one() {} }', "one"),
        ('// #[test]\n/* #[test] fn a() {} */ const S: &str = "#[test] fn b() {}";', ""),
        ("macro_rules! m { () => { #[test] fn $name() {} } }", ""),
        ("#[test]\nfn one() {}\n#[cfg(unix)]\n#[test]\nfn two() {}", ""),
        ("#[test", ""),
    ],
)
def test_rust_tests_are_read_off_a_file_without_building_it(source: str, names: str) -> None:
    assert defined_rust_tests(source) == tuple(names.split())


@pytest.mark.parametrize("source", [b"def test_(", b"\0", b"(" * 5000, b"\xff"])
def test_a_file_that_does_not_parse_defines_nothing(source: bytes) -> None:
    assert defined_tests(source) == ()
