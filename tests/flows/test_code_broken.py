"""What breaks around a Paper2Code run, and what a retry of one does not do again."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adapters.models.coder import FileDraft
from adapters.sandbox.fake import FakeSandbox, finished
from flows.answering import answer_review
from flows.code_runs import CodeResult, submit_code
from flows.runs import execute, retry
from state.errors import LeaseHeld
from state.projection import Run
from state.values.errors import InvalidRequest
from tests.flows.code_world import FILES, PLAN, SMOOTHER, WRONG, CodeWorld, scripted
from tests.flows.test_paper2code import git, needs_sandbox

pytestmark = [pytest.mark.usefixtures("prefect_server"), needs_sandbox]


@pytest.fixture
def world(assay_home: Path) -> CodeWorld:
    return CodeWorld(assay_home)


def meddling(world: CodeWorld, meddle: Callable[[], object]) -> None:
    """Let something happen just before the last file is written."""

    async def before(call: str) -> None:
        if call == "write_file tests/test_smoother.py":
            meddle()

    world.coder = scripted(before=before)


# ---- around the run


def test_a_workspace_deleted_meanwhile_is_made_again(world: CodeWorld) -> None:
    meddling(world, lambda: shutil.rmtree(world.workspace))

    first = world.made()

    assert (first.status, first.code) == ("interrupted", "WORKFLOW_INTERRUPTED")
    assert str(world.workspace) in first.reason
    assert world.resumed().status == "completed"
    assert (world.workspace / "smoother.py").read_text() == SMOOTHER
    assert world.coder.calls.count("design") == 1


@pytest.mark.parametrize("damage", ["a file", "emptied"])
def test_a_damaged_repository_is_named_and_left_alone(world: CodeWorld, damage: str) -> None:
    place = world.workspace / ".git"
    meddling(world, place.mkdir if damage == "emptied" else lambda: place.write_text("x"))

    first = world.made()

    assert first.status == "interrupted"
    assert "move its .git away" in first.reason
    place.rename(world.workspace.parent / "away")
    assert world.resumed().status == "completed"
    assert git(world.workspace, "log", "--format=%s").split("\n")[0] == "Report"


def test_a_body_lost_from_the_archive_is_named_and_the_run_goes_on_once_it_is_back(
    world: CodeWorld,
) -> None:
    """Cases: E 41."""
    lost: list[tuple[Path, bytes]] = []

    def lose() -> None:
        code = world.desk().ledger.project("c1").paper2code
        assert code is not None
        address = code.files["smoother.py"].content_hash.removeprefix("sha256:")
        (path,) = world.home.glob(f"artifacts/**/*{address[4:]}")
        lost.append((path, path.read_bytes()))
        path.unlink()

    meddling(world, lose)

    first = world.made()
    again = world.resumed()

    assert first.status == again.status == "interrupted"
    assert "sha256:" in first.reason
    (path, body), *_ = lost
    path.write_bytes(body)
    assert world.resumed().status == "completed"
    assert world.coder.calls.count("write_file smoother.py") == 1


def test_a_run_that_is_executed_is_not_executed_twice(world: CodeWorld) -> None:
    desk = world.desk()
    submit_code(desk, world.request())

    with desk.ledger.lease("c1", command="another"), pytest.raises(LeaseHeld):
        execute(world.desk(), "c1")

    assert world.coder.calls == []


def test_the_same_request_again_is_the_same_run_and_another_is_refused(world: CodeWorld) -> None:
    first = submit_code(world.desk(), world.request())

    assert submit_code(world.desk(), world.request()).run_id == first.run_id
    with pytest.raises(InvalidRequest, match="another request"):
        submit_code(world.desk(), world.request(requirement="Something else."))


# ---- retries


def refused(world: CodeWorld, broken: str) -> None:
    """Let the coder never finish one file."""
    world.coder = scripted(
        lies={
            "write_file": lambda given, honest: (
                FileDraft(given.file.path, "def add(:\n") if given.file.path == broken else honest
            )
        }
    )


def retried(world: CodeWorld, run_id: str = "c1", **options: Any) -> tuple[CodeResult, Run]:
    """Retry a failed run in a new process; return what it came to, and the run that had failed."""
    desk = world.desk()
    run = retry(desk, run_id)
    return world.resumed(run.run_id, **options), desk.ledger.project(run_id)


def test_a_retry_asks_anew_only_for_what_was_not_had(world: CodeWorld) -> None:
    """Cases: B 14, E 38. A file that no try had made whole is not given up for good."""
    refused(world, "smoother.py")
    assert world.made().missing == ["smoother.py"]
    before = world.desk().ledger.project("c1")
    world.coder = scripted()

    result, failed = retried(world)

    assert result.status == "completed"
    assert world.coder.calls[0] == "write_file smoother.py"
    problem: str = world.coder.given[0].problem  # type: ignore[union-attr]
    assert "does not parse" in problem
    assert "attempt 2" in problem
    # The test was written without the file; now that it is there, it is written for it.
    assert world.coder.calls[1:] == ["write_file tests/test_smoother.py"]
    assert (failed.status, failed.position) == ("failed", before.position)
    run = world.desk().ledger.project(result.run_id)
    assert (run.attempt, run.task_id) == (2, "c1")
    assert run.retry_of is not None
    assert (run.retry_of.run_id, run.retry_of.hash) == ("c1", before.head_hash)


def test_a_plan_that_was_never_valid_is_asked_for_again_in_a_retry(world: CodeWorld) -> None:
    world.coder = scripted(plan_=replace(PLAN, file_structure=()))
    assert world.made().code == "PLAN_INVALID"
    world.coder = scripted()

    result, _ = retried(world)

    assert result.status == "completed"
    assert world.coder.calls.count("design") == 1
    assert "analyse" not in world.coder.calls


def test_a_repair_that_changed_nothing_is_not_the_end_of_a_retry(world: CodeWorld) -> None:
    world.coder = scripted(files={**FILES, "smoother.py": WRONG}, repairs=({},))
    assert "changed nothing" in world.made().reason
    world.coder = scripted(repairs=({"smoother.py": SMOOTHER},))

    result, _ = retried(world)

    assert result.status == "completed"
    assert world.coder.calls == ["repair"]
    assert "changed nothing" in world.coder.given[0].tried[0]  # type: ignore[union-attr]


def test_repairs_are_kept_over_several_retries(world: CodeWorld) -> None:
    texts = [WRONG.replace("self.t += 1", f"self.t += 1  # {number}") for number in range(3)]
    world.coder = scripted(
        files={**FILES, "smoother.py": WRONG}, repairs=({"smoother.py": texts[0]}, {})
    )
    world.made()
    for number in (1, 2):
        world.coder = scripted(files={}, repairs=({"smoother.py": texts[number]}, {}))
        run_id = "c1" if number == 1 else f"c1-attempt-{number}"
        result, _ = retried(world, run_id)
        assert result.status == "failed"
        assert set(world.coder.calls) == {"repair"}
    world.coder = scripted(files={}, repairs=({"smoother.py": SMOOTHER},))

    result, _ = retried(world, "c1-attempt-3")

    assert result.status == "completed"
    assert world.coder.calls == ["repair"]
    assert any(draft.text == texts[2] for draft in world.coder.given[0].files)  # type: ignore[union-attr]
    assert git(world.workspace, "log", "--format=%s").splitlines().count("Report") == 4


OTHER = replace(PLAN.file_structure[2], purpose="How to use it, at length")


def test_after_a_revised_plan_only_what_depends_on_the_change_is_written_again(
    world: CodeWorld,
) -> None:
    """Cases: E 44."""
    world.coder = scripted(files={**FILES, "smoother.py": WRONG}, repairs=({},))
    failed = approved(world, world.made(options={"plan_review": True}))
    assert failed.status == "failed"
    smoother, test, readme, requirements = PLAN.file_structure
    wider = replace(smoother, interface=(*smoother.interface, "def reset(self) -> None"))
    resetting = SMOOTHER + "\n    def reset(self) -> None:\n        self.s, self.t = 0.0, 0\n"
    world.coder = scripted(
        plan_=replace(PLAN, file_structure=(wider, test, readme, requirements)),
        files={**FILES, "smoother.py": resetting},
    )

    waiting, _ = retried(world)
    assert waiting.status == "waiting"
    assert world.coder.calls == []
    answer_review(world.desk(), waiting.run_id, "revise", by="ada", feedback="let it be reset")
    result = approved(world, world.resumed(waiting.run_id))

    assert result.status == "completed"
    assert world.coder.calls == [
        "design", "write_file smoother.py", "write_file tests/test_smoother.py",
    ]  # fmt: skip
    assert (world.workspace / "smoother.py").read_text() == resetting


def test_a_retry_begins_with_the_plan_that_a_person_had_put_in_place(world: CodeWorld) -> None:
    """Cases: E 44."""
    world.coder = scripted(files={**FILES, "smoother.py": WRONG}, repairs=({},))
    waiting = world.made(options={"plan_review": True})
    mine = replace(PLAN, file_structure=(*PLAN.file_structure[:2], OTHER, PLAN.file_structure[3]))
    answer_review(world.desk(), waiting.run_id, "replace", by="ada", plan=mine)
    assert world.resumed().status == "failed"
    world.coder = scripted(repairs=({"smoother.py": SMOOTHER},))

    again, _ = retried(world)
    result = approved(world, again)

    assert result.status == "completed"
    assert world.coder.calls == ["repair"]
    run = world.desk().ledger.project(result.run_id).paper2code
    assert run is not None
    assert run.plan is not None
    assert (run.plan.version, run.plan.origin) == (1, "replaced")


def approved(world: CodeWorld, waiting: CodeResult) -> CodeResult:
    """Approve the plan and carry the run on."""
    assert waiting.status == "waiting"
    answer_review(world.desk(), waiting.run_id, "approve", by="ada")
    return world.resumed(waiting.run_id)


# ---- the sandbox


def test_a_sandbox_that_breaks_is_no_failure_of_the_code(world: CodeWorld) -> None:
    """Cases: H 73, H 75. Nothing is tried again in silence, and nothing is said of the code."""
    world.sandbox = FakeSandbox(())

    result = world.made()

    assert (result.status, result.code) == ("interrupted", "WORKFLOW_INTERRUPTED")
    assert result.verifications == []
    world.sandbox = None
    assert world.resumed().status == "completed"
    assert world.coder.calls.count("write_file smoother.py") == 1


def test_a_test_that_writes_no_record_is_none_that_passed(world: CodeWorld) -> None:
    world.sandbox = FakeSandbox([finished(0, output=b"5 passed\n")] * 9)

    result = world.made(budgets={"max_repairs": 0})

    assert result.status == "failed"
    assert result.verifications[0]["verdict"] == "not_executed"
