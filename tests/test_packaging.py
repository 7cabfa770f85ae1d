"""The built wheel, installed away from the checkout, is what people get."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterable, Mapping
from importlib.metadata import Distribution, distributions, packages_distributions
from pathlib import Path

import pytest
import uv

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("flows", "tasks", "adapters", "state")
README = ROOT / "README.md"


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel with the installed hatchling, so that nothing is downloaded."""
    folder = tmp_path_factory.mktemp("wheel")
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], cwd=ROOT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel alone into a folder outside the checkout."""
    target = tmp_path_factory.mktemp("installed")
    install = [uv.find_uv_bin(), "pip", "install", "--no-config", "--quiet", "--offline"]
    options = ["--no-cache", "--no-deps", "--python", sys.executable, "--target", str(target)]
    run([*install, *options, str(wheel)], cwd=target)
    return target


def run(
    command: list[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    timeout_s: float = 100,
) -> subprocess.CompletedProcess[str]:
    """Run `command` and return what it said; fail the test with it when it failed."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


def top_level(distribution: Distribution) -> set[str]:
    """Return the names that `distribution` puts beside ours on the import path."""
    return {Path(file).parts[0].removesuffix(".py") for file in distribution.files or ()}


def foreign_owners(found: Iterable[Distribution]) -> dict[str, set[str]]:
    """Return the rooms that distributions other than ours hold too, by distribution."""
    return {
        distribution.name: rooms
        for distribution in found
        if distribution.name != "assay-research" and (rooms := top_level(distribution) & {*ROOMS})
    }


def test_the_wheel_holds_the_four_rooms_and_its_metadata_only(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()

    assert {name.split("/")[0] for name in names} == {*ROOMS, "assay_research-0.1.0.dist-info"}


def test_every_tracked_file_of_a_room_is_in_the_wheel(wheel: Path) -> None:
    tracked = run(["git", "ls-files", "--", *ROOMS], cwd=ROOT).stdout.split("\n")
    present = {name for name in tracked if name and (ROOT / name).exists()}

    missing = present - set(zipfile.ZipFile(wheel).namelist())

    assert present
    assert missing == set()
    assert {f"{room}/py.typed" for room in ROOMS} <= present


def test_what_older_pips_lose_on_the_way_is_declared_directly(installed: Path) -> None:
    """Since pip 23.2 does not see that justext's `lxml[html_clean]` is lxml's `html-clean`."""
    (own,) = distributions(path=[str(installed)])

    assert any(line.startswith("lxml-html-clean") for line in own.requires or ())


def test_importing_the_rooms_has_no_side_effects(installed: Path, tmp_path: Path) -> None:
    home, cwd = tmp_path / "home", tmp_path / "cwd"
    home.mkdir()
    cwd.mkdir()
    program = (
        "import json, sys, flows, tasks, adapters, state;"
        "rooms = [flows, tasks, adapters, state];"
        "json.dump([[room.__file__ for room in rooms], sorted(sys.modules)], sys.stdout)"
    )

    done = run(
        [sys.executable, "-c", program],
        cwd=cwd,
        env={"PYTHONPATH": str(installed), "HOME": str(home), "ASSAY_HOME": ""},
    )

    files, modules = json.loads(done.stdout)
    assert all(Path(file).is_relative_to(installed) for file in files), files
    assert {"prefect", "duckdb", "httpx", "pydantic"}.isdisjoint(modules)
    assert done.stderr == ""
    assert [*home.iterdir(), *cwd.iterdir()] == []


def test_importing_the_library_tells_nobody_and_writes_nothing(
    installed: Path, tmp_path: Path
) -> None:
    program = "import sys, flows.runs, flows.answering; sys.exit('prefect' in sys.modules)"

    done = run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={"PYTHONPATH": str(installed), "HOME": str(tmp_path), "DO_NOT_TRACK": ""},
    )

    assert done.stdout + done.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_the_console_script_is_the_command_line(installed: Path, tmp_path: Path) -> None:
    (own,) = distributions(path=[str(installed)])
    (script,) = own.entry_points.select(group="console_scripts")

    done = run(
        [str(installed / "bin" / "assay"), "--help"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(installed)},
    )

    assert (script.name, script.value) == ("assay", "flows.cli:main")
    assert "research" in done.stdout


def test_no_flow_file_bears_the_name_of_a_room_or_a_dependency() -> None:
    """Prefect puts the folder of a flow given by path first on the import path."""
    taken = {*ROOMS, *sys.stdlib_module_names, *packages_distributions()}

    clashing = {file.stem for file in (ROOT / "flows").glob("*.py")} & taken - {"__init__"}

    assert clashing == set()


def test_no_other_distribution_here_holds_a_room() -> None:
    """Two distributions with one top-level name overwrite each other's files without a word."""
    assert foreign_owners(distributions()) == {}


def test_a_foreign_distribution_with_a_room_of_ours_is_noticed(tmp_path: Path) -> None:
    metadata = tmp_path / "chores-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: chores\nVersion: 1.0\n")
    (metadata / "RECORD").write_text("tasks/__init__.py,,\nchores.py,,\n")

    assert foreign_owners(distributions(path=[str(tmp_path)])) == {"chores": {"tasks"}}


def test_the_locked_requirements_pin_and_hash_every_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {re.split(r"[^\w.-]", line)[0] for line in project["dependencies"]}

    for file in ("requirements.txt", "requirements-dev.txt"):
        text = (ROOT / file).read_text()
        entries = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)[1:]
        locked = {re.split(r"[=\[ ]", entry)[0] for entry in entries}

        assert names <= locked, file
        assert all("==" in entry and "--hash=sha256:" in entry for entry in entries), file


def python_examples() -> list[str]:
    """Return the README's Python examples in order."""
    text = README.read_text() if README.exists() else ""
    return re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("example", python_examples())
def test_a_python_example_type_checks_against_the_installed_wheel(
    example: str, installed: Path, tmp_path: Path
) -> None:
    (tmp_path / "example.py").write_text(example)

    run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "example.py"],
        cwd=tmp_path,
        env={"MYPYPATH": str(installed)},
    )


@pytest.mark.timeout(180)
@pytest.mark.parametrize("example", python_examples())
def test_a_python_example_runs_from_the_installed_wheel(
    example: str, installed: Path, tmp_path: Path
) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "example.py").write_text(example)
    environment = {
        "PYTHONPATH": str(installed),
        "ASSAY_HOME": str(tmp_path / "home"),
        "CI": "true",  # the server ends with the program
    }

    done = run([sys.executable, "example.py"], cwd=tmp_path, env=environment, timeout_s=150)

    assert "completed answered" in done.stdout
    assert "21 days" in done.stdout
    assert done.stderr == ""
