"""Endless repetition: a text whose end is one piece said again and again.

Small models fall into it and go on until their limit. A table or a list of records repeats its
frame, never its content, so what counts is only exact repetition, and much of it.
"""

from dataclasses import dataclass

_BLANKS = 400


@dataclass(frozen=True, slots=True)
class _Sign:
    """The last `tail` characters are a piece of at most `piece` characters, repeated."""

    tail: int
    piece: int


# Eight times 250 characters, or four times a whole paragraph.
_SIGNS = (_Sign(2000, 250), _Sign(6000, 1500))
# With all digits taken for one: 'Step 41: … Step 42: …'. A table of numbers looks the same, hence
# the length.
_COUNTING = _Sign(12_000, 400)
_DIGITS = str.maketrans("123456789", "000000000")


def is_looping(text: str) -> bool:
    """Tell whether `text` ends in a repetition that no useful answer has."""
    if len(text) >= _BLANKS and not text[-_BLANKS:].strip():
        return True
    if any(_shows(text, sign) for sign in _SIGNS):
        return True
    return len(text) >= _COUNTING.tail and _shows(
        text[-_COUNTING.tail :].translate(_DIGITS), _COUNTING
    )


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
