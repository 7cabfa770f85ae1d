"""The gate: nothing is searched before a person said so about exactly this plan."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import pytest

from flows.answering import InteractionInvalid, answer_review
from flows.runs import RunResult, cancel, execute, mark_interrupted
from flows.wiring import Desk
from state.errors import NotFound, Refused
from state.events import draft
from state.run_events import ReviewAnswered
from state.values.errors import InvalidRequest
from state.values.plan import Plan, Subquestion
from tests.flows.world import PLAN, World, annex, queued, resumed, types

pytestmark = pytest.mark.usefixtures("prefect_server")

MINE = Plan("Mine", (Subquestion("members", "How many members?", "team members"),))


@pytest.fixture
def world(assay_home: Path) -> World:
    return annex(assay_home)


@pytest.fixture
def waiting(world: World) -> RunResult:
    desk = world.desk()
    return execute(desk, queued(desk, plan_review=True))


@pytest.fixture(scope="module")
def asking(prefect_server: None, tmp_path_factory: pytest.TempPathFactory) -> World:
    """Return a world whose run r1 waits, for tests that leave it waiting."""
    world = annex(tmp_path_factory.mktemp("asking") / "home")
    desk = world.desk()
    execute(desk, queued(desk, plan_review=True))
    return world


def answer(world: World, action: str, **fields: Any) -> None:
    answer_review(world.desk(), "r1", action, by="ada", **fields)


def refusals(desk: Desk) -> list[str]:
    lines = desk.ledger.read("r1")
    refused = (line.envelope for line in lines if line.envelope.type == "review_refused")
    return [envelope.body["reason"] for envelope in refused]


def test_a_run_without_anybody_at_the_terminal_ends_as_waiting(
    world: World, waiting: RunResult
) -> None:
    """Cases: B4 53, 56."""
    assert waiting.status == "waiting"
    assert world.asked == world.opened == []
    assert world.desk().ledger.holder("r1") is None


def test_a_waiting_run_that_is_executed_again_still_waits(world: World, waiting: RunResult) -> None:
    """Cases: B4 52, 53."""
    world.clock.advance(days=30)

    assert resumed(world).status == "waiting"
    assert not mark_interrupted(world.desk(), "r1")
    assert world.asked == []
    assert types(world.desk()).count("review_requested") == 1
    assert world.scholar.calls == ["plan"]


def test_an_approval_after_days_and_from_another_process_lets_the_run_go_on(
    world: World, waiting: RunResult
) -> None:
    """Cases: B4 50."""
    world.clock.advance(days=3)
    answer(world, "approve")
    world.clock.advance(days=3)

    result = resumed(world)

    assert (result.status, result.stop_reason) == ("completed", "coverage-complete")
    assert world.scholar.calls.count("plan") == 1
    review = world.desk().ledger.project("r1").reviews[0]
    assert review.answer is not None
    assert (review.answer.by, review.answered_at[:10]) == ("ada", "2026-03-04")


def test_a_revision_makes_a_second_version_and_asks_again(world: World, waiting: RunResult) -> None:
    """Cases: B4 55."""
    answer(world, "revise", feedback="only this year, please")

    assert resumed(world).status == "waiting"
    run = world.desk().ledger.project("r1")
    assert run.research is not None
    assert run.research.plan is not None
    assert run.research.plan.version == 2
    assert "only this year, please" in run.research.plan.goal
    assert [review.version for review in run.reviews] == [1, 2]
    assert world.asked == []
    answer(world, "approve")
    assert resumed(world).status == "completed"
    assert world.scholar.feedback == ["only this year, please"]


def test_a_plan_is_revised_three_times_at_most_and_never_approved_by_that(
    world: World, waiting: RunResult
) -> None:
    """Cases: B4 53."""
    for n in range(3):
        answer(world, "revise", feedback=f"again {n}")
        resumed(world)

    with pytest.raises(InvalidRequest, match="at most 3 times"):
        answer(world, "revise", feedback="once more")

    assert resumed(world).status == "waiting"
    assert world.asked == []
    answer(world, "approve")
    assert resumed(world).status == "completed"


def test_a_replacement_is_carried_out_as_it_was_given(world: World, waiting: RunResult) -> None:
    answer(world, "replace", plan=MINE)

    result = resumed(world)

    assert result.status == "completed"
    assert world.asked == ["team members"]
    run = world.desk().ledger.project("r1")
    assert run.research is not None
    assert run.research.plan is not None
    assert (run.research.plan.version, run.research.plan.origin) == (2, "replaced")
    assert run.research.plan.goal == "Mine"


def test_a_replacement_that_holds_a_secret_is_carried_out_all_the_same(
    world: World, waiting: RunResult
) -> None:
    secret = Plan("Who uses sk-abcdefghijklmnop?", MINE.subquestions)
    answer(world, "replace", plan=secret)

    assert resumed(world).status == "completed"
    bodies = "".join(line.json for line in world.desk().ledger.read("r1"))
    assert "sk-abcdefghijklmnop" not in bodies


@pytest.mark.parametrize(
    "plan",
    [None, Plan("", MINE.subquestions), Plan("g", ()), Plan("g", (), "Which?")],
    ids=["none", "no-goal", "empty", "clarification"],
)
def test_an_invalid_replacement_is_refused_and_the_request_stays_open(
    asking: World, plan: Plan | None
) -> None:
    """Cases: B3 43."""
    with pytest.raises(InvalidRequest):
        answer(asking, "replace", plan=plan)

    assert asking.desk().ledger.project("r1").live_review is not None


@pytest.mark.parametrize("spoilt", [{"goal": "g"}, {"goal": "g", "subquestions": []}, {"x": 1}])
def test_an_invalid_replacement_cannot_be_recorded_by_anybody(
    asking: World, spoilt: dict[str, Any]
) -> None:
    """Cases: B3 43."""
    event = ReviewAnswered(
        interaction_id="review-1", action="replace", plan_hash=MINE.hash, plan=spoilt, by="x",
        channel="other",
    )  # fmt: skip
    with pytest.raises(Refused):
        asking.desk().ledger.append("r1", [draft(event)])

    assert asking.desk().ledger.project("r1").live_review is not None


def test_a_cancel_ends_the_run_with_the_persons_reason(world: World, waiting: RunResult) -> None:
    answer(world, "cancel", reason="not worth it")

    result = resumed(world)

    assert (result.status, result.reason) == ("cancelled", "not worth it")
    assert world.asked == []


def test_the_second_answer_loses_is_told_so_and_is_recorded(
    world: World, waiting: RunResult
) -> None:
    answer(world, "approve")

    for interaction in (None, "review-1"):
        with pytest.raises(InteractionInvalid, match="already answered") as raised:
            answer(world, "cancel", interaction_id=interaction)
        assert raised.value.reason == "already_resolved"

    assert refusals(world.desk()) == ["already_resolved", "already_resolved"]
    assert resumed(world).status == "completed"


def test_of_two_answers_at_the_same_moment_one_counts_and_the_other_is_told(
    world: World, waiting: RunResult
) -> None:
    together = threading.Barrier(2)

    def say(action: str) -> str:
        together.wait()
        try:
            answer(world, action)
        except InteractionInvalid as lost:
            return lost.reason
        return "counted"

    with ThreadPoolExecutor(2) as people:
        said = list(people.map(say, ["approve", "cancel"]))

    assert sorted(said) == ["already_resolved", "counted"] or sorted(said) == [
        "cancel_requested", "counted",
    ]  # fmt: skip
    assert len(refusals(world.desk())) == 1
    decided = world.desk().ledger.project("r1").reviews[0].answer
    assert decided is not None
    assert decided.action == ("approve" if said[0] == "counted" else "cancel")


def test_a_queued_run_is_cancelled_at_once(world: World) -> None:
    desk = world.desk()
    queued(desk)

    run = cancel(world.desk(), "r1", "never mind")

    assert (run.status, run.reason) == ("cancelled", "never mind")


def test_an_answer_to_an_earlier_or_unknown_request_is_stale(
    world: World, waiting: RunResult
) -> None:
    answer(world, "revise", feedback="shorter")
    resumed(world)

    for interaction in ("review-1", "review-9", "no id at all"):
        with pytest.raises(InteractionInvalid) as raised:
            answer(world, "approve", interaction_id=interaction)
        assert raised.value.reason == "stale"

    assert refusals(world.desk()) == ["stale"] * 3
    assert world.desk().ledger.project("r1").live_review is not None


def test_an_empty_name_of_a_request_approves_nothing(asking: World) -> None:
    with pytest.raises(InteractionInvalid, match="no request ''"):
        answer(asking, "approve", interaction_id="")

    assert asking.desk().ledger.project("r1").live_review is not None


def test_a_cancel_request_beats_a_later_answer(world: World, waiting: RunResult) -> None:
    cancel(world.desk(), "r1", "enough")

    with pytest.raises(InteractionInvalid) as raised:
        answer(world, "approve")

    assert raised.value.reason == "terminal"
    assert refusals(world.desk()) == ["terminal"]
    assert world.desk().ledger.project("r1").status == "cancelled"


@pytest.mark.parametrize(
    ("action", "fields"),
    [
        ("revise", {"feedback": " "}),
        ("", {}),
        ("yes", {}),
        ("APPROVE", {}),
        ("approve", {"plan": MINE}),
        ("revise", {"feedback": "x" * 5000}),
    ],
)
def test_an_answer_that_is_none_is_refused_and_the_request_stays_open(
    asking: World, action: str, fields: dict[str, Any]
) -> None:
    """Cases: B3 43, B4 56."""
    with pytest.raises(InvalidRequest):
        answer(asking, action, **fields)

    assert asking.desk().ledger.project("r1").live_review is not None


def test_an_approval_of_another_plan_does_not_count(asking: World) -> None:
    """Cases: B4 56."""
    event = ReviewAnswered(
        interaction_id="review-1", action="approve", plan_hash=MINE.hash, by="x", channel="other"
    )
    with pytest.raises(Refused, match="another plan"):
        asking.desk().ledger.append("r1", [draft(event)])

    assert asking.desk().ledger.project("r1").live_review is not None


def test_a_run_that_asked_nothing_cannot_be_answered(world: World) -> None:
    desk = world.desk()
    queued(desk)

    with pytest.raises(InteractionInvalid, match="has asked nothing"):
        answer(world, "approve")
    with pytest.raises(NotFound):
        answer_review(desk, "r9", "approve")


def test_somebody_at_the_terminal_is_asked_and_the_run_goes_on_at_once(world: World) -> None:
    shown: list[str] = []

    async def ask(run: Any) -> None:
        shown.append(run.live_review.interaction_id)
        if len(shown) == 1:
            return  # nothing decided: asked again
        action = "revise" if len(shown) == 2 else "approve"
        await anyio.to_thread.run_sync(
            lambda: answer(world, action, feedback="x" if action == "revise" else "")
        )

    desk = world.desk(ask=ask)

    result = execute(desk, queued(desk, plan_review=True))

    assert result.status == "completed"
    assert shown == ["review-1", "review-1", "review-2"]


def test_ctrl_c_at_the_question_leaves_the_run_waiting(world: World) -> None:
    async def ask(run: Any) -> None:
        raise KeyboardInterrupt

    desk = world.desk(ask=ask)
    queued(desk, plan_review=True)
    with pytest.raises(KeyboardInterrupt):
        execute(desk, "r1")

    assert world.desk().ledger.project("r1").status == "waiting"
    answer(world, "approve")
    assert resumed(world).status == "completed"


def test_a_plan_that_asks_back_needs_no_review(world: World) -> None:
    world.scholar.plan_ = Plan("Unclear", (), "Which team?")
    desk = world.desk()

    result = execute(desk, queued(desk, plan_review=True))

    assert result.answer_status == "needs-clarification"
    assert "review_requested" not in types(desk)


def test_what_is_approved_is_what_was_shown(world: World, waiting: RunResult) -> None:
    review = world.desk().ledger.project("r1").live_review
    assert review is not None
    assert review.plan_hash == PLAN.hash
