"""The dictionary: what every table, view and question means, read from the comment it begins with.

    -- One row a stage of a run, and how long it took.     the title
    -- Waiting counts too.                                 notes, if any
    -- None: no run has begun a stage.                     what no row means, of a question
    --
    --   stage       the stage's name                      one line a column, in order,
    --   duration_s  [s]  how long it took                 with its unit, of a question

Views with the columns of another say `-- Columns as in `NAME`.` instead.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

TABLES = Path(__file__).parent / "tables"
VIEWS = Path(__file__).parent / "views"

_COLUMN = re.compile(r"--   (\w+)\s+(?:\[(\w+)\]\s+)?(\S.*)")
_AS_IN = re.compile(r"-- Columns as in `(\w+)`\.")
_NONE = "-- None: "


@dataclass(frozen=True, slots=True)
class Column:
    """A column and what it holds; `unit` is '' for text and plain numbers."""

    name: str
    text: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A table, view or question: its title, notes on it, its columns in order, and its SQL.

    `none` says what it means that a question has no row.
    """

    name: str
    title: str
    notes: str
    none: str
    columns: tuple[Column, ...]
    sql: str


def dictionary() -> dict[str, Entry]:
    """Return everything that can be queried, by name: tables first, then views."""
    return {**read_folder(TABLES), **read_folder(VIEWS)}


def read_folder(folder: Path) -> dict[str, Entry]:
    """Return the entries of a folder, one `NAME.sql` each, by name."""
    files = sorted(folder.glob("*.sql"))
    texts = {path.stem: path.read_text(encoding="utf-8") for path in files}
    return {name: _with_columns(name, texts) for name in texts}


def comments(entries: Mapping[str, Entry], kind: str) -> Iterator[str]:
    """Yield the statements that put `entries` beside what they describe; `kind` as in SQL."""
    for entry in entries.values():
        text = f"{entry.title} {entry.notes}".strip()
        yield f'COMMENT ON {kind} "{entry.name}" IS {_quoted(text)}'
        for column in entry.columns:
            name = f'"{entry.name}"."{column.name}"'
            yield f"COMMENT ON COLUMN {name} IS {_quoted(column.text)}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _with_columns(name: str, texts: Mapping[str, str]) -> Entry:
    entry = _entry(name, texts[name])
    if (found := _AS_IN.search(texts[name])) is None:
        return entry
    return replace(entry, columns=_entry(found[1], texts[found[1]]).columns)


def _entry(name: str, text: str) -> Entry:
    lines = text.splitlines()
    size = next((at for at, line in enumerate(lines) if not line.startswith("--")), len(lines))
    said, columns, none = list[str](), list[Column](), ""
    for line in lines[:size]:
        if found := _COLUMN.fullmatch(line):
            columns.append(Column(found[1], found[3], found[2] or ""))
        elif line.startswith(_NONE):
            none = line.removeprefix(_NONE)
        elif not _AS_IN.fullmatch(line):
            said.append(line.removeprefix("--").strip())
    title, *notes = said or [""]
    sql = "\n".join(lines[size:]).rstrip().removesuffix(";")
    return Entry(name, title, " ".join(filter(None, notes)), none, tuple(columns), sql)
