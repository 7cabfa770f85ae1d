"""Identities: stable ids, canonical JSON, and the hashes that are made from them."""

import hashlib
import json
import re
from collections.abc import Callable

_STABLE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}\Z")
_CONTENT_HASH = re.compile(r"sha256:[0-9a-f]{64}\Z")
_CANONICAL = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)


def _make_spell() -> Callable[[object], str]:
    """Return `_CANONICAL.encode`; where C encodes, without making it ready again for each value."""
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return _CANONICAL.encode
    encode = make(
        None, _CANONICAL.default, json.encoder.encode_basestring, None,
        _CANONICAL.key_separator, _CANONICAL.item_separator, True, False, False,
    )  # fmt: skip
    return lambda value: "".join(encode(value, 0))


_spell = _make_spell()


def is_stable_id(text: str) -> bool:
    """Tell whether `text` has the form of a stable id (1 to 128 characters)."""
    return _STABLE_ID.match(text) is not None


def is_content_hash(text: str) -> bool:
    """Tell whether `text` is `sha256:` and 64 lower-case hex digits."""
    return _CONTENT_HASH.match(text) is not None


def canonical_json(value: object) -> str:
    """Return the one spelling of `value` that is hashed: sorted keys, no spaces, UTF-8 as it is.

    Raises `ValueError` for NaN and infinities, `TypeError` for what JSON cannot hold.
    """
    return _spell(value)


def sha256_hex(data: bytes | str) -> str:
    """Return the SHA-256 of `data` (text as UTF-8) as 64 hex digits."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def content_hash(data: bytes | str) -> str:
    """Return the address of `data` in the archive: `sha256:<64 hex>`."""
    return "sha256:" + sha256_hex(data)


def step_call_id(turn_id: str, verb: str, step_input: object) -> str:
    """Return the call id of a step: turn (`stage/round`), verb, and a hash of its input."""
    return f"{turn_id}/{verb}/{sha256_hex(canonical_json(step_input))[:16]}"


def artifact_id(run_id: str, turn_id: str, call_id: str) -> str:
    """Return the id of the artifact that a call records: `dr-` and 32 hex digits, 8-4-4-4-12."""
    digest = sha256_hex(canonical_json([run_id, turn_id, call_id]))[:32]
    parts = digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:]
    return "dr-" + "-".join(parts)
