"""Calls of models that are under way, and for how long: so that waiting is seen to be waiting."""

import threading
import time
from collections.abc import Callable, Sequence

from state.envelope import Draft
from state.projection import Run
from state.values.wording import counted


class InFlight:
    """The calls of models that were reserved and have not ended; told from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._began: dict[str, float] = {}

    def observe(self, run: Run, drafts: Sequence[Draft]) -> None:
        """Take in what was appended to `run`."""
        with self._lock:
            for draft in drafts:
                call_id = draft.refs.call_id or ""
                if draft.type == "effect_reserved" and draft.body["reserve"].get("model_calls"):
                    self._began[call_id] = self._clock()
                elif draft.type in ("effect_settled", "effect_failed"):
                    self._began.pop(call_id, None)
            if run.status != "running":
                self._began.clear()

    def told(self, least_s: float) -> str:
        """Return what waits for a model for `least_s` seconds or longer, and for how long; or ''.

        The seconds are whole tens.
        """
        with self._lock:
            lasts = [self._clock() - began for began in self._began.values()]
        longest = max(lasts, default=-1.0)
        if longest < least_s:
            return ""
        return f"{counted(len(lasts), 'model call')} under way, for {longest // 10 * 10:.0f} s"
