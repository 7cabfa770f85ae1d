"""Commands that execute runs or end them: research, resume, retry, cancel."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from flows.boundary import Stopped, signal_of
from flows.commands.asking import requested
from flows.commands.executing import (
    Manner,
    carry_run,
    end_command,
    execute_run,
    load_engine,
    refuse_held,
)
from flows.commands.shared import (
    RUN_HELP,
    BudgetTokens,
    BudgetUsd,
    Json,
    LogJson,
    MaxModelCalls,
    Quiet,
    RunId,
    RunName,
    limit_option,
    run_at_desk,
    settings,
    show_result,
)

if TYPE_CHECKING:
    from flows.progress import Progress
    from flows.settings import Settings
    from state.request import ResearchRequest

CANCEL_WAIT_S = 10.0  # in which a process that executes a run hears that it is to end

Scope = Literal["quick", "standard", "deep"]
Profile = Literal["question", "codebase"]
StopPoint = Literal["plan", "round", "report"]
Kind = Literal["market", "industry", "academic", "competitive", "policy"]
Question = Annotated[str, typer.Argument(metavar="QUESTION", help="What to find out, in quotes.")]
MoreSources = Annotated[
    list[Path] | None, typer.Argument(metavar="SOURCES", help="More folders or files.")
]
Sources = Annotated[
    list[Path] | None,
    typer.Option("--sources", "-s", metavar="PATH", help="A folder or file to read; repeatable."),
]


def research(  # noqa: PLR0913 - every option is a parameter
    question: Question,
    more: MoreSources = None,
    *,
    sources: Sources = None,
    search: Annotated[
        list[str] | None,
        typer.Option("--search", metavar="PROVIDER", help="Search the web there; repeatable."),
    ] = None,
    reference: Annotated[
        list[str] | None,
        typer.Option("--reference", metavar="URL", help="Read this first; repeatable."),
    ] = None,
    origin: Annotated[
        list[str] | None,
        typer.Option("--origin", metavar="HOST", help="Read the web only there; repeatable."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="NAME", help="The language model, or 'extractive'."),
    ] = None,
    profile: Annotated[Profile, typer.Option(help="The sections of the report.")] = "question",
    scope: Annotated[Scope, typer.Option(help="How far to go.")] = "standard",
    review: Annotated[
        bool, typer.Option("--review", help="Let a person decide on the plan first.")
    ] = False,
    run_id: RunName = None,
    stop_after: Annotated[StopPoint | None, typer.Option(help="Stop there, resumable.")] = None,
    cross_check: Annotated[
        bool, typer.Option("--cross-check", help="Ask for two distinct origins.")
    ] = False,
    audience: Annotated[str, typer.Option(metavar="TEXT", help="Whom the report is for.")] = "",
    boundaries: Annotated[
        str, typer.Option(metavar="TEXT", help="What belongs to the question.")
    ] = "",
    type_: Annotated[Kind, typer.Option("--type", help="The kind of research.")] = "academic",
    max_rounds: Annotated[int | None, limit_option("--max-rounds", "Rounds in all.")] = None,
    max_queries: Annotated[int | None, limit_option("--max-queries", "Queries a round.")] = None,
    max_pages: Annotated[int | None, limit_option("--max-pages", "Sources read a round.")] = None,
    max_searches: Annotated[int | None, limit_option("--max-searches", "Searches in all.")] = None,
    max_read_pages: Annotated[
        int | None, limit_option("--max-read-pages", "Sources in all.")
    ] = None,
    max_model_calls: MaxModelCalls = None,
    research_seconds: Annotated[
        int | None, limit_option("--research-seconds", "Seconds in which new research may begin.")
    ] = None,
    budget_tokens: BudgetTokens = None,
    budget_usd: BudgetUsd = None,
    quiet: Quiet = False,
    json: Json = False,
    log_json: LogJson = False,
) -> None:
    """Answer QUESTION from files, or from the web as well.

    Writes the report to stdout. Every claim of it is tied to an exact quote of an archived
    source. With --search, providers are asked in their order: the next when one fails or finds
    nothing ('assay search --help' tells more). Without --search or --reference, no connection is
    opened. The same --run-id with the same request is the same run: it goes on where it stands,
    or shows what it came to.

    Example: assay research "How long are audit logs kept?" -s notes/
    """
    request = requested(
        question,
        more,
        sources=sources,
        search=search,
        reference=reference,
        origin=origin,
        model=model,
        profile=profile,
        scope=scope,
        review=review,
        run_id=run_id,
        cross_check=cross_check,
        audience=audience,
        boundaries=boundaries,
        type_=type_,
        max_rounds=max_rounds,
        max_queries=max_queries,
        max_pages=max_pages,
        max_searches=max_searches,
        max_read_pages=max_read_pages,
        max_model_calls=max_model_calls,
        research_seconds=research_seconds,
        budget_tokens=budget_tokens,
        budget_usd=budget_usd,
    )
    _research(request, Manner(quiet, json, log_json, stop_after))


def resume(
    run_id: Annotated[str | None, typer.Argument(metavar="RUN", help=RUN_HELP)] = None,
    *,
    all_: Annotated[
        bool, typer.Option("--all", help="All runs that a crash left, or an obstacle.")
    ] = False,
    quiet: Quiet = False,
    json: Json = False,
    log_json: LogJson = False,
) -> None:
    """Go on with RUN where it stands.

    After a crash, Ctrl-C, a review or a stop. Nothing that had settled is done or paid again. A
    completed run shows its report again. With --all, go on with every run that nobody stopped on
    purpose and that waits for nobody, one after the other.

    Example: assay resume 20260102-101500-a1b2
    """
    from flows.runs import execute, existing_run, read_result, refuse_ended
    from state.values.errors import InvalidRequest

    if all_ == (run_id is not None):
        raise InvalidRequest("name one run to go on with, or say --all")
    if run_id is None:
        from flows.commands.resuming import resume_all

        resume_all(Manner(quiet, json, log_json))
    opened, run_id = run_at_desk(run_id)
    run = existing_run(opened, run_id)
    refuse_ended(run)
    refuse_held(opened, run_id)
    manner = Manner(quiet, json, log_json)
    if run.status == "completed":
        show_result(opened, execute(opened, run_id), json=json)
    if run.live_review is not None and not manner.can_ask:
        show_result(opened, read_result(opened, run_id), json=json)
    execute_run(opened, run_id, manner)


def retry(
    run_id: RunId, *, quiet: Quiet = False, json: Json = False, log_json: LogJson = False
) -> None:
    """Go on from a failed or cancelled RUN, in a new run.

    The old run never changes, and nothing that had settled in it is done or paid again.

    Example: assay retry 20260102-101500-a1b2
    """
    from flows.runs import retry as queue_retry
    from flows.terminal import talk
    from flows.users_server import require_users_server

    opened, run_id = run_at_desk(run_id)
    require_users_server()
    run = queue_retry(opened, run_id)
    refuse_held(opened, run.run_id)
    talk(f"assay: run {run.run_id} goes on from {run_id}")
    execute_run(opened, run.run_id, Manner(quiet, json, log_json))


def cancel(
    run_id: RunId,
    *,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why, for the record.")] = "",
    json: Json = False,
) -> None:
    """End RUN for good.

    A process that executes it ends within seconds what is in flight, a model's answer say.

    Example: assay cancel 20260102-101500-a1b2 --reason "wrong question"
    """
    from flows.runs import await_end
    from flows.runs import cancel as cancel_run
    from flows.serving_record import knock
    from flows.terminal import out, out_json

    opened, run_id = run_at_desk(run_id)
    run = cancel_run(opened, run_id, reason)
    if not run.is_terminal:
        run = await_end(opened, run_id, within_s=CANCEL_WAIT_S)
    knock(opened.settings.home)
    if opened.settings.notify and run.is_terminal:
        from flows.notifying import notify_due

        notify_due(opened, [run_id])
    if json:
        out_json({"run_id": run_id, "status": run.status, "reason": run.cancel_reason or ""})
    elif run.is_terminal:
        out(f"run {run_id} is {run.status}")
    else:
        out(f"run {run_id} was asked to end, and does so as soon as its process hears of it")


def _research(request: "ResearchRequest", manner: Manner) -> None:
    import anyio

    from flows.engine_session import engine_for
    from flows.preparation import Indexing, require_documents
    from flows.recovery import mark_interrupted
    from flows.runs import execute, submit
    from flows.users_server import require_users_server
    from flows.wiring import make_desk

    found = settings()
    if not found.home.is_dir():
        require_users_server()
        if request.sources:
            anyio.run(require_documents, found, request.sources)
    opened = make_desk(found)
    if opened.ledger.exists(request.id):
        mark_interrupted(opened, request.id)
        if submit(opened, request).status == "completed":
            show_result(opened, execute(opened, request.id), json=manner.json)
        refuse_held(opened, request.id)
    elif request.model and not (manner.quiet or manner.log_json):
        _tell_estimate(found, request)
    with manner.shown(opened) as progress, engine_for(found) as engine:
        try:
            if request.sources:
                progress.note("indexing the sources")
                indexing = Indexing(found, request.sources, _counting(progress))
                load_engine(engine)
                indexing.wait()
        except KeyboardInterrupt as stopped:
            left = "is as it was" if opened.ledger.exists(request.id) else "was not begun"
            message = f"interrupted; run {request.id} {left}"
            raise Stopped(signal_of(stopped), message) from None
        submit(opened, request)
        ended = carry_run(opened, request.id, engine, progress)
    end_command(opened, request.id, ended, manner)


def _tell_estimate(found: "Settings", request: "ResearchRequest") -> None:
    """Say before the first call how much of its model the run may take."""
    import anyio

    from flows.models import estimate_run
    from flows.terminal import talk

    if told := anyio.run(estimate_run, found, request):
        talk(f"assay: {request.model} may be asked for {told}")


def _counting(progress: "Progress") -> "Callable[[int, int], None]":
    def note(done: int, of: int) -> None:
        if done == of or done % 50 == 0:
            progress.note(f"indexing the sources: {done} of {of}")

    return note
