"""Going on with all runs that stand still, one after the other, where nobody serves."""

from typing import TYPE_CHECKING, NoReturn

import typer

from flows.commands.executing import Manner, carry_run
from flows.commands.shared import desk_if_any, no_runs_yet, settings

if TYPE_CHECKING:
    from flows.interruption import Interrupted
    from flows.runs import RunResult
    from flows.wiring import Desk


def resume_all(manner: Manner) -> NoReturn:
    """Go on with every run that is to go on by itself, and end the command.

    The exit code is that of the first run that came to no answer, else 0.
    """
    from flows.terminal import out_json, talk

    opened = desk_if_any()
    if opened is None:
        raise no_runs_yet(settings())
    ready, left = _sorted_out(opened)
    for run_id, why in left.items():
        talk(f"assay: run {run_id} is left as it is: {why}")
    results, interrupted = _carry_all(opened, ready, manner)
    if manner.json:
        out_json([result.as_json() for result in results])
    elif not ready:
        talk("assay: there is no run to go on with")
    raise typer.Exit(_exit_code(results, interrupted))


def _sorted_out(opened: "Desk") -> tuple[list[str], dict[str, str]]:
    """Return the runs to go on with, and why others are left."""
    from flows.resuming import open_runs, standing_of

    ready: list[str] = []
    left: dict[str, str] = {}
    for run_id in open_runs(opened):
        if opened.ledger.holder(run_id) is not None:
            left[run_id] = "it is being executed"
            continue
        standing = standing_of(opened, opened.ledger.project(run_id))
        if standing.goes_on:
            ready.append(run_id)
        else:
            left[run_id] = standing.why
    return ready, left


def _carry_all(
    opened: "Desk", run_ids: list[str], manner: Manner
) -> "tuple[list[RunResult], Interrupted | None]":
    from flows.engine_session import engine_for
    from flows.runs import read_result
    from flows.terminal import out
    from state.values.errors import RejectedError

    results: list[RunResult] = []
    if not run_ids:
        return results, None
    with manner.shown(opened) as progress, engine_for(opened.settings) as engine:
        for run_id in run_ids:
            interrupted = None
            try:
                interrupted = carry_run(opened, run_id, engine, progress)
            except RejectedError as error:  # somebody else took it meanwhile, or it cannot go on
                progress.note(f"run {run_id}: {error.message}")
            result = read_result(opened, run_id)
            results.append(result)
            if not manner.json:
                with progress.hidden():
                    out(f"{run_id}  {result.status}  {result.answer_status}".rstrip())
            if interrupted is not None:
                return results, interrupted
    return results, None


def _exit_code(results: "list[RunResult]", interrupted: "Interrupted | None") -> int:
    from flows.boundary import exit_code

    if interrupted is not None:
        return interrupted.exit_code
    codes = (exit_code(result.status, result.answer_status) for result in results)
    return next((code for code in codes if code), 0)
