"""Runs that are cancelled from another process, in the midst of things or after their own died."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import psutil
import pytest

from flows.recovery import mark_orphans
from flows.settings import Settings
from flows.wiring import Desk, make_desk
from state.events import draft
from state.projection import project
from state.run_events import RunCancelRequested
from tests.adapters.models.chat.openai_server import Behaviour, Hang, OpenAiServer, serving
from tests.flows.answerer import Answerer
from tests.flows.command_line import NOTES, PROGRAM, CommandLine
from tests.migrated import with_database

pytestmark = pytest.mark.xdist_group("cancelling")
QUESTION = "How long are Meridian audit logs kept?"
SOON_S = 30.0  # by default a model is waited for ten times as long


@pytest.fixture(scope="module")
def assay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    folder = tmp_path_factory.mktemp("cancelled")
    (folder / "notes").mkdir()
    for name, text in NOTES.items():
        (folder / "notes" / name).write_text(text)
    made = CommandLine(with_database(folder / "home"), folder / "notes")
    yield made
    made.look("down")


@pytest.fixture
def desk(assay: CommandLine) -> Desk:
    return make_desk(Settings(home=assay.home))


@contextmanager
def researching(
    assay: CommandLine, run_id: str, *more: str, env: dict[str, str] | None = None
) -> Iterator[psutil.Popen]:
    """Research in a process of its own while the block runs."""
    command = ["research", QUESTION, "--run-id", run_id, "-s", str(assay.notes), *more]
    process = psutil.Popen(
        [*PROGRAM, *command],
        env=assay.environment(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        for left in [*process.children(recursive=True), process] if process.is_running() else []:
            left.kill()
        process.wait(10)


def wait_until(holds: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def asking(
    assay: CommandLine, server: OpenAiServer, run_id: str
) -> AbstractContextManager[psutil.Popen]:
    """Research with the model of `server` while the block runs."""
    shutil.rmtree(assay.home / "cache" / "answers", ignore_errors=True)  # of another run
    env = {"ASSAY_MODEL_URL": server.base_url}
    return researching(assay, run_id, "--model", "served", env=env)


@pytest.mark.timeout(180)
def test_a_run_that_waits_for_a_model_ends_within_seconds_and_can_be_retried(
    assay: CommandLine, desk: Desk
) -> None:
    """Cases: B3 44."""
    with serving(Hang()) as server, asking(assay, server, "slow") as process:
        wait_until(lambda: server.bodies, "the model was not asked")
        children = process.children(recursive=True)
        began = time.monotonic()

        cancelled = assay.look("cancel", "slow", "--reason", "wrong question", "--json")

        assert cancelled.json == {
            "run_id": "slow", "status": "cancelled", "reason": "wrong question",
        }  # fmt: skip
        assert process.wait(SOON_S) == 1
        assert time.monotonic() - began < SOON_S
        assert psutil.wait_procs(children, timeout=5)[1] == []
    run = project(desk.ledger.read("slow"))
    assert (run.status, run.reason) == ("cancelled", "wrong question")
    assert [effect.state for effect in run.effects.values()] == ["reserved"]
    assert run.spent.model_calls == 1
    assert desk.ledger.holder("slow") is None
    with serving(answer=Answerer()) as server:
        retried = assay.run("retry", "slow", "--json", env={"ASSAY_MODEL_URL": server.base_url})
    assert retried.json["answer_status"] == "answered", retried.err


@pytest.mark.timeout(120)
def test_a_run_ends_within_seconds_while_a_document_is_converted(
    assay: CommandLine, desk: Desk
) -> None:
    def converting() -> list[psutil.Process]:
        try:
            children = process.children(recursive=True)
            return [child for child in children if "worker" in " ".join(child.cmdline())]
        except psutil.NoSuchProcess:
            return []

    def is_held() -> bool:
        for each in converting():
            each.suspend()
        effects = desk.ledger.project("held").effects.values()
        return any(e.verb in ("search", "read") and e.state == "reserved" for e in effects)

    # The files are known from before, so that what is converted is converted within a step.
    assert assay.research("--run-id", "before", "--quiet").code == 0
    with researching(assay, "held") as process:
        wait_until(lambda: desk.ledger.exists("held"), "the run did not begin")
        for cached in (assay.home / "cache").glob("**/documents/**/*.json"):
            cached.unlink()
        wait_until(is_held, "nothing was read")
        workers = converting()

        assert assay.look("cancel", "held", "--json").json["status"] == "cancelled"

        process.wait(SOON_S)
        assert psutil.wait_procs(workers, timeout=5)[1] == []
    assert desk.ledger.project("held").status == "cancelled"


@pytest.mark.timeout(120)
def test_a_run_whose_driver_was_killed_is_cancelled_at_once(assay: CommandLine, desk: Desk) -> None:
    with serving(Hang()) as server, asking(assay, server, "orphan") as process:
        wait_until(lambda: server.bodies, "the model was not asked")
        os.kill(process.pid, signal.SIGKILL)
        process.wait(10)

        cancelled = assay.look("cancel", "orphan", "--json")

    assert cancelled.json["status"] == "cancelled"
    assert [line.envelope.type for line in desk.ledger.read("orphan")][-2:] == [
        "run_cancel_requested", "run_cancelled",
    ]  # fmt: skip


@pytest.mark.timeout(120)
def test_a_run_whose_driver_died_before_it_heard_of_the_cancel_is_ended_by_the_recovery(
    assay: CommandLine, desk: Desk
) -> None:
    with serving(Hang()) as server, asking(assay, server, "deaf") as process:
        wait_until(lambda: server.bodies, "the model was not asked")
        process.suspend()
        asked = RunCancelRequested(reason="enough", by="tester")
        desk.ledger.append("deaf", [draft(asked)])
        os.kill(process.pid, signal.SIGKILL)
        process.wait(10)

        assert mark_orphans(desk) == ["deaf"]

    run = desk.ledger.project("deaf")
    assert (run.status, run.reason) == ("cancelled", "enough")


@pytest.mark.timeout(120)
def test_what_had_settled_when_a_run_was_cancelled_is_not_asked_again(
    assay: CommandLine, desk: Desk
) -> None:
    model = Answerer()

    def once(body: dict[str, Any]) -> Behaviour:
        return model(body) if len(server.bodies) < 2 else Hang()

    with serving(answer=once) as server, asking(assay, server, "second") as process:
        wait_until(lambda: len(server.bodies) > 1, "the model was not asked twice")
        assay.look("cancel", "second")
        process.wait(SOON_S)
    settled = [e for e in desk.ledger.project("second").effects.values() if e.state == "settled"]
    with serving(answer=Answerer()) as server:
        retried = assay.run("retry", "second", "--json", env={"ASSAY_MODEL_URL": server.base_url})
        assert retried.json["answer_status"] == "answered", retried.err

    again = desk.ledger.project("second-attempt-2").effects
    assert settled
    for effect in settled:
        assert again[effect.call_id].outcome_hash == effect.outcome_hash
        assert again[effect.call_id].attempts == 0
