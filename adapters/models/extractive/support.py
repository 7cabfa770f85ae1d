"""How likely texts are to bear a claim out, judged by wording alone: a small logistic formula.

The words of the claim are looked for in single sentences, in three in a row and anywhere; so are
its pairs of words and, for what stemming misses, its runs of four letters. The longer the texts
are, the less it says that they have the words. The coefficients were fitted on claims with human
labels by `python -m tests.evals.fit`, which shows how well they do on claims held out.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import lru_cache
from itertools import pairwise

from adapters.models.extractive.terms import Term, content, question_terms

_SENTENCE = re.compile(r"(?<=[.!?])[\"”’)\]]*\s+|(?<=[。！？])|\n+")
_CITED = re.compile(r"\s*\[\d+(?:\s*[,–-]\s*\d+)*\]")
_ADDRESS = re.compile(r"(?m)^\s*(?:\[\d+\]\s*)?https?://\S+")
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_WINDOW = 3


@dataclass(frozen=True, slots=True)
class Wording:
    """How much of a claim's wording texts have; shares from 0 to 1, sizes as logarithms.

    `sentence`, `window` and `whole` are shares of the claim's words, by weight, in the best
    sentence, in the best three in a row, and anywhere; `order` of those that the best sentence has
    in the same order; `pairs` of its neighbouring words; `runs` of its runs of four letters in two
    sentences; `names` of its names that are nowhere; `numbers` is 1 where a number of it is
    nowhere. `size` and `count` are the texts' words and sentences, `length` the claim's words.
    """

    sentence: float
    window: float
    whole: float
    pairs: float
    runs: float
    names: float
    numbers: float
    size: float
    length: float
    order: float
    count: float

    @property
    def features(self) -> tuple[float, ...]:
        """Return what the formula sums: the figures above, and how the sizes bear on each other."""
        joint = (self.count**2, self.length * self.count, self.window * self.size)
        return (*astuple(self), *joint)


BIAS = -1.002
COEFFICIENTS = (
    -0.695, 3.014, 0.504, 0.926, 1.993, -0.397, -1.201, 0.005, -0.818, 1.272, -0.349,
    -0.332, 0.713, -0.710,
)  # fmt: skip


def support(claim: str, texts: Sequence[str]) -> float:
    """Return the probability (0 to 1) that `texts` bear `claim` out, by their wording."""
    return probability(wording(claim, texts))


def probability(found: Wording) -> float:
    """Return the probability (0 to 1) that texts with this wording bear the claim out."""
    total = BIAS + sum(c * x for c, x in zip(COEFFICIENTS, found.features, strict=True))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def wording(claim: str, texts: Sequence[str]) -> Wording:
    """Return how much of the wording of `claim` there is in `texts`; citation marks are no part."""
    claim = _CITED.sub("", claim)
    terms = question_terms(claim)
    weights = {term.stem: _weight(term) for term in terms}
    sentences = [part for text in texts for part in sentences_of(_ADDRESS.sub("", text))]
    bodies = [_stems(part) for part in sentences]
    known = frozenset().union(*bodies)
    windows = [
        frozenset().union(*bodies[at : at + _WINDOW]) for at in range(len(bodies))
    ]  # of the last ones fewer
    said = [token.stem for token in content(claim)]
    stated = frozenset(pair for part in sentences for pair in _pairs(part))
    pairs = [pair in stated for pair in pairwise(said)]
    names = [term for term in terms if term.is_name and not term.surface[0].isdigit()]
    figures = set(_FIGURE.findall(claim))
    shares = [_share(weights, body) for body in bodies]
    best = shares.index(max(shares)) if shares else 0
    return Wording(
        sentence=max(shares, default=0.0),
        window=max((_share(weights, body) for body in windows), default=0.0),
        whole=_share(weights, known),
        pairs=sum(pairs) / max(1, len(pairs)),
        runs=_shared_runs(claim, sentences),
        names=sum(term.stem not in known for term in names) / max(1, len(names)),
        numbers=float(not figures <= set(_FIGURE.findall(" ".join(sentences)))),
        size=math.log1p(len(known)),
        length=math.log1p(len(said)),
        order=_in_order(said, sentences[best]) / max(1, len(said)) if sentences else 0.0,
        count=math.log1p(len(sentences)),
    )


@lru_cache(maxsize=1024)
def sentences_of(text: str) -> tuple[str, ...]:
    """Return the sentences and lines of `text` that have any text."""
    return tuple(part for part in _SENTENCE.split(text) if part.strip())


def _in_order(said: Sequence[str], sentence: str) -> int:
    """Return how many of `said` the sentence has in their order: the longest common subsequence."""
    stated = [token.stem for token in content(sentence)]
    before = [0] * (len(stated) + 1)
    for word in said:
        row = [0]
        for at, other in enumerate(stated):
            row.append(before[at] + 1 if word == other else max(before[at + 1], row[at]))
        before = row
    return before[-1]


def _weight(term: Term) -> float:
    return 0.4 if term.weight < 1 else 1.5 if term.is_name else 1.0


def _share(weights: Mapping[str, float], body: frozenset[str]) -> float:
    total = sum(weights.values())
    return sum(weight for stem, weight in weights.items() if stem in body) / total if total else 0.0


@lru_cache(maxsize=8192)
def _stems(text: str) -> frozenset[str]:
    return frozenset(token.stem for token in content(text))


@lru_cache(maxsize=8192)
def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    return tuple(pairwise(token.stem for token in content(text)))


@lru_cache(maxsize=8192)
def _runs(text: str) -> frozenset[str]:
    plain = " ".join(re.findall(r"\w+", text.lower()))
    return frozenset(plain[at : at + 4] for at in range(len(plain) - 3))


def _shared_runs(claim: str, sentences: Sequence[str]) -> float:
    wanted = _runs(claim)
    found = [_runs(part) & wanted for part in sentences]
    both = [one | other for one, other in pairwise([*found, frozenset[str]()])]
    return max(map(len, both), default=0) / max(1, len(wanted))
