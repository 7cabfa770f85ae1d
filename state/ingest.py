"""Moves what was appended to journals into the queryable file, each event exactly once."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb

from state.durable import explained
from state.errors import CorruptLedger, StorageError
from state.facts import extraction
from state.journal import (
    APPEND_LOCK,
    JOURNAL,
    START,
    Cursor,
    folder_name,
    read_bytes,
    recorded_run_id,
    scan,
)
from state.kept import keep, outdate
from state.ledger import SyncReport
from state.locks import FileLock
from state.values.ids import sha256_hex

_CHUNK = 16 * 1024 * 1024
_SETTLE_S = 1.0
_UNSEEN = (-1, -1)

_TEXT = r'"(?:[^"\\]|\\.)*"'
_REF = rf"(null|{_TEXT})"
_TAIL = re.compile(
    rf',"event_id":({_TEXT}),"position":(\d+),"previous_hash":"([0-9a-f]{{64}})",'
    rf'"refs":\{{"call_id":{_REF},"flow_run_id":{_REF},"task_run_id":{_REF},"turn_id":{_REF}\}},'
    rf'"run_id":({_TEXT}),"schema_version":(\d{{1,9}}),"time":("[^"\\]*"),"type":({_TEXT})\}}'
)
# One parameter holds all rows, since binding costs DuckDB 0.1 ms a value.
_INSERT = """
INSERT INTO events
SELECT r[1], r[2]::BIGINT, r[3], r[4], r[5]::INTEGER, r[6]::TIMESTAMP,
       r[7], r[8], r[9], r[10], r[11], r[12], r[13], {facts}
FROM (SELECT unnest(from_json($1, '[["VARCHAR"]]')) AS r)
""".replace("{facts}", extraction("r[13]"))
_UPSERT = """
INSERT OR REPLACE INTO journals
SELECT r[1], r[2], r[3]::BIGINT, r[4]::BIGINT, r[5], r[6]::BIGINT, r[7]::BIGINT, r[8]
FROM (SELECT unnest(from_json($1, '[["VARCHAR"]]')) AS r)
"""


@dataclass(frozen=True, slots=True)
class Known:
    """What the queryable file knows of a journal: how far it was taken in, how it looked then."""

    folder: str
    run_id: str
    end: Cursor
    seen: tuple[int, int]
    quarantined: str | None


@dataclass(frozen=True, slots=True)
class _Batch:
    rows: list[str]  # JSON
    end: Cursor
    run_id: str


def known_journals(connection: duckdb.DuckDBPyConnection) -> dict[str, Known]:
    """Return what the file knows of each journal, by the name of its folder."""
    rows = connection.execute("SELECT * FROM journals").fetchall()
    return {
        folder: Known(folder, run_id, Cursor(size, position, hash_), (seen, mtime), quarantined)
        for folder, run_id, size, position, hash_, seen, mtime, quarantined in rows
    }


def quarantined(known: dict[str, Known]) -> dict[str, str]:
    """Return the runs whose journal is damaged, with the reason."""
    return {k.run_id or k.folder: k.quarantined for k in known.values() if k.quarantined}


def changed_journals(home: Path, seen: Mapping[str, tuple[int, int]]) -> list[str]:
    """Return the names of the folders whose journal is not as it was when it was taken in.

    `seen` is size and time of each at that moment; (-1, -1) for one to be looked at again.
    """
    journals = _stat_journals(home)
    gone = [name for name, looked in seen.items() if name not in journals and looked != _UNSEEN]
    return [
        name
        for name, looks in journals.items()
        if (seen[name] != looks if name in seen else looks[0] > 0)
    ] + gone


def is_current(connection: duckdb.DuckDBPyConnection, home: Path) -> bool:
    """Tell whether the file holds all that was recorded; asked before every query, so lean."""
    rows = connection.execute("SELECT folder, seen_bytes, seen_mtime_ns FROM journals").fetchall()
    return not changed_journals(home, {folder: (size, mtime) for folder, size, mtime in rows})


def damaged_runs(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Return the runs whose journal is damaged, with the reason."""
    rows = connection.execute(
        "SELECT coalesce(nullif(run_id, ''), folder), quarantined FROM journals "
        "WHERE quarantined IS NOT NULL ORDER BY 1"
    ).fetchall()
    return dict(rows)


def _stat_journals(home: Path) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    root = str(home / "runs")
    with explained(root):
        try:
            names = os.listdir(root)  # noqa: PTH208 - names, of thousands of folders, at every query
        except FileNotFoundError:
            return found
        for name in names:
            try:
                status = os.stat(f"{root}/{name}/{JOURNAL}")  # noqa: PTH116 - as above
            except (FileNotFoundError, NotADirectoryError):
                continue
            found[name] = (status.st_size, status.st_mtime_ns)
    return found


def ingest(connection: duckdb.DuckDBPyConnection, home: Path) -> SyncReport:
    """Take in what is new in every journal. The caller commits, or nothing of it happened."""
    known = known_journals(connection)
    rows: list[str] = []
    size = events = 0
    begun, gone_on = set[str](), set[str]()
    records: list[list[object]] = []
    for name in changed_journals(home, {name: k.seen for name, k in known.items()}):
        before = known.get(name)
        journal = _Intake(home / "runs" / name, before)
        for batch in journal.batches():
            rows += batch.rows
            (gone_on if before else begun).add(batch.run_id)
            events += len(batch.rows)
            size += sum(map(len, batch.rows))
            if size >= _CHUNK:
                _insert(connection, rows)
                rows, size = [], 0
        records.append(journal.record())
        known[name] = journal.known()
    _insert(connection, rows)
    if records:
        connection.execute(_UPSERT, [json.dumps(records)])
    if begun or gone_on:
        outdate(connection, begun, gone_on)
        keep(connection)
    return SyncReport(events, quarantined(known))


def _insert(connection: duckdb.DuckDBPyConnection, rows: list[str]) -> None:
    if not rows:
        return
    try:
        connection.execute(_INSERT, [f"[{','.join(rows)}]"])
    except duckdb.ConstraintException as error:
        raise CorruptLedger(
            f"the queryable file holds events that were not taken from journals ({error}); "
            "`assay ledger rebuild` makes it again"
        ) from error


class _Intake:
    """Reads on in one journal from where it was left, and remembers why it could not."""

    def __init__(self, folder: Path, before: Known | None) -> None:
        self._folder = folder
        self._before = before or Known(folder.name, "", START, (0, 0), None)
        self._end = self._before.end
        self._run_id = self._before.run_id
        self._seen = _UNSEEN
        self._trouble: str | None = None

    def batches(self) -> Iterator[_Batch]:
        try:
            self._seen = _settled(self._folder)
            if self._seen[0] <= self._end.offset:
                self._check_again()
            while self._end.offset < self._seen[0]:
                batch = self._next()
                if not batch.rows:
                    return
                self._end, self._run_id = batch.end, batch.run_id
                yield batch
        except CorruptLedger as error:
            self._trouble = error.message
            self._run_id = self._run_id or recorded_run_id(self._folder) or self._folder.name
        except StorageError as error:
            self._trouble, self._seen = error.message, _UNSEEN  # look again next time

    def record(self) -> list[object]:
        """Return the journal's row."""
        end = self._end
        return [
            self._folder.name, self._run_id, end.offset, end.position, end.hash, *self._seen,
            self._trouble,
        ]  # fmt: skip

    def known(self) -> Known:
        return Known(self._folder.name, self._run_id, self._end, self._seen, self._trouble)

    def _next(self) -> _Batch:
        stop = min(self._seen[0], self._end.offset + _CHUNK)
        data = read_bytes(self._folder, self._end, stop)
        whole = data[: data.rfind(b"\n") + 1]
        try:
            return _rows(whole, self._end, self._folder)
        except ValueError as error:
            # Say exactly what is wrong; a torn last line comes back without complaint.
            found = scan(data, self._end, self._folder)
            good = whole[: found.end.offset - self._end.offset]
            if len(good) == len(whole):
                raise CorruptLedger(f"{self._folder / JOURNAL}: {error}") from error
            return _rows(good, self._end, self._folder)

    def _check_again(self) -> None:
        """Read a journal whole that was touched and is no longer: it may be another one."""
        cursor = START
        while cursor.offset < self._seen[0]:
            stop = min(self._seen[0], cursor.offset + _CHUNK)
            found = scan(read_bytes(self._folder, cursor, stop), cursor, self._folder)
            if found.end == cursor:
                break
            cursor = found.end
        if cursor != self._end:
            raise CorruptLedger(
                f"{self._folder / JOURNAL}: it is not the journal that was taken in up to event "
                f"{self._end.position}; restore the file from a backup"
            )


def _settled(folder: Path) -> tuple[int, int]:
    """Return size and time of the journal while nobody is in the middle of an append.

    Bytes of an append that fails are cut away again, so they must not be taken in.
    """
    path = folder / JOURNAL
    lock = FileLock(folder / APPEND_LOCK)
    try:
        if path.exists():
            lock.acquire(shared=True, timeout=_SETTLE_S)
        with explained(path):
            status = path.stat()
        return status.st_size, status.st_mtime_ns
    except StorageError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            raise CorruptLedger(f"{path}: the file is gone; restore it from a backup") from error
        raise
    finally:
        lock.close()


def _rows(data: bytes, start: Cursor, folder: Path) -> _Batch:
    """Return `data`, whole lines after `start`, as rows; raises `ValueError` when one is wrong."""
    rows: list[str] = []
    position, previous, run_id = start.position, start.hash, ""
    for line in data.split(b"\n")[:-1]:
        digest, _, raw = line.partition(b"\t")
        hash_ = digest.decode()
        text = raw.decode()
        match = _TAIL.fullmatch(text, text.rindex(',"event_id":'))
        if match is None or sha256_hex(raw) != hash_:
            raise ValueError(f"event {position + 1} is not spelled as the ledger spells events")
        event, at, before, call, flow, task, turn, run, version, time, kind = match.groups()
        datetime.fromisoformat(time[1:-1])
        position += 1
        if before != previous or int(at) != position or (run_id and run != run_id):
            raise ValueError(f"event {position} does not follow the one before it")
        previous, run_id = hash_, run
        body = json.dumps(text[8 : match.start()], ensure_ascii=False)
        rows.append(
            f'[{run},"{at}",{event},{kind},"{version}",{time},{turn},{call},{flow},{task},'
            f'"{before}","{hash_}",{body}]'
        )
    run_text: Any = json.loads(run_id) if run_id else ""
    if rows and folder_name(run_text) != folder.name:
        raise ValueError(f"its events belong to run {run_text!r}")
    return _Batch(rows, Cursor(start.offset + len(data), position, previous), run_text)
