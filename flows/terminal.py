"""What people and scripts see: results on stdout, talk on stderr, nothing that could harm either.

Every text is redacted and made harmless before it is shown: documents and events may hold secrets,
and escape sequences that would drive a terminal.
"""

import json
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from state.values.redaction import redact, redact_value

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

# Control characters, those that turn the direction of text, and halves of surrogate pairs.
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


def as_json(value: object, *, indent: int | None = 2) -> str:
    """Return `value` as redacted JSON that is harmless on a terminal, too."""
    text = json.dumps(redact_value(value), ensure_ascii=False, indent=indent, default=str)
    return _HARMFUL.sub(lambda found: f"\\u{ord(found[0]):04x}", text) if text else text


def out(text: str) -> None:
    """Write `text`, cleaned, to stdout; a reader that has gone away is no error."""
    _write(sys.stdout, clean(text) + "\n")


def out_json(value: object, *, indent: int | None = 2) -> None:
    """Write `value` to stdout as JSON."""
    # JSON spells its own control characters; only its line ends are real.
    _write(sys.stdout, as_json(value, indent=indent) + "\n")


def talk(text: str) -> None:
    """Write `text`, cleaned, to stderr."""
    _write(sys.stderr, clean(text) + "\n")


def out_rows(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, right: frozenset[str] = frozenset()
) -> None:
    """Write a table to stdout: drawn on a terminal, tab-separated lines elsewhere."""
    cells = [[one_line("" if cell is None else str(cell)) for cell in row] for row in rows]
    if not is_terminal(sys.stdout):
        lines = ["\t".join(row) for row in ([*map(one_line, columns)], *cells)]
        _write(sys.stdout, "\n".join(lines) + "\n")
        return
    table = _table(columns, right)
    for row in cells:
        table.add_row(*row)
    _write(sys.stdout, _drawn(table))


def out_facts(facts: Mapping[str, object]) -> None:
    """Write `name  value` lines to stdout, the names aligned; empty values are left out."""
    shown = {name: str(value) for name, value in facts.items() if value not in (None, "", (), [])}
    width = max(map(len, shown), default=0)
    for name, value in shown.items():
        out(f"{name:<{width}}  {one_line(value)}")


def is_terminal(stream: TextIO) -> bool:
    """Tell whether a person looks at `stream`."""
    try:
        return stream.isatty()
    except ValueError:  # it was closed
        return False


def console(stream: TextIO) -> "Console":
    """Return a rich console on `stream` that takes no text for markup."""
    from rich.console import Console

    return Console(file=stream, markup=False, emoji=False, highlight=False)


def _table(columns: Sequence[str], right: frozenset[str]) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        table.add_column(
            one_line(column), justify="right" if column in right else "left", overflow="fold"
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
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    except ValueError:
        pass  # the stream was closed: nobody reads what is said


def _forget(stream: TextIO) -> None:
    """Point the descriptor of `stream`, whose reader is gone, at nothing."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, stream.fileno())
    finally:
        os.close(nowhere)
