"""The durable workspace as a model-driven face uses it: what it takes, keeps and shows."""

from pathlib import Path

import pytest

from state.errors import NotFound, Refused
from state.events import draft
from state.run_events import RunInterrupted
from state.values.errors import InvalidRequest
from state.values.ids import artifact_id, content_hash
from state.workspace import Call
from tests.state.builders import RUN, request
from tests.state.workspace_desk import Desk, call, step


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "home")


def test_the_request_is_for_the_workspaces_run(desk: Desk) -> None:
    with pytest.raises(InvalidRequest, match="run 'other'"):
        desk.workspace.start(call("start"), request("other"))


@pytest.mark.parametrize("bad", ["", "a b", "a/b", "x" * 129, "ghp_" + "a1B2c3D4e5F6g7H8i9J0"])
def test_call_and_turn_ids_are_stable_ids(desk: Desk, bad: str) -> None:
    for wrong in (Call("t1", bad), Call(bad, "c1")):
        with pytest.raises(InvalidRequest):
            desk.workspace.start(wrong, request())


def test_an_interrupted_run_can_still_be_completed(desk: Desk) -> None:
    desk.start().save("s1")
    gone = RunInterrupted(code="WORKFLOW_INTERRUPTED", reason="nobody holds the lease")
    desk.ledger.append(RUN, [draft(gone)])

    desk.complete()

    assert desk.ledger.project(RUN).status == "completed"


def test_a_body_has_up_to_512000_characters(desk: Desk) -> None:
    desk.start().save("long", body="é" * 512_000)

    with pytest.raises(InvalidRequest, match="at most 512,000"):
        desk.save("longer", body="é" * 512_001)


def test_a_body_that_is_no_text_is_refused(desk: Desk) -> None:
    with pytest.raises(InvalidRequest, match="not Unicode"):
        desk.start().save("half", body="\ud83d")


def test_a_refused_body_is_neither_kept_nor_listed_nor_readable(desk: Desk) -> None:
    desk.start().save("s1")
    before = [each.hash for each in desk.artifacts.entries()]

    with pytest.raises(Refused):
        desk.save("note", "evidence_note", source_artifact_ids=["dr-unknown"])

    assert [each.hash for each in desk.artifacts.entries()] == before
    assert [each.name for each in desk.workspace.status().recent_artifacts] == ["s1"]
    with pytest.raises(NotFound):
        desk.workspace.read_artifact(artifact_id(RUN, "t1", "note"))


@pytest.mark.parametrize(
    "field", ["artifact_id", "content_hash", "size", "media_type", "rendition", "fetched_at"]
)
def test_what_is_computed_from_a_body_cannot_be_given(desk: Desk, field: str) -> None:
    with pytest.raises(InvalidRequest, match=field):
        desk.start().save("s1", **{field: content_hash("something else")})
    assert list(desk.artifacts.entries()) == []


def test_unknown_fields_are_refused(desk: Desk) -> None:
    with pytest.raises(Refused, match="path"):
        desk.start().save("s1", path="/etc/passwd")


def test_a_replay_does_not_bring_forgotten_bytes_back(desk: Desk) -> None:
    desk.start().save("s1")
    desk.artifacts.delete(content_hash("# s1"))

    desk.save("s1")

    assert not desk.artifacts.has(content_hash("# s1"))


def test_a_status_shows_the_last_100_artifacts_and_10_steps(desk: Desk) -> None:
    desk.start()
    for number in range(103):
        desk.save(f"s{number}")
    for number in range(12):
        step(desk.workspace, call(f"step-{number}"))

    status = desk.workspace.status()

    assert [each.name for each in status.recent_artifacts] == [f"s{n}" for n in range(3, 103)]
    assert [each.step_id for each in status.recent_steps] == [f"step-{n}" for n in range(2, 12)]
    assert len(status.research.artifacts) == 103
