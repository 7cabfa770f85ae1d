"""Runs a coroutine so that Ctrl-C, SIGTERM and a closed terminal end it cleanly.

The event loop gets a thread of its own, since Prefect would take SIGTERM for itself in the main
thread and raise in the middle of whatever the loop is doing.
"""

import asyncio
import os
import signal
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LOOK_S = 0.2


class Interrupted(Exception):
    """A signal ended the work; `signal` is its number. What was recorded can be gone on with."""

    def __init__(self, number: int) -> None:
        super().__init__(f"interrupted by signal {number}")
        self.signal = number

    @property
    def exit_code(self) -> int:
        """Return the code a shell expects of a program that a signal ended."""
        return 128 + self.signal


class _Work:
    """A coroutine on a loop in another thread, and the first signal that came meanwhile."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        self._coroutine = coroutine
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None
        self.ended = threading.Event()
        self.result: Any = None
        self.error: BaseException | None = None
        self.received = 0

    def run(self) -> None:
        try:
            self.result = asyncio.run(self._main())
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            self.error = error
        finally:
            self.ended.set()

    async def _main(self) -> Any:
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.ensure_future(self._coroutine)
        if self.received:
            self._task.cancel()
        return await self._task

    def interrupt(self, number: int, _: FrameType | None) -> None:
        """Cancel the work; on a second Ctrl-C leave at once, for all that counts is on the disk."""
        if self.received and number == signal.SIGINT:
            os._exit(128 + number)
        self.received = self.received or number
        if self._loop and self._task and not self.ended.is_set():
            self._loop.call_soon_threadsafe(self._task.cancel)


def run_interruptibly(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return what `coroutine` returns; raises `Interrupted` when a signal ended it.

    Call it in the main thread. The work is cancelled at the first signal and may record its end.
    """
    work = _Work(coroutine)
    with _handled(work):
        thread = threading.Thread(target=copy_context().run, args=(work.run,), name="run")
        thread.start()
        while not work.ended.wait(_LOOK_S):
            pass  # a wait without end would not let Python see a signal on every platform
        thread.join()
    if isinstance(work.error, asyncio.CancelledError) and work.received:
        raise Interrupted(work.received) from None
    if work.error is not None:
        raise work.error
    result: T = work.result
    return result


@contextmanager
def _handled(work: _Work) -> Iterator[None]:
    # What was ignored from the start, by `nohup` or in the background, stays ignored.
    heeded = [number for number in _SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, work.interrupt) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
