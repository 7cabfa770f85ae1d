"""Idempotency: a call id stands for one input of one tool, for all mutations and for ever."""

from collections.abc import Callable
from pathlib import Path

import pytest

from state.envelope import Draft
from state.errors import Conflict, NotFound, Refused
from state.projection import Run
from state.workspace import Call, Workspace
from tests.state.builders import RUN, request
from tests.state.workspace_desk import Desk, call, seal, step

Mutation = Callable[[Workspace, Call], Run]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "home")


MUTATIONS: dict[str, Mutation] = {
    "start": lambda w, c: w.start(c, request()),
    "artifact": lambda w, c: w.save_artifact(c, "# A", role="source", name="a", locator="/a"),
    "checklist": lambda w, c: w.update_checklist(
        c, item_id="claims_verified", status="in_progress"
    ),
    "step": step,
    "checkpoint": lambda w, c: w.checkpoint(
        c, round=1, stage="knowledge_base", summary="So far.", open_questions=["one", "two"]
    ),
    "complete": seal,
}
CHANGED: dict[str, list[Mutation]] = {
    "start": [
        lambda w, c: w.start(c, request(question="Something else?")),
        lambda w, c: w.start(c, request(scope="quick")),
        lambda w, c: w.start(c, request(sources=("/other",))),
    ],
    "artifact": [
        lambda w, c: w.save_artifact(c, "# B", role="source", name="a", locator="/a"),
        lambda w, c: w.save_artifact(c, "# A", role="source", name="b", locator="/a"),
        lambda w, c: w.save_artifact(c, "# A", role="source", name="a", locator="/b"),
        lambda w, c: w.save_artifact(
            c, "# A", role="source", name="a", locator="/a", summary="new"
        ),
        lambda w, c: w.save_artifact(
            Call("t2", c.call_id), "# A", role="source", name="a", locator="/a"
        ),
    ],
    "checklist": [
        lambda w, c: w.update_checklist(c, item_id="claims_verified", status="pending"),
        lambda w, c: w.update_checklist(c, item_id="core_flow", status="in_progress"),
    ],
    "step": [
        lambda w, c: step(w, c, keywords=["two", "one"]),
        lambda w, c: step(w, c, summary="Nothing."),
        lambda w, c: step(w, c, step_id="another"),
        lambda w, c: step(w, c, worker_run_ids=["w1"]),
    ],
    "checkpoint": [
        lambda w, c: w.checkpoint(
            c, round=1, stage="knowledge_base", summary="So far.", open_questions=["two", "one"]
        ),
        lambda w, c: w.checkpoint(
            c, round=2, stage="knowledge_base", summary="So far.", open_questions=["one", "two"]
        ),
    ],
    "complete": [
        lambda w, c: seal(w, c, implementation_tasks=["two", "one"]),
        lambda w, c: seal(w, c, verification_commands=["make"]),
    ],
}


def _ready(desk: Desk, kind: str) -> Mutation:
    """Bring the desk to where a mutation of `kind` may be recorded, and return the mutation."""
    if kind != "start":
        desk.start()
    if kind == "complete":
        desk.complete()
    else:
        MUTATIONS[kind](desk.workspace, call(kind))
    return MUTATIONS[kind]


def _name(kind: str) -> str:
    return "seal" if kind == "complete" else kind


@pytest.mark.parametrize("kind", MUTATIONS)
def test_the_same_call_with_the_same_input_appends_nothing(desk: Desk, kind: str) -> None:
    mutation = _ready(desk, kind)
    before = desk.ledger.project(RUN)

    assert mutation(desk.workspace, call(_name(kind))) == before
    assert desk.position == before.position


@pytest.mark.parametrize("kind", MUTATIONS)
def test_the_same_call_with_another_input_is_a_conflict(desk: Desk, kind: str) -> None:
    _ready(desk, kind)
    before = desk.position

    for changed in CHANGED[kind]:
        with pytest.raises(Conflict):
            changed(desk.workspace, call(_name(kind)))
    assert desk.position == before


@pytest.mark.parametrize("other", [kind for kind in MUTATIONS if kind != "start"])
@pytest.mark.parametrize("kind", [kind for kind in MUTATIONS if kind != "complete"])
def test_a_call_id_is_used_by_one_tool_only(desk: Desk, kind: str, other: str) -> None:
    if kind == other:
        return
    _ready(desk, kind)

    with pytest.raises(Conflict):
        MUTATIONS[other](desk.workspace, call(kind))


@pytest.mark.parametrize("kind", [kind for kind in MUTATIONS if kind != "complete"])
def test_after_completion_only_exact_replays_pass(desk: Desk, kind: str) -> None:
    _ready(desk, kind)
    desk.complete()
    before = desk.position

    MUTATIONS[kind](desk.workspace, call(kind))
    with pytest.raises(Conflict):
        CHANGED[kind][0](desk.workspace, call(kind))
    with pytest.raises(Refused) as caught:
        MUTATIONS[kind](desk.workspace, call(f"new-{kind}"))
    assert caught.value.code == "TERMINAL"
    assert desk.position == before


def test_a_run_can_be_completed_once(desk: Desk) -> None:
    desk.start().complete()

    with pytest.raises(Refused) as caught:
        seal(desk.workspace, call("seal-again"))
    assert caught.value.code == "TERMINAL"
    assert desk.ledger.project(RUN).status == "completed"


def test_a_retry_survives_a_restart(desk: Desk, tmp_path: Path) -> None:
    desk.start().save("s1")
    again = Desk(tmp_path / "home")
    again.artifacts = desk.artifacts

    again.start().save("s1")

    assert again.position == desk.position


def test_nothing_can_be_recorded_before_the_start(desk: Desk) -> None:
    for kind in ("artifact", "checklist", "step", "checkpoint"):
        with pytest.raises((NotFound, Refused)):
            MUTATIONS[kind](desk.workspace, call(kind))


def test_what_is_recorded_twice_in_one_append_is_recorded_once(desk: Desk) -> None:
    desk.start()
    line = desk.ledger.read(RUN)[-1].envelope
    made = Draft(line.type, line.body, line.refs)

    assert desk.ledger.append(RUN, [made, made]).lines == ()
