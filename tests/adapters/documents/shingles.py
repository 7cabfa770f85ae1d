"""How well a text was taken from its page: precision and recall of runs of four words.

As in the article extraction benchmark of Scrapinghub: shingles are counted, and F1 is that of the
averages over pages.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

_WORD = re.compile(r"\w+")
_LENGTH = 4


@dataclass(frozen=True, slots=True)
class Score:
    """Shares between 0 and 1: of what was taken, and of what was to be taken."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Return the harmonic mean of both, 0 when one is 0."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def score(expected: str, found: str) -> Score:
    """Return how far `found` has the shingles of `expected`, each as often."""
    wanted, taken = _shingles(expected), _shingles(found)
    if wanted == taken:
        return Score(1.0, 1.0)
    shared = (wanted & taken).total()
    return Score(shared / max(1, taken.total()), shared / max(1, wanted.total()))


def mean(scores: Iterable[Score]) -> Score:
    """Return the averages of precision and of recall; at least one score is needed."""
    every = list(scores)
    return Score(fmean(s.precision for s in every), fmean(s.recall for s in every))


def _shingles(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text)
    return Counter(
        tuple(words[at : at + _LENGTH]) for at in range(max(1, len(words) - _LENGTH + 1)) if words
    )
