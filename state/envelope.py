"""The one envelope around every event, and its exact spelling on disk.

A journal line is `sha256⇥canonical JSON⏎`. The hash covers the JSON's bytes, which hold the
position and the hash of the event before, so a line can be neither altered, moved nor taken out
unseen.
"""

import json
import re
from dataclasses import field
from datetime import UTC, datetime
from json.encoder import encode_basestring as _quote
from typing import Any

from state.errors import CorruptLedger
from state.values.errors import InvalidRequest
from state.values.ids import canonical_json, sha256_hex
from state.values.swift import swift

SCHEMA_VERSION = 1
NO_HASH = "0" * 64
_KEYS = {
    "body", "event_id", "position", "previous_hash", "refs", "run_id", "schema_version", "time",
    "type",
}  # fmt: skip
_REF_KEYS = {"turn_id", "call_id", "flow_run_id", "task_run_id"}
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)


class HashMismatch(CorruptLedger):
    """The bytes are not those that were hashed. At the very end of a file they are a torn write."""


@swift(frozen=True, slots=True)
class Refs:
    """What an event belongs to: turn (`stage/round`), call, and Prefect's two run ids."""

    turn_id: str | None = None
    call_id: str | None = None
    flow_run_id: str | None = None
    task_run_id: str | None = None


@swift(frozen=True, slots=True)
class Draft:
    """An event before it is recorded: what happened, and what it belongs to.

    The ledger adds the rest (id, position, time, hash of the event before). `event` is what the
    body was found to spell, when `state.events.draft` made this: it need not be read again.
    """

    type: str
    body: dict[str, Any]  # JSON; `state.events` gives it its type
    refs: Refs = field(default_factory=Refs)
    event: object = field(default=None, compare=False, repr=False)


@swift(frozen=True, slots=True)
class Envelope:
    """One recorded event. `position` counts from 1; `time` is UTC, spelled by `utc_text`.

    `event` is what the body spells, where that is known; see `Draft`.
    """

    event_id: str
    type: str
    schema_version: int
    run_id: str
    position: int
    time: str
    previous_hash: str
    refs: Refs
    body: dict[str, Any]  # JSON; `state.events` gives it its type
    event: object = field(default=None, compare=False, repr=False)

    def spell(self) -> str:
        """Return the canonical JSON that is hashed and written."""
        return self.spell_around(canonical_json(self.body))

    def spell_around(self, body: str) -> str:
        """Return `spell()`, given the canonical JSON of the body."""
        refs = self.refs
        return (
            f'{{"body":{body},"event_id":{_quote(self.event_id)},"position":{self.position},'
            f'"previous_hash":{_quote(self.previous_hash)},"refs":{{'
            f'"call_id":{_or_null(refs.call_id)},"flow_run_id":{_or_null(refs.flow_run_id)},'
            f'"task_run_id":{_or_null(refs.task_run_id)},"turn_id":{_or_null(refs.turn_id)}}},'
            f'"run_id":{_quote(self.run_id)},"schema_version":{self.schema_version},'
            f'"time":{_quote(self.time)},"type":{_quote(self.type)}}}'
        )


def _or_null(text: str | None) -> str:
    return "null" if text is None else _quote(text)


@swift(frozen=True, slots=True)
class Line:
    """An envelope with the exact JSON it was read from, and that JSON's hash."""

    hash: str
    json: str
    envelope: Envelope

    @property
    def size(self) -> int:
        """The length of the journal line in bytes, newline included."""
        text = self.json
        return len(self.hash) + 2 + len(text if text.isascii() else text.encode())

    def encode(self) -> bytes:
        """Return the journal line, newline included."""
        return f"{self.hash}\t{self.json}\n".encode()


def seal(envelope: Envelope, body: str | None = None) -> Line:
    """Return the line that records `envelope`; `body` is its body's canonical JSON, if known.

    Raises `InvalidRequest` for what is not Unicode.
    """
    text = envelope.spell() if body is None else envelope.spell_around(body)
    try:
        return Line(sha256_hex(text), text, envelope)
    except UnicodeEncodeError as error:
        raise InvalidRequest(
            f"an event of type {envelope.type!r} is not Unicode text: {error}"
        ) from error


def normalise(draft: Draft) -> Draft:
    """Return `draft` as it will be read back (a tuple becomes a list); see `spell_body`."""
    return spell_body(draft)[0]


def spell_body(draft: Draft) -> tuple[Draft, str]:
    """Return `draft` as it will be read back, and the canonical JSON of its body.

    Raises `InvalidRequest` when its body is not JSON.
    """
    try:
        text = canonical_json(draft.body)
        if draft.event is not None:
            return draft, text
        return Draft(draft.type, json.loads(text), draft.refs), text
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidRequest(
            f"the body of an event of type {draft.type!r} is not JSON: {error}"
        ) from error


def parse_line(data: bytes) -> Line:
    """Return the line that `data` (without its newline) spells.

    Raises `HashMismatch` when the hash is wrong, `CorruptLedger` when the form is.
    """
    digest, tab, body = data.partition(b"\t")
    if not tab or sha256_hex(body).encode() != digest:
        raise HashMismatch("the line's hash does not match its content")
    try:
        text = body.decode()
        fields = json.loads(text)
        if set(fields) != _KEYS or set(fields["refs"]) != _REF_KEYS:
            raise CorruptLedger(f"unknown or missing keys: {sorted(set(fields) ^ _KEYS)}")
        if not _TIME.fullmatch(fields["time"]):
            raise CorruptLedger(f"{fields['time']!r} is not a UTC time with milliseconds")
        envelope = Envelope(**{**fields, "refs": Refs(**fields["refs"])})
    except (ValueError, TypeError, RecursionError) as error:
        raise CorruptLedger(f"the line is not an event: {error}") from error
    return Line(digest.decode(), text, envelope)


def utc_text(moment: datetime) -> str:
    """Return `moment` as the ledger spells times."""
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat("T", "milliseconds").removesuffix("+00:00") + "Z"
