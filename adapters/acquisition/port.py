"""The `Acquirer` port: the bytes behind what a person named, whole or not at all."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of a source: its path within it, its bytes, and what it was sent as (or '')."""

    name: str
    data: bytes
    media_type: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """What was acquired.

    `locator` is where it comes from, fit to be shown. `licence` is what the source says of its own
    licence, or ''. `dropped` says in short phrases what was there and was not taken.
    """

    files: tuple[SourceFile, ...]
    locator: str
    licence: str = ""
    dropped: tuple[str, ...] = ()


class Acquirer(Protocol):
    """Acquires sources of one kind."""

    async def acquire(self, source: str) -> Source:
        """Return the source; it has at least one file.

        Raises `TransientError` when a retry may help, `RejectedError` with a code when not.
        """
        ...
