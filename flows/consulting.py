"""A durable step that asks the researcher: priced first, so that it can be reserved."""

from typing import Any, TypeVar

from prefect import Task

from adapters.models.port import Given
from flows.step import Driver, StepFailed, Turn
from flows.wiring import Tools
from state.values.errors import RejectedError

T = TypeVar("T")


async def consult(
    driver: Driver,
    turn: Turn,
    task: Task[..., Any],
    given: object,
    kind: type[T],
    *,
    tools: Tools,
    about: Given,
    **more: object,
) -> T:
    """Return the outcome of `task(given, researcher=…, **more)`; raises as `Driver.step` does.

    `about` is what the researcher is asked, which sets the price. What cannot be asked at all, such
    as a prompt that has no room in the model's context, is a `StepFailed` that is not recorded:
    with another setting it may succeed.
    """
    try:
        reserve = tools.researcher.price(about)
    except RejectedError as error:
        raise StepFailed(error.message, code=error.code) from error
    return await driver.step(
        turn, task, given, kind, reserve=reserve, inherit=True, researcher=tools.researcher, **more
    )
