"""The method as a whole, on the real engine, in a small world."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adapters.documents.folder import Skipped, Unused
from adapters.models.port import Assessment, Paragraph, SectionDraft, Selected
from flows.runs import execute, retry
from state.research_events import ArtifactRole
from state.values.claims import Claim, ClaimCheck, Verdict
from state.values.errors import RejectedError
from state.values.evidence import Coverage, CoverageRow
from state.values.plan import Plan
from tests.flows.world import (
    MERIDIAN_40,
    MERIDIAN_A,
    World,
    annex,
    answered,
    published,
    queued,
    resumed,
    types,
)

pytestmark = pytest.mark.usefixtures("prefect_server")


@pytest.fixture
def world(assay_home: Path) -> World:
    return annex(assay_home)


@pytest.fixture(scope="module")
def standard(prefect_server: None, tmp_path_factory: pytest.TempPathFactory) -> World:
    """Return a world in which the run r1 is completed."""
    world = annex(tmp_path_factory.mktemp("standard") / "home")
    answered(world)
    return world


def content(world: World, run_id: str = "r1") -> dict[str, Any]:
    made: dict[str, Any] = json.loads(published(world, run_id)["report.json"])["content"]
    return made


def markdown(world: World, run_id: str = "r1") -> str:
    return published(world, run_id)["report.md"].decode()


def citations_resolve(text: str) -> bool:
    body, _, rest = text.partition("## Citations")
    used = {int(n) for n in re.findall(r"(?<!\\)\[(\d+)\]", body)}
    return used == {int(n) for n in re.findall(r"(?m)^(\d+)\. “", rest)}


def test_what_the_first_round_leaves_open_is_searched_for_in_the_second(standard: World) -> None:
    result = resumed(standard)

    assert (result.status, result.answer_status) == ("completed", "answered")
    assert result.stop_reason == "coverage-complete"
    assert standard.asked == ["team members", "audit retention", "meridian retention"]
    assert [len(entry["queries"]) for entry in content(standard)["rounds"]] == [2, 1]
    assert result.coverage == content(standard)["coverage"] == 1.0
    assert "25 members" in markdown(standard)
    assert "30 days" in markdown(standard)
    assert "9999" not in markdown(standard)  # a snippet is no evidence
    assert citations_resolve(markdown(standard))


def test_without_any_evidence_the_report_says_so_and_names_no_source(world: World) -> None:
    """Cases: B1 4, 5."""
    world.scholar.signs = {}

    result = answered(world)

    assert (result.status, result.answer_status) == ("completed", "insufficient-evidence")
    assert result.coverage == 0.0
    assert result.claims == result.citations == []
    assert "Insufficient evidence" in markdown(world)
    assert "## Citations" not in markdown(world)
    assert "read, not cited" in markdown(world)
    assert "Not answered: How many members may a team have?" in markdown(world)


def test_without_any_hit_what_was_searched_is_archived_and_the_run_completes(world: World) -> None:
    """Cases: B1 4, 5."""
    world.results.clear()

    result = answered(world)

    assert (result.status, result.answer_status) == ("completed", "insufficient-evidence")
    assert "No source matched the searches." in markdown(world)
    research = world.desk().ledger.project("r1").research
    assert research is not None
    assert {source.name for source in research.sources} == {"Inventory of what was searched"}


def test_sources_that_changed_while_nothing_was_found_do_not_break_the_resumed_run(
    world: World,
) -> None:
    world.results.clear()
    desk = world.desk(stop_after="round")
    queued(desk)
    execute(desk, "r1")
    world.pages["/world/new.md"] = b"new"

    assert resumed(world).status == "completed"


def test_a_conflict_keeps_both_sides(world: World) -> None:
    world.pages["/world/b/meridian.txt"] = MERIDIAN_40.encode()

    result = answered(world)

    assert result.answer_status == "conflicting-evidence"
    quotes = " ".join(citation["quote"] for citation in result.citations)
    assert "30 days" in quotes
    assert "40 days" in quotes
    (entry,) = content(world)["conflicts"]
    assert len(entry["citations"]) == 2
    assert "disputed" in markdown(world)
    assert "In dispute: How long are audit logs kept?" in markdown(world)


def test_a_gap_is_said_and_the_answer_called_partial(world: World) -> None:
    del world.results["meridian retention"]

    result = answered(world)

    assert result.answer_status == "answered"
    assert result.coverage == 0.5
    assert "Answered in part" in markdown(world)
    assert "Not answered: How long are audit logs kept?" in markdown(world)


def test_without_partial_answers_a_gap_is_insufficient_evidence(world: World) -> None:
    del world.results["meridian retention"]

    assert answered(world, allow_partial=False).answer_status == "insufficient-evidence"


def test_a_source_that_cannot_be_read_stops_no_other_and_all_are_listed(world: World) -> None:
    """Cases: B1 16, B3 49."""
    world.pages |= {
        "/world/empty.md": b"",
        "/world/locked.md": RejectedError("locked", code="HTTP_403"),
        "/world/fault.md": KeyError("a fault of the reader"),
        "/world/aside.txt": b"Nothing of interest.",
    }
    bad = ["/world/empty.md", "/world/locked.md", "/world/fault.md"]
    world.results["team members"] = [*bad, "/world/pavo.md", "/world/aside.txt", "/world/left.md"]

    result = answered(world, limits={"max_pages": 5})

    assert result.answer_status == "answered"
    failures = content(world)["failures"]
    assert [(each["stage"], each["target"]) for each in failures] == [("read", b) for b in bad]
    assert [each["code"] for each in failures] == ["EMPTY", "HTTP_403", "CRASHED"]
    section = markdown(world).partition("## Sources")[2]
    assert "`/world/locked.md`: not used, HTTP\\_403 (locked)" in section
    assert "`pavo.md`: cited" in section
    assert "`aside.txt`: read, not cited" in section
    assert "`/world/left.md`: found, not read" in section


def test_a_search_that_fails_stops_no_other_and_is_listed(world: World) -> None:
    world.results["audit retention"] = RejectedError("no answer", code="SEARCH_UNAVAILABLE")

    result = answered(world)

    assert result.answer_status == "answered"
    assert "not searched, SEARCH\\_UNAVAILABLE" in markdown(world)


def test_what_no_search_finds_is_listed_as_it_was_when_research_began(tmp_path: Path) -> None:
    scan = Skipped("world/scan.pdf", "needs_ocr", "it is a picture of text")
    pavo = Skipped("pavo.md", "empty", "it was empty when it was looked at")
    whole, halved = annex(tmp_path / "whole"), annex(tmp_path / "halved")
    whole.left_out = halved.left_out = Unused((pavo, scan), 3)

    assert answered(whole).status == "completed"
    queued(halved.desk())
    assert resumed(halved, stop_after="round").status == "interrupted"
    halved.left_out = Unused((Skipped("world/new.md", "empty", "The file is empty."),))
    assert resumed(halved).status == "completed"

    assert published(halved) == published(whole)
    report = content(whole)
    assert [failure["target"] for failure in report["failures"]] == [
        "world/scan.pdf",  # and pavo.md, which could be read after all, is not called unused
        "3 files of other kinds",
    ]


def test_a_survey_that_fails_is_listed_and_stops_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_: World) -> Unused:
        raise RejectedError("the folder moved", code="FILE_NOT_FOUND")

    monkeypatch.setattr(World, "unused", fail)

    assert answered(world).status == "completed"
    (failure,) = content(world)["failures"]
    assert (failure["code"], failure["reason"]) == ("FILE_NOT_FOUND", "the folder moved")


def test_the_same_bytes_are_one_source_whatever_they_are_called(world: World) -> None:
    """Cases: B1 14."""
    world.pages["/world/copy.md"] = world.pages["/world/pavo.md"]
    world.results["team members"] = ["/world/pavo.md", "/world/copy.md"]

    answered(world)

    listed = {source["locator"] for source in content(world)["sources"]}
    assert len(listed & {"/world/pavo.md", "/world/copy.md"}) == 1
    assert [failure["code"] for failure in content(world)["failures"]] == ["DUPLICATE"]


def test_two_pages_of_one_title_are_two_sources(world: World) -> None:
    """Cases: B9 118."""
    world.pages["/world/b/meridian.txt"] = MERIDIAN_A.replace("removed", "deleted").encode()
    world.pages["/world/b/meridian.md"] = world.pages.pop("/world/b/meridian.txt")
    world.results["meridian retention"] = ["/world/a/meridian.md", "/world/b/meridian.md"]

    answered(world)

    titles = [source["title"] for source in content(world)["sources"]]
    assert titles.count("Meridian Annex") == 2


def test_a_clarification_ends_the_run_before_anything_is_searched(world: World) -> None:
    world.scholar.plan_ = Plan("Unclear", (), "Which team do you mean?")

    result = answered(world)

    assert (result.status, result.answer_status) == ("completed", "needs-clarification")
    assert world.asked == world.opened == []
    assert "research_schedule_frozen" not in types(world.desk())


def test_what_a_lying_researcher_invents_never_reaches_the_report(world: World) -> None:
    """Cases: B1 4, 10."""

    def quotes_that_do_not_exist(given: Any, honest: Assessment) -> Assessment:
        real = honest.selected[0]
        forged = (
            replace(real, text="At most 9999 members.", end=real.start + 21),
            replace(real, source_id="invented"),
            Selected("retention", real.source_id, "/x", None, "Kept for ever.", 0, 14, 1),
        )
        rows = [CoverageRow(s, Coverage.COVERED, (f.id,)) for s, f in zip(
            ("members", "retention"), forged[::2], strict=True)]  # fmt: skip
        return Assessment((*honest.selected, *forged), tuple(rows))

    def claims_that_cite_nothing(given: Any, honest: SectionDraft) -> SectionDraft:
        invented = Claim("x", "any", "Invented (Smith 2020).", ("ev-000000000000",))
        remark = Paragraph(remark="See [7] and https://invented.example.")
        return replace(honest, paragraphs=(*honest.paragraphs, Paragraph((invented,)), remark))

    world.scholar.lies = {
        "assess": quotes_that_do_not_exist,
        "write_section": claims_that_cite_nothing,
    }

    result = answered(world, limits={"max_rounds": 1})

    assert result.status == "completed"
    assert result.coverage == 0.0
    whole = markdown(world) + json.dumps(content(world))
    for lie in ("9999", "invented.example", "Smith", "for ever"):
        assert lie not in whole
    assert citations_resolve(markdown(world))
    assert "2 sentences left out" in markdown(world)


def reject(given: Any, honest: Any) -> Any:
    raise RejectedError("rate limit", code="RATE_LIMIT")


def test_claims_that_could_not_be_checked_are_unverified_and_none_is_lost(world: World) -> None:
    """Cases: B1 20, 23, 25."""

    def check(given: Any, honest: Any) -> Any:
        match given.claims[0].section:
            case "summary":
                raise IndexError("choices")
            case "findings":
                raise RejectedError("rate limit", code="RATE_LIMIT")
            case "conflicts_and_gaps":
                return (None,) * len(honest)
            case _:
                return (ClaimCheck("another", Verdict.SUPPORTED, "reading"),)

    world.scholar.lies = {"check_claims": check}

    result = answered(world)

    assert result.status == "completed"
    written = 4 * 3  # each of four sections says each of three quotes
    assert [claim["verdict"] for claim in result.claims] == ["unverified"] * written
    assert {claim["reason"] for claim in result.claims} == {
        "the check failed: IndexError: choices",
        "the check failed: rate limit",
        "the check gave no verdict",
    }
    assert "Claims checked against their quotes: 3 unverified." in markdown(world)


def test_a_contradicted_claim_is_dropped_and_said_to_be(world: World) -> None:
    world.scholar.judge = lambda claim: (
        Verdict.CONTRADICTED if "25 members" in claim.text else Verdict.SUPPORTED
    )

    result = answered(world)

    assert not any("25 members" in claim["text"] for claim in result.claims)
    assert len(content(world)["dropped_claims"]) == 4
    assert "Left out because not supported: summary-1: contradicted" in markdown(world)
    assert "25 members" not in markdown(world)
    assert citations_resolve(markdown(world))


def test_a_cross_check_needs_two_sources_for_each_subquestion(world: World) -> None:
    result = answered(world, cross_check=True)

    rows = {row["subquestion_id"]: row["coverage"] for row in content(world)["rows"]}
    assert rows == {"members": "gap", "retention": "covered"}
    assert result.coverage == 0.5


def test_a_codebase_is_reported_on_in_its_own_sections(world: World) -> None:
    result = answered(world, profile="codebase")

    assert result.status == "completed"
    keys = [section["key"] for section in content(world)["sections"]]
    assert keys[0] == "conclusion"
    assert keys[-1] == "verification"


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"max_rounds": 1}, "round-budget"),
        ({"max_searches": 2}, "search-budget"),
        ({"max_read_pages": 1}, "page-budget"),
    ],
)
def test_a_budget_stops_research_and_the_report_is_written_all_the_same(
    world: World, limits: dict[str, int], reason: str
) -> None:
    """Cases: B3 35."""
    result = answered(world, limits=limits)

    assert (result.status, result.stop_reason) == ("completed", reason)
    assert result.coverage == 0.5
    assert len(world.asked) <= limits.get("max_searches", 12)
    assert len(world.opened) <= limits.get("max_read_pages", 16)


def test_no_progress_stops_research(world: World) -> None:
    world.results["meridian retention"] = []

    assert answered(world).stop_reason == "no-progress"


def test_no_round_begins_after_the_deadline(world: World) -> None:
    async def take_time(operation: str) -> None:
        if operation == "assess":
            world.clock.advance(seconds=61)

    world.scholar.before = take_time

    result = answered(world, limits={"research_seconds": 60})

    assert (result.status, result.stop_reason) == ("completed", "deadline")
    assert len(content(world)["rounds"]) == 1


def test_with_no_time_for_even_one_round_the_report_says_what_is_open(world: World) -> None:
    desk = world.desk()
    queued(desk, limits={"research_seconds": 1})

    def observe(run: Any, drafts: Any) -> None:
        if any(made.body.get("stage") == "knowledge_base" for made in drafts):
            world.clock.advance(seconds=5)

    desk.observe = observe
    result = execute(desk, "r1")

    assert (result.status, result.stop_reason) == ("completed", "deadline")
    assert world.asked == []
    assert content(world)["rounds"] == []
    assert "0 of 2 subquestions covered" in markdown(world)


def test_model_calls_are_kept_for_the_report(world: World) -> None:
    """Cases: B3 35."""
    world.scholar.uses_model = True
    world.scholar.signs = {"members": "at most 25 members"}
    result = answered(world, scope="deep", limits={"max_model_calls": 13})

    assert (result.status, result.stop_reason) == ("completed", "model-budget")
    assert result.usage["model_calls"] == 12
    assert "Incomplete" not in markdown(world)
    assert {claim["verdict"] for claim in result.claims} == {"supported"}


def test_what_no_model_call_is_left_for_is_said_section_by_section(world: World) -> None:
    """Cases: B5 65."""
    world.scholar.uses_model = True

    result = answered(world, scope="deep", limits={"max_model_calls": 8})

    assert result.status == "completed"
    assert result.usage["model_calls"] == 8
    assert {claim["verdict"] for claim in result.claims} == {"supported", "unverified"}
    assert citations_resolve(markdown(world))


@pytest.mark.parametrize("failing", ["outline", "write_section"])
def test_a_step_of_writing_that_fails_once_leaves_a_report_that_says_so(
    world: World, failing: str
) -> None:
    """Cases: B1 10, B5 65."""

    def fail(given: Any, honest: Any) -> Any:
        if failing == "outline" or given.section == "findings":
            raise RejectedError("refused", code="CONTENT_FILTER")
        return honest

    world.scholar.lies = {failing: fail}

    result = answered(world)

    assert result.status == "completed"
    said = "Incomplete: this section was not written \\(CONTENT" in markdown(world)
    assert ("Incomplete" in markdown(world)) == (failing == "write_section"), said


def test_when_no_section_can_be_written_the_run_fails_and_a_retry_repays_nothing(
    world: World,
) -> None:
    """Cases: B3 37."""
    world.scholar.lies = {"write_section": reject}
    failed = answered(world)
    assert (failed.status, failed.code) == ("failed", "RATE_LIMIT")
    before = (len(world.asked), len(world.opened), world.scholar.calls.count("assess"))
    world.scholar.lies = {}
    again = retry(world.desk(), "r1")
    result = execute(world.desk(), again.run_id)

    assert result.status == "completed"
    after = (len(world.asked), len(world.opened), world.scholar.calls.count("assess"))
    assert after == before
    assert result.usage["searches"] == result.usage["pages"] == 0


def test_a_source_is_named_the_same_wherever_it_is_cited_from(standard: World) -> None:
    """Cases: B1 2, 8."""
    result = resumed(standard)

    by_id = {source["source_id"]: source for source in content(standard)["sources"]}
    for citation in result.citations:
        assert citation["source_id"].startswith("dr-")
        assert citation["display"] == by_id[citation["source_id"]]["display"]
        assert not citation["display"].startswith("/")


def test_the_workspace_holds_what_the_method_promises(standard: World) -> None:
    run = standard.desk().ledger.project("r1")
    research = run.research
    assert research is not None
    assert research.status == "completed"
    assert len(research.of_role(ArtifactRole.EVIDENCE_NOTE)) == 2
    assert len(research.of_role(ArtifactRole.REPORT_SECTION)) == 5
    assert [checkpoint.checkpoint_id for checkpoint in research.checkpoints] == [
        "round-1", "round-2", "report",
    ]  # fmt: skip
    assert set(research.claims) == set(research.verdicts)
    assert [record.stage for record in run.stages] == [
        "planning", "knowledge_base", "report_writing", "publishing",
    ]  # fmt: skip
