"""Endless repetition: a text whose end is one piece said again and again.

Small models fall into it and go on until their limit. A table or a list of records repeats its
frame, never its content, so what counts is only exact repetition, and much of it.
"""

import re
from dataclasses import dataclass

_BLANKS = 400


@dataclass(frozen=True, slots=True)
class _Sign:
    """The last `tail` characters are a piece of at most `piece` characters, repeated."""

    tail: int
    piece: int


# Eight times 250 characters, or four times a whole paragraph.
_SIGNS = (_Sign(2000, 250), _Sign(6000, 1500))
# With all numbers taken for one: 'Step 9: … Step 10: …'. A table looks the same, hence the length,
# and that there have to be words.
_COUNTING = _Sign(10_000, 400)
_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]{4}")


def is_looping(text: str) -> bool:
    """Tell whether `text` ends in a repetition that no useful answer has."""
    if len(text) >= _BLANKS and not text[-_BLANKS:].strip():
        return True
    if any(_shows(text, sign) for sign in _SIGNS):
        return True
    if len(text) < _COUNTING.tail or _WORD.search(text[-_COUNTING.piece :]) is None:
        return False
    return _shows(_NUMBER.sub("0", text[-2 * _COUNTING.tail :]), _COUNTING)


def _shows(text: str, sign: _Sign) -> bool:
    if len(text) < sign.tail:
        return False
    tail = text[-sign.tail :]
    # A piece that repeats has its end some whole pieces earlier too; most texts stop here.
    end = tail[-32:]
    at = tail.rfind(end, 0, -1)
    while at >= 0 and (period := sign.tail - len(end) - at) <= sign.piece:
        if tail[period:] == tail[:-period]:
            return True
        at = tail.rfind(end, 0, at + len(end) - 1)
    return False
