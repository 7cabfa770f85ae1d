"""Commands that make code of a paper, and give it back: paper2code, export."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from flows.commands.executing import Manner, execute_run, refuse_held
from flows.commands.shared import (
    BudgetTokens,
    BudgetUsd,
    Json,
    LogJson,
    MaxModelCalls,
    Quiet,
    RunId,
    RunName,
    budgets_of,
    limit_option,
    run_at_desk,
    settings,
    show_result,
)

if TYPE_CHECKING:
    from state.code_request import CodeRequest


StopPoint = Literal["plan", "files", "tests"]


def paper2code(  # noqa: PLR0913 - every option is a parameter
    source: Annotated[
        str | None,
        typer.Argument(metavar="SOURCE", help="A paper's file or URL, or a repository."),
    ] = None,
    *,
    requirement: Annotated[
        str, typer.Option(metavar="TEXT", help="What is wanted, also without a source.")
    ] = "",
    review: Annotated[
        bool,
        typer.Option("--review/--no-review", help="Let a person decide on the plan first."),
    ] = True,
    workspace: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where the code goes: a new or an empty folder."),
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="The language model.")
    ] = None,
    indexing: Annotated[
        bool, typer.Option("--indexing", help="Look at repositories that the paper links to.")
    ] = False,
    reference: Annotated[
        list[str] | None,
        typer.Option("--reference", metavar="REPO", help="A repository to index; repeatable."),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option("--exclude", metavar="REPO", help="Never look at this one; repeatable."),
    ] = None,
    run_id: RunName = None,
    stop_after: Annotated[
        StopPoint | None,
        typer.Option(help="Stop after the plan, the files or the tests, resumable."),
    ] = None,
    max_files: Annotated[int | None, limit_option("--max-files", "Files in all.")] = None,
    max_repairs: Annotated[int | None, limit_option("--max-repairs", "Repairs, 0 to 3.")] = None,
    max_model_calls: MaxModelCalls = None,
    verification_seconds: Annotated[
        int | None, limit_option("--verification-seconds", "Seconds that a test command may take.")
    ] = None,
    budget_tokens: BudgetTokens = None,
    budget_usd: BudgetUsd = None,
    quiet: Quiet = False,
    json: Json = False,
    log_json: LogJson = False,
) -> None:
    """Make code of a paper, and run its tests.

    Plans first, with quotes of the source, and lets you approve, revise or replace the plan. Then
    writes file by file, and runs the tests in a sandbox on this machine. Complete means that tests
    were executed and passed; else it says what is missing, and 'assay retry' goes on from there.

    Example: assay paper2code paper.pdf --workspace smoother --model openai:gpt-5
    """
    from flows.code_runs import compose_code_request

    request = compose_code_request(
        source,
        now=datetime.now(UTC),
        requirement=requirement,
        workspace=workspace,
        model=model,
        review=review,
        indexing=indexing,
        references=tuple(reference or ()),
        excluded=tuple(exclude or ()),
        run_id=run_id,
        budgets={
            "max_files": max_files,
            "max_repairs": max_repairs,
            "max_model_calls": max_model_calls,
            "verification_seconds": verification_seconds,
            **budgets_of(budget_tokens, budget_usd),
        },
    )
    _make(request, Manner(quiet, json, log_json, stop_after))


def _make(request: "CodeRequest", manner: Manner) -> None:
    from flows.code_runs import submit_code
    from flows.recovery import mark_interrupted
    from flows.runs import execute
    from flows.users_server import require_users_server
    from flows.wiring import make_desk

    require_users_server()
    opened = make_desk(settings())
    if opened.ledger.exists(request.id):
        mark_interrupted(opened, request.id)
        if submit_code(opened, request).status == "completed":
            show_result(opened, execute(opened, request.id), json=manner.json)
        refuse_held(opened, request.id)
    submit_code(opened, request)
    execute_run(opened, request.id, manner)


def export(
    run_id: RunId,
    *,
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="A new or an empty folder.")],
    json: Json = False,
) -> None:
    """Write what RUN made into a folder, from the archive.

    Of a Paper2Code run the code as it stands with its plan and report, of research the report.

    Example: assay export my-run --to smoother
    """
    from flows.exporting import export_run
    from flows.terminal import out, out_json

    opened, run_id = run_at_desk(run_id)
    done = export_run(opened, run_id, to)
    if json:
        out_json(done)
    else:
        for path in done["files"]:
            out(f"{done['folder']}/{path}")
