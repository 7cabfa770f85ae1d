"""The command line `assay`: thin over the library, quick to start, never a traceback."""

import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from flows.boundary import boundary, heed_signals, unexpected
from flows.commands import (
    analysing,
    coding,
    comparing,
    keeping,
    ledgering,
    looking,
    reading,
    reviewing,
    running,
    scheduling,
    serving,
    verifying,
)
from flows.terminal import prepare_streams


class Command(TyperCommand):
    """A command whose help calls an argument by its name, without the type Python has for it."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write what there is to say of the arguments and the options."""
        rows: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for param in self.get_params(ctx):
            if (record := param.get_help_record(ctx)) is None:
                continue
            if isinstance(param, TyperArgument):
                # Typer 0.26, which docling asks for, has another word for it.
                name = getattr(param, "display_name_raw", record[0])
                rows["Arguments"].append((name, record[1]))
            else:
                rows["Options"].append(record)
        for title, entries in rows.items():
            if entries:
                with formatter.section(title):
                    formatter.write_dl(entries)


class Commands(TyperGroup):
    """The commands of `assay`, inside the error boundary and in the order of their use."""

    def invoke(self, ctx: Any) -> object:  # Typer keeps its contexts' base class to itself
        """Invoke the command that was given."""
        with boundary(ctx):
            return super().invoke(ctx)


app = typer.Typer(
    name="assay",
    cls=Commands,
    help="Durable research: every claim is tied to an exact quote of an archived source.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
ledger = typer.Typer(
    help="Check, rebuild or export the ledger.\n\nExample: assay ledger verify",
    no_args_is_help=True,
)
policy = typer.Typer(
    help="Say who may research here.\n\nExample: assay policy set --enable --principal ada",
    no_args_is_help=True,
)
schedule = typer.Typer(
    help="Answer a question again and again.\n\n"
    'Example: assay schedule add news --cron "0 6 * * 1" "What is new?" -s notes/',
    no_args_is_help=True,
)

_COMMANDS: tuple[Callable[..., None], ...] = (
    *(
        running.research,
        coding.paper2code,
        looking.runs,
        looking.show,
        looking.watch,
        reviewing.review,
    ),
    *(running.resume, running.retry, running.cancel, serving.serve, verifying.verify),
    *(coding.export, comparing.diff, analysing.stats, ledgering.sql),
    *(reading.read, reading.fetch, reading.search),
    *(keeping.forget, keeping.gc, keeping.backup, verifying.doctor, keeping.down),
)
_OF_THE_LEDGER: tuple[Callable[..., None], ...] = (
    *(ledgering.verify, ledgering.rebuild, ledgering.export),
)
_OF_SCHEDULES: tuple[Callable[..., None], ...] = (
    *(scheduling.add, scheduling.show, scheduling.pause, scheduling.resume, scheduling.remove),
    scheduling.run,
)
for command in _COMMANDS:
    app.command(cls=Command)(command)
for command in _OF_THE_LEDGER:
    ledger.command(cls=Command)(command)
for command in _OF_SCHEDULES:
    schedule.command(cls=Command)(command)
schedule.command("list", cls=Command)(scheduling.list_)
policy.command("show", cls=Command)(keeping.show)
policy.command("set", cls=Command)(keeping.set_)
policy.command("revoke", cls=Command)(keeping.revoke)
app.add_typer(ledger, name="ledger")
app.add_typer(policy, name="policy")
app.add_typer(schedule, name="schedule")


def _version(value: bool) -> None:
    if value:
        from importlib.metadata import PackageNotFoundError, version

        from flows.terminal import out

        try:
            out(f"assay {version('assay-research')}")
        except PackageNotFoundError:
            out("assay, run from its sources")
        raise typer.Exit


@app.callback()
def assay(
    *,
    _: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Answer questions from archived sources, durably."""


def main() -> None:
    """Run the command line; whatever is raised, no traceback reaches the terminal."""
    prepare_streams()
    heed_signals()
    try:
        app()
    except Exception as error:  # noqa: BLE001 - the last boundary
        sys.exit(unexpected(error))
