"""The pace at which providers are asked: so much time between two requests, whoever makes them."""

import fcntl
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio

# No queue is that long; a later start was written by a clock that has been set back since.
_HORIZON_S = 120.0


class Pace:
    """Gives each request its start, at least `interval_s` after the one before at that provider.

    It holds for all who share this object; with a `folder`, for all processes that name the same
    one. Where that folder cannot be written, it holds within this process.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._folder = folder
        self._now = now
        self._sleep = sleep
        self._turn = threading.Lock()
        self._free_at: dict[str, float] = {}

    async def wait(self, name: str, interval_s: float) -> None:
        """Return when the provider `name` may be asked again."""
        wait_s = self._reserve(name, interval_s)
        if wait_s > 0:
            await self._sleep(wait_s)

    def _reserve(self, name: str, interval_s: float) -> float:
        with self._turn:
            now = self._now()
            try:
                start = self._reserve_among_processes(name, interval_s, now)
            except OSError:
                start = _start(self._free_at.get(name, 0.0), now)
            self._free_at[name] = start + interval_s
        return start - now

    def _reserve_among_processes(self, name: str, interval_s: float, now: float) -> float:
        own = self._free_at.get(name, 0.0)
        if self._folder is None:
            return _start(own, now)
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / f"{name}.pace").open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            start = _start(max(own, _number(file.read(64))), now)
            file.truncate(0)
            file.write(repr(start + interval_s).encode())
        return start


def _start(free_at: float, now: float) -> float:
    return free_at if now < free_at <= now + _HORIZON_S else now


def _number(data: bytes) -> float:
    try:
        return float(data)
    except ValueError:
        return 0.0


SHARED = Pace()
