"""The one envelope around every event, and its exact spelling on disk.

A journal line is `sha256⇥canonical JSON⏎`. The hash covers the JSON's bytes, which hold the
position and the hash of the event before, so a line can be neither altered, moved nor taken out
unseen.
"""

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from state.errors import CorruptLedger
from state.values.ids import canonical_json, sha256_hex

SCHEMA_VERSION = 1
NO_HASH = "0" * 64
_KEYS = {
    "body", "event_id", "position", "previous_hash", "refs", "run_id", "schema_version", "time", "type",
}  # fmt: skip
_REF_KEYS = {"turn_id", "call_id", "flow_run_id", "task_run_id"}


@dataclass(frozen=True, slots=True)
class Refs:
    """What an event belongs to: turn (`stage/round`), call, and Prefect's two run ids."""

    turn_id: str | None = None
    call_id: str | None = None
    flow_run_id: str | None = None
    task_run_id: str | None = None


@dataclass(frozen=True, slots=True)
class Envelope:
    """One recorded event. `position` counts from 1; `time` is UTC, ISO 8601 with milliseconds and Z."""

    event_id: str
    type: str
    schema_version: int
    run_id: str
    position: int
    time: str
    previous_hash: str
    refs: Refs
    body: dict[str, Any]  # JSON; `state.events` gives it its type

    def spell(self) -> str:
        """Return the canonical JSON that is hashed and written."""
        return canonical_json(asdict(self))


@dataclass(frozen=True, slots=True)
class Line:
    """An envelope with the exact JSON it was read from, and that JSON's hash."""

    hash: str
    json: str
    envelope: Envelope

    def encode(self) -> bytes:
        """Return the journal line, newline included."""
        return f"{self.hash}\t{self.json}\n".encode()


def seal(envelope: Envelope) -> Line:
    """Return the line that records `envelope`."""
    text = envelope.spell()
    return Line(sha256_hex(text), text, envelope)


def parse_line(data: bytes) -> Line:
    """Return the line that `data` (without its newline) spells.

    Raises `CorruptLedger` when the hash or the form is wrong.
    """
    digest, tab, body = data.partition(b"\t")
    if not tab or sha256_hex(body).encode() != digest:
        raise CorruptLedger("the line's hash does not match its content")
    try:
        text = body.decode()
        fields = json.loads(text)
        if set(fields) != _KEYS or set(fields["refs"]) != _REF_KEYS:
            raise CorruptLedger(f"unknown or missing keys: {sorted(set(fields) ^ _KEYS)}")
        envelope = Envelope(**{**fields, "refs": Refs(**fields["refs"])})
    except (ValueError, TypeError) as error:
        raise CorruptLedger(f"the line is not an event: {error}") from error
    return Line(digest.decode(), text, envelope)


def utc_text(moment: datetime) -> str:
    """Return `moment` as the ledger spells times."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
