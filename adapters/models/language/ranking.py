"""Which passages are shown first when not all fit: the best for each subquestion take turns."""

from collections.abc import Sequence
from functools import lru_cache

from adapters.search.ranking import rank_passages
from state.values.evidence import Passage
from state.values.plan import Plan

POOL_CHARACTERS = 48_000


@lru_cache(maxsize=8)
def priorities(plan: Plan, queries: tuple[str, ...], passages: tuple[Passage, ...]) -> list[float]:
    """Return how much each passage is worth showing, from 0 to 1, in the order given.

    The best passage for each subquestion, or for one of `queries`, comes before all second best.
    """
    wanted = [f"{sub.question} {sub.query}" for sub in plan.subquestions]
    places = [len(passages)] * len(passages)
    for query in dict.fromkeys([*wanted, *queries]):
        scores = rank_passages(query, passages)
        order = sorted(range(len(passages)), key=lambda i: (-scores[i], i))
        for place, index in enumerate(order):
            if scores[index] > 0:
                places[index] = min(places[index], place)
    return [1 / (1 + place) for place in places]


def pool(passages: Sequence[Passage], worth: Sequence[float], characters: int) -> list[int]:
    """Return the indexes of the passages that are worth most, up to so many `characters`.

    More than a round's pool may hold are never taken.
    """
    left = min(characters, POOL_CHARACTERS)
    taken = []
    for index in sorted(range(len(passages)), key=lambda i: (-worth[i], i)):
        size = len(passages[index].text)
        if size <= left:
            taken.append(index)
            left -= size
    return sorted(taken)
