"""Rows of text made glyph by glyph, from where PDFium sees each: exact, and slower."""

import ctypes
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Any

from pypdfium2 import raw

from adapters.documents.pdf.characters import sound
from adapters.documents.pdf.lines import PLAIN, Run, Style, angle_of, style_of
from adapters.documents.pdf.scan import address

MAX_GLYPHS = 100_000
_HYPHEN = 0xFFFE
_WORD_GAP = 0.18
_ROW = 0.4
_FIXED_PITCH = 1


@dataclass(frozen=True, slots=True)
class Look:
    """How the glyphs of one drawn object look; `address` tells the object."""

    address: int = 0
    size: float = 1.0
    angle: int = 0
    style: Style = PLAIN


@dataclass(frozen=True, slots=True)
class Glyph:
    """One character (or none, or a line end), where it begins, and its right edge."""

    char: str
    x: float
    y: float
    right: float
    look: Look


def glyphs(text: Any) -> Iterator[Glyph]:
    """Yield the glyphs of a page in PDFium's order, the spaces and line ends it adds among them."""
    x, y = ctypes.c_double(), ctypes.c_double()
    box = raw.FS_RECTF()
    look = Look()
    for index in range(min(raw.FPDFText_CountChars(text), MAX_GLYPHS)):
        code = raw.FPDFText_GetUnicode(text, index)
        char = "-\n" if code == _HYPHEN else chr(code) if 0 < code < 0x110000 else ""
        drawn = raw.FPDFText_GetTextObject(text, index)
        where = address(drawn) if drawn else look.address
        if where != look.address:
            look = _look(text, index, where)
        raw.FPDFText_GetCharOrigin(text, index, x, y)
        raw.FPDFText_GetLooseCharBox(text, index, box)
        yield Glyph(char, x.value, y.value, box.right, look)


def _look(text: Any, index: int, where: int) -> Look:
    matrix = raw.FS_MATRIX()
    raw.FPDFText_GetMatrix(text, index, matrix)
    size = abs(raw.FPDFText_GetFontSize(text, index)) * math.hypot(matrix.c, matrix.d)
    name, flags = ctypes.create_string_buffer(128), ctypes.c_int()
    raw.FPDFText_GetFontInfo(text, index, name, len(name), flags)
    style = _style(name.value, flags.value)
    return Look(where, size or 1.0, angle_of(matrix.a, matrix.b), style)


@lru_cache(maxsize=256)
def _style(name: bytes, flags: int) -> Style:
    return style_of(name.decode("utf-8", "replace"), fixed_pitch=bool(flags & _FIXED_PITCH))


def rows_as_read(found: Iterable[Glyph]) -> list[list[Run]]:
    """Return rows of runs in the order of the glyphs, which hold their own line ends."""
    rows: list[list[Run]] = [[]]
    for look, same in groupby(found, key=lambda glyph: glyph.look):
        row: list[Glyph] = []
        for glyph in same:
            if "\n" not in glyph.char and "\r" not in glyph.char:
                row.append(glyph)
                continue
            row.append(glyph)
            rows[-1] += _runs(row, look)
            rows.append([])
            row = []
        rows[-1] += _runs(row, look)
    return rows


def rows_by_column(found: Iterable[Glyph], gutters: Sequence[float]) -> list[list[Run]]:
    """Return rows of runs, column by column between `gutters` (of x).

    A row that runs across a gutter ends the columns above it.
    """
    drawn = [glyph for glyph in found if glyph.char.strip()]
    rows: list[list[Run]] = []
    for crosses, band in groupby(_by_base_line(drawn), key=lambda row: _crosses(row, gutters)):
        if crosses:
            rows += [_spaced(row) for row in band]
            continue
        held = list(band)
        edges = [-math.inf, *gutters, math.inf]
        for left, right in pairwise(edges):
            for row in held:
                part = [glyph for glyph in row if left <= (glyph.x + glyph.right) / 2 < right]
                if part:
                    rows.append(_spaced(part))
    return rows


def _by_base_line(drawn: Sequence[Glyph]) -> Iterator[list[Glyph]]:
    row: list[Glyph] = []
    for glyph in sorted(drawn, key=lambda glyph: -glyph.y):
        if row and row[0].y - glyph.y > _ROW * max(row[0].look.size, glyph.look.size):
            yield sorted(row, key=lambda glyph: glyph.x)
            row = []
        row.append(glyph)
    if row:
        yield sorted(row, key=lambda glyph: glyph.x)


def _crosses(row: Sequence[Glyph], gutters: Sequence[float]) -> bool:
    for gutter in gutters:
        before = max((g.right for g in row if g.x < gutter), default=-math.inf)
        after = min((g.x for g in row if g.x >= gutter), default=math.inf)
        if after - before < 0.6 * row[0].look.size:
            return True
    return False


def _spaced(row: Sequence[Glyph]) -> list[Run]:
    """Return a row's runs with the spaces that its gaps show."""
    runs: list[Run] = []
    for look, same in groupby(_with_spaces(row), key=lambda glyph: glyph.look):
        runs += _runs(list(same), look)
    return runs


def _with_spaces(row: Sequence[Glyph]) -> Iterator[Glyph]:
    previous: Glyph | None = None
    for glyph in row:
        if previous is not None and glyph.x - previous.right > _WORD_GAP * glyph.look.size:
            yield Glyph(" ", previous.right, previous.y, glyph.x, previous.look)
        yield Glyph(glyph.char.strip("\n"), glyph.x, glyph.y, glyph.right, glyph.look)
        previous = glyph


def _runs(row: Sequence[Glyph], look: Look) -> list[Run]:
    text = sound("".join(glyph.char for glyph in row)).replace("\n", "")
    if not text:
        return []
    return [Run(text, row[0].x, row[0].y, look.size, look.style, look.angle)]
