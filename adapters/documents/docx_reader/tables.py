"""Reads Word's tables: their grid, merged cells, and what becomes of a table inside a cell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lxml import etree

from adapters.documents.docx_reader import looks
from adapters.documents.docx_reader.drawings import chosen
from adapters.documents.docx_reader.looks import UNKNOWN, is_on, value
from adapters.documents.docx_reader.styles import to_int
from adapters.documents.docx_reader.xml import MC_NS, w

if TYPE_CHECKING:
    from adapters.documents.docx_reader.body import Walker

MAX_COLUMNS = 63
"""The most that Word allows; a wider table is not padded to one width."""

_MAX_HEADS = 3
_MAX_REPEATED = 200  # of a cell that reaches down, in each row that it reaches
_FORMULA = re.compile(r"(\$[^$]+\$)")
_ROW = w("tr")
_CELL = w("tc")
_TABLE = w("tbl")
_PARAGRAPH = w("p")
_ROW_PROPERTIES = w("trPr")
_CELL_PROPERTIES = w("tcPr")
_HIDDEN = w("hidden")
_HEAD = w("tblHeader")
_GRID_BEFORE = w("gridBefore")
_GRID_SPAN = w("gridSpan")
_DOWN = w("vMerge")
_ACROSS = w("hMerge")
_DELETION = w("del")
_CELL_DELETION = w("cellDel")
_SHADE = w("shd")
_ALTERNATIVES = f"{{{MC_NS}}}AlternateContent"
_WRAPPERS = frozenset((w("sdt"), w("sdtContent"), w("customXml"), w("ins"), w("moveTo")))


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells, each a line of text; empty rows are left out.

    The first `heads` rows are its head, or the first row when that is 0.
    """

    rows: tuple[tuple[str, ...], ...]
    heads: int = 0

    def as_markdown(self) -> str:
        """Return the table as lines of `| a | b |`; several rows of its head become one."""
        rows = _squared(self.rows)
        if 1 < self.heads < len(rows) and len(rows[0]) <= MAX_COLUMNS:
            columns = zip(*rows[: self.heads], strict=True)
            head = [" ".join(dict.fromkeys(filter(None, words))) for words in columns]
            rows = [head, *rows[self.heads :]]
        lines = [_line(map(_escaped, row)) for row in rows]
        lines.insert(1, _line("---" for _ in rows[0]))
        return "\n".join(lines)

    def as_line(self) -> str:
        """Return the table in one line, as it stands in a cell of another."""
        return f"[{'; '.join(' · '.join(row) for row in _squared(self.rows))}]"


def _squared(rows: tuple[tuple[str, ...], ...]) -> Sequence[Sequence[str]]:
    """Return rows of one width without the columns that are empty in all of them."""
    width = max(map(len, rows))
    if width > MAX_COLUMNS:
        return rows
    used = [n for n in range(width) if any(n < len(row) and row[n] for row in rows)]
    return [[row[n] if n < len(row) else "" for n in used] for row in rows]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(cell: str) -> str:
    """Return the words of a cell so that no bar in them ends it, in formulas by their own name."""
    if "|" not in cell:
        return cell
    parts = _FORMULA.split(cell)
    for number, part in enumerate(parts):
        if number % 2:
            parts[number] = part.replace(r"\|", r"\Vert ").replace("|", r"\vert ")
        else:
            parts[number] = part.replace("|", r"\|")
    return "".join(parts)


def read_table(element: etree._Element, walker: Walker) -> Table | None:
    """Return what `walker` reads in a table, or None when it is empty.

    A table of one column, or of one row of more than lines, only arranges what is in it: that is
    written as blocks, and the answer is None. A cell that reaches over rows is repeated in each;
    one that reaches over columns stands in the first, or in each of them in the head. Rows whose
    deletion was tracked are left out.
    """
    rows = [row for row in _through(element, _ROW) if not _is_gone(row, walker)]
    cells = [list(_through(row, _CELL)) for row in rows]
    background = _background(element, walker)
    if all(len(row) <= 1 for row in cells) or (len(cells) == 1 and _holds_blocks(cells[0])):
        for cell in (cell for row in cells for cell in row):
            walker.blocks(cell, _shade(cell.find(_CELL_PROPERTIES), background))
        return None
    above: dict[int, str] = {}
    read: list[tuple[str, ...]] = []
    heads, in_head = 0, True
    for row, inside in zip(rows, cells, strict=True):
        in_head = in_head and heads < _MAX_HEADS and _says(row.find(_ROW_PROPERTIES), _HEAD)
        texts = tuple(_row(row, inside, walker, above, background))
        if in_head and len(inside) > 1:
            texts = tuple(_spread(inside, texts))
        if any(texts):
            read.append(texts)
            heads += in_head
    return Table(tuple(read), heads) if read else None


def _holds_blocks(cells: list[etree._Element]) -> bool:
    return any(len(cell.findall(_PARAGRAPH)) > 1 or cell.find(_TABLE) is not None for cell in cells)


def _spread(cells: list[etree._Element], texts: tuple[str, ...]) -> Iterator[str]:
    """Yield the texts of a row, with those of wide cells in each of their columns."""
    spans = [_span(cell.find(_CELL_PROPERTIES), _GRID_SPAN, default=1) for cell in cells]
    before = len(texts) - sum(spans)
    yield from texts[:before]
    at = before
    for span in spans:
        yield from [texts[at]] * span
        at += span


def _row(
    row: etree._Element,
    cells: list[etree._Element],
    walker: Walker,
    above: dict[int, str],
    background: str | None,
) -> Iterator[str]:
    """Yield the cells of a row; `above` holds the texts that reach down, by column."""
    properties = row.find(_ROW_PROPERTIES)
    is_hidden = _says(properties, _HIDDEN)
    column = _span(properties, _GRID_BEFORE, default=0)
    yield from [""] * column
    for cell in cells:
        said = cell.find(_CELL_PROPERTIES)
        text = " ".join(walker.text_of(cell, _shade(said, background)).split())
        if is_hidden:
            walker.story.hide(text)
            text = ""
        elif said is not None:
            text = _merged(said, text, walker, above, column)
        yield text
        span = _span(said, _GRID_SPAN, default=1)
        yield from [""] * (span - 1)
        column += span


def _merged(
    said: etree._Element, text: str, walker: Walker, above: dict[int, str], column: int
) -> str:
    if said.find(_CELL_DELETION) is not None:
        walker.story.dropped["deletion"] += bool(text)
        return ""
    down, across = said.find(_DOWN), said.find(_ACROSS)
    continues_down = down is not None and value(down) != "restart"
    continues_across = across is not None and value(across) != "restart"
    if continues_down or continues_across:
        walker.story.hide(text)  # Word does not show what is in a cell that another covers
        return above.get(column, "") if continues_down else ""
    if down is None:
        above.pop(column, None)
    else:
        above[column] = text if len(text) <= _MAX_REPEATED else ""
    return text


def _through(container: etree._Element, wanted: str) -> Iterator[etree._Element]:
    """Yield the rows of a table or the cells of a row, through what may be wrapped around them."""
    for element in container:
        tag = element.tag
        if tag == wanted:
            yield element
        elif tag in _WRAPPERS:
            yield from _through(element, wanted)
        elif tag == _ALTERNATIVES:
            branch = chosen(element)
            if branch is not None:
                yield from _through(branch, wanted)


def _is_gone(row: etree._Element, walker: Walker) -> bool:
    properties = row.find(_ROW_PROPERTIES)
    if properties is None or properties.find(_DELETION) is None:
        return False
    walker.story.dropped["deletion"] += 1
    return True


def _says(properties: etree._Element | None, name: str) -> bool:
    found = None if properties is None else properties.find(name)
    return found is not None and is_on(found)


def _span(properties: etree._Element | None, name: str, *, default: int) -> int:
    said = None if properties is None else to_int(value(properties.find(name)))
    return default if said is None else min(max(said, default), MAX_COLUMNS)


def _background(table: etree._Element, walker: Walker) -> str | None:
    """Return the colour behind a table's cells: `UNKNOWN` where its style chooses it."""
    properties = table.find(w("tblPr"))
    if properties is None:
        return None
    shade = properties.find(w("shd"))
    if shade is not None and (color := looks.shade(shade)):
        return color
    style = value(properties.find(w("tblStyle")))
    return UNKNOWN if style and walker.story.styles.shades_tables(style) else None


def _shade(properties: etree._Element | None, background: str | None) -> str | None:
    shade = None if properties is None else properties.find(_SHADE)
    if shade is None:
        return background
    return looks.shade(shade) or background
