"""The baseline of retrieval: Okapi BM25 over stemmed words without stop words."""

import math
from collections import Counter
from collections.abc import Sequence

from adapters.search.ranking import tokens


class Bm25:
    """Ranks `texts`; k1 and b as in Lucene."""

    def __init__(self, texts: Sequence[str], *, k1: float = 1.2, b: float = 0.75) -> None:
        bodies = [Counter(tokens(text)) for text in texts]
        mean = sum(body.total() for body in bodies) / max(1, len(bodies)) or 1.0
        having = Counter(term for body in bodies for term in body)
        self._count = len(bodies)
        self._weights: dict[str, list[tuple[int, float]]] = {}
        for place, body in enumerate(bodies):
            norm = k1 * (1 - b + b * body.total() / mean)
            for term, times in body.items():
                rarity = math.log(1 + (len(bodies) - having[term] + 0.5) / (having[term] + 0.5))
                weight = rarity * times * (k1 + 1) / (times + norm)
                self._weights.setdefault(term, []).append((place, weight))

    def rank(self, query: str) -> list[int]:
        """Return the places of the texts that match, best first, ties in order."""
        scores: dict[int, float] = {}
        for term, times in Counter(tokens(query)).items():
            for place, weight in self._weights.get(term, ()):
                scores[place] = scores.get(place, 0.0) + times * weight
        return sorted(scores, key=lambda place: (-scores[place], place))
