"""Downloads one file to disk, whole or not at all."""

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from anyio import to_thread

from adapters.documents.sniff import sniff
from adapters.web.client import HttpClient
from adapters.web.exchange import Answer
from adapters.web.kinds import SUFFIXES, essence
from adapters.web.places import reading_place
from adapters.web.port import Request
from adapters.web.rules import MIB, Rules
from adapters.web.urls import Url, shown
from state.values.errors import RejectedError
from state.values.ids import sha256_hex

MOST_BYTES = 100 * MIB
ACQUISITION = Rules(
    allow_http=True, max_bytes=MOST_BYTES, max_redirects=5, wall_s=300.0, deadline_s=600.0
)
_ENDS = 64 * 1024  # what `sniff` looks at: the start, and of a ZIP the directory at the end


@dataclass(frozen=True, slots=True)
class Acquired:
    """A file that was downloaded: where it is, where it came from, and what it is.

    `sha256` is in hex, `size` in bytes, `media_type` what the bytes are.
    """

    path: Path
    url: str
    sha256: str
    size: int
    media_type: str


async def acquire(
    client: HttpClient, url: str, folder: Path, *, max_bytes: int = MOST_BYTES
) -> Acquired:
    """Download `url` into `folder`, under a name made of its hash. An arXiv abstract is its paper.

    While it comes it is a `.part` file, named by the URL; one that a killed process left is
    overwritten. Make `client` with the rules `ACQUISITION`. Raises `RejectedError` with a code of
    adapters.web.errors, HTTP_<status>, or FOLDER_UNWRITABLE.
    """
    place = reading_place(client.rules.admit(url))
    part = folder / f"{sha256_hex(str(place))[:32]}.part"

    async def read(answer: Answer) -> Acquired:
        if answer.status != 200:
            raise RejectedError(
                f"{shown(answer.url)} answers {answer.status}; check the address.",
                code=f"HTTP_{answer.status}",
            )
        return await _store(answer, part, max_bytes)

    return await client.ask(Request(str(place)), read)


async def _store(answer: Answer, part: Path, max_bytes: int) -> Acquired:
    with _writing(part) as descriptor:
        digest, size = hashlib.sha256(), 0
        async with aclosing(answer.pieces(max_bytes=max_bytes)) as pieces:
            async for piece in pieces:
                digest.update(piece)
                size += len(piece)
                await to_thread.run_sync(_write_all, descriptor, piece)
        await to_thread.run_sync(os.fsync, descriptor)
        kind = _sniff(descriptor, size, answer.url, answer.headers.get("content-type", ""))
        path = part.with_name(digest.hexdigest()[:32] + SUFFIXES.get(kind, ""))
        await to_thread.run_sync(part.replace, path)
    return Acquired(path, str(answer.url), digest.hexdigest(), size, kind)


@contextmanager
def _writing(part: Path) -> Iterator[int]:
    """Open `part` for this process alone, emptied; what fails takes it away."""
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(part, flags, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not part.exists() or not os.path.samestat(part.stat(), os.fstat(descriptor)):
                raise BlockingIOError  # another process has just finished this very file
            os.ftruncate(descriptor, 0)
            try:
                yield descriptor
            except BaseException:
                part.unlink(missing_ok=True)
                raise
        finally:
            os.close(descriptor)
    except BlockingIOError as error:
        raise RejectedError(
            f"{part} is being written by another process; wait for it.", code="CONFLICT"
        ) from error
    except OSError as error:
        raise RejectedError(
            f"{part}: {error.strerror}; free some space or choose another folder.",
            code="FOLDER_UNWRITABLE",
        ) from error


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _sniff(descriptor: int, size: int, url: Url, media_type: str) -> str:
    start = os.pread(descriptor, _ENDS, 0)
    end = os.pread(descriptor, _ENDS, max(len(start), size - _ENDS))
    name = "" if essence(media_type) == "text/html" else url.path.rpartition("/")[2]
    return sniff(start + end, name=name, media_type=media_type)
