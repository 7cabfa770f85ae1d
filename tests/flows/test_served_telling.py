"""`assay serve` with a webhook and limits: what is told of deployed runs, and what they keep to."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.adapters.models.chat.openai_server import Behaviour, Say
from tests.flows.pages_client import SOON_S, until
from tests.flows.receiver import TOKEN, Receiver, receiving
from tests.flows.served_home import ServedHome, question_of, served_home

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, receiver: Receiver) -> Iterator[ServedHome]:
    with served_home(tmp_path_factory.mktemp("telling")) as made:
        made.serve(
            env={
                "ASSAY_WEBHOOK_URL": receiver.address,
                "ASSAY_SERVICES": receiver.origin,
                "ASSAY_WEBHOOK_EVENTS": "waiting,completed,cancelled",
                "ASSAY_LIMITS": "search:nowhere=3",
            }
        )
        yield made


def told(receiver: Receiver, what: str) -> dict[str, Any]:
    """Return what was told of an occurrence, once it was."""
    until(lambda: receiver.told, lambda seen: what in seen, within_s=2 * SOON_S)
    data: dict[str, Any] = receiver.taken[receiver.told.index(what)][1]["data"]
    return data


def test_a_run_that_waits_tells_where_to_answer_and_the_sweep_tells_what_nobody_told(
    home: ServedHome, receiver: Receiver
) -> None:
    """Cases: B4 50."""
    flow_run = home.start("told", review=True)

    waiting = told(receiver, "told run.waiting")
    assert waiting["review"]["page"].endswith(f"/runs/flow-run/{flow_run}")
    home.pages.wait(flow_run, "Suspended")
    assert home.line.look("cancel", "told").code == 0  # by one who knows of no webhook

    assert told(receiver, "told run.cancelled")["reason"] == "cancelled"
    assert receiver.told.count("told run.waiting") == 1
    assert TOKEN not in "".join(each.said for each in home.served)


def test_a_limit_that_a_person_made_in_prefect_holds_for_deployed_runs(
    home: ServedHome, receiver: Receiver
) -> None:
    def slowly(body: dict[str, Any]) -> Behaviour:
        said = model(body)
        if isinstance(said, Say):
            return replace(said, piece=len(said.text) or 1, pause_s=0.5)
        return said

    model = home.model.answerer
    home.model.answerer = slowly  # type: ignore[assignment]
    host = urlsplit(home.server.base_url).netloc
    assert home.pages.ask("GET", "/v2/concurrency_limits/assay:search:nowhere")["limit"] == 3
    made = {"name": f"assay:model:{host}", "limit": 1, "active": True}
    home.pages.ask("POST", "/v2/concurrency_limits/", made)
    home.server.most_at_once = 0

    for run_id in ("one", "two", "three"):
        home.start(run_id, question=question_of(run_id), model="served", scope="quick")
    for run_id in ("one", "two", "three"):
        home.completed(run_id)

    assert home.server.most_at_once == 1
    for run_id in ("one", "two", "three"):
        told(receiver, f"{run_id} run.completed")
    assert set(receiver.ids.values()) == {1}
