"""Signatures of the Standard Webhooks specification 1.0.0: HMAC-SHA256 with a shared secret."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Sequence

from state.values.errors import InvalidRequest

_PREFIX = "whsec_"
_SIZES = range(24, 65)


def signing_keys(text: str) -> tuple[bytes, ...]:
    """Return the keys that `text` spells: secrets in base64, after `whsec_` or bare.

    Several are separated by spaces, the newest first, while one is replaced. Raises
    `InvalidRequest`, which does not show them.
    """
    return tuple(_key(secret) for secret in text.split())


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) not in _SIZES:
        raise InvalidRequest(
            f"a webhook's secret is '{_PREFIX}' and the base64 of {_SIZES[0]} to {_SIZES[-1]} bytes"
        )
    return key


def signature(keys: Sequence[bytes], message_id: str, timestamp: int, body: bytes) -> str:
    """Return the header `webhook-signature`: one signature a key."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    digests = (hmac.new(key, signed, hashlib.sha256).digest() for key in keys)
    return " ".join(f"v1,{base64.b64encode(digest).decode()}" for digest in digests)
