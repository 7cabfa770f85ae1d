"""What commands have in common: options, the way to a desk, and showing what a run came to."""

import time
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from flows.boundary import INTERRUPTED, JSON, exit_code
from state.values.wording import counted

if TYPE_CHECKING:
    from flows.runs import RunResult
    from flows.settings import Settings
    from flows.wiring import Desk
    from state.errors import NotFound, StorageError

_BEGAN = time.monotonic()


def _remember_json(context: typer.Context, value: bool) -> bool:  # noqa: FBT001 - Typer's form
    context.meta[JSON] = value or context.meta.get(JSON, False)
    return value


Json = Annotated[
    bool, typer.Option("--json", help="Write JSON to stdout.", callback=_remember_json)
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
LogJson = Annotated[
    bool, typer.Option("--log-json", help="Write logs to stderr, as lines of JSON.")
]


def limit_option(flag: str, help_: str) -> typer.models.OptionInfo:
    """Return an option that bounds what a run may use."""
    option: typer.models.OptionInfo = typer.Option(
        flag, metavar="N", help=help_, rich_help_panel="Limits"
    )
    return option


# What research and making code can both be asked for.
RunName = Annotated[
    str | None, typer.Option("--run-id", metavar="ID", help="Name the run; again: same run.")
]
MaxModelCalls = Annotated[int | None, limit_option("--max-model-calls", "Calls of models in all.")]
BudgetTokens = Annotated[
    int | None, limit_option("--budget-tokens", "Tokens that models may read and write.")
]
BudgetUsd = Annotated[
    float | None,
    typer.Option("--budget-usd", metavar="USD", help="Money in all.", rich_help_panel="Limits"),
]
RUN_HELP = "The run's id, or its beginning; 'assay runs' lists them."
RunId = Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP)]


def budgets_of(tokens: int | None, usd: float | None) -> dict[str, int | None]:
    """Return the limits that `--budget-tokens` and `--budget-usd` set, as requests name them."""
    from flows.composing import micro_usd

    return {"max_tokens": tokens, "max_cost_micro_usd": None if usd is None else micro_usd(usd)}


def settings() -> "Settings":
    """Return the settings of this process."""
    from flows.settings import load_settings

    return load_settings()


def no_runs_yet(found: "Settings") -> "NotFound":
    """Return the error that says that nothing was ever recorded, and where that was looked for."""
    from flows.memory import memory_place
    from state.errors import NotFound

    return NotFound(f"there are no runs yet in {memory_place(found)}")


def desk_if_any() -> "Desk | None":
    """Return a desk, or None when nothing was ever recorded: nothing is made.

    Runs whose process is gone are marked interrupted.
    """
    from flows.memory import is_begun
    from flows.recovery import mark_orphans
    from flows.wiring import make_desk

    found = settings()
    if not is_begun(found):
        return None
    opened = make_desk(found)
    mark_orphans(opened)
    return opened


def run_at_desk(given: str) -> "tuple[Desk, str]":
    """Return a desk on the memory that holds the run that `given` names, and the run's whole id.

    Raises as `flows.naming.run_id_of` does; nothing is made. A run whose process is gone is marked
    interrupted.
    """
    from flows.memory import is_begun
    from flows.naming import require_id, run_id_of
    from flows.recovery import mark_interrupted
    from flows.runs import existing_run
    from flows.wiring import make_desk
    from state.errors import NotFound

    require_id(given)
    found = settings()
    if not is_begun(found):
        raise NotFound(f"there is no run {given!r}: {no_runs_yet(found).message}")
    opened = make_desk(found)
    run_id = run_id_of(opened, given)
    existing_run(opened, run_id)
    mark_interrupted(opened, run_id)
    return opened, run_id


def show_result(
    opened: "Desk", result: "RunResult", *, json: bool, code: int | None = None
) -> NoReturn:
    """Write what a run came to and end the command with the exit code for it, or with `code`."""
    from flows.terminal import out, out_json, talk

    if json:
        shown = result.as_json()
        unsaid = ("code", "reason") if result.status == "completed" else ()
        out_json({name: value for name, value in shown.items() if name not in unsaid})
    else:
        if text := _body(opened, result):
            out(text.rstrip("\n"))
        talk(_remark(result))
    raise typer.Exit(exit_code(result.status, result.answer_status) if code is None else code)


def show_unread(run_id: str, error: "StorageError", *, json: bool) -> NoReturn:
    """Say that the run goes on from what its ledger holds, once that can be reached again."""
    from flows.terminal import out_json, talk

    if json:
        facts = {"run_id": run_id, "status": "interrupted"}
        out_json({**facts, "code": error.code, "reason": error.message})
    talk(f"assay: run {run_id} interrupted; when its ledger is back: assay resume {run_id}")
    raise typer.Exit(INTERRUPTED)


def _body(opened: "Desk", result: "RunResult") -> str:
    """Return the report, or the question that is put back to the person."""
    from state.research_events import ArtifactRole

    run = opened.ledger.project(result.run_id)
    if run.paper2code is not None:
        sealed = run.paper2code.sealed
        return opened.artifacts.read_text(sealed.report_hash) if sealed else ""
    research = run.research
    if result.status != "completed" or research is None:
        return ""
    for artifact in research.of_role(ArtifactRole.REPORT):
        if artifact.name == "report.md":
            return opened.artifacts.read_text(artifact.content_hash)
    return result.clarification


def _times(result: "RunResult") -> str:
    """Return how long the command took so far, and the run, which may have gone on in several."""
    from flows.figures import spent

    took = time.monotonic() - _BEGAN
    run = "the run itself" if result.worked_s <= took else "the run in all"
    return f"{took:.1f} s ({run} {spent(result.worked_s, result.waited_s)})"


def _answered(result: "RunResult") -> str:
    in_part = result.answer_status == "answered" and result.coverage < 1
    return result.answer_status + (" in part" if in_part else "")


def _remark(result: "RunResult") -> str:
    """Return one line on how it went and what can be done now."""
    run_id = result.run_id
    because = f": {result.reason}" if result.reason else ""
    match result.status:
        case "completed" if result.answer_status == "verified":
            return (
                f"assay: complete, tests executed and passed, {_times(result)}; "
                f"code in {getattr(result, 'workspace', '')}"
            )
        case "completed" if result.report:
            return (
                f"assay: {_answered(result)}, {result.coverage:.0%} covered, "
                f"{counted(len(result.citations), 'citation')}, {_times(result)}; "
                f"report in {result.report['report.md']}; check it with: assay verify {run_id}"
            )
        case "completed":
            return f"assay: {result.answer_status}; ask again with a new run"
        case "waiting":
            return (
                f"assay: run {run_id} waits for a review of its plan; "
                f"see it and answer with: assay review {run_id}"
            )
        case "interrupted" | "queued" | "running":
            return (
                f"assay: run {run_id} {result.status}{because}; resume with: assay resume {run_id}"
            )
        case _:
            return f"assay: run {run_id} {result.status}{because}; go on with: assay retry {run_id}"
