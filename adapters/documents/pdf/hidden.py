"""Takes text that nobody sees out of the lines that show it among the others."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate

from adapters.documents.pdf.characters import sound
from adapters.documents.pdf.lines import Line
from adapters.documents.pdf.scan import Hidden

MAX_SHOWN = 20
MAX_BEGINNING = 200
_MAX_SEARCHED = 400
_MAX_PLACES = 50


def separate(lines: Sequence[Line], hidden: Sequence[Hidden]) -> list[Line] | None:
    """Return `lines` with each of `hidden` in a line of its own, after all others.

    None when some of it cannot be told from text that is seen.
    """
    if len(hidden) > _MAX_SEARCHED:
        return None
    page = _Page(lines)
    for item in hidden:
        if not page.take(item):
            return None
    return page.lines()


def beginnings(lines: Iterable[Line]) -> tuple[str, ...]:
    """Return how the first runs of hidden lines begin; lines hidden alike are one run."""
    runs: list[tuple[str, int, list[str]]] = []
    for line in lines:
        if not line.hidden:
            continue
        if runs and runs[-1][:2] == (line.hidden, line.page):
            runs[-1][2].append(line.text)
        else:
            runs.append((line.hidden, line.page, [line.text]))
    shown = dict.fromkeys(" ".join(parts)[:MAX_BEGINNING] for _, _, parts in runs)
    return tuple(list(shown)[:MAX_SHOWN])


class _Page:
    """The characters of a page without its spaces, and where each stands."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines
        self._dense = ["".join(line.text.split()) for line in lines]
        self._starts = list(accumulate(map(len, self._dense), initial=0))
        self._text = "".join(self._dense)
        self._taken: dict[int, str] = {}

    def take(self, item: Hidden) -> bool:
        """Mark where `item` stands; False when that is nowhere or at several places."""
        wanted = "".join(sound(item.text).split())
        if not wanted:
            return True
        places = [at for at in _all(self._text, wanted) if self._is_free(at, len(wanted))]
        if len(places) > 1:
            places = [at for at in places if self._is_level(at, item)]
        if len(places) != 1:
            return False
        self._taken |= dict.fromkeys(range(places[0], places[0] + len(wanted)), item.why)
        return True

    def _is_free(self, at: int, size: int) -> bool:
        return not any(place in self._taken for place in range(at, at + size))

    def _is_level(self, at: int, item: Hidden) -> bool:
        line = self._lines[bisect_right(self._starts, at) - 1]
        return item.bottom - 3 <= line.y <= item.top + 3

    def lines(self) -> list[Line]:
        """Return the lines without what was taken, and then what was."""
        seen: list[Line] = []
        unseen: list[Line] = []
        touched = {bisect_right(self._starts, place) - 1 for place in self._taken}
        for number, line in enumerate(self._lines):
            if number not in touched:
                seen.append(line)
                continue
            left, taken, why = self._split(number)
            if left:
                seen.append(replace(line, text=left))
            unseen.append(replace(line, text=taken, hidden=why))
        return seen + unseen

    def _split(self, number: int) -> tuple[str, str, str]:
        """Return what is left of a line, what is taken from it, and why."""
        at, why = self._starts[number], ""
        left, taken = [], []
        for char in self._lines[number].text:
            if char.isspace():
                left.append(char)
                taken.append(" ")
                continue
            reason = self._taken.get(at)
            why = why or (reason or "")
            (left if reason is None else taken).append(char)
            (taken if reason is None else left).append(" " if reason is None else "")
            at += 1
        return "".join(left).strip(), " ".join("".join(taken).split()), why


def _all(text: str, wanted: str) -> list[int]:
    places: list[int] = []
    at = text.find(wanted)
    while at >= 0 and len(places) < _MAX_PLACES:
        places.append(at)
        at = text.find(wanted, at + 1)
    return places
