"""The durable workspace's checkpoints, and what makes a run blocked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from state.envelope import Refs
from state.events import Event, decode, draft
from state.research_events import ResearchCheckpointRecorded
from state.research_projection import MAX_CHECKPOINTS
from tests.state.builders import checkpoint, item, just, running, source, step

# ---- checkpoints


def test_a_round_never_falls_and_may_stay() -> None:
    history = running().record(checkpoint("c1", 2), checkpoint("c2", 2), checkpoint("c3", 4))

    assert history.refusal(checkpoint("c4", 3)) == "ROUND_REGRESSION"
    assert history.research.round == 4


@pytest.mark.parametrize("round_", [0, -1, 1.5, True, "1"])
def test_rounds_are_whole_numbers_from_1(round_: object) -> None:
    with pytest.raises(ValidationError, match="round"):
        ResearchCheckpointRecorded.model_validate(
            {**checkpoint().model_dump(mode="json"), "round": round_}
        )


def test_a_stage_never_goes_back() -> None:
    history = running().record(checkpoint("c1"), checkpoint("c2", stage="report_writing"))

    assert history.refusal(checkpoint("c3")) == "STAGE_REGRESSION"
    assert history.research.stage == "report_writing"


def test_no_checkpoint_says_that_the_run_is_completed() -> None:
    for field in ("stage", "status"):
        with pytest.raises(ValidationError):
            checkpoint(**just(field, "completed"))


@pytest.mark.parametrize("field", ["open_questions", "next_steps"])
def test_a_checkpoints_lists_hold_up_to_50_of_1000_characters(field: str) -> None:
    checkpoint(**just(field, ["x" * 1000] * 50))
    with pytest.raises(ValidationError, match="at most 50"):
        checkpoint(**just(field, ["x"] * 51))
    with pytest.raises(ValidationError, match="at most 1000"):
        checkpoint(**just(field, ["x" * 1001]))


def test_a_checkpoints_summary_has_up_to_4000_characters() -> None:
    with pytest.raises(ValidationError, match="at most 4000"):
        checkpoint(summary="x" * 4001)


def test_a_checkpoint_is_recorded_once() -> None:
    history = running().record(checkpoint("c1"), checkpoint("c2"))

    assert history.refusal(checkpoint("c1", 2)) == "DUPLICATE_CHECKPOINT"


def test_a_checkpoint_names_artifacts_of_this_run() -> None:
    assert running().refusal(checkpoint(artifact_ids=["s1"])) == "UNKNOWN_ARTIFACT"


def test_a_run_holds_at_most_500_checkpoints() -> None:
    assert MAX_CHECKPOINTS == 500
    history = running().record(*(checkpoint(f"c{n}") for n in range(500)))

    assert history.refusal(checkpoint("c500")) == "LIMIT"


def test_the_legacy_task_ids_are_read_and_written_empty() -> None:
    old = {**checkpoint().model_dump(mode="json"), "task_ids": ["t-1", "t-2"]}

    read = decode("research_checkpoint_recorded", 1, old)

    assert draft(read, Refs()).body["task_ids"] == []


# ---- blocked

BLOCKABLE = ["item sources_archived", "item claims_verified", "step a", "step b", "checkpoint"]


def _said(what: str, *, blocked: bool, number: int) -> Event:
    kind, _, name = what.partition(" ")
    if kind == "item":
        return item(name, "blocked" if blocked else "in_progress")
    if kind == "step":
        return step(name, "blocked" if blocked else "stopped")
    status = "blocked" if blocked else "active"
    return checkpoint(f"c{number}", status=status, summary="")


def test_a_run_stays_blocked_until_its_last_blocker_is_gone() -> None:
    history = running().record(source())
    history.record(item("sources_archived", "blocked"), step("a", "blocked"))
    history.record(checkpoint("c1", status="active"), item("sources_archived", "completed"))
    assert history.research.status == "blocked"

    history.record(step("a"))
    assert history.research.status == "active"


@given(st.lists(st.tuples(st.sampled_from(BLOCKABLE), st.booleans()), max_size=25))
def test_a_run_is_blocked_while_anything_was_last_said_to_be(said: list[tuple[str, bool]]) -> None:
    history = running()
    last: dict[str, bool] = {}
    for number, (what, blocked) in enumerate(said):
        history.record(_said(what, blocked=blocked, number=number))
        last[what] = blocked
        assert history.research.status == ("blocked" if any(last.values()) else "active")
        assert len(history.research.blockers) == sum(last.values())
