"""Cache files that tell whether they are still what was written: a hash, then the bytes."""

import os
import tempfile
from hashlib import sha256
from pathlib import Path

from state.values.errors import ObstructedError

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


def keep_sealed(path: Path, body: bytes) -> None:
    """Write `body`, sealed, to `path`, whole or not at all.

    Raises `ObstructedError` (CACHE_UNWRITABLE) when the disk refuses: it says nothing of the body.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(seal(body))
            Path(temporary).replace(path)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ObstructedError(
            f"The cache folder {path.parent.parent} cannot be written ({error.strerror}); "
            "free some space or choose another cache folder.",
            code="CACHE_UNWRITABLE",
        ) from error
