"""Steps that do not depend on each other: awaited at once, their results in the order asked for."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import anyio

from flows.groups import first_leaf
from flows.step import StepFailed
from state.errors import BudgetExceeded
from state.values.errors import RejectedError

T = TypeVar("T")


async def in_order(
    calls: Sequence[Callable[[], Awaitable[T]]], *, at_once: int = 4
) -> list[T | RejectedError]:
    """Await `calls`, `at_once` at a time; return their results in the order they were given.

    A call that ended in a recorded failure, or that no budget was left for, gives its error;
    anything else that is raised ends the others and is raised as it is.
    """
    results: dict[int, T | RejectedError] = {}
    limit = anyio.Semaphore(at_once)

    async def one(number: int, call: Callable[[], Awaitable[T]]) -> None:
        async with limit:
            try:
                results[number] = await call()
            except (StepFailed, BudgetExceeded) as failure:
                results[number] = failure

    try:
        async with anyio.create_task_group() as group:
            for number, call in enumerate(calls):
                group.start_soon(one, number, call)
    except BaseExceptionGroup as raised:
        raise first_leaf(raised) from None
    return [results[number] for number in range(len(calls))]
