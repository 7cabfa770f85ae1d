"""What changed between two runs, as Markdown for people and as plain values for programs."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from adapters.exports.plain_marks import code, escape, within
from state.values.changes import (
    Changes,
    ClaimChange,
    CoverageChange,
    ShownQuote,
    SourceChange,
    Told,
)
from state.values.claims import ClaimStatus, Verdict
from state.values.wording import counted

SCHEMA_VERSION = 1

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """One of the two runs; `completed_at` is UTC, ISO 8601."""

    run_id: str
    question: str
    scope: str
    completed_at: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed from one run to another; `remarks` say what to bear in mind about the two."""

    before: ComparedRun
    after: ComparedRun
    changes: Changes
    remarks: tuple[str, ...] = ()


def changes_content(comparison: Comparison) -> dict[str, Any]:
    """Return the comparison for programs; `changed` is false when nothing at all is different."""
    return {
        "schema_version": SCHEMA_VERSION,
        "changed": not comparison.changes.is_empty,
        "claims_changed": comparison.changes.touches_claims,
        **asdict(comparison),
    }


def changes_markdown(comparison: Comparison) -> str:
    """Return changes.md: what to look at first comes first, each claim with its quotes."""
    changes, before, after = comparison.changes, comparison.before, comparison.after
    parts = [
        f"# What changed: {within(after.question)}",
        f"**{_summary(changes)}.** Run {_named(after)} against run {_named(before)}.",
        *(escape(remark) for remark in comparison.remarks),
        _answer(changes),
        *_claims(changes),
        _listed("Subquestions", _row, _rows(changes)),
        _listed("Sources", _source, _sources(changes)),
        _same(changes),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _summary(changes: Changes) -> str:
    if changes.is_empty:
        return "Nothing changed"
    counts = (
        (len(changes.contradicted), "newly contradicted claim"),
        (len(changes.changed), "changed claim"),
        (len(changes.new), "new claim"),
        (len(changes.withdrawn), "withdrawn claim"),
        (len(changes.resolved), "resolved claim"),
        (len(changes.rejudged), "claim judged otherwise", "claims judged otherwise"),
    )
    said = ", ".join(counted(*each) for each in counts if each[0])
    return said or "No claim changed"


def _named(run: ComparedRun) -> str:
    return f"{code(run.run_id)} (completed {run.completed_at[:19].replace('T', ' ')} UTC)"


def _answer(changes: Changes) -> str:
    if changes.answer_before is changes.answer_after:
        return ""
    was, now = (
        str(status).replace("-", " ") for status in (changes.answer_before, changes.answer_after)
    )
    return (
        f"The answer was *{was}* ({changes.coverage_before:.0%} covered) and is *{now}* "
        f"({changes.coverage_after:.0%} covered)."
    )


def _claims(changes: Changes) -> list[str]:
    return [
        _listed("Newly contradicted claims", _claim, changes.contradicted),
        _listed("Changed claims", _claim, changes.changed),
        _listed("New claims", _claim, changes.new),
        _listed("Withdrawn claims", _claim, changes.withdrawn),
        _listed("Resolved claims", _claim, changes.resolved),
        _listed("Claims judged otherwise", _claim, changes.rejudged),
    ]


def _listed(title: str, show: Callable[[_Item], str], items: Iterable[_Item]) -> str:
    lines = [f"- {show(item)}" for item in items]
    return f"## {title}\n\n" + "\n".join(lines) if lines else ""


def _claim(change: ClaimChange) -> str:
    before, after = change.before, change.after
    told = after or before
    assert told is not None  # a change has a side  # noqa: S101
    lines = [f"{_text(told)}{f' — {within(change.detail)}' if change.detail else ''}"]
    if before and after and before.text != after.text:
        lines.append(f"before: {_text(before, within)}")
    now = [_quote(quote) for quote in after.quotes] if after else []
    then = [_quote(quote) for quote in before.quotes] if before else []
    lines += [f"quoted: {quote}" for quote in now]
    lines += [f"quoted before: {quote}" for quote in then if quote not in now]
    return "\n  - ".join(lines)


def _text(told: Told, shown: Callable[[str], str] = escape) -> str:
    marks = [] if told.verdict is Verdict.SUPPORTED else [str(told.verdict)]
    if told.status is ClaimStatus.DISPUTED:
        marks.append("disputed")
    return shown(told.text) + (f" *({', '.join(marks)})*" if marks else "")


def _quote(quote: ShownQuote) -> str:
    page = f", page {quote.page}" if quote.page else ""
    return f"“{within(quote.quote)}” — {code(quote.display)}{page}"


def _rows(changes: Changes) -> list[CoverageChange]:
    moved = (changes.newly_in_conflict, changes.newly_open, changes.newly_covered)
    return [row for rows in (*moved, changes.no_longer_asked) for row in rows]


def _row(row: CoverageChange) -> str:
    was, now = str(row.before or "not asked"), str(row.after or "not asked any more")
    gap = f" ({within(row.gap)})" if row.gap else ""
    return f"{escape(row.question)} — {was} → {now}{gap}"


def _sources(changes: Changes) -> list[tuple[str, SourceChange]]:
    kinds = (
        ("its bytes changed", changes.changed_sources),
        ("new", changes.new_sources),
        ("gone", changes.gone_sources),
    )
    return [(kind, source) for kind, sources in kinds for source in sources]


def _source(entry: tuple[str, SourceChange]) -> str:
    kind, source = entry
    why = f" ({within(source.detail)})" if source.detail else ""
    return f"{code(source.display)}: {kind}{why}, {'cited' if source.cited else 'not cited'}"


def _same(changes: Changes) -> str:
    reworded = sum(
        bool(each.before and each.after and each.before.text != each.after.text)
        for each in changes.unchanged
    )
    if not changes.unchanged:
        return ""
    as_before = counted(len(changes.unchanged), "claim")
    words = f", {reworded} of them in other words" if reworded else ""
    return f"{as_before} {'stands' if len(changes.unchanged) == 1 else 'stand'} as before{words}."
