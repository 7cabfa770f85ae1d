"""What may follow what in a Paper2Code run."""

from typing import Any

import pytest

from state.code_stages import CARRYING_OUT, PERCENT
from state.events import Event
from state.run_events import RunCancelled, RunFailed, StageCompleted, StageStarted
from tests.state.builders import History, queued, research_started, running, source
from tests.state.code_builders import (
    PATHS,
    TEST,
    approved,
    code_completed,
    code_planned,
    code_source,
    code_started,
    coding,
    dependencies,
    file_hash,
    frozen,
    implemented,
    reference,
    sealed,
    stage_effect,
    state_of,
    verified,
    written,
)


def through() -> History:
    """Return a run whose tests passed."""
    return implemented().record(verified())


# ---- where a run begins


def test_a_run_of_code_is_of_its_kind() -> None:
    assert running().refusal(code_started()) == "KIND"
    assert running().refusal(code_source()) == "KIND"
    assert coding().refusal(research_started()) == "KIND"
    assert coding().refusal(source()) == "KIND"


def test_the_start_comes_first_and_once() -> None:
    history = History().record(queued(kind="paper2code"))

    for event in (code_source(), code_planned(), written(PATHS[0]), frozen(), verified()):
        assert history.refusal(event) == "NOT_STARTED"
    assert history.refusal(code_started("run-2")) == "RUN_ID"
    history.record(code_started())
    assert history.refusal(code_started()) == "ALREADY_STARTED"


def test_nothing_is_recorded_unless_the_run_is_worked_on() -> None:
    history = History().record(queued(kind="paper2code"), code_started())

    assert history.refusal(code_source()) == "STATUS"


def test_what_happened_can_be_told_of_the_state() -> None:
    history = through()
    code = state_of(history)

    assert code.plan == code_planned()
    assert code.file_order == PATHS
    assert code.file_hashes == {path: file_hash(path) for path in PATHS}
    assert code.frozen_hashes == {TEST: file_hash(TEST)}
    assert code.dependencies == dependencies()
    assert code.verifications == (verified(),)
    assert (code.missing, code.is_complete, code.sealed) == ((), True, None)


# ---- sources and plans


def test_a_source_is_recorded_once_and_is_what_was_asked_for() -> None:
    history = coding().record(code_source())

    assert history.refusal(code_source()) == "DUPLICATE_ARTIFACT"
    assert history.refusal(code_source("s2", source_type="url")) == "SOURCE_TYPE"
    history.record(code_source("s2", source_type="requirement", locator="requirement"))
    assert [source.artifact_id for source in state_of(history).sources] == ["s1", "s2"]


def test_a_plan_is_for_a_source_and_its_versions_count_up() -> None:
    assert coding().refusal(code_planned()) == "NO_SOURCE"
    history = coding().record(code_source())

    assert history.refusal(code_planned(2)) == "PLAN_VERSION"
    history.record(code_planned())
    assert history.refusal(code_planned(1)) == "PLAN_VERSION"
    history.record(code_planned(2))
    assert [plan.version for plan in state_of(history).plans] == [1, 2]


def test_a_plan_has_no_more_files_than_allowed() -> None:
    history = coding(max_files=len(PATHS) - 1).record(code_source())

    assert history.refusal(code_planned()) == "LIMIT"


@pytest.mark.parametrize("paths", [["a.py", "A.py"], ["a", "a/b.py"], ["a.py", "a.py"]])
def test_paths_of_a_plan_are_different_files(paths: list[str]) -> None:
    history = coding().record(code_source())

    assert history.refusal(code_planned(paths_planned=paths)) == "PLAN"


@pytest.mark.parametrize("path", ["/etc/passwd", "../x.py", "a/.git/config", "a\\b.py", "C:/a.py"])
def test_no_event_names_a_path_outside_the_workspace(path: str) -> None:
    for make in (written, lambda p: code_planned(paths_planned=[p]), frozen):
        with pytest.raises(ValueError, match="no path in a workspace"):
            make(path)


def test_a_revised_plan_forgets_the_files_it_no_longer_has() -> None:
    history = approved(plan_review=False).record(written(PATHS[0]), written(PATHS[1]))

    history.record(code_planned(2, paths_planned=PATHS[1:]))

    assert state_of(history).file_order == PATHS[1:2]
    assert set(state_of(history).files) == set(PATHS[1:2])


def test_a_plan_stands_once_its_tests_are_frozen() -> None:
    assert implemented(plan_review=False).refusal(code_planned(2)) == "PLAN_FROZEN"


# ---- files and tests


def test_only_planned_files_are_written() -> None:
    history = approved()

    assert history.refusal(written("meanfit/extra.py")) == "UNPLANNED_FILE"
    assert history.refusal(written("MEANFIT/__init__.py")) == "UNPLANNED_FILE"


def test_a_file_belongs_to_the_repair_that_wrote_it() -> None:
    assert approved().refusal(written(PATHS[0], 1)) == "ATTEMPT"
    history = implemented().record(verified(0, "failed"))

    assert history.refusal(written(PATHS[1], 0)) == "ATTEMPT"
    history.record(written(PATHS[1], 1))
    assert state_of(history).file_order == PATHS
    assert state_of(history).files[PATHS[1]].content_hash == file_hash(PATHS[1], 1)


def test_a_frozen_test_stays_as_it_is() -> None:
    history = implemented().record(verified(0, "failed"))

    assert history.refusal(written(TEST, 1)) == "FROZEN_TEST"


def test_tests_are_frozen_as_they_were_written_each_and_once() -> None:
    history = approved().record(*(written(path) for path in PATHS))
    changed = [{"path": TEST, "content_hash": file_hash(TEST, 7)}]

    assert history.refusal(frozen(files=changed)) == "FILES"
    assert history.refusal(frozen(TEST, TEST)) == "FILES"
    history.record(frozen(TEST, PATHS[0]))
    assert history.refusal(frozen()) == "ALREADY_FROZEN"


def test_only_what_was_written_is_frozen_as_a_planned_file() -> None:
    assert approved().refusal(frozen()) == "FILES"


def test_parts_of_files_and_what_lay_there_before_can_be_frozen() -> None:
    history = approved().record(*(written(path) for path in PATHS))

    history.record(frozen("requirements.txt#pytest", "conftest.py"), verified(0, "failed"))

    history.record(written("requirements.txt", 1))
    assert history.refusal(written(TEST, 1)) == "FROZEN_TEST"  # it is a test, named or not


def test_a_reference_is_recorded_once_whatever_came_of_it() -> None:
    history = approved().record(reference(outcome="failed", reason="429", index_hash=None))

    assert history.refusal(reference()) == "DUPLICATE_REFERENCE"
    history.record(reference("https://git.example.org/a/c"))


# ---- verification


def test_verifications_count_up_to_the_last_repair() -> None:
    history = implemented(max_repairs=1)

    assert history.refusal(verified(1)) == "ATTEMPT"
    history.record(verified(0, "failed"))
    assert history.refusal(verified(0, "failed")) == "ATTEMPT"
    history.record(written(PATHS[1], 1), verified(1, "failed"))
    assert history.refusal(verified(2)) == "LIMIT"


def test_tests_count_only_when_they_were_frozen() -> None:
    history = approved().record(*(written(path) for path in PATHS))

    assert history.refusal(verified()) == "NOT_FROZEN"


@pytest.mark.parametrize(
    "numbers",
    [
        {"commands": 0},
        {"executed": 0, "passed": 0},
        {"failed": 1, "passed": 2},
        {"passed": 2},
        {"tampered": [TEST]},
        {"executed": 0, "passed": 0, "skipped": 3},
    ],
)
def test_passed_means_that_tests_ran_and_all_of_them_passed(numbers: dict[str, Any]) -> None:
    assert implemented().refusal(verified(0, "passed", **numbers)) == "VERDICT"


@pytest.mark.parametrize(
    ("verdict", "numbers"),
    [
        ("failed", {"tampered": [TEST]}),
        ("timeout", {"tampered": ["pyproject.toml#pytest"]}),
    ],
)
def test_a_verdict_does_not_contradict_its_numbers(verdict: str, numbers: dict[str, Any]) -> None:
    assert implemented().refusal(verified(0, verdict, **numbers)) == "VERDICT"


@pytest.mark.parametrize("verdict", ["failed", "no_tests", "not_executed", "timeout", "tampered"])
def test_every_other_verdict_is_recorded_and_no_success(verdict: str) -> None:
    history = implemented().record(verified(0, verdict))

    assert not state_of(history).is_complete
    assert history.refusal(sealed(history, outcome="complete")) == "INCOMPLETE"


# ---- the seal, and the end


def test_code_is_complete_when_every_file_is_there_and_the_tests_passed() -> None:
    history = through()

    assert history.refusal(sealed(history, outcome="incomplete")) == "COMPLETE"
    history.record(sealed(history), code_completed())
    assert (history.run.status, history.run.progress) == ("completed", 100)


def _partial() -> History:
    return approved().record(written(PATHS[0]), written(TEST), frozen(), verified())


def _changed_after() -> History:
    return through().record(written(PATHS[1], 1))


def _failed() -> History:
    return implemented().record(verified(0, "failed"))


@pytest.mark.parametrize("make", [approved, implemented, _partial, _changed_after, _failed])
def test_whatever_falls_short_is_sealed_as_incomplete(make: Any) -> None:
    history: History = make()

    assert history.refusal(sealed(history, outcome="complete")) == "INCOMPLETE"
    history.record(sealed(history))
    assert history.refusal(code_completed()) == "INCOMPLETE"
    error = RunFailed(code="WORKFLOW_EXECUTION_ERROR", message="it broke")
    assert history.refusal(error) == "INCOMPLETE"
    history.record(RunFailed(code="WORKFLOW_INCOMPLETE", message="tests fail"))
    assert history.run.status == "failed"


def test_incomplete_code_may_still_be_cancelled() -> None:
    history = approved()

    history.record(sealed(history), RunCancelled(reason="enough"))

    assert history.run.status == "cancelled"


def test_a_seal_says_exactly_what_is_there_and_what_is_missing() -> None:
    history = through()
    files = sealed(history).files
    other = files[0].model_copy(update={"content_hash": file_hash("other")})

    assert history.refusal(sealed(history, files=files[1:])) == "FILES"
    assert history.refusal(sealed(history, files=[other, *files[1:]])) == "FILES"
    assert history.refusal(sealed(history, files=[files[0], *files])) == "FILES"
    assert history.refusal(sealed(history, missing=[PATHS[0]])) == "MISSING"
    assert history.refusal(sealed(history, plan_hash="0" * 64)) == "PLAN_HASH"
    partial = approved().record(written(PATHS[0]))
    assert partial.refusal(sealed(partial, missing=PATHS[:1:-1])) == "MISSING"


def test_sealed_code_changes_no_more() -> None:
    history = through()
    history.record(sealed(history))

    for event in (code_source("s2"), code_planned(2), written(PATHS[0], 1), verified(1)):
        assert history.refusal(event) == "SEALED"
    assert history.refusal(sealed(history)) == "SEALED"


def test_a_run_is_not_completed_without_its_seal() -> None:
    assert through().refusal(code_completed()) == "INCOMPLETE"
    assert coding().refusal(code_completed()) == "INCOMPLETE"
    history = through()
    history.record(sealed(history))
    assert history.refusal(code_completed("answered")) == "INCOMPLETE"


@pytest.mark.parametrize("ended", [code_completed(), RunFailed(code="X", message="no")])
def test_nothing_follows_the_end(ended: Event) -> None:
    history = through()
    history.record(sealed(history), ended)

    for event in (code_source("s2"), written(PATHS[0], 1), StageStarted(stage="finalizing")):
        assert history.refusal(event) == "TERMINAL"


# ---- stages and progress


def test_stages_come_in_their_order_and_may_be_left_out() -> None:
    history = approved()

    assert history.refusal(StageStarted(stage="knowledge_base")) == "STAGE"
    history.record(StageStarted(stage="planning"), StageCompleted(stage="planning"))
    assert history.refusal(StageStarted(stage="preparing")) == "STAGE"
    history.record(StageStarted(stage="implementing"))
    assert history.refusal(StageStarted(stage="indexing")) == "STAGE"
    assert (history.run.stage, history.run.progress) == ("implementing", 85)


def test_progress_is_that_of_the_stage_and_full_only_at_the_end() -> None:
    history, seen = approved(), []
    for stage in PERCENT:
        history.record(StageStarted(stage=stage), StageCompleted(stage=stage))
        seen.append(history.run.progress)

    assert seen == [5, 25, 40, 50, 65, 66, 70, 80, 85, 95, 99]


@pytest.mark.parametrize("stage", sorted(PERCENT))
def test_no_step_that_carries_the_plan_out_comes_before_its_approval(stage: str) -> None:
    history = coding().record(code_source(), code_planned())

    if stage not in CARRYING_OUT:
        history.record(stage_effect(stage), call="c1")
        return
    assert history.refusal(stage_effect(stage), call="c1") == "NOT_APPROVED"
    assert history.refusal(StageStarted(stage=stage)) == "NOT_APPROVED"
    assert approved().record(stage_effect(stage), call="c1").run.effects
