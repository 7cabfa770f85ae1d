"""Cache files that tell whether they are still what was written: a hash, then the bytes."""

from hashlib import sha256

_DIGITS = 64


class SealError(ValueError):
    """The bytes are not what was sealed."""


def seal(body: bytes) -> bytes:
    """Return `body` behind its SHA-256."""
    return b"%s\n%s" % (sha256(body).hexdigest().encode(), body)


def unseal(data: bytes) -> bytes:
    """Return the body that `seal` was given; raises `SealError` when a byte is not as it was.

    It tells damage, not intent: whoever can write the file can seal another body.
    """
    body = data[_DIGITS + 1 :]
    if data != seal(body):
        raise SealError("damaged, or written by another version")
    return body
