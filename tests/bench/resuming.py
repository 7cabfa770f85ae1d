"""Resuming: a run at the limits taken up again, and a whole command that goes on with a report."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

from flows.settings import Settings
from flows.wiring import make_desk
from state.run_events import StageStarted
from tests.bench.commands import HELLO, assay, example, prefect_of, python
from tests.bench.engine import engine
from tests.bench.measuring import Row, Samples, repeat
from tests.bench.projecting import RUN, write_history

INTERRUPTED = 4  # the exit code of a run that can be resumed


def measure(folder: Path) -> Iterator[Row]:
    """Yield the time to the first append at the limits, and that of `assay resume`."""
    home = folder / "projection"
    write_history(home)
    with engine(folder) as settings:
        taken = asyncio.run(_take_up(Settings(home=home)))
        yield Row("resume at the limits, to the first append", taken.median, most_s=3.0)
        yield _resumed_report(settings.home)


async def _take_up(settings: Settings) -> Samples:
    from flows.execution import take_up
    from flows.step import Turn

    samples = Samples()
    for number in range(3):
        with samples.one():
            async with take_up(RUN, make_desk(settings)) as (driver, _):
                turn = Turn("again", number + 1)
                await driver.record(turn, StageStarted(stage=f"again-{number}"))
    return samples


def _resumed_report(home: Path) -> Row:
    runs = iter(("report-1", "report-2"))
    options = ("--quiet", "--stop-after", "report", "--run-id")
    for run_id in ("report-1", "report-2"):
        assay(home, *example(*options, run_id), codes=(INTERRUPTED,))
    resumed, hello = repeat(
        2,
        lambda: assay(home, "resume", "--quiet", next(runs)),
        lambda: python(HELLO, env=prefect_of(home)),
    )
    named = "a hello flow, bare Prefect"
    return Row("assay resume, report written", resumed.least, hello.least, named)
