"""Takes text that nobody sees out of the lines that show it among the others."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from adapters.documents.pdf.characters import sound
from adapters.documents.pdf.lines import Line
from adapters.documents.pdf.scan import Hidden

MAX_SHOWN = 20
MAX_BEGINNING = 200
_MAX_SEARCHED = 400


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
        self._at = [
            (number, position)
            for number, line in enumerate(lines)
            for position, char in enumerate(line.text)
            if not char.isspace()
        ]
        self._text = "".join(lines[number].text[position] for number, position in self._at)
        self._why: dict[int, dict[int, str]] = {}

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
        for number, position in self._at[places[0] : places[0] + len(wanted)]:
            self._why.setdefault(number, {})[position] = item.why
        return True

    def _is_free(self, at: int, size: int) -> bool:
        return not any(
            position in self._why.get(number, ()) for number, position in self._at[at : at + size]
        )

    def _is_level(self, at: int, item: Hidden) -> bool:
        return item.bottom - 3 <= self._lines[self._at[at][0]].y <= item.top + 3

    def lines(self) -> list[Line]:
        seen: list[Line] = []
        unseen: list[Line] = []
        for number, line in enumerate(self._lines):
            why = self._why.get(number)
            if why is None:
                seen.append(line)
                continue
            left = "".join(" " if at in why else char for at, char in enumerate(line.text))
            taken = "".join(
                char if at in why or char.isspace() else " " for at, char in enumerate(line.text)
            )
            if left.strip():
                seen.append(replace(line, text=left.strip()))
            unseen.append(
                replace(line, text=" ".join(taken.split()), hidden=next(iter(why.values())))
            )
        return seen + unseen


def _all(text: str, wanted: str) -> list[int]:
    places: list[int] = []
    at = text.find(wanted)
    while at >= 0 and len(places) < 50:
        places.append(at)
        at = text.find(wanted, at + 1)
    return places
