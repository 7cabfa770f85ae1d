"""Slots of Prefect's concurrency limits, held while a step asks a place (see `tasks.limits`).

A slot is a lease that is renewed while it is held; one whose process was killed comes back when its
lease runs out.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
from prefect.client.schemas.objects import ConcurrencyLeaseHolder
from prefect.concurrency.asyncio import concurrency
from prefect.context import TaskRunContext
from prefect.logging import get_logger

from adapters.documents.port import Opened, Reader
from state.values.errors import ObstructedError
from tasks.limits import Kind, host_of, limits_at

LEASE_S = 60.0  # the least that a server grants
_GIVE_BACK_S = 5.0


@asynccontextmanager
async def slots(kind: Kind, *places: str) -> AsyncIterator[None]:
    """Hold a slot of each limit that there is for one of `places`; wait for it as long as it takes.

    Raises `ObstructedError` when the server cannot be asked, or the limit was taken away.
    """
    names = limits_at(kind, *places)
    if not names:
        yield
        return
    granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    done = asyncio.Event()
    # In a task of its own: a step that is cancelled gives its slot back all the same.
    holding = asyncio.create_task(_hold(names, granted, done), name="slot")
    try:
        await granted
        yield
    finally:
        done.set()
        if not granted.done() or granted.cancelled():
            holding.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait([holding], timeout=_GIVE_BACK_S)


async def _hold(names: list[str], granted: "asyncio.Future[None]", done: asyncio.Event) -> None:
    slot = concurrency(
        names,
        lease_duration=LEASE_S,
        strict=True,
        # Work that was paid for is not given up because the server is away for a while.
        raise_on_lease_renewal_failure=False,
        holder=_holder(),
    )
    try:
        async with slot:
            if not granted.done():
                granted.set_result(None)
            await done.wait()
    except Exception as problem:  # noqa: BLE001 - told where the slot was asked for, or else logged
        if granted.done():
            get_logger("assay.limits").warning("a slot was not given back: %r", problem)
        else:
            granted.set_exception(_explained(names, problem))


def _explained(names: list[str], problem: Exception) -> ObstructedError:
    return ObstructedError(
        f"no slot of {', '.join(names)} can be had from the Prefect server: {problem}",
        code="LIMITS",
    )


def _holder() -> ConcurrencyLeaseHolder | None:
    context = TaskRunContext.get()
    if context is None or context.task_run is None:
        return None
    return ConcurrencyLeaseHolder(type="task_run", id=context.task_run.id)


@dataclass(frozen=True, slots=True)
class SlottedReader:
    """A `Reader` that holds a slot of the host's limit while it opens one of its addresses."""

    reader: Reader

    async def open(self, locator: str) -> Opened:
        """See `Reader.open`."""
        async with slots("host", host_of(locator)):
            return await self.reader.open(locator)
