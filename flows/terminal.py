"""What people and scripts see: results on stdout, talk on stderr, nothing that could harm either.

Every text is redacted and made harmless before it is shown: documents and events may hold secrets,
and escape sequences that would drive a terminal.
"""

import json
import math
import os
import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from state.errors import StorageError
from state.values.redaction import redact, redact_value

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

# Control characters, those that turn the direction of text, and halves of surrogate pairs.
_NARROWEST = 10  # a column of a drawn table, in characters
_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_LONGEST_CELL = 400


def clean(text: str) -> str:
    """Return `text` as it may be shown: redacted, with every harmful character replaced."""
    return _HARMFUL.sub("\ufffd", redact(text).replace("\r\n", "\n"))


def one_line(text: str, longest: int = _LONGEST_CELL) -> str:
    """Return `text` cleaned, on one line, cut to `longest` characters."""
    line = " ".join(clean(text).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def as_json(value: object, *, indent: int | None = 2, redacted: bool = True) -> str:
    """Return `value` as JSON that is harmless on a terminal, too; redacted unless that is told."""
    plain = redact_value(_plain(value)) if redacted else _plain(value)
    text = json.dumps(plain, ensure_ascii=False, indent=indent)
    return _HARMFUL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _plain(value: object) -> object:
    """Return `value` made of what JSON knows; a database answers with more than that."""
    if isinstance(value, Mapping):
        return {str(key): _plain(held) for key, held in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(each) for each in value]
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, datetime | date):
        return value.isoformat()
    return value if value is None or isinstance(value, str | int) else str(value)


def out(text: str) -> None:
    """Write `text`, cleaned, to stdout; a reader that has gone away is no error."""
    _write(sys.stdout, clean(text) + "\n")


def out_plain(text: str) -> None:
    """Write a document's own text to stdout: harmless, but with nothing redacted."""
    _write(sys.stdout, _HARMFUL.sub("\ufffd", text.replace("\r\n", "\n")) + "\n")


def out_json(value: object, *, indent: int | None = 2, redacted: bool = True) -> None:
    """Write `value` to stdout as JSON."""
    # JSON spells its own control characters; only its line ends are real.
    _write(sys.stdout, as_json(value, indent=indent, redacted=redacted) + "\n")


def talk(text: str) -> None:
    """Write `text`, cleaned, to stderr."""
    _write(sys.stderr, clean(text) + "\n")


def out_rows(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    right: frozenset[str] = frozenset(),
    whole: frozenset[str] = frozenset(),
) -> None:
    """Write a table to stdout: drawn on a terminal, tab-separated lines elsewhere.

    Columns named by `right` are set to the right, those by `whole` never broken. A table with too
    many columns for the terminal is written row by row, a line for each value.
    """
    cells = [[one_line("" if cell is None else str(cell)) for cell in row] for row in rows]
    if not is_terminal(sys.stdout):
        lines = ["\t".join(row) for row in ([*map(one_line, columns)], *cells)]
        _write(sys.stdout, "\n".join(lines) + "\n")
        return
    if len(columns) * _NARROWEST > shutil.get_terminal_size().columns:
        for row in cells:
            out_facts(dict(zip(columns, row, strict=True)))
            out("")
        return
    table = _table(columns, right, whole)
    for row in cells:
        table.add_row(*row)
    _write(sys.stdout, _drawn(table))


def out_facts(facts: Mapping[str, object]) -> None:
    """Write `name  value` lines to stdout, the names aligned; empty values are left out."""
    shown = {name: str(value) for name, value in facts.items() if value not in (None, "", (), [])}
    width = max(map(len, shown), default=0)
    for name, value in shown.items():
        out(f"{name:<{width}}  {one_line(value)}")


def is_terminal(stream: TextIO | None) -> bool:
    """Tell whether a person looks at `stream`."""
    return stream is not None and stream.isatty()


def console(stream: TextIO) -> "Console":
    """Return a rich console on `stream` that takes no text for markup."""
    from rich.console import Console

    return Console(file=stream, markup=False, emoji=False, highlight=False)


def _table(
    columns: Sequence[str], right: frozenset[str], whole: frozenset[str] = frozenset()
) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        table.add_column(
            one_line(column),
            justify="right" if column in right else "left",
            overflow="fold",
            no_wrap=column in whole,
        )
    return table


def _drawn(renderable: Any) -> str:
    from rich.console import Console

    screen = Console(file=sys.stdout, markup=False, emoji=False, highlight=False)
    with screen.capture() as captured:
        screen.print(renderable)
    return captured.get()


def _write(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        _forget(stream)
    except OSError as error:
        _forget(stream)
        if stream is sys.stdout:
            raise StorageError(f"cannot write the result to stdout: {error.strerror}") from error


def prepare_streams() -> None:
    """See that stdout and stderr take every text: where one was closed, it goes nowhere."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _forget(stream: TextIO) -> None:
    """Point the descriptor of `stream`, whose reader is gone, at nothing."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, stream.fileno())
    finally:
        os.close(nowhere)
