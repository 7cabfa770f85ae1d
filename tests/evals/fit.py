"""Fits the formula of `support` on labelled claims: `python -m tests.evals.fit [--data DIR]`.

Logistic regression with an L2 penalty on standardised features, by Newton's method; the
coefficients are printed for the features as they are. How well it does is told by five folds,
with all claims on one question in the same fold.
"""

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any
from zlib import crc32

from adapters.models.extractive.support import wording
from tests.evals.data import default_folder, records
from tests.evals.scores import macro_f1

LIKELY = 0.5
_FOLDS = 5
_PENALTY = 1.0
_STEPS = 12


@dataclass(frozen=True, slots=True)
class Formula:
    """A fitted logistic formula over features as they are."""

    bias: float
    coefficients: tuple[float, ...]

    def probability(self, features: Sequence[float]) -> float:
        """Return the probability for one case."""
        total = self.bias + sum(c * x for c, x in zip(self.coefficients, features, strict=True))
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def fit(features: Sequence[Sequence[float]], labels: Sequence[bool]) -> Formula:
    """Return the formula that fits `labels` best."""
    means = [fmean(column) for column in zip(*features, strict=True)]
    spreads = [pstdev(column) or 1.0 for column in zip(*features, strict=True)]
    rows = [
        [1.0, *((x - m) / s for x, m, s in zip(row, means, spreads, strict=True))]
        for row in features
    ]
    weights = [0.0] * len(rows[0])
    for _ in range(_STEPS):
        weights = [w + d for w, d in zip(weights, _step(rows, labels, weights), strict=True)]
    scaled = [w / s for w, s in zip(weights[1:], spreads, strict=True)]
    bias = weights[0] - sum(c * m for c, m in zip(scaled, means, strict=True))
    return Formula(bias, tuple(scaled))


def _step(
    rows: Sequence[Sequence[float]], labels: Sequence[bool], weights: Sequence[float]
) -> list[float]:
    size = len(weights)
    gradient = [0.0, *(-_PENALTY * w for w in weights[1:])]
    curvature = [[_PENALTY * (i == j and i > 0) for j in range(size)] for i in range(size)]
    for row, label in zip(rows, labels, strict=True):
        total = sum(w * x for w, x in zip(weights, row, strict=True))
        chance = 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))
        slack, bend = label - chance, chance * (1 - chance)
        for i, x in enumerate(row):
            gradient[i] += slack * x
            for j in range(i + 1):
                curvature[i][j] += bend * x * row[j]
    for i in range(size):
        for j in range(i + 1, size):
            curvature[i][j] = curvature[j][i]
    return _solved(curvature, gradient)


def _solved(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """Return the solution of a system of linear equations, by Gauss with pivoting."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for at in range(len(rows)):
        best = max(range(at, len(rows)), key=lambda place: abs(rows[place][at]))
        rows[at], rows[best] = rows[best], rows[at]
        for below in range(at + 1, len(rows)):
            factor = rows[below][at] / rows[at][at]
            rows[below] = [x - factor * y for x, y in zip(rows[below], rows[at], strict=True)]
    found: list[float] = [0.0] * len(rows)
    for at in reversed(range(len(rows))):
        known = sum(x * y for x, y in zip(rows[at][at + 1 : -1], found[at + 1 :], strict=True))
        found[at] = (rows[at][-1] - known) / rows[at][at]
    return found


def cross_validated(cases: Sequence[dict[str, Any]]) -> list[bool]:
    """Return for each case what a formula says that was fitted on other questions' claims."""
    features = [wording(case["claim"], case["references"]).features for case in cases]
    labels = [case["attribution_label"] == "attributable" for case in cases]
    folds = [crc32(case["question"].encode()) % _FOLDS for case in cases]
    formulas = [
        fit(
            [row for row, fold in zip(features, folds, strict=True) if fold != held],
            [label for label, fold in zip(labels, folds, strict=True) if fold != held],
        )
        for held in range(_FOLDS)
    ]
    return [
        formulas[fold].probability(row) >= LIKELY for row, fold in zip(features, folds, strict=True)
    ]


def main() -> None:
    """Fit on the labelled claims, and print the coefficients and how well they do."""
    parser = argparse.ArgumentParser(prog="python -m tests.evals.fit", description=__doc__)
    parser.add_argument("--data", type=Path, default=default_folder(), metavar="DIR")
    folder = parser.parse_args().data
    fields = {"claim": str, "references": list, "question": str, "attribution_label": str}
    cases = records(folder, "attributionbench/dev.jsonl", fields)
    labels = [case["attribution_label"] == "attributable" for case in cases]
    features = [wording(case["claim"], case["references"]).features for case in cases]
    formula = fit(features, labels)
    said = [formula.probability(row) >= LIKELY for row in features]
    names = [str(label) for label in labels]
    held_out = [str(each) for each in cross_validated(cases)]
    sys.stdout.write(
        f"BIAS = {formula.bias:.3f}\n"
        f"COEFFICIENTS = ({', '.join(f'{each:.3f}' for each in formula.coefficients)})\n"
        f"macro-F1 on the claims it was fitted on: {macro_f1([str(s) for s in said], names):.3f}\n"
        f"macro-F1 on claims held out: {macro_f1(held_out, names):.3f} (n = {len(cases)})\n"
    )


if __name__ == "__main__":
    main()
