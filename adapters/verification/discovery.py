"""Which commands test a workspace: pytest, `npm test` and `cargo test`, at its root or one down."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from adapters.verification.configuration import (
    MAX_CONFIGURATION,
    kept_options,
    pytest_settings,
    python_files,
    read_json,
    read_toml,
)
from adapters.verification.defined import defined_tests
from adapters.verification.javascript_tests import is_test_file
from adapters.verification.rust_tests import defined_tests as defined_rust_tests
from adapters.verification.walking import Entry, Tree, read_own, walk

_USUAL = ("test_*.py", "*_test.py")
_PYTHON_PROJECT = frozenset(
    "pyproject.toml setup.py setup.cfg pytest.ini .pytest.ini pytest.toml .pytest.toml tox.ini"
    " requirements.txt".split()
)
_TEST_FOLDERS = frozenset({"test", "tests"})
# Parts of a larger project rather than projects, whatever lies in them.
_PARTS = _TEST_FOLDERS | {"src", "lib", "docs", "doc", "examples", "scripts", "notebooks"}
_IDLE = frozenset({"echo", "exit", "true", "false", ":", "printf", "return"})


class Runner(StrEnum):
    """What runs the tests."""

    PYTEST = "pytest"
    NPM = "npm"
    CARGO = "cargo"


@dataclass(frozen=True, slots=True)
class TestCommand:
    """A command that tests what is in `cwd` (relative to the workspace).

    `expected` are the files below `cwd` that hold tests, and for each the names of its test
    functions (`Class.name` for methods; none for npm), as they can be read without running
    anything. `left_out` are folders below `cwd` that are not looked into, `options` what is kept of
    those that pytest's settings add. `script` is what npm would run. `own_harness` are manifests
    that have other programs than Rust's own count its tests.
    """

    __test__ = False

    runner: Runner
    cwd: str
    argv: tuple[str, ...]
    expected: tuple[tuple[str, tuple[str, ...]], ...] = ()
    left_out: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    script: str = ""
    own_harness: tuple[str, ...] = ()


def discover(workspace: Path) -> tuple[TestCommand, ...]:
    """Return the commands that test `workspace`: the root's first, then by folder and runner.

    Empty when there is nothing to run. Nothing is executed, and no link is followed.
    """
    tree = walk(workspace)
    folders = (".", *sorted({each.path.split("/")[0] for each in tree.entries if "/" in each.path}))
    found: list[TestCommand] = []
    python = _python_projects(workspace, tree, folders)
    rust_root = _manifest(workspace, tree, ".")
    for folder in folders:
        if folder in python:
            found.append(python[folder])
        if (script := _npm_script(workspace, tree, folder)) is not None:
            found.append(_npm(workspace, tree, folder, script))
        manifest = rust_root if folder == "." else _manifest(workspace, tree, folder)
        is_member = folder != "." and rust_root is not None and "workspace" in rust_root
        if manifest is not None and not is_member:
            found.append(_cargo(workspace, tree, folder, is_whole="workspace" in manifest))
    return tuple(found)


def is_real_script(script: str) -> bool:
    """Tell whether an npm script runs anything: `echo ok && exit 0` does not."""
    for part in re.split(r"&&|\|\||[;|&\n]", script):
        try:
            words = shlex.split(part, comments=True)
        except ValueError:
            return True  # the shell will say what is wrong with it
        if words and words[0] not in _IDLE:
            return True
    return False


def _python_projects(
    workspace: Path, tree: Tree, folders: tuple[str, ...]
) -> dict[str, TestCommand]:
    """Return the pytest commands by folder; each test file belongs to at most one of them."""
    patterns = _settings(workspace, tree, ".").patterns
    tests = [entry for entry in tree.entries if _is_python_test(entry, patterns)]
    inner = [each for each in folders[1:] if _is_inner_project(tree, each, tests)]
    found: dict[str, TestCommand] = {}
    modules = _modules(workspace, tree, tests)
    for folder in (".", *inner):
        others = tuple(inner) if folder == "." else ()
        settings = _settings(workspace, tree, folder)
        expected = tuple(
            (entry.path, defined_tests(read_own(workspace, entry.path) or b""))
            for entry in tree.under(folder)
            if entry.path.split("/")[0] not in others
            and _is_python_test(entry, settings.patterns)
            and entry.path not in modules
        )
        if expected:
            foreign = (each for each in tree.foreign if _is_below(each, folder))
            argv = ("python", "-m", "pytest", "-q")
            found[folder] = TestCommand(
                Runner.PYTEST, folder, argv, expected, (*others, *foreign), settings.options
            )
    return found


def _modules(workspace: Path, tree: Tree, tests: list[Entry]) -> frozenset[str]:
    """Return the paths of what is called like tests, but imported by what is none.

    In code for statistics, `permutation_test.py` is a module with functions like `test_means`.
    """
    named = {each.name.removesuffix(".py").encode(): each.path for each in tests if _is_apart(each)}
    if not named:
        return frozenset()
    names = b"|".join(map(re.escape, named))
    imports = re.compile(rb"^[ \t]*(?:from|import)[ \t][^\n#]*?\b(" + names + rb")\b", re.MULTILINE)
    called_tests = {each.path for each in tests}
    sources = (
        read_own(workspace, each.path) or b""
        for each in tree.entries
        if each.name.endswith(".py") and each.path not in called_tests and _is_apart(each)
    )
    return frozenset(named[it[1]] for source in sources for it in imports.finditer(source))


def _is_apart(entry: Entry) -> bool:
    """Tell whether a file lies in no folder of tests, and sets nothing up for them."""
    return _TEST_FOLDERS.isdisjoint(entry.path.split("/")) and entry.name != "conftest.py"


def _is_inner_project(tree: Tree, folder: str, tests: list[Entry]) -> bool:
    """Tell whether a folder is a project of its own, rather than a part of the one around it."""
    names = tree.names_in(folder)
    if names & {"pyproject.toml", "setup.py", "pytest.ini", "pytest.toml"}:
        return True
    if folder in _PARTS or "__init__.py" in names or tree.names_in(".") & _PYTHON_PROJECT:
        return False
    outside = [each for each in tests if each.path.split("/")[0] in _TEST_FOLDERS]
    own = [each for each in tests if _is_below(each.path, folder)]
    direct = {folder, *(f"{folder}/{each}" for each in _TEST_FOLDERS)}
    return not outside and any(each.folder in direct for each in own)


def _is_below(path: str, folder: str) -> bool:
    return folder == "." or path.startswith(folder + "/")


def _is_python_test(entry: Entry, patterns: tuple[str, ...]) -> bool:
    return not entry.is_link and any(fnmatchcase(entry.name, glob) for glob in patterns)


@dataclass(frozen=True, slots=True)
class _Settings:
    """What test files are called in a folder, and options of pytest's that hold there."""

    patterns: tuple[str, ...]
    options: tuple[str, ...]


def _settings(workspace: Path, tree: Tree, folder: str) -> _Settings:
    patterns, options = list(_USUAL), list[str]()
    for name in sorted(tree.names_in(folder) & _PYTHON_PROJECT):
        data = read_own(workspace, f"{folder}/{name}", limit=MAX_CONFIGURATION)
        said = pytest_settings(name, data)
        patterns += python_files(said)
        options += kept_options(said)
    return _Settings(tuple(dict.fromkeys(patterns)), tuple(dict.fromkeys(options)))


def _npm_script(workspace: Path, tree: Tree, folder: str) -> str | None:
    if "package.json" not in tree.names_in(folder):
        return None
    package = read_json(read_own(workspace, f"{folder}/package.json", limit=MAX_CONFIGURATION))
    scripts = package.get("scripts") if package else None
    script = scripts.get("test") if isinstance(scripts, dict) else None
    return script if isinstance(script, str) and is_real_script(script) else None


def _npm(workspace: Path, tree: Tree, folder: str, script: str) -> TestCommand:
    inner = _projects_below(tree, folder, "package.json")
    expected = tuple(
        (entry.path, ())
        for entry in tree.under(folder)
        if not entry.is_link
        and not any(_is_below(entry.path, each) for each in inner)
        and is_test_file(entry.name, read_own(workspace, entry.path) or b"")
    )
    return TestCommand(Runner.NPM, folder, ("npm", "test"), expected, script=script)


def _cargo(workspace: Path, tree: Tree, folder: str, *, is_whole: bool) -> TestCommand:
    """Return the command for a package, or with `is_whole` for all packages below it."""
    inner = () if is_whole else _projects_below(tree, folder, "Cargo.toml")
    own = [
        entry
        for entry in tree.under(folder)
        if not entry.is_link and not any(_is_below(entry.path, each) for each in inner)
    ]
    expected = tuple(
        (entry.path, names)
        for entry in own
        if entry.name.endswith(".rs") and _is_compiled_for_tests(entry)
        if (names := defined_rust_tests(_text(workspace, entry)))
    )
    harness = tuple(
        entry.path
        for entry in own
        if entry.name == "Cargo.toml" and _has_own_harness(_manifest_at(workspace, entry.path))
    )
    return TestCommand(Runner.CARGO, folder, ("cargo", "test"), expected, own_harness=harness)


def _projects_below(tree: Tree, folder: str, manifest: str) -> tuple[str, ...]:
    found = (entry.folder for entry in tree.under(folder) if entry.name == manifest)
    return tuple(each for each in found if each != folder)


def _is_compiled_for_tests(entry: Entry) -> bool:
    """Tell whether Cargo tests a file, unless told not to: sources, and files right in `tests`."""
    folders = entry.folder.split("/")
    return "src" in folders or folders[-1] == "tests"


def _text(workspace: Path, entry: Entry) -> str:
    return (read_own(workspace, entry.path) or b"").decode(errors="replace")


def _has_own_harness(manifest: Mapping[str, Any]) -> bool:
    tables = [manifest.get(kind) for kind in ("lib", "bin", "test", "example")]
    each = [table for it in tables for table in (it if isinstance(it, list) else [it])]
    return any(isinstance(table, dict) and table.get("harness") is False for table in each)


def _manifest(workspace: Path, tree: Tree, folder: str) -> Mapping[str, Any] | None:
    if "Cargo.toml" not in tree.names_in(folder):
        return None
    return _manifest_at(workspace, f"{folder}/Cargo.toml")


def _manifest_at(workspace: Path, path: str) -> Mapping[str, Any]:
    return read_toml(read_own(workspace, path, limit=MAX_CONFIGURATION)) or {}
