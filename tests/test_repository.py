"""The repository keeps its own rules: what may stand in a file, and what CI runs."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
PACKAGES = ("flows", "tasks", "adapters", "state", "tests")

# Each pattern has a class of one character, so that it does not find itself.
FORBIDDEN = {
    "a path of one machine": r"(?<![\w.])/(?:wor[k]|far[m])/(?:main|shared|tmp|venvs)\b",
    "a folder of one machine": r"/opt/(?:wheel[s]|pyp[i])|/root/\.pyen[v]",
    "a registry's address": r"pythonhoste[d]|pypi\.or[g]|npmj[s]\.(?:org|com)|file:///op[t]",
}


def tracked_files() -> list[Path]:
    """Return the files that are in version control and in the tree."""
    done = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip("not a git checkout, so what is tracked cannot be told")
    files = [ROOT / name for name in done.stdout.split("\0") if name]
    return [file for file in files if file.is_file()]


def modules(*folders: str) -> list[Path]:
    """Return the Python files under `folders`."""
    return [file for folder in folders for file in sorted((ROOT / folder).rglob("*.py"))]


def imported(file: Path) -> set[str]:
    """Return the modules that `file` imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or ".")
    return names


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_tracked_file_names(what: str) -> None:
    pattern = re.compile(FORBIDDEN[what].encode(), re.IGNORECASE)

    found = [str(file) for file in tracked_files() if pattern.search(file.read_bytes())]

    assert found == []


def test_every_module_says_in_its_docstring_what_it_holds() -> None:
    silent = [
        str(file)
        for file in modules(*PACKAGES)
        if not ast.get_docstring(ast.parse(file.read_bytes()))
    ]

    assert silent == []


def test_the_values_import_nothing_but_the_standard_library() -> None:
    allowed = {*sys.stdlib_module_names}
    foreign = {
        f"{file.relative_to(ROOT)}: {name}"
        for file in modules("state/values")
        for name in imported(file)
        if name.split(".")[0] not in allowed and not name.startswith("state.values")
    }

    assert foreign == set()


def readme() -> str:
    """Return the README's text."""
    if not README.exists():
        pytest.skip("there is no README.md")
    return README.read_text()


def project() -> dict[str, Any]:
    """Return what pyproject.toml says."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_check_ends_with_the_readme_s_own_test_command() -> None:
    tasks = project()["tool"]["poe"]["tasks"]
    fence = re.compile(r"^```(?:bash|console|sh|shell)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    commands = [
        line.removeprefix("$ ").strip()
        for block in fence.findall(readme())
        for line in block.splitlines()
    ]

    assert tasks["check"]["sequence"][-1] == "test"
    assert commands[1].rpartition("/")[2] == tasks["test"]["cmd"]


def test_the_readme_is_the_package_s_description() -> None:
    assert readme()
    assert project()["project"]["readme"] == README.name


def test_ci_runs_poe_check() -> None:
    assert re.search(r"^poe check$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
