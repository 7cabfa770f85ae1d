"""Runs `assay` as people do, on one data folder with one Prefect server."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from flows.cli import app

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = [sys.executable, "-c", "from flows.cli import main; main()"]
QUESTION = "How long are Meridian audit logs kept?"
NOTES = {
    "meridian.md": "# Meridian\n\nMeridian audit logs are kept for 30 days.\n\nThen they go.\n",
    "pavo.md": "# Pavo\n\nA Pavo team holds at most 25 members.\n",
}


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class CommandLine:
    """The command line on the data folder `home`, with the notes in `notes`."""

    home: Path
    notes: Path

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PREFECT_", "ASSAY_"))}
        kept.pop("CI", None)  # with it the server would end with every command
        return {**kept, "ASSAY_HOME": str(self.home), "PYTHONPATH": str(ROOT), **(extra or {})}

    def run(self, *arguments: str, given: str = "", env: Mapping[str, str] | None = None) -> Ran:
        done = subprocess.run(
            [*PROGRAM, *arguments],
            env=self.environment(env),
            input=given,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Ran(done.returncode, done.stdout, done.stderr)

    def look(self, *arguments: str, given: str = "") -> Ran:
        """Run a command that executes no run, in this process, which is ten times as quick."""
        env = {"ASSAY_HOME": str(self.home)}
        done = CliRunner().invoke(app, arguments, input=given, env=env)
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return Ran(done.exit_code, done.stdout, done.stderr)

    def research(self, *arguments: str, question: str = QUESTION) -> Ran:
        return self.run("research", question, "--sources", str(self.notes), *arguments)

    def signalled(self, number: signal.Signals, when: str, *arguments: str) -> Ran:
        """Run a command that gets the signal as soon as it says `when` on stderr."""
        with subprocess.Popen(
            [*PROGRAM, *arguments],
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stderr is not None
            assert process.stdout is not None
            said = ""
            for line in process.stderr:
                said += line
                if when in line:
                    process.send_signal(number)
                    break
            out, err = process.communicate(timeout=60)
        return Ran(process.returncode, out, said + err)
