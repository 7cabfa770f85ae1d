"""Publishing is done once; a checklist is settled by what shows each item; open items are named."""

from dataclasses import replace
from pathlib import Path

import pytest

from adapters.models.port import Assessment
from state.artifacts import MemoryArtifacts
from state.research_events import ChecklistStatus
from state.values.errors import ObstructedError
from state.values.evidence import Coverage, CoverageRow
from state.values.ids import content_hash
from state.values.profiles import CODEBASE, PROFILES, QUESTION
from tasks.publish import PublishInput, publish_files
from tasks.self_check import open_items
from tasks.settle_checklist import settle
from tests.tasks.makers import LOGS, LOGS_40, MEMBERS, PLAN, assessed, covered

FILES = (("report.md", content_hash(b"# R")), ("report.json", content_hash(b"{}")))


@pytest.fixture
def artifacts() -> MemoryArtifacts:
    made = MemoryArtifacts()
    made.put(b"# R")
    made.put(b"{}")
    return made


def test_files_are_written_for_their_owner_and_a_second_time_is_nothing(
    tmp_path: Path, artifacts: MemoryArtifacts
) -> None:
    folder = tmp_path / "reports/r1"

    first = publish_files(PublishInput(str(folder), FILES), artifacts)
    second = publish_files(PublishInput(str(folder), FILES), artifacts)

    assert first == second
    assert (folder / "report.md").read_bytes() == b"# R"
    assert sorted(path.name for path in folder.iterdir()) == ["report.json", "report.md"]
    assert [path.stat().st_mode & 0o077 for path in folder.iterdir()] == [0, 0]


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_what_is_in_the_way_is_named_and_left_as_it_is(
    tmp_path: Path, artifacts: MemoryArtifacts, kind: str
) -> None:
    path, target = tmp_path / "report.md", tmp_path / "target"
    target.write_bytes(b"# R")
    if kind == "file":
        path.write_text("mine")
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(target)

    with pytest.raises(ObstructedError, match=r"report\.md") as raised:
        publish_files(PublishInput(str(tmp_path), FILES), artifacts)

    assert raised.value.code == "PUBLICATION"
    assert path.is_symlink() == (kind == "link")
    assert kind != "file" or path.read_text() == "mine"
    assert not (tmp_path / "report.json").exists()


def test_a_half_published_report_is_completed(tmp_path: Path, artifacts: MemoryArtifacts) -> None:
    (tmp_path / "report.md").write_bytes(b"# R")
    assert not (tmp_path / "report.json").exists()

    publish_files(PublishInput(str(tmp_path), FILES), artifacts)

    assert (tmp_path / "report.json").read_bytes() == b"{}"


def test_each_item_is_completed_by_what_shows_it() -> None:
    made = settle(
        QUESTION, source_ids=["s1"], archived=True, note_ids=["n1", "n2"], section_ids=["x"],
        assessment=assessed(MEMBERS),
    )  # fmt: skip

    assert [each.evidence_artifact_ids for each in made] == [("n1",), ("s1",), ("n1", "n2"), ("x",)]
    assert all(each.status is ChecklistStatus.COMPLETED for each in made)


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)
def test_what_nothing_shows_is_skipped_with_the_reason(profile: object) -> None:
    made = settle(
        profile, source_ids=["inventory"], archived=False, note_ids=[], section_ids=[],  # type: ignore[arg-type] # pytest's params are objects
        assessment=Assessment((), ()),
    )  # fmt: skip

    assert all(each.status is ChecklistStatus.SKIPPED for each in made)
    assert all(each.skipped_reason for each in made)
    assert len(made) == 4


def test_a_codebases_items_are_shown_by_what_was_quoted_from_where() -> None:
    readme = assessed(MEMBERS).selected[0]
    quoted = (replace(readme, locator="/src/README.md"), replace(LOGS, heading="Tests"))

    made = settle(
        CODEBASE, source_ids=["s1"], archived=True, note_ids=["n"], section_ids=["x"],
        assessment=Assessment(quoted, ()),
    )  # fmt: skip

    status = {each.item_id: each.status for each in made}
    assert status["project_entrypoints"] is ChecklistStatus.COMPLETED
    assert status["verification_evidence"] is ChecklistStatus.COMPLETED
    assert status["boundaries"] is ChecklistStatus.SKIPPED


def test_a_round_with_nothing_open_has_no_open_items() -> None:
    rows = (covered("q2", LOGS, LOGS_40), covered("q1", MEMBERS))

    items = open_items(PLAN, assessed(MEMBERS, LOGS, LOGS_40, rows=rows), ["s1", "s2"])

    assert items == ["Rests on a single source: How many?"]


def test_gaps_conflicts_and_unarchived_quotes_are_open() -> None:
    rows = (CoverageRow("q2", Coverage.CONFLICT),)

    items = open_items(PLAN, assessed(LOGS, rows=rows), [])

    assert items == [
        "No source is archived yet.",
        "Not answered yet: How many?",
        "Sources disagree: ?a",
        f"Quote {LOGS.id} cites no archived source.",
    ]
