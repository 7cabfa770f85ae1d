"""Recomputes every chain, from the journals and from the queryable file, and compares them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from state.duck import DuckFile, current_views
from state.envelope import NO_HASH, Envelope, Refs, seal
from state.errors import CorruptLedger
from state.facts import extraction
from state.ingest import known_journals
from state.journal import JOURNAL, read_journal, recorded_run_id, run_folder
from state.kept import differing
from state.ledger import Finding, LedgerReport
from state.values.ids import sha256_hex

_BACKUP = "restore the journal from a backup"
_REBUILD = "run `assay ledger rebuild`"
_ROWS = """
SELECT run_id, position, event_id, type, schema_version,
       strftime(time, '%Y-%m-%dT%H:%M:%S.%gZ'), turn_id, call_id, flow_run_id, task_run_id,
       previous_hash, hash, body
FROM events
"""
_BROKEN_CHAINS = """
SELECT run_id, min(position) FROM (
    SELECT run_id, position, previous_hash,
           lag(hash, 1, ?) OVER run AS expected, row_number() OVER run AS place
    FROM events WINDOW run AS (PARTITION BY run_id ORDER BY position)
) WHERE previous_hash <> expected OR position <> place
GROUP BY run_id
"""


_OTHER_FACTS = "SELECT run_id, position FROM events WHERE facts IS DISTINCT FROM {facts}"


@dataclass(slots=True)
class _Chain:
    """What a journal holds: the hashes of its events, 32 bytes each, one after the other."""

    run_id: str
    folder: Path
    hashes: bytearray = field(default_factory=bytearray)
    is_broken: bool = False

    def hash(self, position: int) -> str:
        """Return the hash at a position counted from 1, or '' past the end."""
        return self.hashes[32 * (position - 1) : 32 * position].hex()

    def reaches(self, position: int, hash_: str, whose: str) -> Iterator[Finding]:
        """Give a finding when the journal does not reach the event that `whose` record names."""
        place = f"{self.folder / JOURNAL}, event {position}"
        if self.is_broken or position == 0:
            return
        if len(self) < position:
            what = f"the journal ends at event {len(self)}; {whose} says it had {position}"
            yield Finding(self.run_id, place, what, _BACKUP)
        elif self.hash(position) != hash_:
            yield Finding(self.run_id, place, f"its hash is not the one {whose} has", _BACKUP)

    def __len__(self) -> int:
        return len(self.hashes) // 32


def verify_ledger(
    home: Path, duck: DuckFile, manifests: Mapping[str, tuple[int, str]]
) -> LedgerReport:
    """Return what was gone through and every finding. Changes nothing.

    `manifests` maps runs to the last position and hash they must reach.
    """
    findings: list[Finding] = []
    chains = {chain.run_id: chain for chain in _journals(home, findings)}
    for run_id, (position, hash_) in sorted(manifests.items()):
        chain = chains.get(run_id) or _Chain(run_id, run_folder(home, run_id))
        findings += chain.reaches(position, hash_, "its manifest")
    if duck.path.exists():
        try:
            with duck.gate(shared=True), duck.reading() as connection:
                _check_file(home, connection, chains, findings)
        except CorruptLedger as error:
            findings.append(Finding("", str(duck.path), error.message, _REBUILD))
    unique = tuple(dict.fromkeys(findings))
    return LedgerReport(len(chains), sum(map(len, chains.values())), unique)


def _journals(home: Path, findings: list[Finding]) -> Iterator[_Chain]:
    for folder in sorted((home / "runs").glob("*")):
        if not (folder / JOURNAL).exists():
            continue
        chain = _Chain("", folder)
        try:
            found = read_journal(folder)
            for line in found.lines:
                chain.hashes += bytes.fromhex(line.hash)
            chain.run_id = found.lines[0].envelope.run_id if found.lines else ""
        except CorruptLedger as error:
            chain.is_broken = True
            chain.run_id = recorded_run_id(folder) or folder.name
            findings.append(Finding(chain.run_id, str(folder / JOURNAL), error.message, _BACKUP))
        else:
            if found.torn:
                findings.append(_torn(chain, len(found.torn)))
        if chain.run_id:
            yield chain


def _torn(chain: _Chain, size: int) -> Finding:
    return Finding(
        chain.run_id,
        f"{chain.folder / JOURNAL}, after event {len(chain)}",
        f"{size} bytes of a write that was cut off",
        "nothing to do if a process was killed while writing: the next append sets them aside",
    )


def _check_file(
    home: Path,
    connection: duckdb.DuckDBPyConnection,
    chains: Mapping[str, _Chain],
    findings: list[Finding],
) -> None:
    ends = {k.run_id: k.end for k in known_journals(connection).values() if k.run_id}
    for run_id, end in sorted(ends.items()):
        chain = chains.get(run_id) or _Chain(run_id, run_folder(home, run_id))
        findings += chain.reaches(end.position, end.hash, "the queryable file")
    for run_id, position in connection.execute(_BROKEN_CHAINS, [NO_HASH]).fetchall():
        place = f"ledger.duckdb, event {position}"
        what = "it does not follow the event before it"
        findings.append(Finding(run_id, place, what, _REBUILD))
    for run_id, position in connection.execute(
        _OTHER_FACTS.replace("{facts}", extraction("body"))
    ).fetchall():
        place = f"ledger.duckdb, event {position}"
        findings.append(Finding(run_id, place, "its facts are not those of its body", _REBUILD))
    for run_id, name in differing(connection) if current_views(connection) else ():
        what = f"what is kept of the view {name} is not what its events say"
        findings.append(Finding(run_id, "ledger.duckdb", what, _REBUILD))
    counts: dict[str, int] = {}
    for run_id, position, what in _rows(connection, chains, counts):
        findings.append(Finding(run_id, f"ledger.duckdb, event {position}", what, _REBUILD))
    for run_id, end in ends.items():
        if counts.get(run_id, 0) != end.position:
            what = f"it holds {counts.get(run_id, 0)} events of {end.position} that were taken in"
            findings.append(Finding(run_id, "ledger.duckdb", what, _REBUILD))


def _rows(
    connection: duckdb.DuckDBPyConnection,
    chains: Mapping[str, _Chain],
    counts: dict[str, int],
) -> Iterator[tuple[str, int, str]]:
    """Give run, position and trouble of each event in the file that is not as it was recorded."""
    result = connection.execute(_ROWS)
    while rows := result.fetchmany(10_000):
        for row in rows:
            run_id, position, hash_ = row[0], row[1], row[11]
            counts[run_id] = counts.get(run_id, 0) + 1
            chain = chains.get(run_id)
            if _recomputed(row) != hash_:
                yield run_id, position, "its content does not match its hash"
            elif chain is not None and not chain.is_broken and chain.hash(position) != hash_:
                yield run_id, position, "it differs from the journal"


def _recomputed(row: tuple[object, ...]) -> str:
    run_id, position, event_id, kind, version, time, turn, call, flow, task, previous, _, body = row
    around = seal(
        Envelope(
            event_id=str(event_id), type=str(kind), schema_version=int(str(version)),
            run_id=str(run_id), position=int(str(position)), time=str(time),
            previous_hash=str(previous),
            refs=Refs(_text(turn), _text(call), _text(flow), _text(task)), body={},
        )
    )  # fmt: skip
    return sha256_hex(f'{{"body":{body}{around.json[len(_EMPTY_BODY) :]}')


_EMPTY_BODY = '{"body":{}'


def _text(value: object) -> str | None:
    return None if value is None else str(value)
