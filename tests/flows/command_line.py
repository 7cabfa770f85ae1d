"""Runs `assay` as people do, on one data folder with one Prefect server."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
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
    """The command line on the data folder `home`, with the notes in `notes`, and `settings`."""

    home: Path
    notes: Path
    settings: Mapping[str, str] = field(default_factory=dict)

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PREFECT_", "ASSAY_"))}
        kept.pop("CI", None)  # with it the server would end with every command
        own = {"ASSAY_HOME": str(self.home), "PYTHONPATH": str(ROOT)}
        return {**kept, **own, **self.settings, **(extra or {})}

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
        env = {"ASSAY_HOME": str(self.home), **self.settings}
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


class Terminal:
    """A command on a terminal of its own: what it shows, and what a person types."""

    def __init__(self, assay: CommandLine, *arguments: str) -> None:
        self._seat, there = pty.openpty()
        self.process = subprocess.Popen(
            [*PROGRAM, *arguments],
            env={**assay.environment(), "TERM": "xterm", "COLUMNS": "100"},
            stdin=there,
            stdout=there,
            stderr=there,
            start_new_session=True,
        )
        os.close(there)
        self.seen = ""
        self._at = 0

    def until(self, text: str, timeout_s: float = 60.0) -> None:
        """Wait for `text` after what was waited for before."""
        deadline = time.monotonic() + timeout_s
        while text not in self.seen[self._at :]:
            assert time.monotonic() < deadline, self.seen
            if select.select([self._seat], [], [], 0.2)[0]:
                try:
                    self.seen += os.read(self._seat, 65536).decode(errors="replace")
                except OSError:  # the command ended
                    assert text in self.seen[self._at :], self.seen
        self._at = self.seen.index(text, self._at) + len(text)

    def type(self, text: str) -> None:
        os.write(self._seat, text.encode())

    def close(self) -> int:
        code = self.process.wait(timeout=60)
        os.close(self._seat)
        return code
