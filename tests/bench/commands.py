"""Child processes for measurements: the command line, and Prefect without Assay."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from flows.server_record import Place, read_record
from tests.bench.measuring import ROOT

_ASSAY = "from flows.cli import main; main()"
HELLO = """
from prefect import flow, task

@task
def greet() -> str:
    return "hello"

@flow
def hello() -> str:
    return greet()

hello()
"""


def question() -> str:
    """Return the question that the examples' README asks of its papers."""
    text = (ROOT / "examples" / "README.md").read_text()
    quoted = re.findall(r"^> ?(.*)$", text, re.MULTILINE)
    return " ".join(quoted)


def example(*options: str) -> list[str]:
    """Return the arguments of `assay` that research the examples' question."""
    return ["research", question(), "--sources", str(ROOT / "examples" / "seedbank"), *options]


def assay(home: Path, *arguments: str, codes: tuple[int, ...] = (0,)) -> str:
    """Run `assay`, its data under `home`, and return what it wrote to stdout."""
    return python(_ASSAY, *arguments, env={"ASSAY_HOME": str(home)}, codes=codes)


def python(
    code: str, *arguments: str, env: Mapping[str, str] | None = None, codes: tuple[int, ...] = (0,)
) -> str:
    """Run `code` in a new interpreter that inherits no setting of Assay, Prefect or CI."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ASSAY_", "PREFECT_")) and name != "CI"
    }
    ended = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**kept, "PYTHONPATH": str(ROOT), "DO_NOT_TRACK": "1", **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if ended.returncode not in codes:
        raise RuntimeError(f"{arguments[:1]} ended with {ended.returncode}: {ended.stderr[-2000:]}")
    return ended.stdout


def prefect_of(home: Path) -> dict[str, str]:
    """Return the environment in which plain Prefect uses the server that Assay runs for `home`."""
    place = Place.of(home)
    record = read_record(place)
    assert record is not None
    return {
        "PREFECT_HOME": str(home / "plain-prefect"),
        "PREFECT_API_URL": f"http://127.0.0.1:{record.port}/api",
        "PREFECT_API_AUTH_STRING": record.auth_string,
    }
