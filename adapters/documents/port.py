"""The `Converter` port: how bytes become text with blocks."""

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
