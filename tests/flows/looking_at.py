"""A process that looks at a schedule, and may be killed at a named moment of it.

    python looking_at.py NAME FROM MINUTES [MOMENT]

It looks once a minute from the time FROM, which is its clock; after each look it cancels the run
that has started, so that the next one can. With a MOMENT (before-submit, after-submit, archived,
recorded) it kills itself there, the first time.
"""

import os
import signal
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from flows import schedules
from flows.runs import cancel
from flows.schedules import Schedules
from flows.settings import load_settings
from flows.wiring import make_desk
from state.errors import LeaseHeld
from state.values.errors import AssayError, RejectedError

MOMENTS = {
    "before-submit": ("submit", True),
    "after-submit": ("submit", False),
    "archived": ("end_of", False),
    "recorded": ("publish_changes", True),
}


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def arm(moment: str) -> None:
    """Have this process killed at `moment`."""

    def around(work: Callable[..., Any], *, before: bool) -> Callable[..., Any]:
        def worked(*given: Any, **named: Any) -> Any:
            if before:
                die()
            work(*given, **named)
            die()

        return worked

    name, before = MOMENTS[moment]
    setattr(schedules, name, around(getattr(schedules, name), before=before))


def main(name: str, begin: str, minutes: str, moment: str = "") -> None:
    """Look, and cancel what was started."""
    clock = datetime.fromisoformat(begin)
    if moment:
        arm(moment)
    desk = make_desk(load_settings(), now=lambda: clock)
    opened = Schedules(desk)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    for _ in range(int(minutes)):
        clock += timedelta(minutes=1)
        look = opened.look(name)
        if look.to_execute and not moment:
            try:
                cancel(desk, look.to_execute, "looked at enough")
            except (LeaseHeld, RejectedError):
                continue  # another process was faster
            except AssayError as error:
                raise SystemExit(error.message) from error
    opened.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
