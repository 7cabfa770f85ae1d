"""Whether a sentence denies what its words say."""

import re
from functools import lru_cache

from adapters.models.extractive.lexicon import NEGATIONS, UNSPACED_NEGATIONS
from adapters.models.extractive.terms import fold, is_unspaced


@lru_cache(maxsize=8192)
def is_negated(text: str) -> bool:
    """Tell whether `text` denies: an odd number of negations."""
    plain = [fold(word).replace("’", "'") for word in re.findall(r"[^\W\d_]+(?:['’]t)?", text)]
    count = sum(word in NEGATIONS for word in plain)
    if is_unspaced(text):
        count += sum(text.count(mark) for mark in UNSPACED_NEGATIONS)
    return count % 2 == 1
