"""Freezing what decides which tests there are and what they demand, so that no repair moves it."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from adapters.verification.configuration import (
    MAX_CONFIGURATION,
    pytest_settings,
    python_files,
    read_json,
    read_toml,
)
from adapters.verification.rust_tests import unit_tests_of
from adapters.verification.walking import INSTALLED, Entry, Tree, hash_entry, read_own, walk
from state.values.errors import RejectedError
from state.values.ids import canonical_json, content_hash
from state.values.verification import FrozenFile

MAX_FROZEN = 1000
_FOLDERS = frozenset({"test", "tests", "__tests__", "__mocks__", "__snapshots__"})
# What Python would import before, or in place of, what runs the tests.
_SHADOWS = frozenset({"pytest", "_pytest", "pluggy", "unittest", "sitecustomize", "usercustomize"})
_NAMES = re.compile(
    r"test_.*\.py|.*_test\.py|tests?\.py|conftest\.py|\.?pytest\.(?:ini|toml)|.*\.pth"
    r"|.*[._-](?:test|spec)\.[cm]?[jt]sx?|test\.[cm]?[jt]sx?|\.?npmrc|\.mocharc\..*"
    r"|(?:jest|vitest|vite|ava|karma)\.(?:config|setup|workspace)\..*"
)
_PYTEST_SETTINGS = frozenset({"pyproject.toml", "setup.cfg", "tox.ini"})
_PACKAGE_KEYS = ("scripts", "jest", "vitest", "mocha", "ava")
_CARGO_HOOKS = (".cargo/config.toml", ".cargo/config")


@dataclass(frozen=True, slots=True)
class Change:
    """How a file (or a part of one) differs from what was frozen."""

    path: str
    how: Literal["changed", "missing", "added"]


def freeze(workspace: Path) -> tuple[FrozenFile, ...]:
    """Return the files and settings that decide what is tested, in order of path.

    Those are test files and whatever lies in test folders, conftest.py, settings of pytest, jest
    and the like wherever they are kept, npm scripts, Cargo targets, tests inside of Rust sources,
    and what would run before any test. Raises `RejectedError` beyond 1,000.
    """
    tree = walk(workspace, foreign=INSTALLED)
    patterns = _own_patterns(workspace, tree)
    found = [frozen for entry in tree.entries for frozen in _frozen(workspace, entry, patterns)]
    found += _cargo_hooks(workspace, tree)
    if len(found) > MAX_FROZEN:
        raise RejectedError(
            f"{len(found)} files decide what is tested; at most {MAX_FROZEN} can be held fixed",
            code="TOO_MANY_TEST_FILES",
        )
    return tuple(sorted(found, key=lambda each: each.path))


def tampered(workspace: Path, frozen: Iterable[FrozenFile]) -> tuple[Change, ...]:
    """Return what differs from `frozen`, in order of path; empty when all is as it was."""
    then = {each.path: each.content_hash for each in frozen}
    now = {each.path: each.content_hash for each in freeze(workspace)}
    return tuple(
        Change(path, "added" if path not in then else "missing" if path not in now else "changed")
        for path in sorted(then.keys() | now.keys())
        if then.get(path) != now.get(path)
    )


def _frozen(workspace: Path, entry: Entry, patterns: tuple[str, ...]) -> Iterator[FrozenFile]:
    if _is_whole(entry, patterns):
        yield FrozenFile(entry.path, hash_entry(workspace, entry))
    elif not entry.is_link:
        for part, value in _parts(workspace, entry):
            yield FrozenFile(f"{entry.path}#{part}", content_hash(value))


def _is_whole(entry: Entry, patterns: tuple[str, ...]) -> bool:
    folders = entry.path.split("/")[:-1]
    return (
        not _FOLDERS.isdisjoint(folders)
        or not _SHADOWS.isdisjoint([*folders, entry.name.removesuffix(".py")])
        or _NAMES.fullmatch(entry.name) is not None
        or any(fnmatchcase(entry.name, glob) for glob in patterns)
    )


def _parts(workspace: Path, entry: Entry) -> Iterator[tuple[str, str]]:
    """Yield the parts of a file that decide what is tested, while the rest may change."""
    name = entry.name
    if name not in _PYTEST_SETTINGS | {"package.json", "Cargo.toml"} and not name.endswith(".rs"):
        return
    data = read_own(workspace, entry.path, limit=MAX_CONFIGURATION)
    if name in _PYTEST_SETTINGS and (settings := pytest_settings(name, data)) is not None:
        yield "pytest", _spelled(settings)
    elif name == "package.json":
        package = read_json(data) or {}
        if said := {key: package[key] for key in _PACKAGE_KEYS if key in package}:
            yield "scripts", _spelled(said)
    elif name == "Cargo.toml":
        if said := _cargo_targets(read_toml(data) or {}):
            yield "test", _spelled(said)
    elif name.endswith(".rs") and (tests := unit_tests_of((data or b"").decode(errors="replace"))):
        yield "tests", tests


def _cargo_targets(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a manifest says of tests: its test targets, and targets that are not tested."""
    said = {"test": manifest["test"]} if "test" in manifest else {}
    for kind in ("lib", "bin", "example", "package"):
        tables = manifest.get(kind)
        for number, table in enumerate(tables if isinstance(tables, list) else [tables]):
            if isinstance(table, dict):
                keys = ("test", "doctest", "harness", "autotests")
                said |= {f"{kind}.{number}.{key}": table[key] for key in keys if key in table}
    return said


def _cargo_hooks(workspace: Path, tree: Tree) -> Iterator[FrozenFile]:
    """Yield Cargo's own settings, which may name another program to run tests with."""
    top = {each.path.partition("/")[0] for each in tree.entries if "/" in each.path}
    for folder in ("", *(f"{each}/" for each in sorted(top))):
        for name in _CARGO_HOOKS:
            if (data := read_own(workspace, folder + name)) is not None:
                yield FrozenFile(folder + name, content_hash(data))


def _own_patterns(workspace: Path, tree: Tree) -> tuple[str, ...]:
    """Return what pytest's settings anywhere in the workspace call test files."""
    found: list[str] = []
    for entry in tree.entries:
        if entry.name.endswith((".ini", ".cfg", ".toml")) and not entry.is_link:
            data = read_own(workspace, entry.path, limit=MAX_CONFIGURATION)
            found += python_files(pytest_settings(entry.name, data))
    return tuple(dict.fromkeys(found))


def _spelled(value: object) -> str:
    return canonical_json(json.loads(json.dumps(value, default=str)))
