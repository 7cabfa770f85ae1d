"""The order of what was found: by its words, or by words and meaning together."""

from collections.abc import Sequence
from typing import Protocol

from adapters.search import meaning
from adapters.search.meaning import Similarity, open_model
from state.values.errors import InvalidRequest

WORDS = ""
"""The name of the order by words alone, which every installation has."""

LOOKED_AT = 30  # the first hits by words: of those after them, hardly one is among the first ten
_RANK = 60  # the constant of reciprocal rank fusion (Cormack, Clarke, Büttcher 2009)


class Ranking(Protocol):
    """Orders texts that were found by their words."""

    @property
    def name(self) -> str:
        """Return what is recorded of it."""
        ...

    def order(self, query: str, texts: Sequence[str]) -> list[int]:
        """Return the places of `texts`, which come best first by words, best first.

        Each once; the same texts in the same order.
        """
        ...


class ByWords:
    """A `Ranking` that leaves everything where its words put it."""

    @property
    def name(self) -> str:
        """Return the empty name, `WORDS`."""
        return WORDS

    def order(self, query: str, texts: Sequence[str]) -> list[int]:
        """See `Ranking.order`."""
        return list(range(len(texts)))


class Fused:
    """A `Ranking` by reciprocal rank: of the order by words, and that by nearness in meaning."""

    def __init__(self, similarity: Similarity) -> None:
        self._similarity = similarity

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._similarity.name

    def order(self, query: str, texts: Sequence[str]) -> list[int]:
        """See `Ranking.order`. Ties stay as the words have them."""
        places = range(len(texts))
        near = self._similarity.similarities(query, texts)
        by_meaning = sorted(places, key=lambda place: (-near[place], place))
        scores = [1 / (_RANK + rank) for rank in range(1, len(texts) + 1)]
        for rank, place in enumerate(by_meaning, 1):
            scores[place] += 1 / (_RANK + rank)
        return sorted(places, key=lambda place: (-round(scores[place], 12), place))


def best_ranking() -> str:
    """Return the name of the best ranking that is installed; loads nothing."""
    return meaning.MODEL if meaning.is_installed() else WORDS


def open_ranking(name: str) -> Ranking:
    """Return the ranking `name`; raises `InvalidRequest` when it is not to be had here."""
    if name == WORDS:
        return ByWords()
    if name != meaning.MODEL:
        raise InvalidRequest(f"there is no ranking {name!r}; this Assay knows {meaning.MODEL}")
    try:
        return Fused(open_model())
    except InvalidRequest as error:
        raise InvalidRequest(
            f"the run ranks what it finds with {name}, and goes on with nothing else: "
            f"{error.message}"
        ) from error
