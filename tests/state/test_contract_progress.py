"""The durable workspace's progress: the checklist and the research steps."""

from typing import Any

import pytest
from pydantic import ValidationError

from state.research_events import ChecklistStatus
from state.research_projection import MAX_CHECKLIST_ITEMS, MAX_STEPS
from state.values.profiles import CODEBASE, QUESTION
from tests.state.builders import item, just, running, source, step

# ---- checklist


def test_a_run_begins_with_the_checklist_of_its_profile_pending() -> None:
    for profile in (QUESTION, CODEBASE):
        research = running(profile=profile.name).research
        assert {id_: each.status for id_, each in research.checklist.items()} == dict.fromkeys(
            profile.checklist, ChecklistStatus.PENDING
        )


def test_the_profiles_have_the_contracts_sections_and_items() -> None:
    assert CODEBASE.section_keys == (
        "conclusion", "source_evidence", "borrow_diverge_risk_gate",
        "implementation_recommendations", "verification",
    )  # fmt: skip
    assert CODEBASE.checklist == (
        "project_entrypoints", "core_flow", "boundaries", "verification_evidence",
    )  # fmt: skip
    assert QUESTION.section_keys == (
        "summary", "findings", "conflicts_and_gaps", "implications", "method_and_verification",
    )  # fmt: skip
    assert QUESTION.checklist == (
        "question_decomposed", "sources_archived", "coverage_assessed", "claims_verified",
    )  # fmt: skip


@pytest.mark.parametrize("status", ["pending", "in_progress", "completed", "skipped"])
@pytest.mark.parametrize("reason", ["because", " "])
def test_a_blocked_reason_means_blocked(status: str, reason: str) -> None:
    with pytest.raises(ValidationError, match="if and only if the status is blocked"):
        item("core_flow", status, blocked_reason=reason)


@pytest.mark.parametrize("status", ["blocked", "skipped"])
@pytest.mark.parametrize("reason", ["", " \n"])
def test_a_blocked_or_skipped_item_says_why(status: str, reason: str) -> None:
    with pytest.raises(ValidationError, match=f"a {status}_reason is given"):
        item("core_flow", status, **{f"{status}_reason": reason})


def test_only_a_skipped_item_has_a_skipped_reason() -> None:
    with pytest.raises(ValidationError, match="a skipped_reason is given"):
        item("core_flow", "completed", skipped_reason="because")


def test_a_completed_item_needs_evidence_of_this_run() -> None:
    with pytest.raises(ValidationError, match="at least one evidence"):
        item("core_flow", "completed", evidence_artifact_ids=[])

    completed = item("sources_archived", "completed")
    assert running().refusal(completed) == "UNKNOWN_ARTIFACT"


def test_a_blocked_reason_has_up_to_4000_characters() -> None:
    item("core_flow", "blocked", blocked_reason="x" * 4000)
    with pytest.raises(ValidationError, match="at most 4000"):
        item("core_flow", "blocked", blocked_reason="x" * 4001)


@pytest.mark.parametrize("final", ["completed", "skipped"])
def test_completed_and_skipped_are_final_but_may_be_said_again(final: str) -> None:
    history = running().record(source(), item("sources_archived", final))

    for status in ("pending", "in_progress", "blocked", "completed", "skipped"):
        again = item("sources_archived", status)
        if status == final:
            history.record(again)
        else:
            assert history.refusal(again) == "CHECKLIST_FINAL"


def test_other_items_go_to_and_fro() -> None:
    history = running()
    for status in ("in_progress", "blocked", "pending", "in_progress", "in_progress"):
        history.record(item("sources_archived", status))

    assert history.research.checklist["sources_archived"].status == "in_progress"


def test_a_checklist_holds_at_most_50_items() -> None:
    assert MAX_CHECKLIST_ITEMS == 50
    history = running().record(*(item(f"more-{n}", "pending") for n in range(46)))

    assert history.refusal(item("more-46", "pending")) == "LIMIT"
    history.record(item("more-45", "in_progress"))


# ---- research steps


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "phone_call"}, "kind"),
        ({"status": "failed"}, "status"),
        ({"roots": []}, "at least one root"),
        ({"kind": "web_research"}, "at least one keyword"),
        ({"evidence_artifact_ids": []}, "at least one evidence"),
        ({"blocked_reason": "no"}, "if and only if the status is blocked"),
        ({"status": "blocked", "blocked_reason": ""}, "if and only if"),
        ({"status": "blocked", "blocked_reason": "  "}, "if and only if"),
        ({"status": "stopped", "blocked_reason": "no"}, "if and only if"),
        ({"objective": " "}, "blank"),
        ({"stopping_condition": ""}, "blank"),
        ({"expected_evidence": ""}, "blank"),
        ({"keywords": [""]}, "blank"),
        ({"roots": [" "]}, "blank"),
        ({"worker_run_ids": ["a b"]}, "stable id"),
        ({"worker_run_ids": ["w", "w"]}, "unique"),
        ({"surprise": 1}, "surprise"),
        ({"inspected_refs": [{"kind": "person", "locator": "x"}]}, "kind"),
        ({"inspected_refs": [{"kind": "file", "locator": ""}]}, "blank"),
        ({"inspected_refs": [{"kind": "file", "locator": "x", "line": 1}]}, "line"),
    ],
)
def test_a_step_that_breaks_a_rule_is_no_step(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        step(**fields)


@pytest.mark.parametrize("kind", ["file", "symbol", "config", "test", "runtime", "url"])
def test_what_was_inspected_has_a_kind_and_a_locator(kind: str) -> None:
    assert step(inspected_refs=[{"kind": kind, "locator": "x"}]).inspected_refs[0].kind == kind


@pytest.mark.parametrize("status", ["blocked", "stopped"])
def test_a_step_that_was_not_completed_needs_no_evidence(status: str) -> None:
    assert running().record(step(status=status)).research.steps["step-1"].status == status


@pytest.mark.parametrize(
    ("field", "limit"),
    [("objective", 2000), ("summary", 2000), ("stopping_condition", 2000),
     ("expected_evidence", 2000)],
)  # fmt: skip
def test_a_steps_texts_have_up_to_2000_characters(field: str, limit: int) -> None:
    step(**just(field, "é" * limit))
    with pytest.raises(ValidationError, match=f"at most {limit}"):
        step(**just(field, "é" * (limit + 1)))


@pytest.mark.parametrize(
    ("field", "count", "size"),
    [("roots", 50, 4096), ("ignored_paths", 50, 4096), ("keywords", 50, 1000)],
)
def test_a_steps_lists_are_limited_in_count_and_size(field: str, count: int, size: int) -> None:
    step(**just(field, ["x" * size] * count))
    with pytest.raises(ValidationError, match=f"at most {count} items"):
        step(**just(field, ["x"] * (count + 1)))
    with pytest.raises(ValidationError, match=f"at most {size} characters"):
        step(**just(field, ["x" * (size + 1)]))


def test_a_step_inspects_at_most_200_things() -> None:
    refs = [{"kind": "file", "locator": "x" * 4096, "label": "y" * 1000}] * 200
    assert len(step(inspected_refs=refs).inspected_refs) == 200
    with pytest.raises(ValidationError, match="at most 200 items"):
        step(inspected_refs=[*refs, refs[0]])
    with pytest.raises(ValidationError, match="at most 4096"):
        step(inspected_refs=[{"kind": "file", "locator": "x" * 4097}])
    with pytest.raises(ValidationError, match="at most 1000"):
        step(inspected_refs=[{"kind": "file", "locator": "x", "label": "y" * 1001}])


def test_a_steps_evidence_and_sources_are_of_this_run() -> None:
    assert running().refusal(step()) == "UNKNOWN_ARTIFACT"

    history = running().record(source())
    ref = {"kind": "file", "locator": "x", "source_artifact_id": "s2"}
    assert history.refusal(step(inspected_refs=[ref])) == "UNKNOWN_ARTIFACT"
    ref["source_artifact_id"] = "s1"
    history.record(step(inspected_refs=[ref]))


def test_a_completed_step_is_recorded_once_and_a_blocked_one_may_be_completed() -> None:
    history = running().record(source(), step(status="blocked"), step())

    assert history.refusal(step(summary="again")) == "DUPLICATE_STEP"
    assert history.research.step_order == ("step-1",)


def test_a_run_holds_at_most_500_steps() -> None:
    assert MAX_STEPS == 500
    history = running().record(*(step(f"step-{n}", "stopped") for n in range(500)))

    assert history.refusal(step("step-500", "stopped")) == "LIMIT"
