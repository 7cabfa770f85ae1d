"""Completion: what stands between a run and its seal, and what is read again before it."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from state.artifacts import LocalArtifacts
from state.completion import verify_completion
from state.errors import Refused
from state.research_projection import completion_problems
from state.run_events import RunCompleted
from state.values.ids import content_hash
from state.values.profiles import PROFILES
from tests.state.builders import (
    HANDOFF,
    History,
    artifact,
    checkpoint,
    completed,
    item,
    ready,
    ready_events,
    running,
    section,
    source,
    step,
    text_source,
)

GATES = [(profile, name) for profile in PROFILES for name in ready_events(profile)]


@pytest.mark.parametrize("profile", PROFILES)
def test_a_run_that_has_everything_is_completed(profile: str) -> None:
    research = ready(profile).record(completed()).research

    assert (research.status, research.stage) == ("completed", "completed")
    assert research.handoff is not None


@pytest.mark.parametrize(("profile", "missing"), GATES)
def test_nothing_that_completion_needs_can_be_left_out(profile: str, missing: str) -> None:
    if missing == "source":
        history = running(profile=profile).record(checkpoint(stage="report_writing"))
    else:
        history = ready(profile, without=[missing])

    assert history.refusal(completed()) == "INCOMPLETE"
    for event in ready_events(profile).values() if missing == "source" else ():
        if event.type != "research_checkpoint_recorded":
            history.record(event)
    if missing != "source":
        history.record(ready_events(profile)[missing])
    history.record(completed())


@pytest.mark.parametrize(
    ("last", "problem"),
    [
        (section("summary", "drafted", "draft"), "section 'summary'"),
        (item("extra", "in_progress"), "checklist item 'extra' is in_progress"),
        (item("extra", "blocked"), "checklist:extra is blocked: because"),
        (step("s", "blocked"), "step:s is blocked: no access"),
        (checkpoint("c2", stage="report_writing", status="blocked"), "checkpoint is blocked"),
    ],
)
def test_drafts_open_items_and_blockers_stand_in_the_way(last: Any, problem: str) -> None:
    history = ready(without=["section summary"]).record(last)
    if "summary" not in problem:
        history.record(section("summary"))

    problems = completion_problems(history.research, completed())

    assert problem in "; ".join(problems)
    assert history.refusal(completed()) == "INCOMPLETE"


def test_a_skipped_item_is_settled() -> None:
    history = ready(without=["item claims_verified"]).record(item("claims_verified", "skipped"))

    history.record(completed())


@pytest.mark.parametrize(
    "wrong",
    [
        {"report_artifact_id": "outline"},
        {"report_artifact_id": "another-runs"},
        {"handoff": {**HANDOFF, "artifact_id": "report"}},
        {"handoff": {**HANDOFF, "artifact_id": "another-runs"}},
    ],
)
def test_report_and_handoff_are_recorded_as_such_in_this_run(wrong: dict[str, Any]) -> None:
    assert ready().refusal(completed(**wrong)) == "INCOMPLETE"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"implementation_tasks": []}, "at least 1"),
        ({"verification_commands": []}, "at least 1"),
        ({"recommended_issues": [], "recommended_pull_requests": []}, "issue or pull request"),
        ({"implementation_tasks": ["x"] * 51}, "at most 50"),
        ({"recommended_issues": ["x" * 1001]}, "at most 1000"),
        ({"verification_commands": [" "]}, "blank"),
        ({"started": True}, "started"),
    ],
)
def test_a_handoff_that_breaks_a_rule_is_none(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        completed(handoff={**HANDOFF, **fields})


def test_pull_requests_alone_are_recommendation_enough() -> None:
    lists = {"recommended_issues": [], "recommended_pull_requests": ["x" * 1000] * 50}

    assert completed(handoff={**HANDOFF, **lists}).handoff.recommended_issues == ()


def test_a_refusal_names_everything_that_is_missing() -> None:
    with pytest.raises(Refused) as caught:
        running().record(source(), completed())

    for part in ("stage", "outline", "question_decomposed", "summary", "findings", "report"):
        assert part in caught.value.message


def test_a_run_ends_as_completed_only_with_its_result() -> None:
    ended = RunCompleted(answer_status="answered", stop_reason="coverage-complete")

    history = ready()
    assert history.refusal(ended) == "INCOMPLETE"
    assert history.record(completed(), ended).run.status == "completed"


# ---- what is read again


@pytest.fixture
def archive(tmp_path: Path) -> LocalArtifacts:
    kept = LocalArtifacts(tmp_path / "artifacts")
    for name in ("s1", "outline", "report", "handoff", *PROFILES["question"].section_keys):
        kept.put(name.encode())
        kept.put(f"section-{name}".encode())
    return kept


def _refused(history: History, archive: LocalArtifacts) -> str:
    with pytest.raises(Refused) as caught:
        verify_completion(history.research, completed(), archive)
    assert caught.value.code == "INCOMPLETE"
    return caught.value.message


def test_what_checks_out_passes(archive: LocalArtifacts) -> None:
    verify_completion(ready().research, completed(), archive)


SEALED = ["s1", "section-summary", "section-method_and_verification", "report", "handoff"]


@pytest.mark.parametrize("name", SEALED)
def test_bytes_that_are_missing_prevent_completion(archive: LocalArtifacts, name: str) -> None:
    archive.delete(content_hash(name))

    assert f"{name}: artifact sha256" in _refused(ready(), archive)


@pytest.mark.parametrize("name", SEALED)
def test_bytes_that_changed_prevent_completion(
    archive: LocalArtifacts, tmp_path: Path, name: str
) -> None:
    digest = content_hash(name).removeprefix("sha256:")
    path = tmp_path / "artifacts" / "sha256" / digest[:2] / digest[2:]
    path.write_bytes(path.read_bytes()[:-1] + b"?")

    assert "is damaged" in _refused(ready(), archive)


@pytest.mark.parametrize("role", ["report_section", "report", "handoff"])
def test_another_media_type_prevents_completion(archive: LocalArtifacts, role: str) -> None:
    name = "section summary" if role == "report_section" else role
    history = ready(without=[name])
    history.record(artifact(name.replace(" ", "-"), role, media_type="application/x-sh"))

    assert "is application/x-sh" in _refused(history, archive)


def test_a_sources_text_is_read_again_too(archive: LocalArtifacts) -> None:
    history = ready().record(text_source("s2", "Tickets expire."))
    archive.put(b"s2")

    assert _refused(history, archive).count("source s2") == 2
    archive.put(b"Tickets expire.")
    archive.put(b"[]")
    verify_completion(history.research, completed(), archive)


def test_earlier_drafts_and_notes_are_not_read_again(archive: LocalArtifacts) -> None:
    history = ready(without=["section summary"]).record(
        section("summary", "drafted", "never-archived"), section("summary")
    )

    verify_completion(history.research, completed(), archive)


def test_every_problem_is_named_at_once(archive: LocalArtifacts) -> None:
    archive.delete(content_hash("report"))
    history = ready(without=["item claims_verified"])

    said = _refused(history, archive)
    assert "claims_verified" in said
    assert "report report" in said
