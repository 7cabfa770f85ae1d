"""Commands about the ledger as a whole: sql, and ledger verify, rebuild, export."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.boundary import FAILED
from flows.commands.shared import Json, desk_if_any, no_runs_yet, settings
from state.values.wording import counted

if TYPE_CHECKING:
    from flows.wiring import Desk
    from state.ledger import LedgerReport, Table

_MAX_SQL = 1_000_000


def sql(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="One SELECT; - reads stdin.")],
    *,
    json: Json = False,
    csv: Annotated[bool, typer.Option("--csv", help="Write CSV to stdout.")] = False,
) -> None:
    """Answer one SELECT over all that was recorded.

    Secrets are redacted. There are views of runs, steps, sources, claims and so on: SHOW TABLES.
    The SQL is DuckDB's; a ledger on PostgreSQL is asked by way of a copy that is brought up to
    date first (its own views of the same names take PostgreSQL's SQL, from psql say).

    Example: assay sql "SELECT run_id, status FROM runs" --csv
    """
    from flows.terminal import out_json, out_rows, talk
    from state.values.errors import InvalidRequest

    if json and csv:
        raise InvalidRequest("choose --json or --csv, not both")
    table = needed_desk().ledger.analyse(_given() if query == "-" else query)
    if json:
        out_json([dict(zip(table.columns, row, strict=True)) for row in table.rows])
    elif csv:
        _write_csv(table)
    else:
        out_rows(table.columns, table.rows)
    if table.truncated:
        talk(f"assay: only the first {len(table.rows):,} rows are shown; narrow it with LIMIT")
    for run_id, why in table.quarantined.items():
        talk(f"assay: run {run_id} is left out, it is damaged: {why}")


def _given() -> str:
    """Return the query on stdin."""
    from state.values.errors import InvalidRequest

    if sys.stdin is None:
        raise InvalidRequest("stdin is closed; give the query as an argument")
    text = sys.stdin.read(_MAX_SQL + 1)
    if len(text) > _MAX_SQL:
        raise InvalidRequest(f"the query is too long; at most {_MAX_SQL:,} characters are read")
    return text


def _write_csv(table: "Table") -> None:
    import csv
    import io

    from flows.terminal import out

    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    out(buffer.getvalue().rstrip("\n"))


def needed_desk() -> "Desk":
    """Return a desk; raises `NotFound` when nothing was ever recorded."""
    opened = desk_if_any()
    if opened is None:
        raise no_runs_yet(settings())
    return opened


def _unopened_desk() -> "Desk":
    """Return a desk without a look at the database, which may be what is damaged."""
    from flows.memory import is_begun
    from flows.wiring import make_desk

    found = settings()
    if not is_begun(found):
        raise no_runs_yet(found)
    return make_desk(found)


def verify(*, json: Json = False) -> None:
    """Recompute every chain, and compare the copies.

    The lines that were recorded are the truth: the journals, or their table in PostgreSQL. What
    is queried is made from them.

    Example: assay ledger verify
    """
    from dataclasses import asdict

    from flows.keeping import manifests
    from flows.schedule_keeping import verify_schedules
    from flows.terminal import out_json

    opened = _unopened_desk()
    report = opened.ledger.verify(manifests(opened.reports))
    schedules = verify_schedules(opened)
    is_sound = report.is_sound and schedules.is_sound
    if json:
        out_json({**asdict(report), "schedules": asdict(schedules), "ok": is_sound})
    else:
        _tell_verified(report, "run")
        if schedules.runs:
            _tell_verified(schedules, "schedule")
    if not is_sound:
        raise typer.Exit(FAILED)


def _tell_verified(report: "LedgerReport", noun: str) -> None:
    from flows.terminal import out

    for finding in report.findings:
        out(f"{finding.run_id or 'ledger'}: {finding.place}: {finding.what}; {finding.advice}")
    outcome = "sound" if report.is_sound else counted(len(report.findings), "finding")
    out(f"{counted(report.runs, noun)}, {counted(report.events, 'event')}: {outcome}")


def rebuild(*, json: Json = False) -> None:
    """Make what is queried again from the lines that were recorded.

    Example: assay ledger rebuild
    """
    from flows.terminal import out, out_json

    report = _unopened_desk().ledger.rebuild()
    if json:
        out_json({"events": report.events, "quarantined": dict(report.quarantined)})
        return
    out(counted(report.events, "event"))
    for run_id, why in report.quarantined.items():
        out(f"run {run_id} is left out, it is damaged: {why}")


def export(
    *,
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="Where the files go.")],
    json: Json = False,
) -> None:
    """Write the ledger as Parquet files.

    Example: assay ledger export --to parquet/
    """
    from flows.terminal import out, out_json

    files = needed_desk().ledger.export(to.expanduser().absolute())
    if json:
        out_json([str(file) for file in files])
    else:
        for file in files:
            out(str(file))
