"""The limiter of a provider: so many requests at once, so far apart, and a pause after a refusal.

It holds over all processes of the machine that name the same folder. A turn is a lock on a file,
which the system takes back from a process that died.
"""

import fcntl
import re
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import BinaryIO

import anyio

from adapters.models.chat.errors import ModelUnavailable

# A start or a pause further off was written by a clock that has been set back since.
_HORIZON_S = 180.0
_LOOK_AGAIN_S = (0.02, 0.5)


class Limiter:
    """Gives turns at providers, `at_once` together and `interval_s` apart.

    Without a `folder`, or where it cannot be written, it holds within this process. Whoever gets
    no turn for `patience_s` is told so with `ModelUnavailable`.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        at_once: int = 4,
        interval_s: float = 0.0,
        patience_s: float = 900.0,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._folder = folder
        self._at_once = at_once
        self._interval_s = interval_s
        self._patience_s = patience_s
        self._now = now
        self._sleep = sleep
        self._guard = threading.Lock()
        self._own_turns: dict[str, threading.BoundedSemaphore] = {}
        self._own_times: dict[str, float] = {}

    @asynccontextmanager
    async def turn(self, provider: str) -> AsyncIterator[None]:
        """Hold one of the turns at `provider` while the block runs."""
        name = re.sub(r"[^A-Za-z0-9.-]", "_", provider)[:100] or "_"
        with ExitStack() as held:
            await self._take(name, provider, held)
            while (wait_s := self._until(f"{name}.pause")) > 0:
                await self._sleep(wait_s)
            await self._sleep(self._reserve_start(f"{name}.start"))
            yield

    def back_off(self, provider: str, seconds: float) -> None:
        """Let nobody ask `provider` for the next `seconds`, three minutes at the most."""
        name = re.sub(r"[^A-Za-z0-9.-]", "_", provider)[:100] or "_"
        until = self._now() + min(seconds, _HORIZON_S)
        self._change(f"{name}.pause", lambda before: max(before, until))

    async def _take(self, name: str, provider: str, held: ExitStack) -> None:
        give_up_at = self._now() + self._patience_s
        wait_s, longest_s = _LOOK_AGAIN_S
        while not self._took(name, held):
            if self._now() >= give_up_at:
                raise ModelUnavailable(
                    f"{provider}: no turn came in {self._patience_s:.0f} s, since others held all "
                    f"{self._at_once}; try again, or allow more requests at once"
                )
            await self._sleep(wait_s)
            wait_s = min(wait_s * 1.5, longest_s)

    def _took(self, name: str, held: ExitStack) -> bool:
        try:
            return self._took_file(name, held)
        except OSError:
            return self._took_own(name, held)

    def _took_file(self, name: str, held: ExitStack) -> bool:
        if self._folder is None:
            return self._took_own(name, held)
        self._folder.mkdir(parents=True, exist_ok=True)
        for number in range(self._at_once):
            file = (self._folder / f"{name}.turn-{number}").open("ab")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                file.close()
                if not isinstance(error, BlockingIOError):
                    raise
            else:
                held.callback(file.close)
                return True
        return False

    def _took_own(self, name: str, held: ExitStack) -> bool:
        with self._guard:
            turns = self._own_turns.setdefault(name, threading.BoundedSemaphore(self._at_once))
        if turns.acquire(blocking=False):
            held.callback(turns.release)
            return True
        return False

    def _reserve_start(self, name: str) -> float:
        now = self._now()
        start = self._change(name, lambda before: max(now, before) + self._interval_s)
        return max(0.0, start - self._interval_s - now)

    def _until(self, name: str) -> float:
        return self._change(name, lambda before: before) - self._now()

    def _change(self, name: str, change: Callable[[float], float]) -> float:
        """Set the time kept under `name` to what `change` makes of it, and return that."""
        with self._guard:
            try:
                kept = self._change_file(name, change)
            except OSError:
                kept = change(self._own_times.get(name, 0.0))
            self._own_times[name] = kept
        return kept

    def _change_file(self, name: str, change: Callable[[float], float]) -> float:
        own = self._own_times.get(name, 0.0)
        if self._folder is None:
            return change(own)
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / name).open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            before = max(own, self._read(file))
            kept = change(before)
            if kept != before:
                file.truncate(0)
                file.write(repr(kept).encode())
        return kept

    def _read(self, file: BinaryIO) -> float:
        file.seek(0)
        try:
            kept = float(file.read(64))
        except ValueError:
            return 0.0
        return kept if kept <= self._now() + _HORIZON_S else 0.0
