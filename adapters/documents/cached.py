"""Remembers conversions on disk, so that the same bytes are read once."""

from pathlib import Path, PurePath

from anyio import to_thread

from adapters.documents.convert import converter_version
from adapters.documents.port import Converter
from adapters.documents.sealed import SealError, keep_sealed, unseal
from adapters.documents.wire import WireError, decode_conversion, encode_conversion
from state.values.blocks import Conversion, Outcome
from state.values.ids import canonical_json, content_hash, sha256_hex

# What a fresh try may end differently is not kept.
_PASSING = (Outcome.CRASHED, Outcome.LIMIT)


class CachedConverter:
    """A `Converter` that asks `inner` only for what is not below `folder` yet.

    Kept by content, by what the name and media type hint at, and by the readers' version. Several
    processes may share the folder; a damaged entry counts as absent. It serves finding only: what
    is quoted is converted anew, since nobody vouches for what a cache says.
    """

    def __init__(self, inner: Converter, folder: Path) -> None:
        self._inner = inner
        self._folder = folder

    async def convert(self, data: bytes, *, name: str, media_type: str = "") -> Conversion:
        """Return how reading `data` ended, now or when it was first read."""
        path = self._path(content_hash(data), name, media_type)
        kept = await to_thread.run_sync(_load, path)
        if kept is not None:
            return kept
        conversion = await self._inner.convert(data, name=name, media_type=media_type)
        if conversion.outcome not in _PASSING:
            await to_thread.run_sync(keep_sealed, path, encode_conversion(conversion))
        return conversion

    def recall(self, hash_: str, *, name: str, media_type: str = "") -> Conversion | None:
        """Return the conversion of the bytes with this content hash, if it is kept."""
        return _load(self._path(hash_, name, media_type))

    async def aclose(self) -> None:
        """End the child processes of the inner converter."""
        await self._inner.aclose()

    def _path(self, hash_: str, name: str, media_type: str) -> Path:
        suffix = PurePath(name).suffix.lower()
        key = sha256_hex(canonical_json([hash_, suffix, media_type, converter_version()]))
        return self._folder / key[:2] / f"{key}.json"


def _load(path: Path) -> Conversion | None:
    try:
        return decode_conversion(unseal(path.read_bytes()))
    except (OSError, SealError, WireError):
        return None
