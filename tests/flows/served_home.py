"""A home that `assay serve` serves, with a model on loopback that can be held up on purpose."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from flows.runs import existing_run
from flows.settings import Settings
from flows.wiring import Desk, make_desk
from state.projection import Run
from tests.adapters.models.chat.openai_server import Behaviour, Hang, OpenAiServer, serving
from tests.flows.answerer import Answerer, operation_of
from tests.flows.code_answerer import CodeAnswerer, is_for_coder
from tests.flows.command_line import NOTES, PROGRAM, QUESTION, CommandLine
from tests.flows.pages_client import SOON_S, PagesClient, until
from tests.migrated import with_database

RESEARCH = "assay-run/research"
_START_S = 120.0


@dataclass
class HeldModel:
    """Answers sensibly, but hangs on the operation `held` for as long as one is named.

    A coder's requests it always answers.
    """

    answerer: Answerer = field(default_factory=Answerer)
    coder: CodeAnswerer = field(default_factory=CodeAnswerer)
    held: str = ""
    waiting: int = 0

    def __call__(self, body: dict[str, Any]) -> Behaviour:
        if is_for_coder(body):
            return self.coder(body)
        if operation_of(body) == self.held:
            self.waiting += 1
            return Hang()
        return self.answerer(body)


@dataclass
class Serving:
    """One `assay serve`, and what it said so far."""

    process: "subprocess.Popen[bytes]"
    log: Path

    @property
    def said(self) -> str:
        return self.log.read_text()

    def told_to_end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send the signal and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(60)


@dataclass
class ServedHome:
    """The home, its notes and its model; `serve` serves it."""

    line: CommandLine
    server: OpenAiServer
    model: HeldModel
    folder: Path
    served: list[Serving] = field(default_factory=list)

    @property
    def home(self) -> Path:
        return self.line.home

    @property
    def environment(self) -> dict[str, str]:
        given = {"ASSAY_MODEL_URL": self.server.base_url, "ASSAY_RUNS_AT_ONCE": "4"}
        return self.line.environment(given)

    def serve(self, *arguments: str, env: Mapping[str, str] | None = None) -> Serving:
        """Start `assay serve` and return when it serves."""
        log = self.folder / f"serve-{len(self.served)}.log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                [*PROGRAM, "serve", *arguments],
                stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                env=self.environment | dict(env or {}), cwd=self.folder, start_new_session=True,
            )  # fmt: skip
        serving = Serving(process, log)
        self.served.append(serving)
        until(
            lambda: serving.said,
            lambda said: "open http" in said or process.poll() is not None,
            within_s=_START_S,
        )
        assert process.poll() is None, serving.said
        return serving

    def stop_all(self) -> int:
        """End what serves and its Prefect server as a person does; return the exit code of serve.

        Returns when no process of theirs is left.
        """
        last = self.served[-1]
        root = psutil.Process(last.process.pid)
        server = psutil.Process(
            json.loads((self.home / "prefect" / "server.json").read_text())["pid"]
        )
        tree = [server, *server.children(recursive=True), *root.children(recursive=True)]
        code = last.told_to_end()
        assert self.line.look("down").code == 0
        _, left = psutil.wait_procs(tree, timeout=30)
        assert not left
        return code

    @property
    def address(self) -> str:
        """Where the pages are."""
        return self.pages.url.removesuffix("/api")

    @property
    def pages(self) -> PagesClient:
        return PagesClient.of(self.home)

    @property
    def desk(self) -> Desk:
        """Return a desk as a new process would have it."""
        return make_desk(Settings(home=self.home))

    def run(self, run_id: str) -> Run:
        return existing_run(self.desk, run_id)

    def types(self, run_id: str) -> list[str]:
        """Return the types of the run's events, in order."""
        return [line.envelope.type for line in self.desk.ledger.read(run_id)]

    def start(self, run_id: str, **form: Any) -> str:
        """Start a run from the form, as a person does; return its flow run's id."""
        given = {"question": QUESTION, "sources": [str(self.line.notes)], "run_id": run_id, **form}
        return self.pages.start(RESEARCH, {"run": given})

    def start_held(self, run_id: str, operation: str = "assess", **form: Any) -> str:
        """Start a run whose model hangs on `operation`, and return when it does.

        Its question is its own: an answer to what was asked before would be at hand.
        """
        self.model.held, before = operation, self.model.waiting
        asked = {"question": question_of(run_id), "model": "served", "scope": "quick"}
        flow_run = self.start(run_id, **asked, **form)
        until(lambda: self.model.waiting, lambda waiting: waiting > before)
        return flow_run

    def completed(self, run_id: str) -> Run:
        """Return the run once it has completed."""
        until(lambda: self.desk.ledger.exists(run_id), bool)
        seen = until(lambda: self.run(run_id), lambda run: run.is_terminal, within_s=2 * SOON_S)
        assert seen.status == "completed", (seen.status, seen.code, seen.reason)
        run: Run = seen
        return run

    def executing(self, run_id: str) -> psutil.Process:
        """Return the process that executes the run."""
        holder = self.desk.ledger.holder(run_id)
        assert holder is not None
        return psutil.Process(holder.pid)

    def report(self, run_id: str) -> str:
        return (self.home / "reports" / run_id / "report.md").read_text()

    def kill_all(self) -> None:
        """Kill what serves, and the Prefect server, as a power cut would."""
        last = self.served[-1].process
        tree = psutil.Process(last.pid).children(recursive=True)
        for pid in (last.pid, *(child.pid for child in tree)):
            _kill(pid)
        last.wait(30)
        self.kill_server()

    def kill_server(self) -> None:
        """Kill the Prefect server, and return when it is gone."""
        record = json.loads((self.home / "prefect" / "server.json").read_text())
        _kill(record["pid"])
        until(lambda: psutil.pid_exists(record["pid"]), lambda alive: not alive, within_s=30)


def question_of(run_id: str) -> str:
    """Return the question of one run only."""
    return f"How long are Meridian audit logs kept, by the rule {run_id}?"


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


@contextmanager
def served_home(folder: Path) -> Iterator[ServedHome]:
    """Give a home with notes and a model; end all that it started."""
    notes = folder / "notes"
    notes.mkdir()
    for name, text in NOTES.items():
        (notes / name).write_text(text)
    model = HeldModel()
    with serving(answer=model) as server:
        home = ServedHome(CommandLine(with_database(folder / "home"), notes), server, model, folder)
        try:
            yield home
        finally:
            for each in home.served:
                if each.process.poll() is None:
                    each.process.terminate()
            for each in home.served:
                try:
                    each.process.wait(60)
                except subprocess.TimeoutExpired:
                    each.process.kill()
            home.line.look("down")
