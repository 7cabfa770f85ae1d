"""Limits that all workers keep together, on a real Prefect server, whoever is killed meanwhile."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import anyio
import pytest
from prefect import flow
from prefect.client.orchestration import get_client
from prefect.exceptions import ObjectNotFound

from adapters.documents.port import Opened
from adapters.search.port import SearchPage
from flows.limiting import create_limits, limiting
from flows.settings import Settings
from state.values.errors import ObstructedError
from tasks.limits import limited
from tasks.search import SearchInput
from tasks.search import search as search_task
from tasks.slots import SlottedReader, slots
from tests.adapters.models.chat.openai_server import Behaviour, Hang, OpenAiServer, Say, serving
from tests.flows.answerer import Answerer, operation_of
from tests.flows.killing import ENDED_WELL, Bench, kill_bench

HELD_S = 0.3
LIMIT = 1


class Counted:
    """Counts how many are at it at once; each takes a while."""

    def __init__(self) -> None:
        self.now = self.most = self.all = 0

    async def work(self) -> None:
        self.now += 1
        self.all += 1
        self.most = max(self.most, self.now)
        await anyio.sleep(HELD_S)
        self.now -= 1


class Shelf(Counted):
    """A search and a reader that count."""

    name = "shelf"
    cost_micro_usd = 0

    async def search(self, query: str, *, cursor: str | None = None, limit: int = 6) -> SearchPage:
        await self.work()
        return SearchPage(())

    async def open(self, locator: str) -> Opened:
        await self.work()
        return Opened(b"x", locator)


@flow(persist_result=False, validate_parameters=False)
async def work_at_once(settings: dict[str, int], work: Callable[[int], Any], count: int) -> None:
    """Do `work` so often at once, within the limits."""
    async with limiting(Settings(limits=settings)), anyio.create_task_group() as group:
        for number in range(count):
            group.start_soon(work, number)


@pytest.mark.usefixtures("prefect_server")
@pytest.mark.parametrize(("limit", "most"), [({"search:shelf": 1}, 1), ({"search:other": 1}, 4)])
def test_a_search_provider_is_asked_so_often_at_once(limit: dict[str, int], most: int) -> None:
    shelf = Shelf()

    async def search(number: int) -> None:
        given = SearchInput(f"query {number}", "q1", "shelf")
        await search_task(given, provider=shelf)

    anyio.run(work_at_once, limit, search, 4)

    assert (shelf.most, shelf.all) == (most, 4)


@pytest.mark.usefixtures("prefect_server")
def test_a_host_is_asked_so_often_at_once_and_others_meanwhile() -> None:
    shelf, other = Shelf(), Shelf()

    async def read(number: int) -> None:
        if number % 2:
            await SlottedReader(shelf).open(f"https://example.org/{number}")
        else:
            await SlottedReader(other).open(f"https://www.example.org/{number}")

    anyio.run(work_at_once, {"host:example.org": 2}, read, 8)

    assert (shelf.most, shelf.all) == (2, 4)
    assert (other.most, other.all) == (4, 4)


@pytest.mark.usefixtures("prefect_server")
def test_limits_are_created_once_and_follow_the_setting() -> None:
    async def limits() -> list[int | None]:
        found: list[int | None] = []
        for most in (3, 3, 5):
            await create_limits(Settings(limits={"model:made": most}))
            async with get_client() as client:
                made = await client.read_global_concurrency_limit_by_name("assay:model:made")
                found.append(made.limit)
        return found

    assert anyio.run(limits) == [3, 3, 5]


@pytest.mark.usefixtures("prefect_server")
def test_a_limit_that_was_taken_away_is_said_and_nothing_begun() -> None:
    began = []

    async def work() -> None:
        async with get_client() as client:
            with pytest.raises(ObjectNotFound):
                await client.read_global_concurrency_limit_by_name("assay:host:gone")
        limited.set(frozenset({"assay:host:gone"}))
        async with slots("host", "gone"):
            began.append(1)

    with pytest.raises(ObstructedError, match="assay:host:gone"):
        anyio.run(work)
    assert began == []


@pytest.mark.usefixtures("prefect_server")
def test_a_slot_comes_back_when_its_holder_fails_or_is_cancelled() -> None:
    ended = []

    async def work() -> None:
        async with limiting(Settings(limits={"host:back": 1})):
            with pytest.raises(ZeroDivisionError):
                async with slots("host", "back"):
                    raise ZeroDivisionError
            with anyio.move_on_after(HELD_S):
                async with slots("host", "back"):
                    await anyio.sleep(60)
            async with slots("host", "back"):
                ended.append(1)

    @flow(persist_result=False)
    async def working() -> None:
        with anyio.fail_after(45):
            await work()

    anyio.run(working)
    assert ended == [1]


# ---- runs with a model, in processes of their own


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[OpenAiServer, list[Behaviour]]]:
    """Serve a model that takes a while for each answer, after it answered what is in the list."""
    answerer, first = Answerer(), list[Behaviour]()

    def slowly(body: dict[str, Any]) -> Behaviour:
        said = first.pop() if first else answerer(body)
        if isinstance(said, Say):
            return replace(said, piece=max(1, len(said.text)), pause_s=HELD_S)
        return said

    with serving(answer=slowly) as server:
        yield server, first


@pytest.fixture(scope="module")
def bench(
    tmp_path_factory: pytest.TempPathFactory, served: tuple[OpenAiServer, list[Behaviour]]
) -> Iterator[Bench]:
    host = urlsplit(served[0].base_url).netloc
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_LIMITS", f"model:{host}={LIMIT}")
        with kill_bench(tmp_path_factory.mktemp("limits"), at_once=2) as made:
            yield made


@pytest.mark.timeout(400)
def test_runs_in_several_processes_ask_a_model_one_at_a_time(
    bench: Bench, served: tuple[OpenAiServer, list[Behaviour]]
) -> None:
    server, _ = served
    jobs = [bench.job(bench.folder / f"run-{n}", model_url=server.base_url) for n in range(4)]

    with ThreadPoolExecutor(2) as pool:
        ended = [*pool.map(bench.run_all, (jobs[:2], jobs[2:]))]

    assert ended == [[ENDED_WELL, ENDED_WELL]] * 2
    assert len(server.bodies) >= 4 * 3
    assert {operation_of(body) for body in server.bodies} >= {"plan", "assess", "synthesise"}
    assert server.most_at_once == LIMIT


@pytest.mark.timeout(400)
def test_the_slot_of_a_process_that_was_killed_comes_back(
    bench: Bench, served: tuple[OpenAiServer, list[Behaviour]]
) -> None:
    server, first = served
    first.append(Hang())
    killed = bench.run(bench.folder / "killed", model_url=server.base_url, kill_in="plan")
    assert killed["signal"] == 9

    assert bench.run(bench.folder / "after", model_url=server.base_url) == ENDED_WELL
