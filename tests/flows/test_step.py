"""The durable step: looked up, reserved, done, settled; and who may drive a run."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from prefect import flow, task

from adapters.models.port import Answer
from flows.at_once import in_order
from flows.execution import take_up
from flows.runs import cancel, execute, retry
from flows.step import Driver, Held, StepFailed, Turn
from flows.wiring import Desk
from state.errors import BudgetExceeded, Fenced, LeaseHeld
from state.events import Holder, draft
from state.run_events import RunLeased
from state.values.errors import AssayError, ObstructedError, RejectedError, TransientError
from state.values.money import Usage
from tasks.policy import POLICY
from tests.flows.world import World, annex, published, queued, resumed, types

pytestmark = pytest.mark.usefixtures("prefect_server")

TURN = Turn("knowledge_base")
DONE: list[str] = []
QUICK = POLICY | {"retry_delay_seconds": 0, "retry_jitter_factor": None}


@task(name="double", **QUICK)
async def double(given: int, *, raising: list[Exception] | None = None, delay: float = 0) -> Any:
    """Return twice `given`, after raising what is to be raised first."""
    await anyio.sleep(delay)
    DONE.append(f"double {given}")
    if raising:
        raise raising.pop(0)
    return Answer(2 * given, Usage(searches=1))


@pytest.fixture(autouse=True)
def nothing_done() -> Iterator[None]:
    DONE.clear()
    yield
    DONE.clear()


@pytest.fixture
def world(assay_home: Path) -> World:
    return annex(assay_home)


@pytest.fixture
def desk(world: World) -> Desk:
    made = world.desk()
    queued(made)
    return made


Body = Callable[[Driver], Awaitable[Any]]


@flow(name="driving", persist_result=False, validate_parameters=False)
async def drive(held: Held[tuple[Desk, Body]], run_id: str) -> Any:
    """Do a body with the driver of the run, taken up and ended as a method is."""
    desk, body = held.value
    async with take_up(run_id, desk) as (driver, _):
        return await body(driver)


def driven(desk: Desk, body: Body, run_id: str = "r1") -> Any:
    return asyncio.run(drive(Held((desk, body)), run_id))


def step(driver: Driver, given: int, **options: Any) -> Awaitable[int]:
    return driver.step(TURN, double, given, int, reserve=Usage(searches=1), **options)


def test_a_settled_outcome_is_returned_and_the_task_not_run_again(world: World, desk: Desk) -> None:
    async def once(driver: Driver) -> list[int]:
        return [await step(driver, 4), await step(driver, 4)]

    async def again(driver: Driver) -> int:
        return await step(driver, 4)

    assert driven(desk, once) == [8, 8]
    assert driven(world.desk(), again) == 8
    assert DONE == ["double 4"]
    assert desk.ledger.project("r1").spent.searches == 1


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RejectedError("no such page", code="HTTP_404"), "HTTP_404"),
        (ZeroDivisionError("a fault"), "CRASHED"),
    ],
)
def test_a_failure_is_recorded_and_not_repeated(
    world: World, desk: Desk, error: Exception, code: str
) -> None:
    async def fail(driver: Driver) -> str:
        codes = []
        for _ in range(2):
            with pytest.raises(StepFailed) as raised:
                await step(driver, 4, raising=[error])
            codes.append(raised.value.code)
        return codes[0] if codes[0] == codes[1] else ""

    assert driven(desk, fail) == code
    assert driven(world.desk(), fail) == code
    assert DONE == ["double 4"]


def test_a_passing_trouble_is_retried_within_one_reservation(desk: Desk) -> None:
    async def body(driver: Driver) -> int:
        return await step(driver, 4, raising=[TransientError("busy"), TransientError("busy")])

    assert driven(desk, body) == 8
    assert DONE == ["double 4"] * 3
    assert types(desk).count("effect_reserved") == 1
    assert types(desk).count("effect_settled") == 1


def test_a_trouble_that_does_not_pass_is_a_recorded_failure(desk: Desk) -> None:
    async def body(driver: Driver) -> None:
        await step(driver, 4, raising=[TransientError("busy") for _ in range(9)])

    with pytest.raises(StepFailed, match="busy"):
        driven(desk, body)
    assert len(DONE) == 3
    assert desk.ledger.project("r1").status == "failed"


@pytest.mark.parametrize("error", [ObstructedError("disk full"), OSError(28, "No space left")])
def test_what_a_person_can_mend_leaves_the_step_reserved(
    world: World, desk: Desk, error: Exception
) -> None:
    async def body(driver: Driver) -> int:
        return await step(driver, 4, raising=[error])

    async def mended(driver: Driver) -> int:
        return await step(driver, 4)

    with pytest.raises(type(error)):
        driven(desk, body)
    run = desk.ledger.project("r1")
    assert [effect.state for effect in run.effects.values()] == ["reserved"]
    assert run.status == "interrupted"
    assert driven(world.desk(), mended) == 8
    assert [effect.attempts for effect in world.desk().ledger.project("r1").effects.values()] == [2]


def test_results_come_in_the_order_of_the_schedule_and_not_of_arrival(desk: Desk) -> None:
    async def body(driver: Driver) -> Any:
        calls = [partial(step, driver, n, delay=1.0 - 0.5 * n) for n in range(3)]
        return await in_order(calls)

    assert driven(desk, body) == [0, 2, 4]
    assert DONE == ["double 2", "double 1", "double 0"]


def test_a_failure_among_several_stands_in_its_place(desk: Desk) -> None:
    async def body(driver: Driver) -> Any:
        bad = partial(step, driver, 1, raising=[RejectedError("no", code="NO")])
        return await in_order([partial(step, driver, 0), bad, partial(step, driver, 2)])

    first, second, third = driven(desk, body)

    assert (first, third) == (0, 4)
    assert isinstance(second, StepFailed)
    assert second.code == "NO"


def test_an_obstacle_among_several_is_raised_as_it_is(desk: Desk) -> None:
    async def body(driver: Driver) -> Any:
        bad = partial(step, driver, 1, raising=[ObstructedError("disk full")])
        return await in_order([partial(step, driver, 0, delay=5), bad])

    with pytest.raises(ObstructedError, match="disk full"):
        driven(desk, body)
    assert desk.ledger.project("r1").status == "interrupted"


def test_what_no_budget_is_left_for_is_not_begun(world: World) -> None:
    """Cases: B5 58."""
    desk = world.desk()
    queued(desk, limits={"max_searches": 2})

    async def body(driver: Driver) -> Any:
        return await in_order([partial(step, driver, n) for n in range(4)], at_once=1)

    results = driven(desk, body)

    assert results[:2] == [0, 2]
    assert all(isinstance(result, BudgetExceeded) for result in results[2:])
    assert DONE == ["double 0", "double 1"]
    assert desk.ledger.project("r1").spent.searches == 2


def test_a_second_driver_is_told_who_executes_the_run(world: World, desk: Desk) -> None:
    async def body(driver: Driver) -> str:
        with pytest.raises(LeaseHeld) as raised:
            await drive(Held((world.desk(), body)), "r1")
        return raised.value.message

    message = driven(desk, body)

    assert f"pid {__import__('os').getpid()}" in message


def test_a_driver_whose_lease_was_taken_over_stops(world: World, desk: Desk) -> None:
    async def body(driver: Driver) -> None:
        await step(driver, 1)
        taken = RunLeased(epoch=driver.epoch + 1, holder=Holder(pid=1, host="elsewhere"))
        world.desk().ledger.append("r1", [draft(taken)])
        await step(driver, 2)

    with pytest.raises(Fenced):
        driven(desk, body)

    assert DONE == ["double 1"]
    assert types(desk)[-1] == "run_leased"  # the fenced driver wrote nothing after it


def test_a_cancel_from_another_process_is_seen_at_the_next_step(world: World, desk: Desk) -> None:
    async def body(driver: Driver) -> None:
        await step(driver, 1)
        await anyio.to_thread.run_sync(cancel, world.desk(), "r1", "changed my mind")
        await step(driver, 2)

    driven(desk, body)

    run = desk.ledger.project("r1")
    assert (run.status, run.reason) == ("cancelled", "changed my mind")
    assert DONE == ["double 1"]


def test_a_method_is_cancelled_from_another_process_while_it_works(world: World) -> None:
    desk = world.desk()
    queued(desk)

    async def cancel_it(operation: str) -> None:
        if operation == "assess":
            await anyio.to_thread.run_sync(cancel, world.desk(), "r1", "enough")

    world.scholar.before = cancel_it

    result = execute(desk, "r1")

    assert (result.status, result.reason) == ("cancelled", "enough")
    assert world.scholar.calls.count("assess") == 1
    with pytest.raises(RejectedError, match="already cancelled"):
        cancel(desk, "r1", "again")


def test_a_retry_takes_over_what_any_of_its_ancestors_settled(world: World, desk: Desk) -> None:
    """Cases: B3 34, 37."""

    async def first(driver: Driver) -> None:
        await step(driver, 1)
        await step(driver, 9, raising=[RejectedError("no", code="NO")])

    async def second(driver: Driver) -> None:
        raise RejectedError("before any step")

    async def third(driver: Driver) -> list[int]:
        return [await step(driver, 1), await step(driver, 9)]

    with pytest.raises(StepFailed):
        driven(desk, first)
    child = retry(desk, "r1").run_id
    with pytest.raises(RejectedError):
        driven(desk, second, child)
    grandchild = retry(desk, child).run_id

    assert driven(desk, third, grandchild) == [2, 18]
    assert DONE == ["double 1", "double 9", "double 9"]
    bodies = [line.envelope.body for line in desk.ledger.read(grandchild)]
    assert [body["reused_from"] for body in bodies if body.get("reused_from")] == ["r1"]
    assert desk.ledger.project(grandchild).spent.searches == 1


def test_the_same_fact_is_recorded_once_and_another_in_its_place_is_refused(desk: Desk) -> None:
    from state.method_events import ResearchStopDecided

    async def body(driver: Driver) -> None:
        for _ in range(2):
            await driver.record(TURN, ResearchStopDecided(round=0, reason="deadline"))
        await driver.record(TURN, ResearchStopDecided(round=0, reason="no-progress"))

    with pytest.raises(AssayError, match="with another input"):
        driven(desk, body)
    assert types(desk).count("research_stop_decided") == 1


@pytest.mark.parametrize("damage", ["gone", "changed"])
def test_a_damaged_outcome_is_never_made_up_and_once_restored_the_run_goes_on(
    world: World, damage: str
) -> None:
    desk = world.desk(stop_after="round")
    execute(desk, queued(desk))
    effect = next(iter(desk.ledger.project("r1").effects.values()))
    digest = effect.outcome_hash.removeprefix("sha256:")
    path = world.home / "artifacts/sha256" / digest[:2] / digest[2:]
    original = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(original[:-2] + b"!!")
    used = world.touched

    stopped = resumed(world)
    assert stopped.status == "interrupted"
    assert "backup" in stopped.reason
    assert world.touched == used
    path.write_bytes(original)

    assert resumed(world).status == "completed"


def test_a_command_that_comes_while_a_run_is_taken_up_does_not_disturb_it(
    world: World, desk: Desk
) -> None:
    real = desk.ledger.project
    came = threading.Event()

    def project(run_id: str) -> Any:
        run = real(run_id)
        if not came.is_set():
            came.set()
            cancel_event(world)
        return run

    desk.ledger.project = project  # type: ignore[method-assign] # the moment between look and take

    result = execute(desk, "r1")

    assert (result.status, result.reason) == ("cancelled", "in between")


def cancel_event(world: World) -> None:
    from state.run_events import RunCancelRequested

    event = RunCancelRequested(reason="in between", by="tester")
    world.desk().ledger.append("r1", [draft(event)])


@pytest.fixture(scope="module")
def unbroken(prefect_server: None, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    world = annex(tmp_path_factory.mktemp("unbroken") / "home")
    desk = world.desk()
    execute(desk, queued(desk))
    return published(world)


@pytest.mark.parametrize("point", ["plan", "round", "report"])
def test_a_run_that_was_stopped_and_resumed_gives_the_same_bytes(
    world: World, unbroken: dict[str, bytes], point: str
) -> None:
    """Cases: B3 34."""
    desk = world.desk(stop_after=point)
    stopped = execute(desk, queued(desk))
    assert stopped.status == "interrupted"
    assert point in stopped.reason
    assert not (world.home / "reports").exists()

    result = resumed(world)

    assert result.status == "completed"
    assert published(world) == unbroken
    assert {*world.asked[:2]} == {"team members", "audit retention"}  # which are asked at once
    assert world.asked[2:] == ["meridian retention"]
    assert world.scholar.calls.count("assess") == 2


def test_sources_that_arrive_in_another_order_give_the_same_bytes(
    world: World, unbroken: dict[str, bytes]
) -> None:
    world.delays = {"team members": 0.1, "/world/a/meridian.md": 0.1}
    desk = world.desk()

    execute(desk, queued(desk))

    assert published(world) == unbroken


@pytest.mark.parametrize("error", [KeyboardInterrupt, asyncio.CancelledError])
def test_an_interruption_leaves_a_run_that_goes_on_to_the_same_bytes(
    world: World, unbroken: dict[str, bytes], error: type[BaseException]
) -> None:
    """Cases: B3 34, 38."""

    async def interrupt(operation: str) -> None:
        if operation == "assess" and world.scholar.calls.count("assess") == 2:
            raise error

    world.scholar.before = interrupt
    desk = world.desk()
    queued(desk)
    with pytest.raises(BaseException) as raised:  # noqa: PT011 - whichever way it comes out
        execute(desk, "r1")
    assert isinstance(raised.value, (error, KeyboardInterrupt, asyncio.CancelledError))
    assert world.desk().ledger.project("r1").status in ("interrupted", "running")
    world.scholar.before = None

    assert resumed(world).status == "completed"
    assert published(world) == unbroken
