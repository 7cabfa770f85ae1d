"""What an evaluation says: figures with their sample sizes, beside a baseline of the same run."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One figure: what was measured, over `n` cases, and what a simple baseline gets on them.

    `baseline` is None where there is none; `note` names it, and says what else is to be known.
    """

    name: str
    measure: str
    value: float
    n: int
    baseline: float | None = None
    note: str = ""

    def as_json(self) -> dict[str, object]:
        """Return the row as an object for JSON."""
        return asdict(self)


def table(rows: Sequence[Row]) -> str:
    """Return `rows` as a table for people, one line each."""
    head = ("evaluation", "measure", "value", "n", "baseline", "note")
    lines = [
        (
            row.name,
            row.measure,
            _shown(row.value),
            str(row.n),
            "" if row.baseline is None else _shown(row.baseline),
            row.note,
        )
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in (head, *lines)
    )


def _shown(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) > 1 else f"{value:.3f}"
