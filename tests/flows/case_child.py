"""One run on the annex in a process of its own, to be killed: `python case_child.py RUN [STAGE]`.

The variables ASSAY_* and PREFECT_API_URL say where everything is. With a STAGE the process kills
itself when that stage is about to be recorded as begun.
"""

import os
import signal
import sys
from collections.abc import Sequence

from flows.runs import execute
from flows.settings import load_settings
from flows.wiring import make_desk
from state.envelope import Draft
from state.projection import Run


def main() -> None:
    """Execute the run, as far as it gets."""
    run_id, stage = sys.argv[1], "".join(sys.argv[2:])

    def observe(run: Run, drafts: Sequence[Draft]) -> None:
        if stage and any(made.body.get("stage") == stage for made in drafts):
            os.kill(os.getpid(), signal.SIGKILL)

    from flows.engine import configure

    settings = load_settings()
    configure(None, settings.home)
    desk = make_desk(settings)
    desk.observe = observe
    execute(desk, run_id)


if __name__ == "__main__":
    main()
