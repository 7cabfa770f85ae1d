"""How long to wait: what `Retry-After` says, a growing pause, and the pace of one host."""

import time
from collections.abc import Awaitable, Callable
from datetime import UTC
from email.utils import parsedate_to_datetime

import anyio

Sleep = Callable[[float], Awaitable[None]]

_FIRST_PAUSE_S = 0.5
_MOST_HOSTS = 1_000


def retry_after_s(header: str, *, now: float) -> float | None:
    """Return the seconds that a Retry-After header asks for, or None when it cannot be read.

    It is a number of seconds or a date (RFC 9110 §10.2.3); `now` is in seconds since 1970.
    """
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text[:12])
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, moment.timestamp() - now)


def pause_s(retry: int, chance: float) -> float:
    """Return the pause before the `retry`-th retry (from 0); `chance` in [0, 1) spreads it."""
    return _FIRST_PAUSE_S * 2.0**retry * (0.5 + chance)


class Pace:
    """Lets each host be asked at most once in an interval; whoever comes first goes first."""

    def __init__(
        self,
        interval_s: float,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Sleep = anyio.sleep,
    ) -> None:
        self._interval_s = interval_s
        self._monotonic = monotonic
        self._sleep = sleep
        self._free_at: dict[str, float] = {}

    async def turn(self, host: str, *, at_least_s: float = 0.0) -> None:
        """Return when `host` may be asked; the next turn is an interval or `at_least_s` later."""
        now = self._monotonic()
        start = max(now, self._free_at.get(host, now))
        if len(self._free_at) >= _MOST_HOSTS:
            self._free_at = {name: at for name, at in self._free_at.items() if at > now}
        self._free_at[host] = start + max(self._interval_s, at_least_s)
        if start > now:
            await self._sleep(start - now)
