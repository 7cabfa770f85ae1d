"""What the README shows first is what a person gets."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flows.command_line import ROOT, CommandLine

README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    """Return the README's code blocks in `language`."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture
def assay(tmp_path: Path) -> Iterator[CommandLine]:
    made = CommandLine(tmp_path / "home", ROOT / "examples")
    yield made
    made.run("down")


def test_the_first_command_prints_the_report_that_the_readme_shows(assay: CommandLine) -> None:
    command = shlex.split(blocks("bash")[0].partition(".venv/bin/assay ")[2])
    shown = [line for line in blocks("markdown")[0].splitlines() if line.strip(" …")]

    ran = assay.run(*command[:-1], str(ROOT / command[-1]), "--quiet")
    verified = assay.run("verify", "--all", "--json")
    counted = assay.run("sql", "SELECT verdict, count(*) FROM claims GROUP BY verdict", "--csv")

    assert ran.code == 0, ran.err
    missing = [line for line in shown if line.removesuffix(".") not in ran.out]
    assert missing == []
    assert verified.code == 0, verified.out
    assert "supported,11" in counted.out


def test_every_command_and_setting_that_the_readme_names_exists(assay: CommandLine) -> None:
    known = assay.run("--help").out
    named = set(re.findall(r"`assay (\w+)", README)) | {"resume", "retry", "cancel", "gc", "down"}
    settings = set(re.findall(r"`ASSAY_(\w+)`", README))

    from flows.settings import Settings

    assert {name for name in named if not re.search(rf"^  {name}\b", known, re.MULTILINE)} == set()
    assert {name for name in settings if name.lower() not in Settings.model_fields} == set()
