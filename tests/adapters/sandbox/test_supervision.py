"""What a supervisor reports is taken up, whenever it is looked for."""

import os
import sys
from pathlib import Path

from adapters.sandbox.cgroups import Group
from adapters.sandbox.port import Limits
from adapters.sandbox.supervision import Stop, Supervised, Watch
from adapters.sandbox.supervisor import Order


def test_what_ended_before_it_was_looked_at_is_told_as_it_ended(tmp_path: Path) -> None:
    order = Order(
        argv=[sys.executable, "-c", "import sys; print('said'); sys.exit(3)"],
        environment={}, folder=str(tmp_path), input=None, limits=[], groups=[], confinement=None,
        remains=[],
    )  # fmt: skip
    with Stop() as stop, Supervised(order, stop=stop) as supervised:
        os.waitid(os.P_PID, supervised.pid, os.WEXITED | os.WNOWAIT)

        ended = supervised.watch(Watch(Limits(), Group(), lambda: False))

    assert os.waitstatus_to_exitcode(ended.status) == 3
    assert ended.output_tail == b"said\n"
