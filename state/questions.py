"""Ready questions about all runs: `questions/NAME.sql` holds one, this asks it of a ledger.

A question is a SELECT over the views that joins `chosen`, the runs of the period; it may also read
`period`, whose `asked_at` is the time of asking. Runs whose journal is damaged are left out.
"""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from state.dictionary import Entry, dictionary, read_folder
from state.ledger import Ledger
from state.values.errors import InvalidRequest

QUESTIONS = Path(__file__).parent / "questions"
_CHOSEN = """WITH period AS (
    SELECT
        {since} AS since,
        {until} AS until,
        {asked_at} AS asked_at
), queued AS (
    SELECT run_id, time AS queued_at
    FROM events
    CROSS JOIN period
    WHERE type = 'run_queued'
        AND (since IS NULL OR time >= since) AND (until IS NULL OR time < until)
        AND run_id NOT IN (SELECT run_id FROM journals WHERE quarantined IS NOT NULL)
), chosen AS (
    SELECT run_id FROM queued
)"""
_ABOUT = "SELECT count(*), min(queued_at), max(queued_at) FROM queued"
_BOUND = _CHOSEN.format(since="$1::TIMESTAMP", until="$2::TIMESTAMP", asked_at="$3::TIMESTAMP")


@dataclass(frozen=True, slots=True)
class Period:
    """The runs that were queued from `since` on and before `until`, in UTC; None is no bound."""

    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Findings:
    """The answer to a question: `rows` in the order of its columns, over so many `runs`.

    The first and the last of them were queued at `first` and `last`. `left_out` names the runs
    that are damaged, and says why; `truncated` tells that there were more rows.
    """

    question: Entry
    period: Period
    runs: int
    first: datetime | None
    last: datetime | None
    rows: tuple[tuple[Any, ...], ...]
    truncated: bool = False
    left_out: Mapping[str, str] = field(default_factory=dict)


def questions() -> dict[str, Entry]:
    """Return the questions there are, by name."""
    return read_folder(QUESTIONS)


def question_named(name: str) -> Entry:
    """Return a question; raises `InvalidRequest` with the nearest names for one there is not."""
    known = questions()
    if name not in known:
        raise _no_such("question", name, known, "assay stats")
    return known[name]


def described(name: str) -> Entry:
    """Return a table or view; raises `InvalidRequest` with the nearest names for another."""
    known = dictionary()
    if name not in known:
        raise _no_such("view", name, known, "assay stats --columns")
    return known[name]


def _no_such(what: str, name: str, known: Iterable[str], listing: str) -> InvalidRequest:
    names = sorted(known)
    wanted = name.lower()
    near = [each for each in names if wanted and (wanted in each or each in wanted)]
    near += difflib.get_close_matches(wanted, names, n=3, cutoff=0.5)
    nearest = f"the nearest: {', '.join(dict.fromkeys(near))}; " if near else ""
    return InvalidRequest(f"there is no {what} {name[:80]!r}; {nearest}'{listing}' lists them all")


def make_period(
    since: str | None = None, until: str | None = None, *, days: int | None = None, now: datetime
) -> Period:
    """Return the period between two dates or times (ISO 8601, UTC unless they say otherwise).

    A date as `until` is its whole day; a time is exclusive. `days` counts back from `now` instead
    of `since`. Raises `InvalidRequest`.
    """
    if since is not None and days is not None:
        raise InvalidRequest("give --since or --last, not both")
    try:
        first = _moment(since, "--since") if since is not None else None
        if days is not None:
            first = now.astimezone(UTC).replace(tzinfo=None) - timedelta(days=days)
        last = _moment(until, "--until", ends=True) if until is not None else None
    except OverflowError as error:
        raise InvalidRequest("that is outside of the calendar") from error
    if first is not None and last is not None and first >= last:
        raise InvalidRequest(f"the period ends ({until}) before it begins ({since or first})")
    return Period(first, last)


def _moment(text: str, option: str, *, ends: bool = False) -> datetime:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        pass
    else:
        return datetime(day.year, day.month, day.day) + timedelta(days=ends)  # noqa: DTZ001 - UTC
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidRequest(
            f"{option} {text[:40]!r} is no date; write 2026-01-31 or 2026-01-31T18:00"
        ) from error
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment


def ask(ledger: Ledger[Any], question: Entry, period: Period, *, now: datetime) -> Findings:
    """Return the answer to `question` over the runs of `period`, current as of this call."""
    bounds = [period.since, period.until, now.astimezone(UTC).replace(tzinfo=None)]
    about = "about AS (SELECT count(*) AS n, min(queued_at) AS a, max(queued_at) AS z FROM queued)"
    table = ledger.analyse(
        f"{_BOUND}, {about}\nSELECT n, a, z, answer.* FROM (\n{question.sql}\n) AS answer, about",
        bounds,
    )
    if table.rows:
        runs, first, last = table.rows[0][:3]
    else:  # then the answer could not say of how many runs it is
        runs, first, last = ledger.analyse(f"{_BOUND}\n{_ABOUT}", bounds).rows[0]
    return Findings(
        question=question,
        period=period,
        runs=runs,
        first=first,
        last=last,
        rows=tuple(row[3:] for row in table.rows),
        truncated=table.truncated,
        left_out=table.quarantined,
    )


def spell(question: Entry, period: Period, *, now: datetime) -> str:
    """Return SQL that asks `question` and needs nothing else, to be changed and asked again."""
    asked_at = now.astimezone(UTC).replace(tzinfo=None, microsecond=0)
    chosen = _CHOSEN.format(
        since=_literal(period.since), until=_literal(period.until), asked_at=_literal(asked_at)
    )
    sql = question.sql
    rest = f", {sql.removeprefix('WITH ')}" if sql.startswith("WITH ") else f"\n{sql}"
    return f"-- {question.title}\n{chosen}{rest}\n"


def _literal(moment: datetime | None) -> str:
    return "NULL::TIMESTAMP" if moment is None else f"TIMESTAMP '{moment.isoformat(sep=' ')}'"
