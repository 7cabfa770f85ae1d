"""What a measurement is, how it compares with its baseline and its target, and the table of all."""

import math
import os
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: seconds of Assay, beside those of a baseline measured with it.

    The target is a ratio to the baseline, or a number of seconds, or none.
    """

    what: str
    assay_s: float
    baseline_s: float | None = None
    baseline: str = ""
    most_ratio: float | None = None
    most_s: float | None = None

    @property
    def ratio(self) -> float | None:
        """Return how many times the baseline Assay takes."""
        return self.assay_s / self.baseline_s if self.baseline_s else None

    @property
    def is_met(self) -> bool | None:
        """Tell whether the target is met; None without a target."""
        if self.most_s is not None:
            return self.assay_s < self.most_s
        if self.most_ratio is not None and self.ratio is not None:
            return self.ratio <= self.most_ratio
        return None

    def as_json(self) -> dict[str, Any]:
        """Return the row for programs."""
        return {
            "what": self.what,
            "assay_s": round(self.assay_s, 7),
            "baseline": self.baseline,
            "baseline_s": None if self.baseline_s is None else round(self.baseline_s, 7),
            "ratio": None if self.ratio is None else round(self.ratio, 3),
            "target_ratio": self.most_ratio,
            "target_s": self.most_s,
            "met": self.is_met,
        }


@dataclass(slots=True)
class Samples:
    """How long each of many repetitions took, in seconds."""

    seconds: list[float] = field(default_factory=list)

    @contextmanager
    def one(self) -> Iterator[None]:
        """Add how long the block takes."""
        began = time.perf_counter()
        yield
        self.seconds.append(time.perf_counter() - began)

    def at(self, share: float) -> float:
        """Return the smallest sample that at least `share` of all do not exceed (nearest rank)."""
        ordered = sorted(self.seconds)
        return ordered[max(0, math.ceil(share * len(ordered)) - 1)]

    @property
    def median(self) -> float:
        """Return the median."""
        return median(self.seconds)

    @property
    def least(self) -> float:
        """Return the shortest: what the work itself takes, with the least of others' load in it."""
        return min(self.seconds)


def repeat(times: int, *works: Callable[[], object]) -> list[Samples]:
    """Time `works` in turn, `times` times over, so that all of them see the same load."""
    every = [Samples() for _ in works]
    for _ in range(times):
        for samples, work in zip(every, works, strict=True):
            with samples.one():
                work()
    return every


def machine() -> dict[str, Any]:
    """Return where and under which load this was measured."""
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}",
        "cpus": os.cpu_count(),
        "load": [round(load, 2) for load in os.getloadavg()],
    }


def table(rows: Sequence[Row]) -> str:
    """Return the rows as text in columns."""
    head = ("what", "Assay", "baseline", "which is", "ratio", "target", "met")
    cells = [head, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column in (1, 2, 4, 5) else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    )


def _cells(row: Row) -> tuple[str, ...]:
    target = ""
    if row.most_s is not None:
        target = f"< {row.most_s:g} s"
    elif row.most_ratio is not None:
        target = f"≤ {row.most_ratio:g}×"
    return (
        row.what,
        duration(row.assay_s),
        "" if row.baseline_s is None else duration(row.baseline_s),
        row.baseline,
        "" if row.ratio is None else f"{row.ratio:.2f}×",
        target,
        {True: "yes", False: "NO", None: ""}[row.is_met],
    )


def duration(seconds: float) -> str:
    """Return `seconds` with three digits that matter."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 1:
        return f"{seconds * 1e3:.3g} ms"
    return f"{seconds:.2f} s"
