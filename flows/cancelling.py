"""Ends what is in flight as soon as somebody wants the end of the run, whoever executes it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import anyio

from state.values.errors import AssayError

LOOK_S = 1.0


class Watch:
    """Looks every second, while something is in flight, whether the run is to end.

    `is_end_wanted` is asked for that. What is in flight is cancelled then, and with it its requests
    and child processes, and so is whatever begins later.
    """

    def __init__(
        self, is_end_wanted: Callable[[], Awaitable[bool]], *, every_s: float = LOOK_S
    ) -> None:
        self._is_end_wanted = is_end_wanted
        self._every_s = every_s
        self._in_flight: set[anyio.CancelScope] = set()
        self._is_over = False

    @contextmanager
    def over(self) -> Iterator[anyio.CancelScope]:
        """Watch over the block; the scope's `cancelled_caught` tells that it was cut short."""
        with anyio.CancelScope() as scope:
            self._in_flight.add(scope)
            if self._is_over:
                scope.cancel()
            try:
                yield scope
            finally:
                self._in_flight.discard(scope)

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Look for as long as the block runs."""
        looking = asyncio.create_task(self._look_out(), name="cancel watch")
        try:
            yield
        finally:
            looking.cancel()
            await asyncio.wait([looking])

    async def _look_out(self) -> None:
        while not self._is_over:
            await anyio.sleep(self._every_s)
            self._is_over = bool(self._in_flight) and await self._is_wanted()
        for scope in self._in_flight:
            scope.cancel()

    async def _is_wanted(self) -> bool:
        try:
            return await self._is_end_wanted()
        except AssayError:
            return False  # the ledger cannot be read: what is in flight will be told as it ends
