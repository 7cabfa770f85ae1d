"""Remembers what pages said of their own versions, so that what has not changed is not sent again.

The bytes stay in the archive; here is only which they were.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

from anyio import to_thread

from adapters.documents.port import Opened
from adapters.documents.sealed import SealError, keep_sealed, unseal
from adapters.web.urls import Url
from state.values.errors import AssayError
from state.values.ids import canonical_json, content_hash, is_content_hash, sha256_hex

_FORMAT = 1


class Archive(Protocol):
    """Where bytes are kept under their hash."""

    def get(self, body_hash: str) -> bytes:
        """Return the bytes; raises an `AssayError` when they are not there or damaged."""
        ...


@dataclass(frozen=True, slots=True)
class Remembered:
    """A version of a page: its validators (RFC 9110 §8.8), and which bytes it was."""

    final_url: str
    etag: str
    last_modified: str
    hash: str
    media_type: str
    modified_at: str

    @property
    def conditions(self) -> tuple[tuple[str, str], ...]:
        """Return the headers that ask for the page only if it is another by now."""
        if self.etag:
            return (("if-none-match", self.etag),)
        return (("if-modified-since", self.last_modified),)


class PageMemory:
    """Keeps one sealed file per URL in `folder`; a damaged one counts as absent.

    Several processes may share the folder. What `archive` no longer holds is asked for anew.
    """

    def __init__(self, folder: Path, archive: Archive) -> None:
        self._folder = folder
        self._archive = archive

    async def recall(self, url: Url) -> tuple[Remembered, bytes] | None:
        """Return the version of `url` that is remembered and its bytes, or None."""
        return await to_thread.run_sync(self._recall, url)

    async def remember(self, url: Url, opened: Opened, *, etag: str, last_modified: str) -> None:
        """Keep that `url` led to `opened`. Without validators there is nothing to keep."""
        if not etag and not last_modified:
            return
        version = Remembered(
            final_url=opened.display,
            etag=etag,
            last_modified=last_modified,
            hash=content_hash(opened.data),
            media_type=opened.media_type,
            modified_at=opened.modified_at,
        )
        body = canonical_json({"format": _FORMAT, "url": str(url), **asdict(version)})
        await to_thread.run_sync(keep_sealed, self._path(url), body.encode())

    def _recall(self, url: Url) -> tuple[Remembered, bytes] | None:
        try:
            version = _read(unseal(self._path(url).read_bytes()), url)
            return version, self._archive.get(version.hash)
        except (OSError, ValueError, AssayError):  # gone or damaged, here or in the archive
            return None

    def _path(self, url: Url) -> Path:
        name = sha256_hex(str(url))
        return self._folder / name[:2] / f"{name}.json"


def _read(body: bytes, url: Url) -> Remembered:
    """Return what `body` says; raises `ValueError` when it is of another format or URL."""
    facts = json.loads(body)
    if not isinstance(facts, dict) or not all(
        isinstance(fact, str | int) for fact in facts.values()
    ):
        raise SealError("not a remembered page")
    if facts.pop("format", None) != _FORMAT or facts.pop("url", None) != str(url):
        raise SealError("of another version or another page")
    if facts.keys() != set(Remembered.__slots__) or not is_content_hash(str(facts["hash"])):
        raise SealError("not a remembered page")
    return Remembered(**{name: str(fact) for name, fact in facts.items()})
