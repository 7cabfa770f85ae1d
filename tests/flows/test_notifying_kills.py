"""SIGKILL around the end of a run, and tellers at once: a webhook is told exactly once."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from flows.notifying import notify_due
from flows.settings import Settings
from flows.wiring import Desk, make_desk
from tests.flows.kill_server import FIXED
from tests.flows.killing import ENDED_WELL, ROOT, RUN, Bench, journal, kill_bench
from tests.flows.receiver import Receiver, receiving

TELL = (
    "from flows.notifying import notify_due; from flows.settings import load_settings; "
    "from flows.wiring import make_desk; input(); notify_due(make_desk(load_settings()))"
)


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory, receiver: Receiver) -> Iterator[Bench]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_WEBHOOK_URL", receiver.address)
        patch.setenv("ASSAY_SERVICES", receiver.origin)
        with kill_bench(tmp_path_factory.mktemp("told"), at_once=1) as made:
            yield made


def desk_on(home: Path, receiver: Receiver) -> Desk:
    """Return the desk of somebody who looks an hour later."""
    settings = Settings(
        home=home,
        webhook_url=receiver.address,  # type: ignore[arg-type] # pydantic makes it a secret
        services=(receiver.origin,),
    )
    return replace(make_desk(settings), now=lambda: FIXED + timedelta(hours=1))


@pytest.mark.timeout(300)
def test_killed_at_any_event_around_its_end_a_run_is_told_of_once(
    bench: Bench, receiver: Receiver
) -> None:
    """Cases: B3 34."""
    types = [line.envelope.type for line in journal(bench.unbroken)]
    end = types.index("run_completed") + 1
    assert types[end:] == ["notification_claimed", "notification_sent"]

    for position in (end - 2, end - 1, end, end + 1, end + 2):
        home = bench.folder / f"after-{position}"
        receiver.taken.clear()
        broken = bench.run(home, kill_after=position)
        assert broken["signal"] == 9, broken["said"]
        assert bench.run(home) == ENDED_WELL
        notify_due(desk_on(home, receiver))
        notify_due(desk_on(home, receiver))

        assert receiver.told == [f"{RUN} run.completed"], position
        assert [line.envelope.type for line in journal(home)].count("notification_sent") == 1
        shutil.rmtree(home)


@pytest.mark.timeout(120)
def test_processes_that_look_at_once_tell_it_once(bench: Bench, receiver: Receiver) -> None:
    home = bench.folder / "at-once"
    end = [line.envelope.type for line in journal(bench.unbroken)].index("run_completed") + 1
    assert bench.run(home, kill_after=end)["signal"] == 9
    receiver.taken.clear()
    receiver.pause_s = 0.5
    environment = {
        "ASSAY_HOME": str(home),
        "ASSAY_WEBHOOK_URL": receiver.address,
        "ASSAY_SERVICES": receiver.origin,
        "PYTHONPATH": str(ROOT),
    }

    tellers = [
        subprocess.Popen(
            [sys.executable, "-c", TELL], env=environment, stdin=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    for teller in tellers:
        assert teller.stdin is not None
        teller.stdin.write("\n")
        teller.stdin.flush()
    for teller in tellers:
        teller.communicate(timeout=60)
        assert teller.returncode == 0

    assert receiver.told == [f"{RUN} run.completed"]
    assert [line.envelope.type for line in journal(home)].count("notification_claimed") == 1
    receiver.pause_s = 0.0
