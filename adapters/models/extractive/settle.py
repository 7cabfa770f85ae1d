"""Which of the answers that sources give stand, when some sources are altered copies of others.

Different answers need no settling where the texts are independent: the question may fit several
things of one name, and each answer may be right for its own. Where one text is a version of
another but for the answer, they speak of the same thing and one of them was altered.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from adapters.models.extractive.terms import fold
from adapters.models.extractive.voices import are_versions, count_voices

_WORD = re.compile(r"\w+")
_ZEROS = re.compile(r"0+(?=\D*\Z)")
_NEW_YEAR = re.compile(r"\b(?:january 1|1 january|1st january|january 1st)\b")


@dataclass(frozen=True, slots=True)
class Stated:
    """An answer as a source states it, and the source's text; '' where it states none."""

    answer: str
    text: str


def settle(statements: Sequence[Stated], *, by_roundness: bool = True) -> tuple[bool, ...]:
    """Return for each statement whether its answer stands. One without an answer does not.

    Of two versions of a text that differ in their answers, the one falls whose answer has fewer
    independent voices: texts that state or mention it, near-copies counted once. With as many
    voices on both sides the rounder figure falls, as the one more likely put in (unless
    `by_roundness` is False); else both stand.
    """
    plain = [_plain(each.answer) for each in statements]
    voices = {answer: _voices(answer, statements) for answer in set(plain) if answer}
    stands = [bool(answer) for answer in plain]
    for place, answer in enumerate(plain):
        for other, rival in enumerate(plain):
            if not answer or not rival or answer == rival:
                continue
            mine = (voices[answer], -_roundness(answer) if by_roundness else 0)
            theirs = (voices[rival], -_roundness(rival) if by_roundness else 0)
            if mine < theirs and are_versions(statements[place].text, statements[other].text):
                stands[place] = False
    return tuple(stands)


def _voices(answer: str, statements: Sequence[Stated]) -> int:
    return count_voices(
        each.text
        for each in statements
        if _plain(each.answer) == answer or f" {answer} " in f" {_plain(each.text)} "
    )


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(fold(text)))


def _roundness(answer: str) -> int:
    """Return how many zeros the answer's figure ends in; New Year's Day counts as one more."""
    figures = "".join(character for character in answer if character.isdigit())
    zeros = _ZEROS.search(figures)
    return (len(zeros.group()) if zeros else 0) + bool(_NEW_YEAR.search(answer))
