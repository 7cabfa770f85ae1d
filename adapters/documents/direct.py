"""A converter without a sandbox, for tests and for bytes that are trusted."""

from adapters.documents.convert import convert_bytes
from adapters.documents.worker import Function
from state.values.blocks import Conversion


class DirectConverter:
    """Converts in this process. What `function` does to the process, it does."""

    def __init__(self, function: Function = convert_bytes) -> None:
        self._function = function

    async def convert(self, data: bytes, *, name: str, media_type: str = "") -> Conversion:
        """Return how reading `data` ended."""
        return self._function(data, name, media_type)

    async def aclose(self) -> None:
        """Do nothing: there are no child processes."""
