"""A copy of the ledger in the form of the local one, brought up to date whenever it is asked for.

What is told in DuckDB's SQL (the ready questions) is asked of it, and what is exported is made
from it. A copy can be thrown away at any time.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path

from state.durable import create_private_folder, explained, replace_file
from state.envelope import NO_HASH
from state.errors import CorruptLedger
from state.follow import Fold, S
from state.journal import JOURNAL, run_folder
from state.local_ledger import LocalLedger
from state.locks import holding
from state.postgres.connections import Connection, Connections
from state.query import Bounds

_HEADS = "SELECT run_id, run, position, hash FROM {schema}.run_heads"
_LINES = "SELECT hash, line FROM {schema}.run_lines WHERE run = %s ORDER BY position"
_KNOWN = "SELECT run_id, last_position, last_hash FROM journals"


def copy_ledger(
    connections: Connections,
    home: Path,
    fold: Fold[S],
    *,
    bounds: Bounds | None = None,
    timeout: float = 60.0,
) -> LocalLedger[S]:
    """Return the local ledger in `home`, which holds every event recorded before this call.

    Damaged runs are copied as they are, so the copy names them too. What `home` holds of another
    ledger is removed.
    """
    create_private_folder(home)
    copy = LocalLedger(home, fold, bounds=bounds, timeout=timeout)
    with holding(home / "copy.lock", str(home), timeout=timeout):
        heads = connections.run(
            lambda connection: {
                row[0]: row[1:]
                for row in connection.execute(connections.statement(_HEADS)).fetchall()
            }
        )
        known = _known(home, fold)
        if known is None or not _is_earlier(known, heads):
            _clear(home)
            known = {}
        for run_id, (run, position, hash_) in sorted(heads.items()):
            if known.get(run_id) != (position, hash_):
                _write(connections, run_folder(home, run_id), run)
        copy.sync()
    return copy


def discard_copy(home: Path, *, timeout: float = 60.0) -> None:
    """Remove the copy in `home`, if there is one; the next use makes it anew."""
    if home.is_dir():
        with holding(home / "copy.lock", str(home), timeout=timeout):
            _clear(home)


def _known(home: Path, fold: Fold[S]) -> dict[str, tuple[int, str]] | None:
    """Return where each run ends in the copy; None when it cannot tell."""
    try:
        bounds = Bounds(rows=100_000_000, size=10**11, time_s=600)
        whole: LocalLedger[S] = LocalLedger(home, fold, bounds=bounds)
        table = whole.query(_KNOWN)
    except CorruptLedger:
        return None
    return {run_id: (position, hash_) for run_id, position, hash_ in table.rows}


def _is_earlier(
    known: Mapping[str, tuple[int, str]], heads: Mapping[str, tuple[int, int, str]]
) -> bool:
    """Tell whether the copy is one of this ledger, as far as the ends of its runs can tell."""
    for run_id, (position, hash_) in known.items():
        _, head, head_hash = heads.get(run_id, (0, 0, NO_HASH))
        if position > head or (position == head and hash_ != head_hash):
            return False
    return True


def _write(connections: Connections, folder: Path, run: int) -> None:
    def lines(connection: Connection) -> list[tuple[str, str]]:
        return connection.execute(connections.statement(_LINES), [run]).fetchall()

    text = "".join(f"{hash_}\t{line}\n" for hash_, line in connections.run(lines))
    create_private_folder(folder)
    replace_file(folder / JOURNAL, text.encode())


def _clear(home: Path) -> None:
    with explained(home):
        shutil.rmtree(home / "runs", ignore_errors=True)
        for path in home.glob("ledger.*"):
            path.unlink(missing_ok=True)
