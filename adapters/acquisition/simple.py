"""Sources that are one document: a local file, an address, or what a person wrote."""

import os
import stat
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import anyio

from adapters.acquisition.port import Source, SourceFile
from adapters.web.acquire import MOST_BYTES, acquire
from adapters.web.client import HttpClient
from state.values.errors import RejectedError
from state.values.redaction import redact

REQUIREMENT = "requirement"


class RequirementText:
    """The requirement itself, as a Markdown document."""

    async def acquire(self, source: str) -> Source:
        """Return `source` as the document; see `Acquirer.acquire`."""
        file = SourceFile(f"{REQUIREMENT}.md", source.encode(), "text/markdown")
        return Source((file,), REQUIREMENT)


class LocalFile:
    """A regular file of this machine."""

    async def acquire(self, source: str) -> Source:
        """Return the file at the path `source`.

        Raises `RejectedError` SOURCE_MISSING, SOURCE_UNREADABLE (no regular file, or not ours to
        read) or TOO_LARGE.
        """
        data = await anyio.to_thread.run_sync(_read_regular, Path(source))
        return Source((SourceFile(Path(source).name, data),), source)


def _read_regular(path: Path) -> bytes:
    try:
        # A FIFO would wait for its writer for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise RejectedError(f"there is no file {path}", code="SOURCE_MISSING") from error
    except OSError as error:
        raise RejectedError(f"{path}: {error.strerror}", code="SOURCE_UNREADABLE") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise RejectedError(f"{path} is no regular file", code="SOURCE_UNREADABLE")
    with os.fdopen(descriptor, "rb") as file:
        try:
            data = file.read(MOST_BYTES + 1)
        except OSError as error:
            raise RejectedError(f"{path}: {error.strerror}", code="SOURCE_UNREADABLE") from error
    if len(data) > MOST_BYTES:
        raise RejectedError(
            f"{path} is larger than {MOST_BYTES // 2**20} MiB; name a smaller file",
            code="TOO_LARGE",
        )
    return data


@dataclass(frozen=True, slots=True)
class WebDocument:
    """A document at an address, through the guarded fetcher; `open_client` uses `ACQUISITION`."""

    open_client: Callable[[], HttpClient]

    async def acquire(self, source: str) -> Source:
        """Download the document; errors are those of `adapters.web.acquire.acquire`."""
        with tempfile.TemporaryDirectory(prefix="assay-") as folder:
            got = await acquire(self.open_client(), source, Path(folder))
            data = await anyio.to_thread.run_sync(got.path.read_bytes)
        return Source((SourceFile(got.path.name, data, got.media_type),), redact(got.url))
