"""The `Converter` port: how bytes become text with blocks."""

from dataclasses import dataclass
from typing import Protocol

from state.values.blocks import Conversion


class Converter(Protocol):
    """Reads bytes of unknown origin without being harmed by them."""

    async def convert(self, data: bytes, *, name: str, media_type: str = "") -> Conversion:
        """Return how reading `data` ended. Never raises for what the bytes are.

        `name` is the file's name (its suffix is a hint, the content decides); `media_type` is what
        the sender called it, or ''.
        """
        ...

    async def aclose(self) -> None:
        """End the child processes."""
        ...


@dataclass(frozen=True, slots=True)
class Opened:
    """A source's bytes as they were found; `display` is how reports name it, wherever one stands.

    `modified_at` is the source's own date (UTC, ISO 8601) or ''.
    """

    data: bytes
    display: str
    media_type: str = ""
    modified_at: str = ""


class Reader(Protocol):
    """Opens sources by the locators that searches give."""

    async def open(self, locator: str) -> Opened:
        """Return the bytes at `locator`.

        Raises `TransientError` when a retry may help, `RejectedError` with a code when not.
        """
        ...
