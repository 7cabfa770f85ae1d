"""Executes runs in forked children of a process that has imported everything, to kill them cheaply.

    python kill_server.py PREFECT_HOME

Reads one list of jobs a line from stdin (JSON, the fields of `Job`) and forks a child for each, all
at once, that executes the run on the real engine, the real converter and the real ledger. A child
kills itself right after the event at position `kill_after` was written, or is killed after
`kill_after_s` seconds. Answers one line: a list of {"signal": …, "code": …, "said": …}.
"""

import importlib
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from adapters.documents.port import Opened, Reader
from adapters.models.port import Answer, AssessInput, Assessment, PlanInput, Researcher
from adapters.search.port import Search, SearchPage
from flows.settings import Settings
from flows.wiring import Desk, Tools, local_converter, open_world
from state.append import Hooks
from state.artifacts import LocalArtifacts
from state.envelope import Line
from state.local_ledger import LocalLedger
from state.policy import Policy
from state.projection import RunFold
from state.request import ResearchRequest
from state.values.plan import Plan

FIXED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Job:
    """One execution of the run in `home`: new, or resumed when it is there.

    With `model_url` a language model there judges and writes.
    """

    home: str
    diary: str
    run_id: str
    question: str
    sources: tuple[str, ...]
    kill_after: int | None = None
    kill_after_s: float | None = None
    fill_disk_after: int | None = None
    model_url: str = ""
    kill_in: str | None = None


class Diary:
    """Writes one line an effect or acknowledgement, at once, so that a kill loses none of them."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def note(self, *words: object) -> None:
        """Append a line."""
        os.write(self._file, (json.dumps(words) + "\n").encode())


class NotingSearch:
    """A `Search` that notes every search that was really made."""

    def __init__(self, inner: Search, diary: Diary) -> None:
        self._inner, self._diary = inner, diary

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def cost_micro_usd(self) -> int:
        return self._inner.cost_micro_usd

    async def search(self, query: str, *, cursor: str | None = None, limit: int = 6) -> SearchPage:
        self._diary.note("search", query)
        return await self._inner.search(query, cursor=cursor, limit=limit)


class NotingReader:
    """A `Reader` that notes every source that was really opened."""

    def __init__(self, inner: Reader, diary: Diary) -> None:
        self._inner, self._diary = inner, diary

    async def open(self, locator: str) -> Opened:
        self._diary.note("read", locator)
        return await self._inner.open(locator)


def noting_researcher(inner: Researcher, diary: Diary) -> Researcher:
    """Return a researcher that notes its plans and assessments."""

    class Noting(type(inner)):  # type: ignore[misc] # the class of whatever researcher is used
        async def plan(self, given: PlanInput) -> Answer[Plan]:
            diary.note("plan", given.question)
            answer: Answer[Plan] = await super().plan(given)
            return answer

        async def assess(self, given: AssessInput) -> Answer[Assessment]:
            diary.note("assess", given.round)
            answer: Answer[Assessment] = await super().assess(given)
            return answer

    made: Researcher = Noting()
    return made


class KillingResearcher:
    """A `Researcher` whose process dies while its operation `kill_in` waits for an answer."""

    def __init__(self, inner: Researcher, kill_in: str) -> None:
        self._inner, self._kill_in = inner, kill_in

    def __getattr__(self, name: str) -> object:
        if name == self._kill_in:
            threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGKILL)).start()
        return getattr(self._inner, name)


def desk_for(job: Job) -> Desk:
    """Return a desk on the job's home: fixed clock, noted effects, and the kill."""
    home = Path(job.home)
    diary = Diary(Path(job.diary))

    def after_write(line: Line) -> None:
        if line.envelope.position == job.kill_after:
            os.kill(os.getpid(), signal.SIGKILL)

    def on_durable(lines: Sequence[Line]) -> None:
        for line in lines:
            diary.note("durable", line.envelope.position, line.hash)
            if line.envelope.position == job.fill_disk_after:
                fill_disk(home)

    def tools(request: ResearchRequest) -> Tools:
        real = open_world(settings, request, archive)
        if job.kill_in:
            killing: Any = KillingResearcher(real.researcher, job.kill_in)
            real = replace(real, researcher=killing)
        elif not job.model_url:
            real = replace(real, researcher=noting_researcher(real.researcher, diary))
        return replace(
            real,
            searches=((NotingSearch(real.searches[0][0], diary),),),
            reader=NotingReader(real.reader, diary),
        )

    settings = Settings(home=home, model_url=job.model_url)
    archive = LocalArtifacts(home / "artifacts")
    hooks = Hooks(clock=lambda: FIXED, after_write=after_write, on_durable=on_durable)
    return Desk(
        settings=settings,
        ledger=LocalLedger(home, RunFold(), hooks=hooks),
        artifacts=archive,
        policy=Policy(home / "policy.json"),
        tools=tools,
        converter=lambda: local_converter(settings),
        now=lambda: FIXED,
    )


def fill_disk(home: Path) -> None:
    """Leave no byte free on the file system of `home`."""
    for number, size in enumerate((1 << 20, 1 << 12, 1)):
        with suppress(OSError), (home / f"filler-{number}").open("wb", buffering=0) as filler:
            while filler.write(b"x" * size):
                pass


def carry_out(job: Job) -> str:
    """Submit the job's run if it is new, execute it, and return its status."""
    from flows.runs import execute, request_of, submit

    os.environ["ASSAY_MODEL_URL"] = job.model_url
    desk = desk_for(job)
    request = request_of(
        desk,
        job.question,
        sources=job.sources,
        run_id=job.run_id,
        limits={"max_rounds": 2},
        model="served" if job.model_url else "extractive",
    )
    submit(desk, request)
    return execute(desk, job.run_id).status


def in_child(work: Callable[[], str], pipe: int) -> None:
    """Do the work, tell how it ended, and leave without any of the parent's clean-up."""
    before = set(sys.modules)
    try:
        said, code = work(), 0
    except BaseException:  # noqa: BLE001 - whatever it is, the test shall see it
        import traceback

        said, code = traceback.format_exc(), 1
    with os.fdopen(pipe, "w") as file:
        json.dump({"said": said, "imported": sorted(set(sys.modules) - before)}, file)
    os._exit(code)


def run_all(jobs: Sequence[Job]) -> list[dict[str, object]]:
    """Carry out all `jobs` at once, each in a child of its own; return how each ended."""
    children = [fork_child(partial(carry_out, job), job.home) for job in jobs]  # before threads
    timers = [
        threading.Timer(job.kill_after_s, os.kill, (pid, signal.SIGKILL))
        for job, (pid, _) in zip(jobs, children, strict=True)
        if job.kill_after_s is not None
    ]
    for timer in timers:
        timer.start()
    answers = [wait_for(pid, pipe) for pid, pipe in children]
    for timer in timers:
        timer.cancel()
    return answers


def fork_child(work: Callable[[], str], home: str) -> tuple[int, int]:
    """Fork a child that does the work in `home`; return its pid, and a pipe from it."""
    Path(home).mkdir(parents=True, exist_ok=True)
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        in_child(work, writing)
    os.close(writing)
    return pid, reading


def wait_for(pid: int, pipe: int) -> dict[str, object]:
    """Return how the child ended, and what it said."""
    with os.fdopen(pipe) as file:
        told = json.loads(file.read() or '{"said": "", "imported": []}')
    _, status = os.waitpid(pid, 0)
    killed_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    for module in told["imported"]:  # so that the next child finds it imported
        with suppress(ImportError):
            importlib.import_module(module)
    return {"signal": killed_by, "code": os.waitstatus_to_exitcode(status), "said": told["said"]}


def serve(run_jobs: Callable[[Any], object], modules: Sequence[str]) -> None:
    """Import everything, say so, and give each line of jobs to `run_jobs` until stdin ends."""
    from flows.engine import configure
    from flows.server import start_server

    home = Path(sys.argv[1])
    configure(start_server(home).wait(), home)
    for module in ("flows.runs", *modules):
        importlib.import_module(module)
    answer("ready")
    for line in sys.stdin:
        answer(run_jobs(json.loads(line)))


def main() -> None:
    """Serve jobs of research."""
    modules = (
        "adapters.models.chat.wire",
        "adapters.models.extractive.researcher",
        "adapters.search.local",
        "flows.research",
    )
    serve(
        lambda jobs: run_all([Job(**{**job, "sources": tuple(job["sources"])}) for job in jobs]),
        modules,
    )


def answer(value: object) -> None:
    """Write one line of JSON to stdout."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
