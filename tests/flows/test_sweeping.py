"""The recovery's look at flow runs, each for itself; the server is a stand-in that says no."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import anyio
import pytest
from prefect.client.schemas.objects import FlowRun, State
from prefect.exceptions import NotPausedError, ObjectNotFound
from prefect.states import Cancelling, Crashed, Running

from flows import sweeping
from flows.runs import cancel
from flows.served import TAG
from flows.sweeping import Swept, sweep
from flows.wiring import Desk
from state.events import draft
from state.run_events import RunStarted
from tests.flows.world import World, queued
from tests.state.builders import leased, planned, requested


class Server:
    """Knows flow runs, and refuses to change those in `refused`."""

    def __init__(self, *flow_runs: FlowRun) -> None:
        self.flow_runs = flow_runs
        self.refused: dict[str, Exception] = {}
        self.ended: list[str] = []
        self.started: list[str] = []

    async def read_flow_runs(self, **_: Any) -> list[FlowRun]:
        return list(self.flow_runs)

    async def read_deployment_by_name(self, name: str) -> Any:
        return SimpleNamespace(id=name)

    async def create_flow_run_from_deployment(self, *_: Any, **about: Any) -> None:
        self.started.append(about["parameters"]["run_id"])

    async def set_flow_run_state(self, flow_run_id: Any, *_: Any, **__: Any) -> None:
        found = next(each for each in self.flow_runs if each.id == flow_run_id)
        run_id = found.parameters["run_id"]
        if run_id in self.refused:
            raise self.refused[run_id]
        self.ended.append(run_id)


def flow_run_of(run_id: str, state: State[Any]) -> FlowRun:
    return FlowRun(
        id=uuid4(), flow_id=uuid4(), parameters={"run_id": run_id}, tags=[TAG], state=state
    )


def swept(
    desk: Desk, server: Server, monkeypatch: pytest.MonkeyPatch, *, resumes: bool = False
) -> Swept:
    @asynccontextmanager
    async def client() -> AsyncIterator[Server]:
        yield server

    monkeypatch.setattr(sweeping, "get_client", client)
    return anyio.run(lambda: sweep(desk, resumes=resumes))


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "home")


@pytest.mark.parametrize(
    "error", [ObjectNotFound(KeyError("flow run")), NotPausedError("it went on")]
)
def test_what_is_wrong_with_one_flow_run_keeps_no_other_from_being_seen_to(
    world: World, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    desk = world.desk()
    long_ago = datetime.now(UTC) - timedelta(hours=1)
    for run_id in ("r1", "r2"):
        cancel(desk, queued(desk, run_id), "not wanted")
    server = Server(*(flow_run_of(each, Cancelling(timestamp=long_ago)) for each in ("r1", "r2")))
    server.refused["r1"] = error

    done = swept(desk, server, monkeypatch)

    assert (server.ended, done.ended, [*done.problems]) == (["r2"], ["r2"], ["r1"])


def test_whoever_has_just_ended_a_run_may_still_be_telling_of_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = world.desk()
    cancel(desk, queued(desk), "not wanted")
    long_ago = datetime.now(UTC) - timedelta(hours=1)
    server = Server(flow_run_of("r1", Running(timestamp=long_ago)))

    at_once = swept(desk, server, monkeypatch)
    world.clock.advance(seconds=120)
    later = swept(desk, server, monkeypatch)

    assert (at_once.ended, later.ended) == ([], ["r1"])


def test_whoever_has_just_asked_a_person_is_about_to_suspend_its_flow_run(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = world.desk()
    queued(desk)
    asking = [leased(), RunStarted(), planned(), *requested()]
    desk.ledger.append("r1", [draft(event) for event in asking])
    server = Server(flow_run_of("r1", Running(timestamp=world.clock.now - timedelta(hours=1))))

    at_once = swept(desk, server, monkeypatch)
    world.clock.advance(seconds=120)
    later = swept(desk, server, monkeypatch)

    assert (at_once.crashed, later.crashed) == ([], ["r1"])


def test_a_run_whose_flow_run_was_killed_before_it_took_the_lease_goes_on_after_a_minute(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = world.desk()
    asked_at = world.clock()
    world.clock.advance(seconds=1)
    queued(desk)
    asking = flow_run_of("r1", Crashed(timestamp=asked_at))
    server = Server(asking.model_copy(update={"created": asked_at}))

    world.clock.advance(seconds=61)
    swept(desk, server, monkeypatch, resumes=True)

    assert server.started == ["r1"]


def test_a_run_that_a_command_has_queued_is_left_to_it_for_longer(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = world.desk()
    queued(desk)
    server = Server()

    world.clock.advance(seconds=61)
    swept(desk, server, monkeypatch, resumes=True)

    assert server.started == []
