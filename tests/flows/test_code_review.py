"""The gate of Paper2Code: nothing of a plan is carried out before a person approved exactly it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adapters.sandbox.fake import FakeSandbox
from flows.answering import InteractionInvalid, answer_review
from flows.code_kind import PAPER2CODE
from flows.code_runs import CodeResult
from flows.runs import cancel
from state.values.code_plan import CodePlan
from state.values.code_plan_form import parse_code_plan
from state.values.errors import InvalidRequest
from tests.flows.code_world import PLAN, CodeWorld, scripted
from tests.flows.world import types

pytestmark = pytest.mark.usefixtures("prefect_server")


@pytest.fixture
def world(assay_home: Path) -> CodeWorld:
    # No test is run here: where a plan is carried out, the sandbox says that it cannot.
    return CodeWorld(assay_home, sandbox=FakeSandbox(()))


@pytest.fixture
def waiting(world: CodeWorld) -> CodeResult:
    result = world.made(options={"plan_review": True})
    assert result.status == "waiting"
    return result


def answer(world: CodeWorld, action: str, **fields: Any) -> None:
    answer_review(world.desk(), "c1", action, by="ada", **fields)


def writes(world: CodeWorld) -> list[str]:
    return [call for call in world.coder.calls if call.startswith("write_file")]


def test_a_run_stops_hard_until_a_person_decides(world: CodeWorld, waiting: CodeResult) -> None:
    """Cases: D 28, D 34, D 35."""
    assert writes(world) == []
    assert world.coder.calls == ["analyse", "design"]
    world.clock.advance(days=30)

    assert world.resumed().status == "waiting"
    assert world.coder.calls == ["analyse", "design"]
    assert types(world.desk(), "c1").count("review_requested") == 1


def test_an_approval_lets_exactly_that_plan_be_carried_out(
    world: CodeWorld, waiting: CodeResult
) -> None:
    answer(world, "approve")

    result = world.resumed()

    assert len(writes(world)) == 4
    assert result.status == "interrupted"  # the sandbox was not to be had, which can be mended
    assert result.code == "WORKFLOW_INTERRUPTED"
    assert world.coder.calls.count("design") == 1


def test_feedback_makes_a_new_version_with_its_changes_and_asks_again(
    world: CodeWorld, waiting: CodeResult
) -> None:
    """Cases: D 29."""
    world.coder.lies["design"] = lambda given, honest: (
        replace(honest, title="Smaller") if given.feedback else honest
    )
    answer(world, "revise", feedback="make it smaller")

    assert world.resumed().status == "waiting"

    desk = world.desk()
    run = desk.ledger.project("c1")
    assert run.paper2code is not None
    assert [plan.version for plan in run.paper2code.plans] == [1, 2]
    text = PAPER2CODE.plan_text(desk, run)
    assert "Plan 2: Smaller" in text
    assert "Changed since the last version" in text
    assert "A smoother with a correction" in text.partition("Changed since")[2]
    assert writes(world) == []


def test_a_replacement_is_carried_out_as_it_was_given(
    world: CodeWorld, waiting: CodeResult
) -> None:
    mine = parse_code_plan(json.dumps(replace(PLAN, title="Mine").as_json()))
    answer(world, "replace", plan=mine)

    world.resumed()

    run = world.desk().ledger.project("c1")
    assert run.paper2code is not None
    assert run.paper2code.plan is not None
    assert (run.paper2code.plan.origin, run.paper2code.plan.plan_hash) == ("replaced", mine.hash)
    assert world.coder.calls.count("design") == 1
    assert len(writes(world)) == 4


FIRST, *OTHERS = PLAN.file_structure
BROKEN = {
    "no files": replace(PLAN, file_structure=()),
    "outside": replace(PLAN, file_structure=(replace(FIRST, path="../x.py"), *OTHERS)),
    "git": replace(PLAN, file_structure=(replace(FIRST, path=".git/hooks/x"), *OTHERS)),
    "cycle": replace(
        PLAN, file_structure=(replace(FIRST, depends_on=("tests/test_smoother.py",)), *OTHERS)
    ),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_a_replacement_that_cannot_be_carried_out_is_refused_and_the_request_stays_open(
    world: CodeWorld, waiting: CodeResult, broken: CodePlan
) -> None:
    with pytest.raises(InvalidRequest):
        answer(world, "replace", plan=broken)

    assert world.desk().ledger.project("c1").live_review is not None
    assert world.resumed().status == "waiting"
    assert writes(world) == []


@pytest.mark.parametrize(
    ("action", "fields"),
    [("yes", {}), ("", {}), ("revise", {}), ("revise", {"feedback": "  "}), ("replace", {})],
)
def test_an_answer_that_is_none_is_refused_and_asked_again(
    world: CodeWorld, waiting: CodeResult, action: str, fields: dict[str, Any]
) -> None:
    """Cases: D 37."""
    with pytest.raises(InvalidRequest):
        answer(world, action, **fields)

    assert world.resumed().status == "waiting"
    assert writes(world) == []


def test_only_a_response_to_the_live_request_counts(world: CodeWorld, waiting: CodeResult) -> None:
    with pytest.raises(InteractionInvalid) as unknown:
        answer(world, "approve", interaction_id="review-9")
    answer(world, "revise", feedback="again")
    world.resumed()
    with pytest.raises(InteractionInvalid) as stale:
        answer(world, "approve", interaction_id="review-1")
    answer(world, "approve", interaction_id="review-2")
    with pytest.raises(InteractionInvalid) as twice:
        answer(world, "approve", interaction_id="review-2")

    assert (unknown.value.reason, stale.value.reason, twice.value.reason) == (
        "stale", "stale", "already_resolved",
    )  # fmt: skip


def test_a_cancel_beats_a_late_approval(world: CodeWorld, waiting: CodeResult) -> None:
    cancel(world.desk(), "c1", "wrong paper")

    with pytest.raises(InteractionInvalid) as late:
        answer(world, "approve")

    assert late.value.reason in ("terminal", "cancel_requested")
    assert world.desk().ledger.project("c1").status == "cancelled"
    assert writes(world) == []


def test_a_person_who_cancels_ends_the_run(world: CodeWorld, waiting: CodeResult) -> None:
    answer(world, "cancel", reason="not this one")

    result = world.resumed()

    assert (result.status, result.reason) == ("cancelled", "not this one")


def test_a_plan_is_revised_three_times_at_most_and_never_approved_by_that(
    world: CodeWorld, waiting: CodeResult
) -> None:
    for number in range(3):
        answer(world, "revise", feedback=f"again {number}")
        world.resumed()

    with pytest.raises(InvalidRequest, match="at most 3 times"):
        answer(world, "revise", feedback="once more")

    assert world.resumed().status == "waiting"
    assert writes(world) == []


def test_code_is_written_from_the_plan_and_nothing_of_what_was_said_before(
    world: CodeWorld, waiting: CodeResult
) -> None:
    """Cases: D 31."""
    world.coder = scripted()
    answer(world, "revise", feedback="SECRET-REMARK about the plan")
    world.resumed()
    answer(world, "approve")

    world.resumed()

    written = [given for given in world.coder.given if "SECRET-REMARK" in repr(given)]
    assert written
    assert all(type(given).__name__ == "DesignInput" for given in written)
