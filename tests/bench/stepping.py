"""The durable step: what looking up, reserving, archiving and settling add to a Prefect task."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from flows.runs import request_of, submit
from flows.settings import Settings
from flows.wiring import make_desk
from tests.bench.commands import question
from tests.bench.engine import engine
from tests.bench.measuring import ROOT, Row, Samples

STEPS, WARM_UP = 100, 10


@dataclass(frozen=True, slots=True)
class Given:
    """The input of a step that does nothing."""

    number: int


def measure(folder: Path) -> Iterator[Row]:
    """Yield the time of a step, of what it adds to its task, and of one that is replayed."""
    with engine(folder) as settings:
        durable, bare, replayed = asyncio.run(_in_one_flow(settings))
    named = "bare Prefect task"
    yield Row("durable step, median", durable.median, bare.median, named)
    yield Row("what it adds to its task, median", durable.median - bare.median, bare.median, named)
    yield Row("recorded step, replayed, median", replayed.median, bare.median, named)


async def _in_one_flow(settings: Settings) -> tuple[Samples, Samples, Samples]:
    """Take durable steps and bare tasks in turn, then the same steps again."""
    from prefect import flow, task
    from prefect.cache_policies import NO_CACHE

    from adapters.models.port import Answer
    from flows.execution import take_up
    from flows.step import Turn

    desk = make_desk(settings)
    request = request_of(desk, question(), sources=[ROOT / "examples"], run_id="steps")
    submit(desk, request)
    durable, bare, replayed = Samples(), Samples(), Samples()
    turn = Turn("knowledge_base")

    @task(cache_policy=NO_CACHE, persist_result=False)
    async def nothing(given: Given) -> Answer[int]:
        return Answer(given.number)

    @flow(persist_result=False)
    async def steps() -> None:
        async with take_up(request.id, desk) as (driver, _):
            for number in range(STEPS + WARM_UP):
                with durable.one():
                    await driver.step(turn, nothing, Given(number), int)
                with bare.one():
                    await nothing(Given(number))
            for number in range(STEPS + WARM_UP):
                with replayed.one():
                    await driver.step(turn, nothing, Given(number), int)

    await steps()
    for samples in (durable, bare, replayed):
        del samples.seconds[:WARM_UP]
    return durable, bare, replayed
