"""Chooses for each page between two readings, by measures that leave clean pages alone."""

from dataclasses import dataclass

from adapters.documents.pdf.characters import garbage_share, shape_fault, word_counts

MAX_DISAGREEMENT = 0.15
"""Share of words beyond which a page is in doubt. Clean pages stay below 0.05."""

_MIN_DISAGREEMENT = 0.08
_MIN_GAIN = 0.05


@dataclass(frozen=True, slots=True)
class Comparison:
    """How two readings of a page compare: `disagreement` is a share of words, from 0 to 1."""

    disagreement: float
    second_is_better: bool

    @property
    def is_doubtful(self) -> bool:
        """Tell whether the page is to be marked."""
        return self.disagreement > MAX_DISAGREEMENT


def compare(first: str, second: str) -> Comparison:
    """Compare the first reader's text of a page with the second's."""
    disagreement = _disagreement(first, second)
    if disagreement <= _MIN_DISAGREEMENT or not second.strip():
        return Comparison(disagreement, second_is_better=False)
    if not first.strip():
        return Comparison(disagreement, second_is_better=True)
    gain = _fault(first) - _fault(second)
    return Comparison(disagreement, second_is_better=gain >= _MIN_GAIN)


def _disagreement(first: str, second: str) -> float:
    """Return the share of words that only one reader saw, whatever their order."""
    ours, theirs = word_counts(first), word_counts(second)
    most = max(ours.total(), theirs.total())
    return 1 - (ours & theirs).total() / most if most else 0.0


def _fault(text: str) -> float:
    return garbage_share(text) + shape_fault(text)
