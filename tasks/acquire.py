"""Acquire: archive the bytes that code is made from."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import anyio
from prefect import task

from adapters.acquisition.port import Acquirer
from adapters.models.port import Answer
from state.artifacts import Artifacts
from state.envelope import utc_text
from tasks.limits import host_of
from tasks.policy import POLICY
from tasks.slots import slots


@dataclass(frozen=True, slots=True)
class AcquireInput:
    """What kind of source, and which."""

    source_type: str
    source: str


@dataclass(frozen=True, slots=True)
class AcquiredFile:
    """A file in the archive."""

    name: str
    content_hash: str
    size: int
    media_type: str


@dataclass(frozen=True, slots=True)
class Acquired:
    """The archived source; see `adapters.acquisition.port.Source`."""

    files: tuple[AcquiredFile, ...]
    locator: str
    licence: str
    dropped: tuple[str, ...]
    fetched_at: str


async def acquire_source(
    given: AcquireInput, acquirer: Acquirer, artifacts: Artifacts, now: Callable[[], datetime]
) -> Answer[Acquired]:
    """Archive every file of the source. Errors are the acquirer's."""
    source = await acquirer.acquire(given.source)
    fetched_at = utc_text(now())
    files = []
    for file in source.files:
        address = await anyio.to_thread.run_sync(artifacts.put, file.data)
        files.append(AcquiredFile(file.name, address, len(file.data), file.media_type))
    return Answer(
        Acquired(tuple(files), source.locator, source.licence, source.dropped, fetched_at)
    )


@task(name="acquire", task_run_name="acquire the source", **POLICY)
async def acquire(
    given: AcquireInput,
    *,
    acquirer: Acquirer,
    artifacts: Artifacts,
    now: Callable[[], datetime],
) -> Answer[Acquired]:
    """Archive a source."""
    async with slots("host", host_of(given.source)):
        return await acquire_source(given, acquirer, artifacts, now)
