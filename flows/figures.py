"""How figures are spelled and laid out for people: with units, and no more digits than help."""

import math
from collections.abc import Collection, Sequence
from datetime import date, datetime
from typing import Any

RIGHT = frozenset({"n", "ratio", "s", "ms", "usd", "share"})
_SUFFIXES = {"s": "_s", "ms": "_ms", "usd": "_usd", "share": "_share", "date": "_on", "time": "_at"}
_LONGER = ((120.0, 1.0, "s"), (7200.0, 60.0, "min"), (172_800.0, 3600.0, "h"))
_GAP = "  "


def label(name: str, unit: str) -> str:
    """Return the heading of a column: its name in words; its unit stands beside each figure."""
    words = name.removesuffix(_SUFFIXES.get(unit, "")).replace("_", " ")
    return f"{words} %" if unit == "share" and name.endswith("_share") else words


def figure(value: Any, unit: str) -> str:
    """Return `value` with its unit: n, ratio, s, ms, usd, share, date, time, or '' for text.

    None, and what is not a finite number, are '-': there is none.
    """
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "-"
    match unit:
        case "n":
            return f"{value:,}"
        case "ratio":
            return f"{value:,.2f}"
        case "s":
            return duration(value)
        case "ms":
            return f"{value:,.0f} ms" if value < 1000 else duration(value / 1000)
        case "usd":
            return f"${value:,.2f}" if abs(value) >= 1 or value == 0 else f"${value:.4f}"
        case "share":
            return f"{value:.1%}"
        case "date" if isinstance(value, date):
            return value.isoformat()
        case "time" if isinstance(value, datetime):
            return f"{value:%Y-%m-%d %H:%M}"
        case _:
            return str(value)


def duration(seconds: float) -> str:
    """Return a length of time in the unit that reads best."""
    if 0 < seconds < 1:
        return f"{seconds:.2f} s"
    for below, size, name in _LONGER:
        if seconds < below:
            return f"{seconds / size:.1f} {name}"
    return f"{seconds / 86_400:,.1f} d"


def spent(worked_s: float, waited_s: float) -> str:
    """Return how long a run was worked on, and apart from it how long it waited for a person."""
    waited = f", waited {duration(waited_s)} for a person" if waited_s else ""
    return duration(worked_s) + waited


def shortened(text: str, longest: int, *, is_path: bool = False) -> str:
    """Return `text` cut to `longest` characters; of a path the end is kept."""
    if len(text) <= longest:
        return text
    if not is_path:
        return text[: longest - 1] + "…"
    return "…" + text[len(text) - longest + 1 :]


def fitted(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    texts: Collection[int] = (),
    paths: Collection[int] = (),
    width: int,
    least: int = 12,
) -> list[list[str]]:
    """Return `rows` with what stands in the columns `texts` and `paths` cut to fit `width`.

    None is cut to fewer than `least` characters; the widest are cut first.
    """
    widths = _widths(headings, rows)
    room = width - len(_GAP) * (len(widths) - 1)
    cut = [*texts, *paths]
    while cut and sum(widths) > room:
        widest = max(cut, key=lambda at: widths[at])
        if widths[widest] <= least:
            break
        widths[widest] -= 1
    return [
        [
            shortened(cell, widths[at], is_path=at in paths) if at in cut else cell
            for at, cell in enumerate(row)
        ]
        for row in rows
    ]


def drawn(
    headings: Sequence[str], rows: Sequence[Sequence[str]], *, right: Collection[int] = ()
) -> str:
    """Return a table of single lines, its headings broken between words where cells are narrow."""
    widths = _widths(headings, rows)
    stacked = [_stacked(heading, width) for heading, width in zip(headings, widths, strict=True)]
    height = max(map(len, stacked))
    head = [[""] * (height - len(lines)) + lines for lines in stacked]
    lines = [[column[at] for column in head] for at in range(height)]
    rule = ["─" * width for width in widths]

    def line(cells: Sequence[str]) -> str:
        return _GAP.join(
            cell.rjust(widths[at]) if at in right else cell.ljust(widths[at])
            for at, cell in enumerate(cells)
        ).rstrip()

    return "\n".join(line(cells) for cells in [*lines, rule, *rows])


def _widths(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    words = [max(map(len, heading.split()), default=0) for heading in headings]
    return [max([least, *(len(row[at]) for row in rows)]) for at, least in enumerate(words)]


def _stacked(heading: str, width: int) -> list[str]:
    lines = [""]
    for word in heading.split():
        joined = f"{lines[-1]} {word}".strip()
        if len(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(word)
    return lines
