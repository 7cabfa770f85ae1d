"""From lease to end: takes a run up, and records how its execution ended, whatever happened."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import anyio
from prefect.exceptions import TerminationSignal

from flows.answering import WaitingForPerson
from flows.limiting import limiting
from flows.notifying import tell_quietly
from flows.resuming import FROM_OUTSIDE
from flows.step import CancelRequested, Driver, StopAsked, Turn, driving, is_the_machines
from flows.wiring import Desk, Tools
from state.errors import Conflict, CorruptLedger, Fenced, IntegrityError, NotFound
from state.events import Event, Holder, draft
from state.projection import Run, project
from state.run_events import (
    RunCancelled,
    RunFailed,
    RunInterrupted,
    RunLeased,
    RunResumed,
    RunStarted,
)
from state.values.errors import AssayError, InvalidRequest, ObstructedError, RejectedError

INTERRUPTED = "WORKFLOW_INTERRUPTED"
GONE = "the process that executed the run is gone"
FAILED = "WORKFLOW_EXECUTION_ERROR"

# What is recorded as the reason when a signal ends an execution.
interrupted_because: ContextVar[str] = ContextVar("interrupted_because", default=FROM_OUTSIDE)


@dataclass(slots=True)
class Ending:
    """How an execution ended; `error` is what ended it, if anything did.

    A `stopped` one was left there as asked; the ledger calls it interrupted, as it can be resumed.
    """

    status: Literal["running", "waiting", "stopped", "interrupted", "cancelled", "failed"] = (
        "running"
    )
    error: BaseException | None = None


@asynccontextmanager
async def take_up(run_id: str, desk: Desk) -> AsyncIterator[tuple[Driver, Ending]]:
    """Hold the lease of `run_id` for the block and record how the block ended.

    Waiting for a person, a wanted stop and a wanted end are swallowed and said in `Ending`; every
    other error is recorded and raised on. Raises `LeaseHeld` when another process executes the run,
    and `RejectedError` when it has ended. Afterwards, with the lease given back, a webhook is told.
    """
    ending = Ending()
    driver: Driver | None = None
    try:
        with await anyio.to_thread.run_sync(desk.ledger.lease, run_id, _command()):
            driver = await _begin(run_id, desk)
            async with driving(driver):
                try:
                    async with limiting(desk.settings):
                        yield driver, ending
                except BaseException as error:
                    with anyio.CancelScope(shield=True):
                        ending.error = error
                        await _end(driver, ending, error)
                    if ending.status not in ("waiting", "stopped", "cancelled"):
                        raise
    finally:
        # Whoever is told to end has no time for that: the recovery has.
        is_told_to_end = ending.error is not None and _is_a_signal(ending.error)
        if driver is not None and driver.run.notify and not is_told_to_end:
            await tell_quietly(desk, run_id)


def open_tools(driver: Driver) -> Tools:
    """Open the world for the run's sources; what is missing there can be mended, and is no failure.

    Raises `ObstructedError`: SOURCES when a folder is gone, or the code of a model that is not to
    be had here, which another process may know where to find.
    """
    try:
        return driver.desk.tools(driver.research.started.request)
    except InvalidRequest as error:
        raise ObstructedError(error.message, code="SOURCES") from error
    except RejectedError as error:
        raise ObstructedError(error.message, code=error.code) from error


async def _begin(run_id: str, desk: Desk) -> Driver:
    while True:
        run = await anyio.to_thread.run_sync(desk.ledger.project, run_id)
        if run.is_terminal:
            raise RejectedError(f"run {run_id!r} is {run.status}", code="TERMINAL")
        try:
            begun = await _take(run, desk)
        except Conflict:
            continue  # an answer or a cancel request came in between: decide on the run with it
        return Driver(desk, begun, begun.epoch, ancestors=await _ancestors(begun, desk))


async def _take(run: Run, desk: Desk) -> Run:
    epoch = run.epoch + 1
    holder = Holder(pid=os.getpid(), host=socket.gethostname())
    events: list[Event] = []
    if run.status == "running":
        events.append(RunInterrupted(code=INTERRUPTED, reason=GONE))
    events.append(RunLeased(epoch=epoch, holder=holder, notify=desk.settings.notify))
    if run.status == "queued":
        events.append(RunStarted())
    elif run.status != "waiting" or run.live_review is None:
        events.append(RunResumed())
    receipt = await anyio.to_thread.run_sync(
        lambda: desk.ledger.append(
            run.run_id, [draft(event) for event in events], expected_position=run.position
        )
    )
    return receipt.state


async def _ancestors(run: Run, desk: Desk) -> list[Run]:
    """Return the runs that `run` is a retry of, nearest first, each as of its retry."""
    ancestors: list[Run] = []
    while (origin := run.retry_of) is not None:
        lines = await anyio.to_thread.run_sync(desk.ledger.read, origin.run_id)
        run = project(lines[: origin.position])
        if (run.position, run.head_hash) != (origin.position, origin.hash):
            raise CorruptLedger(
                f"run {origin.run_id!r} is not the one that was retried at {origin.position}"
            )
        ancestors.append(run)
    return ancestors


def _command() -> str:
    """Return what others are told of the process that executes the run."""
    return " ".join([Path(sys.argv[0]).name, *sys.argv[1:2]]) or "a Python program"


async def _end(driver: Driver, ending: Ending, error: BaseException) -> None:
    match error:
        case WaitingForPerson():
            ending.status = "waiting"
            return
        case CancelRequested():
            ending.status = "cancelled"
            event: Event = RunCancelled(reason=error.message[:4000])
        case _ if is_resumable(error):
            ending.status = "stopped" if isinstance(error, StopAsked) else "interrupted"
            event = RunInterrupted(code=INTERRUPTED, reason=_why(error))
        case _:
            ending.status = "failed"
            code = error.code if isinstance(error, AssayError) else FAILED
            event = RunFailed(code=code[:80], message=_why(error))
    await _record_end(driver, event, error)


async def _record_end(driver: Driver, event: Event, error: BaseException) -> None:
    try:
        await driver.record(Turn("ending", driver.epoch), event)
    except (ObstructedError, RejectedError) as second:
        # Without this event the run reads as interrupted all the same, since its lease is free.
        error.add_note(f"and the end could not be recorded: {second.message}")


def is_resumable(error: BaseException) -> bool:
    """Tell whether the same run can go on once the reason is gone.

    Ctrl-C, the disk, the engine, the policy, another driver, or a damaged body of the archive,
    which can be restored.
    """
    if _is_a_signal(error) or isinstance(error, (Fenced, IntegrityError, NotFound)):
        return True
    return is_the_machines(error)


def _is_a_signal(error: BaseException) -> bool:
    return isinstance(error, (KeyboardInterrupt, asyncio.CancelledError, TerminationSignal))


def _why(error: BaseException) -> str:
    if isinstance(error, AssayError):
        return error.message[:4000]
    if _is_a_signal(error):
        return interrupted_because.get()
    return f"{type(error).__name__}: {error}"[:4000]
