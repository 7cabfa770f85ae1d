"""Progress while a model takes its time: that it is waited for, and for how long."""

import io
import time

import pytest
from rich.console import Console

from flows.in_flight import InFlight
from flows.progress import Lines, LiveLine
from state.envelope import Draft, Refs
from state.projection import Run
from state.run_events import EffectReserved
from tests.state.builders import reserved

RUNNING = Run(run_id="r1", kind="research", status="running")


def begun(call: str, **spend: int) -> Draft:
    event = EffectReserved.model_validate({**reserved().model_dump(), "reserve": spend})
    return Draft(event.type, event.model_dump(mode="json"), Refs("t/1", call))


def ended(call: str) -> Draft:
    return Draft("effect_settled", {}, Refs("t/1", call))


def test_calls_of_models_are_told_from_their_reservation_to_their_end() -> None:
    now = [0.0]
    calls = InFlight(lambda: now[0])
    calls.observe(RUNNING, [begun("a", model_calls=1), begun("b", pages=1)])
    now[0] = 9.0
    calls.observe(RUNNING, [begun("c", model_calls=1)])
    assert calls.told(10) == ""

    now[0] = 34.0
    assert calls.told(10) == "2 model calls under way, for 30 s"
    calls.observe(RUNNING, [ended("a")])
    assert calls.told(10) == "1 model call under way, for 20 s"
    calls.observe(RUNNING, [ended("c")])
    assert calls.told(0) == ""


def test_nothing_is_under_way_in_a_run_that_stopped() -> None:
    calls = InFlight()
    calls.observe(RUNNING, [begun("a", model_calls=1)])

    calls.observe(Run(run_id="r1", kind="research", status="interrupted"), [])

    assert calls.told(0) == ""


def test_logs_say_now_and_then_that_a_model_is_waited_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = Lines(beat_s=0.05)
    lines.start()
    lines.observe(RUNNING, [begun("a", model_calls=1)])
    said = ""
    give_up_at = time.monotonic() + 20
    while "model call under way" not in said and time.monotonic() < give_up_at:
        time.sleep(0.02)
        said += capsys.readouterr().err
    lines.stop()

    assert "1 model call under way, for 0 s" in said


@pytest.mark.parametrize("beat", [True, False])
def test_the_line_on_a_terminal_says_it_from_ten_seconds_on(beat: bool) -> None:
    now = [0.0]
    line = LiveLine(beat=beat, in_flight=InFlight(lambda: now[0]))
    line.observe(RUNNING, [begun("a", model_calls=1)])
    now[0] = 21.0
    screen = io.StringIO()

    Console(file=screen, width=80).print(line)

    assert ("1 model call under way, for 20 s" in screen.getvalue()) == beat
