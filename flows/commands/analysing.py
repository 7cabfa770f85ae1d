"""The command `stats`: ready questions about all runs, and what the views and columns mean."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flows.commands.shared import Json, desk_if_any
from state.values.wording import counted

if TYPE_CHECKING:
    from state.dictionary import Entry
    from state.questions import Findings, Period

_WIDEST = 100
_DAYS = 36_500


def stats(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The question; without, they are listed.")
    ] = "",
    *,
    since: Annotated[
        str | None, typer.Option(metavar="DATE", help="Only runs asked for on that day or later.")
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="DATE", help="Only runs asked for by the end of that day.")
    ] = None,
    last: Annotated[
        int | None,
        typer.Option(metavar="DAYS", min=1, max=_DAYS, help="Only runs of the last so many days."),
    ] = None,
    sql: Annotated[bool, typer.Option("--sql", help="Show the question's SQL instead.")] = False,
    columns: Annotated[
        bool, typer.Option("--columns", help="Say what the columns of the view NAME mean.")
    ] = False,
    json: Json = False,
) -> None:
    """Answer a ready question about all runs.

    Without NAME, list the questions. Dates are UTC, as 2026-01-31 or 2026-01-31T18:00.

    What --sql shows can be changed and asked with 'assay sql -'. With --columns, NAME is a view of
    'assay sql', or none for all of them.

    Example: assay stats providers --last 30
    """
    from state.values.errors import InvalidRequest

    if columns:
        if sql or since is not None or until is not None or last is not None:
            raise InvalidRequest("--columns goes with the name of a view, and with --json only")
        _explain(name, json=json)
    elif name:
        _answer(name, (since, until, last), sql=sql, json=json)
    elif sql or since is not None or until is not None or last is not None:
        raise InvalidRequest("name the question; 'assay stats' lists them")
    else:
        _list(json=json)


# ---- what there is


def _list(*, json: bool) -> None:
    from flows.terminal import out_json, out_rows
    from state.questions import questions

    known = questions().values()
    if json:
        out_json({"questions": [{"question": each.name, "title": each.title} for each in known]})
    else:
        out_rows(("question", "what it answers"), [(each.name, each.title) for each in known])


def _explain(name: str, *, json: bool) -> None:
    from flows.terminal import out, out_json, out_rows
    from state.dictionary import dictionary
    from state.questions import described

    entries = [described(name)] if name else list(dictionary().values())
    if json:
        out_json({"views": [_entry_as_json(entry) for entry in entries]})
        return
    for number, entry in enumerate(entries):
        out(("\n" if number else "") + f"{entry.name}: {entry.title}")
        if entry.notes:
            out(entry.notes)
        out("")
        out_rows(("column", "what it holds"), [(each.name, each.text) for each in entry.columns])


def _entry_as_json(entry: "Entry") -> dict[str, Any]:
    columns = [{"name": each.name, "description": each.text} for each in entry.columns]
    return {"name": entry.name, "title": entry.title, "notes": entry.notes, "columns": columns}


# ---- an answer


def _answer(
    name: str, bounds: tuple[str | None, str | None, int | None], *, sql: bool, json: bool
) -> None:
    from datetime import UTC

    from flows.terminal import out, out_json, talk
    from state.questions import Findings, ask, make_period, question_named, spell

    question, now = question_named(name), datetime.now(UTC)
    since, until, days = bounds
    period = make_period(since, until, days=days, now=now)
    if sql:
        text = spell(question, period, now=now)
        if json:
            out_json({"question": name, "sql": text})
        else:
            out(text.rstrip("\n"))
        return
    opened = desk_if_any()
    if opened is None:
        found = Findings(question, period, 0, None, None, ())
    else:
        found = ask(opened.ledger, question, period, now=opened.now())
    if json:
        out_json(_as_json(found))
    else:
        _show(found)
    if found.truncated:
        talk(f"assay: only the first {len(found.rows):,} rows are shown; choose a shorter period")
    for run_id, why in found.left_out.items():
        talk(f"assay: run {run_id} is left out, it is damaged: {why}")


def _as_json(found: "Findings") -> dict[str, Any]:
    columns = found.question.columns
    names = [column.name for column in columns]
    return {
        "question": found.question.name,
        "title": found.question.title,
        "notes": found.question.notes,
        "period": {
            "since": _utc(found.period.since),
            "until": _utc(found.period.until),
            "first_run": _utc(found.first),
            "last_run": _utc(found.last),
        },
        "runs": found.runs,
        "columns": [
            {"name": each.name, "unit": each.unit, "description": each.text} for each in columns
        ],
        "rows": [dict(zip(names, row, strict=True)) for row in found.rows],
        "truncated": found.truncated,
        "left_out": dict(found.left_out),
    }


def _utc(moment: datetime | None) -> str | None:
    return None if moment is None else f"{moment.isoformat(timespec='milliseconds')}Z"


def _show(found: "Findings") -> None:
    import sys

    from flows.figures import RIGHT, drawn, figure, fitted, label
    from flows.terminal import is_terminal, one_line, out, out_rows

    question, columns = found.question, found.question.columns
    width = _width() if is_terminal(sys.stdout) else None
    out(_wrapped(question.title, width))
    out(_wrapped(_about(found), width))
    if not found.rows:
        if found.runs:
            out(f"\n{question.none[:1].upper()}{question.none[1:]}")
        return
    out("")
    headings = [label(column.name, column.unit) for column in columns]
    rows = [
        [one_line(figure(value, column.unit)) for value, column in zip(row, columns, strict=True)]
        for row in found.rows
    ]
    if width is not None:
        texts = [at for at, column in enumerate(columns) if not column.unit]
        paths = [at for at, column in enumerate(columns) if column.unit == "path"]
        right = [at for at, column in enumerate(columns) if column.unit in RIGHT]
        rows = fitted(headings, rows, texts=texts, paths=paths, width=width)
        out(drawn(headings, rows, right=right))
    else:
        out_rows(headings, rows)
    if question.notes:
        out("\n" + _wrapped(question.notes, width))


def _width() -> int:
    import shutil

    return min(shutil.get_terminal_size((_WIDEST, 24)).columns, _WIDEST)


def _wrapped(text: str, width: int | None) -> str:
    import textwrap

    if width is None:
        return text
    return textwrap.fill(text, max(width, 40), break_long_words=False, break_on_hyphens=False)


def _about(found: "Findings") -> str:
    """Return the period and how many runs it has."""
    asked = _spelled(found.period)
    if not found.runs or found.first is None or found.last is None:
        return f"No runs: none was asked for {asked}." if asked else "No runs: there are none yet."
    first, last = f"{found.first:%Y-%m-%d}", f"{found.last:%Y-%m-%d}"
    between = f"on {first}" if first == last else f"{first} to {last}"
    if not asked:
        every = "All " if found.runs > 1 else ""
        return f"{every}{counted(found.runs, 'run')}, asked for {between} (UTC)."
    return f"{counted(found.runs, 'run')} asked for {asked} ({between}; UTC)."


def _spelled(period: "Period") -> str:
    since = f"from {_day_or_time(period.since)}" if period.since is not None else ""
    until = f"before {_day_or_time(period.until)}" if period.until is not None else ""
    return " and ".join(filter(None, [since, until]))


def _day_or_time(moment: datetime) -> str:
    at_midnight = (moment.hour, moment.minute, moment.second) == (0, 0, 0)
    return f"{moment:%Y-%m-%d}" if at_midnight else f"{moment:%Y-%m-%d %H:%M}"
