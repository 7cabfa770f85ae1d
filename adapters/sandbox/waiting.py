"""Waiting, in async code, for a thread that watches over a command."""

from collections.abc import Callable
from typing import Generic, TypeVar

import anyio
from anyio import to_thread

from adapters.sandbox.supervision import Stop, Stopped

_T = TypeVar("_T")


class _Result(Generic[_T]):
    """What the thread returned or raised."""

    def __init__(self) -> None:
        self.value: list[_T] = []
        self.error: BaseException | None = None


async def in_thread(work: Callable[[Stop], _T]) -> _T:
    """Return what `work` returns in a thread of its own.

    When cancelled, it is told to stop, and has stopped before this returns.
    """
    result: _Result[_T] = _Result()
    with Stop() as stop:

        async def attempt() -> None:
            with anyio.CancelScope(shield=True):
                try:
                    result.value.append(
                        await to_thread.run_sync(work, stop, limiter=anyio.CapacityLimiter(1))
                    )
                except (Exception, Stopped) as error:  # noqa: BLE001  raised again below
                    result.error = error
            done.set()

        done = anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(attempt)
            try:
                await done.wait()
            except anyio.get_cancelled_exc_class():
                stop.set()
                raise
    if result.error is not None:
        raise result.error
    return result.value[0]
