"""One execution of a Paper2Code run that is to be killed.

The coder is scripted; ledger, archive, engine and git are real. Tests run in the real sandbox with
`is_confined`; else a verification that some job has made is not made again, since the same tree has
the same outcome.
"""

import asyncio
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psutil

import flows.paper2code  # noqa: F401 - loaded before there are children
import tasks.verify
from adapters.acquisition.simple import LocalFile
from adapters.documents.direct import DirectConverter
from adapters.models.scripted_coder import ScriptedCoder
from adapters.sandbox.choose import open_sandbox
from adapters.verification.walking import hash_tree
from flows.answering import answer_review
from flows.code_runs import submit_code
from flows.code_tools import CodeTools
from flows.runs import execute
from flows.settings import Settings
from flows.wiring import Desk
from state.append import Hooks
from state.artifacts import LocalArtifacts
from state.code_request import CodeRequest
from state.envelope import Line
from state.errors import LeaseHeld
from state.local_ledger import LocalLedger
from state.policy import Policy
from state.projection import Run, RunFold
from state.values.verification import Verification
from tests.flows.code_kill_server import CodeJob
from tests.flows.code_world import FILES, SMOOTHER, TEST, WRONG, scripted
from tests.flows.kill_server import FIXED, Diary, fill_disk

# What an execution records of itself: a kill after each of these in turn would never end.
LIFE = ("run_queued", "run_started", "run_leased", "run_resumed", "run_interrupted")
SLOW_TEST = TEST.replace('"""\n\nfrom', '"""\n\nimport time\n\nfrom', 1).replace(
    "    smoother = ", "    time.sleep(2.5)\n    smoother = "
)


def die() -> None:
    """End this process as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)


def coder(job: CodeJob, diary: Diary) -> ScriptedCoder:
    """Return a coder whose first code is wrong, and is repaired; it notes what it is asked."""

    async def before(call: str) -> None:
        diary.note("asked", call)
        if job.kill_in and call.startswith(job.kill_in):
            die()
        await asyncio.sleep(0)

    test = SLOW_TEST if job.is_confined else TEST
    return scripted(
        files={**FILES, "smoother.py": WRONG, "tests/test_smoother.py": test},
        repairs=({"smoother.py": SMOOTHER},),
        before=before,
    )


def remembering(memo: Path, run_tests: Callable[..., Any]) -> Callable[..., Any]:
    """Return `run_tests`, which is asked once about each tree."""

    async def verify(workspace: Path, *rest: Any, **given: Any) -> Verification:
        kept = memo / f"{hash_tree(workspace).removeprefix('sha256:')}.json"
        if kept.exists():
            return Verification.from_json(json.loads(kept.read_text()))
        found: Verification = await run_tests(workspace, *rest, **given)
        part = kept.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps(found.as_json()))
        part.replace(kept)
        return found

    return verify


def desk_for(job: CodeJob) -> Desk:
    """Return a desk on the job's home: fixed clock, noted effects, and the kill."""
    home = Path(job.home)
    diary = Diary(Path(job.diary))
    new = 0

    def after_write(line: Line) -> None:
        nonlocal new
        event = line.envelope
        is_repeated = event.type == "effect_reserved" and event.body["attempt"] > 1
        new += event.type not in LIFE and not is_repeated
        if event.position == job.kill_after or (new and new == job.kill_after_new):
            die()

    def on_durable(lines: Sequence[Line]) -> None:
        for line in lines:
            diary.note("durable", line.envelope.position, line.hash)
            if line.envelope.position == job.fill_disk_after:
                fill_disk(home)

    async def ask(run: Run) -> None:
        die()

    hooks = Hooks(clock=lambda: FIXED, after_write=after_write, on_durable=on_durable)
    return Desk(
        settings=Settings(home=home, steps_at_once=job.at_once),
        ledger=LocalLedger(home, RunFold(), hooks=hooks),
        artifacts=LocalArtifacts(home / "artifacts"),
        policy=Policy(home / "policy.json"),
        tools=lambda _: (_ for _ in ()).throw(AssertionError("no research here")),
        converter=DirectConverter,
        now=lambda: FIXED,
        ask=ask if job.kill_in == "ask" else None,
        open_code_tools=lambda _: CodeTools(
            {"local": LocalFile()},
            DirectConverter(),
            coder(job, diary),
            open_sandbox,
        ),
    )


def carry_out(job: CodeJob) -> str:
    """Submit the job's run if it is new, execute it, approve its plan, and return its status."""
    arrange(job)
    desk = desk_for(job)
    request = CodeRequest.model_validate(
        {
            "id": job.run_id, "principal": "tester", "source_type": "local", "source": job.paper,
            "workspace": str(job.folder), "model": "scripted",
        }
    )  # fmt: skip
    submit_code(desk, request)
    try:
        status = execute(desk, job.run_id).status
        if status == "waiting" and job.answer:
            run = desk.ledger.project(job.run_id)
            if run.live_review is not None:
                answer_review(desk, job.run_id, job.answer, by="ada")
            status = execute(desk, job.run_id).status
    except LeaseHeld:
        return "held"
    return status


def arrange(job: CodeJob) -> None:
    """Make this process what the job says."""
    if job.path:
        os.environ["PATH"] = f"{job.path}{os.pathsep}{os.environ['PATH']}"
    if not job.is_confined:
        memo = Path(job.memo)
        memo.mkdir(exist_ok=True)
        verifying: Any = tasks.verify
        verifying.run_tests = remembering(memo, verifying.run_tests)
    if job.kill_at_replace:
        left, replace = [job.kill_at_replace], os.replace

        def replacing(*given: Any, **named: Any) -> None:
            if "dst_dir_fd" in named:
                left[0] -= 1
                if not left[0]:
                    die()
            replace(*given, **named)

        os.replace = replacing
    if job.kill_in == "test":
        threading.Thread(target=kill_when_testing, args=(Diary(Path(job.diary)),)).start()


def kill_when_testing(diary: Diary) -> None:
    """Wait until a test is being run, note which processes are below this one, and die."""
    own = psutil.Process()
    while True:
        below = own.children(recursive=True)
        if any("run_pytest.py" in command_of(each) for each in below):
            time.sleep(0.7)
            below = own.children(recursive=True)
            diary.note("below", [[each.pid, each.create_time()] for each in below])
            die()
        time.sleep(0.05)


def command_of(process: psutil.Process) -> str:
    """Return the command line of a process, '' when it has ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""
