"""An answer in Prefect's pages that comes after the run's end is recorded as refused, and shown."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import anyio
import pytest
from prefect.client.schemas.objects import FlowRun, FlowRunPolicy

from flows import asking, served
from flows.answering import answer_review
from flows.runs import cancel
from state.events import Holder, draft
from state.method_events import ResearchPlanRecorded
from state.run_events import ReviewRequested, RunLeased, RunStarted, RunWaiting
from tests.flows.world import PLAN, World, queued, types


class Remarks(SimpleNamespace):
    """Takes what a flow run would publish."""

    def remark(self, _: Any, title: str, text: str) -> None:
        self.made.append((title, text))


def test_an_approval_that_comes_after_a_cancellation_is_refused_and_that_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path / "home")
    desk = world.desk()
    queued(desk, plan_review=True)
    parts = [{"id": s.id, "question": s.question, "query": s.query} for s in PLAN.subquestions]
    plan = {"version": 1, "origin": "planned", "goal": PLAN.goal, "plan_hash": PLAN.hash}
    for event in (
        RunLeased(epoch=1, holder=Holder(pid=1, host="h")),
        RunStarted(),
        ResearchPlanRecorded.model_validate({**plan, "subquestions": parts}),
        ReviewRequested(interaction_id="review-1", version=1, plan_hash=PLAN.hash),
        RunWaiting(interaction_id="review-1"),
    ):
        desk.ledger.append("r1", [draft(event)])
    answer_review(desk, "r1", "cancel", reason="not wanted", by="ada")
    assert cancel(desk, "r1", "not wanted").is_terminal
    flow_run = FlowRun(
        flow_id=uuid4(),
        deployment_id=uuid4(),
        empirical_policy=FlowRunPolicy(pause_keys={"review-1"}),
    )
    publisher: Any = Remarks(made=[], flow_run_id=flow_run.id)

    async def given(*_: Any, **__: Any) -> dict[str, str]:
        return {"decision": "approve"}

    monkeypatch.setattr(asking, "read_flow_run_input", given)
    for _ in range(2):  # a flow run may start over
        ended = anyio.run(served._carry, desk, desk.ledger.project("r1"), flow_run, publisher)

    assert ended.is_cancelled()
    assert publisher.made[0][0] == "An answer came too late"
    assert types(desk).count("review_refused") == 1
