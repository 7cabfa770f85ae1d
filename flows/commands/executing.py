"""Executing a run for a command: progress, the person at the terminal, and how that ends."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flows.boundary import signal_of, unexpected
from flows.commands.shared import show_result, show_unread

if TYPE_CHECKING:
    from flows.engine_session import EngineSession
    from flows.interruption import Interrupted
    from flows.progress import Progress
    from flows.wiring import Desk, StopAfter


@dataclass(frozen=True, slots=True)
class Manner:
    """How a command that executes a run behaves towards the person who gave it."""

    quiet: bool
    json: bool
    log_json: bool
    stop_after: "StopAfter | None" = None

    @property
    def can_ask(self) -> bool:
        """Tell whether somebody is there to answer."""
        from flows.terminal import is_terminal

        return is_terminal(sys.stdin) and is_terminal(sys.stderr) and not self.log_json

    @contextmanager
    def shown(self, opened: "Desk") -> "Iterator[Progress]":
        """Show progress, or logs, of what is executed at the desk; let it ask its person."""
        from flows.progress import shown_progress
        from flows.prompting import PlanPrompt

        opened.stop_after = self.stop_after
        quiet = self.quiet or self.log_json
        with shown_progress(quiet=quiet, beat=not self.json) as progress:
            opened.observe = progress.observe
            if self.log_json:
                from flows.logs import log_events, log_to_stderr

                log_to_stderr()
                opened.observe = log_events
            if self.can_ask:
                opened.ask = PlanPrompt(opened, progress).ask
            yield progress


def refuse_held(opened: "Desk", run_id: str) -> None:
    """Raise `LeaseHeld` when another process executes the run."""
    from state.errors import LeaseHeld

    if holder := opened.ledger.holder(run_id):
        raise LeaseHeld(
            f"run {run_id!r} is being executed by process {holder.pid} on {holder.host} "
            f"({holder.command}); follow it with: assay watch {run_id}"
        )


def execute_run(opened: "Desk", run_id: str, manner: Manner) -> None:
    """Carry the run on, show what it came to and end the command with the exit code for it."""
    from flows.engine_session import engine_for

    with manner.shown(opened) as progress, engine_for(opened.settings) as engine:
        ended = carry_run(opened, run_id, engine, progress)
    end_command(opened, run_id, ended, manner)


def load_engine(engine: "EngineSession") -> None:
    """Import Prefect without collecting garbage, of which there is none: a third of the time."""
    gc.disable()
    try:
        engine.load()
    finally:
        gc.freeze()  # what was imported is not looked through again, nor at the end
        gc.enable()


def carry_run(
    opened: "Desk", run_id: str, engine: "EngineSession", progress: "Progress"
) -> "Interrupted | None":
    """Execute the run; return what interrupted it from outside, if anything did."""
    from flows.interruption import Interrupted, run_interruptibly
    from flows.runs import execute, existing_run
    from flows.terminal import talk
    from state.errors import StorageError
    from state.values.errors import AssayError, RejectedError

    try:
        load_engine(engine)
        progress.note("waiting for the Prefect server")
        engine.ready()
        execute(opened, run_id, runner=run_interruptibly)
    except KeyboardInterrupt as stopped:
        return Interrupted(signal_of(stopped))
    except Interrupted as interrupted:
        return interrupted
    except AssayError as error:
        if isinstance(error, RejectedError):
            raise
        talk(f"assay: {error.message}")
    except Exception as error:
        # Of the engine, say, whose server went away: what the run recorded is what it came to.
        with suppress(StorageError):  # the ledger went away, too: `end_command` says so
            if existing_run(opened, run_id).status == "running":
                raise
        unexpected(error)
    return None


def end_command(
    opened: "Desk", run_id: str, interrupted: "Interrupted | None", manner: Manner
) -> None:
    """Show what the run came to and end the command with the exit code for it."""
    from flows.runs import read_result
    from state.errors import StorageError
    from state.projection import TERMINAL

    try:
        result = read_result(opened, run_id)
    except StorageError as error:
        show_unread(run_id, error, json=manner.json)
    cut_short = interrupted is not None and result.status not in TERMINAL
    code = interrupted.exit_code if interrupted and cut_short else None
    show_result(opened, result, json=manner.json, code=code)
