"""The ready questions about code, and the views behind them: small ledgers, worked out by hand."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from state.events import Spend
from state.questions import Period, ask, question_named
from tests.state.builders import BEGAN
from tests.state.code_builders import PATHS, PLAN, code_completed, reference
from tests.state.code_stories import CodeStory
from tests.state.stories import Clock, open_ledger

NOW = BEGAN + timedelta(days=30)


class World:
    """A ledger and its clock; stories begin where the clock stands."""

    def __init__(self, home: Path) -> None:
        self.clock = Clock()
        self.ledger = open_ledger(home, self.clock)

    def run(self, run_id: str = "r1", **asked: Any) -> CodeStory:
        """Return a run that was queued and started."""
        return CodeStory(self.ledger, self.clock, run_id).queued(**asked).started()

    def approved(self, run_id: str = "r1", **asked: Any) -> CodeStory:
        return self.run(run_id, **asked).sourced().planned().asked().decided("approve")

    def implemented(self, run_id: str = "r1", **asked: Any) -> CodeStory:
        return self.approved(run_id, **asked).wrote(PATHS).froze()

    def rows(self, name: str) -> list[tuple[Any, ...]]:
        return list(ask(self.ledger, question_named(name), Period(), now=NOW).rows)

    def view(self, name: str, *columns: str) -> list[tuple[Any, ...]]:
        listed = ", ".join(columns)
        return list(self.ledger.query(f"SELECT {listed} FROM {name} ORDER BY ALL").rows)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "home")


# ---- questions


def test_repairs_tell_how_many_it_takes(world: World) -> None:
    world.implemented("r1").verified()
    world.implemented("r2").verified("failed").wrote(PATHS[:1], 1).verified()
    world.implemented("r3").verified("failed").wrote(PATHS[:1], 1).verified("timeout")
    world.implemented("r4").verified()
    world.implemented("r5")  # was not verified

    assert world.rows("repairs") == [(0, 2, 2, 2 / 4), (1, 2, 1, 3 / 4)]


def test_passing_is_counted_by_verification(world: World) -> None:
    world.implemented("r1").verified()
    world.implemented("r2").verified("failed").wrote(PATHS[:1], 1).verified("tampered")
    world.implemented("r3").verified("no_tests").wrote(PATHS[:1], 1).verified()
    world.implemented("r4").verified("not_executed")

    assert world.rows("passing") == [
        (0, 4, 1, 1 / 4, 1, 2, 0, 0, 6 / 4),
        (1, 2, 1, 1 / 2, 0, 0, 0, 1, 3.0),
    ]


def test_coders_are_compared_by_code_that_is_complete(world: World) -> None:
    cost: dict[str, Any] = {"usage": Spend(model_calls=1, cost_micro_usd=1000)}
    good = world.approved("r1", model="a:good").wrote(PATHS, **cost).froze().verified()
    good.sealed().ended()
    taken_s = (world.clock.now - BEGAN).total_seconds()
    world.approved("r2", model="b:bad").wrote(PATHS[:2], **cost).sealed().ended()
    world.approved("r3", model="c:none")

    assert world.rows("coders") == [
        ("a:good", 1, 1, 1.0, 6.0, 0.0, 0.006, taken_s),
        ("b:bad", 1, 0, 0.0, 2.0, 0.0, 0.002, None),
    ]


def test_plans_are_told_by_what_the_source_backs(world: World) -> None:
    world.approved("r1")
    revised = world.run("r2").sourced().planned(citations=9, located=0)
    revised.planned(2, citations=4, located=3, ambiguities=4)
    world.run("r3", source_type="requirement", source="Print Test Successful").sourced().planned()
    world.run("r4").sourced()

    assert world.rows("plans") == [
        ("local", 2, 1.5, 6.0, 6, 5, 5 / 6, 2.5),
        ("requirement", 1, 1.0, 6.0, 2, 2, 1.0, 1.0),
    ]


def test_stages_of_code_are_timed_apart_from_those_of_research(world: World) -> None:
    story = world.run("r1")
    for stage, seconds in (("preparing", 2), ("planning", 6)):
        with story.stage(stage):
            world.clock.advance(seconds)
    with world.run("r2").stage("planning"):
        world.clock.advance(6)

    assert world.rows("stages") == [
        ("paper2code", "preparing", 1, 0, 2.0, 2.0, 2.0, 2 / 14),
        ("paper2code", "planning", 2, 0, 6.0, 6.0, 6.0, 12 / 14),
    ]


def test_code_that_is_verified_is_an_outcome(world: World) -> None:
    world.implemented("r1").verified().sealed().ended()
    world.implemented("r2").sealed().ended()
    world.run("r3")

    ((_, runs, completed, *_, failed, cancelled, opened),) = world.rows("outcomes")
    assert (runs, completed, failed, cancelled, opened) == (3, 1, 1, 0, 1)


def test_sources_of_code_are_no_yield_of_research(world: World) -> None:
    rendition = {
        "text_hash": "sha256:" + "0" * 64,
        "blocks_hash": "sha256:" + "1" * 64,
        "extractor": "pypdf",
        "extractor_version": "7",
        "outcome": "ok",
        "characters": 9000,
    }
    world.run().sourced(rendition=rendition)

    assert world.rows("yield") == []
    assert world.view("sources", "source_id", "characters", "disposition") == [
        ("s1", 9000, "archived")
    ]


# ---- views


def test_a_run_of_code_is_shown_as_a_run(world: World) -> None:
    source = "Implement\n  the running mean. " + "x" * 200
    story = world.run(source_type="requirement", source=source).sourced(locator="requirement")

    ((kind, status, question, sources),) = world.view(
        "runs", "kind", "status", "question", "sources"
    )
    assert (kind, status, sources) == ("paper2code", "running", 1)
    assert question == story.code.request.title


def test_a_row_of_code_runs_says_what_the_projection_says(world: World) -> None:
    story = world.implemented("r1").verified("failed").wrote(PATHS[1:2], 1).verified()
    story.sealed().record(code_completed())
    world.run("r2", source_type="url", source="https://arxiv.org/abs/1")

    found = world.view("code_runs", "*")

    assert found == [
        (
            *("r1", "local", "/papers/mean.pdf", "/work/mean", "local:coder", PLAN.title),
            *(1, 6, 6, 2, 2, 1, "installed", 2, 1, "passed", 3, 3, 0, "complete"),
        ),
        (
            *("r2", "url", "https://arxiv.org/abs/1", "/work/mean", "local:coder", None),
            *(0, None, 0, None, None, None, None, 0, 0, None, None, None, None, None),
        ),
    ]


def test_files_are_shown_as_they_are_now(world: World) -> None:
    story = world.implemented().verified("failed").wrote(PATHS[1:2], 1)

    shown = world.view("code_files", "path", "role", "is_planned", "repair", "times_written")

    assert {row[0]: row[1:] for row in shown} == {
        path: (file.role, True, file.attempt, 1 + file.attempt)
        for path, file in story.code.files.items()
    }
    assert dict(world.view("code_files", "path", "content_hash")) == story.code.file_hashes


def test_a_file_that_the_plan_no_longer_has_is_shown_as_such(world: World) -> None:
    story = world.run(plan_review=False).sourced().planned().wrote(PATHS[:2])
    story.planned(2, paths_planned=PATHS[1:])

    assert world.view("code_files", "path", "is_planned") == [(PATHS[0], False), (PATHS[1], True)]
    assert world.view("code_runs", "planned", "written") == [(5, 1)]


def test_plans_are_shown_by_version(world: World) -> None:
    world.run().sourced().planned().planned(2, origin="replaced", title="Other")

    shown = world.view("code_plans", "version", "origin", "title", "files", "plan_hash")

    assert shown == [
        (1, "planned", PLAN.title, 6, PLAN.hash),
        (2, "replaced", "Other", 6, PLAN.hash),
    ]


def test_verifications_are_shown_with_their_counts(world: World) -> None:
    story = world.implemented().verified("tampered", reason="it was rewritten", skipped=2)
    story.wrote(PATHS[:1], 1).verified()

    assert world.view("verifications", "attempt", "verdict", "executed", "skipped", "tampered") == [
        (0, "tampered", 3, 2, 1),
        (1, "passed", 3, 0, 0),
    ]


def test_whatever_went_wrong_with_code_is_a_failure(world: World) -> None:
    story = world.approved().record(
        reference("/refs/a", outcome="failed", reason="it is gone", index_hash=None)
    )
    story.wrote(PATHS).froze(outcome="failed", reason="no such package")
    story.verified("failed", reason="1 of 3 tests failed")
    story.sealed().ended()

    assert world.view("failures", "what", "target", "code", "reason") == [
        ("dependencies", "r1", "DEPENDENCIES_FAILED", "no such package"),
        ("reference", "/refs/a", "REFERENCE_FAILED", "it is gone"),
        ("run", "r1", "WORKFLOW_INCOMPLETE", "see the report"),
        ("verification", "0", "failed", "1 of 3 tests failed"),
    ]


def test_reviews_of_code_are_reviews(world: World) -> None:
    world.approved()

    assert world.view("reviews", "action", "plan_version", "turnaround_s") == [("approve", 1, 60.0)]
