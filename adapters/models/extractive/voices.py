"""Which texts speak for themselves: near-copies are one voice, however many there are.

Texts are compared by bottom-k sketches of their shingles, a form of MinHash (Broder, 1997).
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b

from adapters.models.extractive.terms import fold, is_unspaced

COPY = 0.6
"""From this share of shingles on, one text is taken for a copy of the other."""
VERSION = 0.2
"""From this share on, two texts are versions of one text, or excerpts of it that overlap."""

_SHINGLE = 4
_KEPT = 512
_FEWEST = 12
_WORD = re.compile(r"\w+")


@lru_cache(maxsize=2048)
def sketch(text: str) -> tuple[int, ...]:
    """Return the smallest hashes of the shingles of `text`, ascending, at most 512.

    A shingle is four words in a row, or four characters where words are not set apart; a text
    shorter than that is one shingle.
    """
    words = _WORD.findall(fold(text))
    if words and is_unspaced(text):
        words = list("".join(words))
    count = max(1, len(words) - _SHINGLE + 1)
    shingles = {" ".join(words[at : at + _SHINGLE]) for at in range(count)} if words else set()
    hashes = (blake2b(each.encode(), digest_size=8).digest() for each in shingles)
    return tuple(sorted(int.from_bytes(each, "big") for each in hashes)[:_KEPT])


def containment(one: Sequence[int], other: Sequence[int]) -> float:
    """Return what share of the smaller text's shingles the other has, estimated from sketches."""
    if not one or not other:
        return 0.0
    ends = [marks[-1] for marks in (one, other) if len(marks) == _KEPT]
    last = min(ends, default=max(one[-1], other[-1]))
    mine, theirs = ({mark for mark in marks if mark <= last} for marks in (one, other))
    return len(mine & theirs) / max(1, min(len(mine), len(theirs)))


def are_copies(one: str, other: str) -> bool:
    """Tell whether the texts are one text but for small changes."""
    return one == other or containment(sketch(one), sketch(other)) >= COPY


def are_versions(one: str, other: str) -> bool:
    """Tell whether much of one text stands in the other. Short texts may be alike by chance."""
    mine, theirs = sketch(one), sketch(other)
    return min(len(mine), len(theirs)) >= _FEWEST and containment(mine, theirs) >= VERSION


def count_voices(texts: Iterable[str]) -> int:
    """Return how many of `texts` are independent: each that is no copy of one before it."""
    voices: list[str] = []
    for text in texts:
        if not any(are_copies(text, voice) for voice in voices):
            voices.append(text)
    return len(voices)
