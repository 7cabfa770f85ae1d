"""Waiting, in async code, for a thread that watches over a command."""

from collections.abc import Callable
from typing import TypeVar

import anyio
from anyio import to_thread

from adapters.sandbox.port import SandboxUnavailable
from adapters.sandbox.supervision import Stop

_T = TypeVar("_T")


async def in_thread(work: Callable[[Stop], _T]) -> _T:
    """Return what `work` returns in a thread of its own.

    When cancelled, it is told to stop, and has stopped before this returns. What the system refuses
    is raised as `SandboxUnavailable`: it says nothing about the command.
    """
    result: list[_T] = []
    failed: list[Exception] = []
    with Stop() as stop:

        async def attempt() -> None:
            with anyio.CancelScope(shield=True):
                try:
                    own = anyio.CapacityLimiter(1)
                    result.append(await to_thread.run_sync(work, stop, limiter=own))
                except Exception as error:  # noqa: BLE001  raised below, outside of the group
                    failed.append(error)
            done.set()

        done = anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(attempt)
            try:
                await done.wait()
            except anyio.get_cancelled_exc_class():
                stop.set()
                raise
    if failed and isinstance(failed[0], OSError):
        raise SandboxUnavailable(f"the sandbox broke: {failed[0]}") from failed[0]
    if failed:
        raise failed[0]
    return result[0]
