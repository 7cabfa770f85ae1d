"""The measures: F1 over classes, ranked retrieval, and shares, by their usual definitions."""

import math
from collections.abc import Collection, Mapping, Sequence
from statistics import fmean


def share(found: Sequence[bool]) -> float:
    """Return the share of True; 0 of nothing."""
    return sum(found) / len(found) if found else 0.0


def macro_f1(said: Sequence[str], labels: Sequence[str]) -> float:
    """Return the mean F1 over the classes that occur in `labels`."""
    return fmean(f1(said, labels, each) for each in sorted(set(labels))) if labels else 0.0


def f1(said: Sequence[str], labels: Sequence[str], wanted: str) -> float:
    """Return the F1 of the class `wanted`."""
    precision, recall = precision_recall(
        [one == wanted for one in said], [one == wanted for one in labels]
    )
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def precision_recall(said: Sequence[bool], labels: Sequence[bool]) -> tuple[float, float]:
    """Return precision and recall of True, each 0 where it has nothing to go by."""
    right = sum(one and other for one, other in zip(said, labels, strict=True))
    return right / sum(said) if any(said) else 0.0, right / sum(labels) if any(labels) else 0.0


def best_threshold(values: Sequence[float], labels: Sequence[bool]) -> float:
    """Return the value from which on True is said for the best macro-F1, tried on a grid."""
    tried = sorted(set(values))
    tried = tried[:: max(1, len(tried) // 100)]
    names = [str(label) for label in labels]

    def score(least: float) -> float:
        return macro_f1([str(value >= least) for value in values], names)

    return max(tried, key=score, default=0.0)


def ndcg(ranked: Sequence[str], gains: Mapping[str, float], depth: int = 10) -> float:
    """Return the normalised discounted cumulative gain of the first `depth`."""
    ideal = _discounted(sorted(gains.values(), reverse=True)[:depth])
    return _discounted([gains.get(one, 0.0) for one in ranked[:depth]]) / ideal if ideal else 0.0


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(place + 2) for place, gain in enumerate(gains))


def average_precision(ranked: Sequence[str], relevant: Collection[str]) -> float:
    """Return the average precision of a ranking."""
    found, total = 0, 0.0
    for place, one in enumerate(ranked, 1):
        if one in relevant:
            found += 1
            total += found / place
    return total / len(relevant) if relevant else 0.0


def recall(ranked: Sequence[str], relevant: Collection[str], depth: int = 100) -> float:
    """Return the share of `relevant` among the first `depth`."""
    return len(set(ranked[:depth]) & set(relevant)) / len(relevant) if relevant else 0.0
