"""How a researcher that has to be paid writes a report: at once, repaired, looked at again."""

from pathlib import Path
from typing import Any

import pytest

from adapters.models.port import Paragraph, Reopened, SectionDraft
from state.values.claims import Claim, Verdict
from tests.flows.world import World, annex, answered, published, resumed

pytestmark = pytest.mark.usefixtures("prefect_server")

FALSE = "A Pavo team may have 9999 members."


@pytest.fixture
def world(assay_home: Path) -> World:
    made = annex(assay_home)
    made.scholar.uses_model = True
    return made


def invent(given: Any, drafts: tuple[SectionDraft, ...]) -> tuple[SectionDraft, ...]:
    """Put a claim that no quote supports before those of the first section."""
    first, *others = drafts
    evidence = first.claims[0].evidence_ids
    false = Paragraph((Claim("x", first.section, FALSE, evidence),))
    return (SectionDraft(first.section, (false, *first.paragraphs)), *others)


def judge(claim: Claim) -> Verdict:
    return Verdict.CONTRADICTED if "9999" in claim.text else Verdict.SUPPORTED


def report(world: World) -> str:
    return published(world)["report.md"].decode()


def test_a_report_that_is_not_deep_is_written_and_checked_in_two_calls(world: World) -> None:
    result = answered(world)

    assert result.answer_status == "answered"
    calls = world.scholar.calls
    assert calls[-2:] == ["synthesise", "check_claims"]
    assert result.usage["model_calls"] == len(calls)


def test_a_claim_that_does_not_hold_is_repaired_once_and_said_to_have_been_dropped(
    world: World,
) -> None:
    world.scholar.lies = {"synthesise": invent}
    world.scholar.judge = judge

    result = answered(world)

    assert world.scholar.calls[-4:] == ["synthesise", "check_claims", "repair", "check_claims"]
    assert not any("9999" in claim["text"] for claim in result.claims)
    assert "Left out because not supported" in report(world)


def test_a_claim_that_the_repair_leaves_as_it_is_is_dropped(world: World) -> None:
    world.scholar.lies = {"synthesise": invent, "repair": lambda given, _: given.drafts}
    world.scholar.judge = judge

    result = answered(world)

    assert world.scholar.calls.count("repair") == 1
    assert not any("9999" in claim["text"] for claim in result.claims)
    assert "Left out because not supported" in report(world)


def test_a_repair_cannot_add_a_claim(world: World) -> None:
    def add(given: Any, honest: tuple[SectionDraft, ...]) -> tuple[SectionDraft, ...]:
        (draft,) = given.drafts
        return (SectionDraft(draft.section, draft.paragraphs + draft.paragraphs),)

    world.scholar.lies = {"synthesise": invent, "repair": add}
    world.scholar.judge = judge

    result = answered(world)

    assert len([claim for claim in result.claims if claim["section"] == "summary"]) <= 4


def test_a_deep_report_is_written_section_by_section_and_one_is_reopened(world: World) -> None:
    def reopen(given: Any, honest: Any) -> tuple[Reopened, ...]:
        return (Reopened("findings", "it does not say who counts the members"),)

    world.scholar.lies = {"check_report": reopen}

    result = answered(world, scope="deep")

    calls = world.scholar.calls
    assert calls.count("write_section") == 5, "four sections, and one of them again"
    assert calls.count("check_report") == 1
    assert result.usage["model_calls"] == len(calls)
    assert result.answer_status == "answered"


def test_a_check_of_the_whole_that_names_other_sections_reopens_none(world: World) -> None:
    world.scholar.lies = {"check_report": lambda given, _: (Reopened("poem", "write one"),)}

    answered(world, scope="deep")

    assert world.scholar.calls.count("write_section") == 4


def test_what_was_paid_for_is_not_paid_again(world: World) -> None:
    world.scholar.lies = {"synthesise": invent}
    world.scholar.judge = judge
    first = answered(world)
    calls = list(world.scholar.calls)

    again = resumed(world)

    assert world.scholar.calls == calls
    assert again.usage == first.usage
