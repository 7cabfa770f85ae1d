"""Reads tables of data as rows of Markdown, and tells them from those that arrange a page."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from lxml.html import HtmlElement

_LONG_CELL = 1_000
_MAX_COLUMNS = 200
_MAX_CELLS = 100_000
_MAX_HEADER_ROWS = 3
_ARRANGING = frozenset(("h1", "h2", "h3", "h4", "h5", "h6", "form", "pre", "iframe", "article"))
_PARTS = ("thead", "tbody", "tfoot")
_MANY_PARAGRAPHS = 3


@dataclass(slots=True)
class _Row:
    cells: list[str] = field(default_factory=list[str])
    is_header: bool = False


def own_rows(table: HtmlElement) -> list[HtmlElement]:
    """Return the rows of `table` in the order they show, not those of tables inside it."""
    heads: list[HtmlElement] = []
    bodies: list[HtmlElement] = []
    feet: list[HtmlElement] = []
    for child in table:
        if child.tag == "tr":
            bodies.append(child)
        elif child.tag in _PARTS:
            rows = {"thead": heads, "tbody": bodies, "tfoot": feet}[child.tag]
            rows.extend(child.iterchildren("tr"))
    return heads + bodies + feet


def is_data(table: HtmlElement) -> bool:
    """Tell a table of data from one that only arranges the page."""
    if table.get("role") in ("presentation", "none"):
        return False
    rows = own_rows(table)
    widths = [sum(1 for _ in row.iterchildren("td", "th")) for row in rows]
    if max(widths, default=0) < 2:
        return False
    is_marked = (
        any(True for row in rows for _ in row.iterchildren("th"))
        or table.find("caption") is not None
    )
    if len(rows) == 1 and not is_marked:
        return False
    if any(_holds_a_text(cell) for row in rows for cell in row.iterchildren("td")):
        return False
    for element in table.iterdescendants():
        tag = element.tag
        if tag in _ARRANGING:
            return False
        if tag in ("ul", "ol", "table") and not is_marked:
            return False
        if tag == "math" and element.get("display") == "block":
            return False
    return True


def _holds_a_text(cell: HtmlElement) -> bool:
    if sum(1 for _ in cell.iterchildren("p")) > _MANY_PARAGRAPHS:
        return True
    return len(cell.text_content()) > _LONG_CELL


def markdown_rows(table: HtmlElement, read: Callable[[HtmlElement], str]) -> str:
    """Return the rows of `table` as Markdown with a rule under the header; '' when all are empty.

    `read` gives a cell's text on one line. A cell over several rows stands in each of them; one
    over several columns stands in each if it is a header, else in the first. Of several header
    rows, each column's words are put together.
    """
    rows = [row for row in _grid(table, read) if any(row.cells)]
    if not rows:
        return ""
    width = max(len(row.cells) for row in rows)
    for row in rows:
        row.cells += [""] * (width - len(row.cells))
    header, body = _header(rows)
    used = [n for n in range(width) if header[n] or any(row.cells[n] for row in body)]
    lines = [_line(header, used), "| " + " | ".join("---" for _ in used) + " |"]
    lines += [_line(row.cells, used) for row in body]
    return "\n".join(lines)


def _line(cells: list[str], used: list[int]) -> str:
    return "| " + " | ".join(cells[n] for n in used) + " |"


def _header(rows: list[_Row]) -> tuple[list[str], list[_Row]]:
    count = 0
    while count < min(len(rows), _MAX_HEADER_ROWS) and rows[count].is_header:
        count += 1
    if count in (0, len(rows)) or count == 1:
        return rows[0].cells, rows[1:]
    columns = zip(*(row.cells for row in rows[:count]), strict=True)
    return [" ".join(dict.fromkeys(filter(None, words))) for words in columns], rows[count:]


def _grid(table: HtmlElement, read: Callable[[HtmlElement], str]) -> Iterator[_Row]:
    left: dict[int, tuple[int, str]] = {}  # by column: for how many more rows, which words
    written = 0
    for element in own_rows(table):
        row = _Row()
        cells = list(element.iterchildren("td", "th"))
        parent = element.getparent()
        in_head = parent is not None and parent.tag == "thead"
        row.is_header = bool(cells) and (in_head or all(cell.tag == "th" for cell in cells))
        for cell in cells:
            _take_over(row.cells, left)
            words = read(cell)
            spread = row.is_header and len(cells) > 1
            across, down = _span(cell, "colspan"), _span(cell, "rowspan")
            for number in range(across):
                if len(row.cells) >= _MAX_COLUMNS:
                    break
                shown = words if number == 0 or spread else ""
                if down > 1:
                    left[len(row.cells)] = (down - 1, shown)
                row.cells.append(shown)
        _take_over(row.cells, left)
        written += len(row.cells)
        yield row
        if written > _MAX_CELLS:
            left.clear()


def _take_over(cells: list[str], left: dict[int, tuple[int, str]]) -> None:
    """Fill in the cells that reach down from the rows above into the next columns."""
    while (column := len(cells)) in left:
        rows, words = left.pop(column)
        if rows > 1:
            left[column] = (rows - 1, words)
        cells.append(words)


def _span(cell: HtmlElement, name: str) -> int:
    said = (cell.get(name) or "").strip()
    return (
        max(1, min(int(said), 1_000)) if said.isascii() and said.isdigit() and len(said) < 7 else 1
    )
