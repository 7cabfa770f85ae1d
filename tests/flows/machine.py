"""One machine of several: carries the runs it is told of, beside others that do the same.

    python machine.py RUN…

The variables ASSAY_* say which data folder is its own, and where ledger and archive are. It takes
up whatever run of them nobody executes, a few at once, until each has ended, and writes a line of
JSON for each time it stopped executing one: {"run": …, "status": …, "reason": …}.
"""

import json
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

from flows.runs import execute
from flows.settings import load_settings
from flows.wiring import Desk, make_desk
from state.errors import LeaseHeld
from state.projection import TERMINAL
from state.values.errors import AssayError

FIXED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
_AT_ONCE = 3
_PATIENCE_S = 160.0
_PAUSE_S = 0.2


def carry(desk: Desk, run_id: str) -> bool:
    """Execute the run if nobody does; tell whether it has ended."""
    try:
        if desk.ledger.project(run_id).status in TERMINAL:
            return True
        if desk.ledger.is_held(run_id):
            return False
        result = execute(desk, run_id)
        status, reason = str(result.status), result.reason
    except LeaseHeld:
        return False  # another machine was faster
    except AssayError as error:
        status, reason = "interrupted", error.message
    except Exception as error:  # noqa: BLE001 - of the engine, whose database went away
        status, reason = "interrupted", f"{type(error).__name__}: {error}"
    say(run=run_id, status=status, reason=reason)
    return status in TERMINAL


def say(**facts: object) -> None:
    """Write one line of JSON to stdout."""
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def work(desk: Desk, run_ids: Sequence[str]) -> None:
    """Carry the runs until each has ended."""
    deadline, open_ = time.monotonic() + _PATIENCE_S, list(run_ids)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        while open_ and time.monotonic() < deadline:
            ended = list(pool.map(lambda run_id: carry(desk, run_id), open_))
            open_ = [run_id for run_id, is_over in zip(open_, ended, strict=True) if not is_over]
            time.sleep(_PAUSE_S)
    desk.ledger.close()


def main() -> None:
    """Import everything, say so, and work."""
    from flows.engine import configure

    settings = load_settings()
    settings.home.mkdir(mode=0o700, exist_ok=True)
    configure(None, settings.home)
    import flows.research  # noqa: F401 - what is wanted is that it is there

    say(ready=True)
    work(make_desk(settings, now=lambda: FIXED), sys.argv[1:])


if __name__ == "__main__":
    main()
