"""Claims: how they are accepted, checked, and what the sources say together."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.models.fake import FakeResearcher
from adapters.models.port import (
    CheckInput,
    OutlineInput,
    OutlineItem,
    Paragraph,
    SectionDraft,
    Selected,
    WriteInput,
)
from state.values.claims import Claim, ClaimCheck, ClaimStatus, Verdict
from state.values.evidence import Conflict
from tasks.check import CheckTurn, check_section, claim_status
from tasks.outline import make_outline
from tasks.write import accept_draft
from tests.tasks.makers import LOGS, LOGS_40, MEMBERS, PLAN, assessed, chosen

CLAIM = Claim("findings-1", "findings", "A team has 25 members.", (MEMBERS.id,))
SECOND = Claim("findings-2", "findings", "Logs are kept.", (LOGS.id,))
EVIDENCE = {choice.id: choice for choice in (MEMBERS, LOGS, LOGS_40)}
INPUT = WriteInput("findings", "Findings", PLAN, assessed(MEMBERS, LOGS))


def checked(
    *answer: ClaimCheck | None, evidence: tuple[Selected, ...] = (MEMBERS, LOGS)
) -> list[ClaimCheck]:
    turn = CheckTurn("findings", CheckInput((CLAIM, SECOND), evidence))
    researcher = FakeResearcher(checks=[answer])  # type: ignore[list-item] # a model may say null
    return list(asyncio.run(check_section(turn, researcher)).value)


def test_every_claim_gets_one_check_in_order_and_silence_is_unverified() -> None:
    """Cases: B1 23, 25."""
    said = ClaimCheck("findings-2", Verdict.SUPPORTED, "reading")

    made = checked(None, said, None, ClaimCheck("other", Verdict.SUPPORTED, "reading"))

    assert [(each.claim_id, each.verdict) for each in made] == [
        ("findings-1", Verdict.UNVERIFIED),
        ("findings-2", Verdict.SUPPORTED),
    ]
    assert made[0].reason == "the check gave no verdict"


def test_a_claim_whose_quotes_are_gone_has_no_text_whatever_the_check_says() -> None:
    said = ClaimCheck("findings-1", Verdict.SUPPORTED, "reading")

    assert checked(said, evidence=(LOGS,))[0].verdict is Verdict.NO_TEXT


def test_reasons_of_any_length_can_be_recorded() -> None:
    made = checked(ClaimCheck("findings-1", Verdict.PARTIAL, "m" * 500, "r" * 5000))

    assert (len(made[0].method), len(made[0].reason)) == (120, 2000)


def test_a_claim_on_one_side_of_a_conflict_is_disputed() -> None:
    conflict = Conflict("q2", (LOGS.id, LOGS_40.id), "30 against 40")

    assert claim_status(SECOND, EVIDENCE, [conflict]) is ClaimStatus.DISPUTED
    assert claim_status(CLAIM, EVIDENCE, [conflict]) is ClaimStatus.SINGLE_SOURCE


def test_corroboration_needs_two_origins_and_two_texts() -> None:
    two = Claim("c", "findings", "x", (LOGS.id, LOGS_40.id))
    same_origin = chosen("A team holds")
    copied = Selected("q1", "s2", "/s2.txt", None, MEMBERS.text.upper(), 0, 32, 1)
    evidence = {**EVIDENCE, same_origin.id: same_origin, copied.id: copied}

    assert claim_status(two, evidence, ()) is ClaimStatus.CORROBORATED
    for other in (same_origin, copied):
        claim = Claim("c", "findings", "x", (MEMBERS.id, other.id))
        assert claim_status(claim, evidence, ()) is ClaimStatus.SINGLE_SOURCE


def draft(*paragraphs: Paragraph) -> SectionDraft:
    return SectionDraft("elsewhere", paragraphs)


def claim(text: str, *ids: str) -> Paragraph:
    return Paragraph((Claim("any", "any", text, ids),))


@pytest.mark.parametrize(
    "lost",
    [
        claim("Invented.", "ev-invented"),
        claim("Resting on nothing."),
        claim("  ", MEMBERS.id),
        claim("x" * 801, MEMBERS.id),
    ],
    ids=["invented", "none", "blank", "long"],
)
def test_a_claim_without_usable_evidence_is_left_out_and_said_to_be(lost: Paragraph) -> None:
    made = accept_draft(draft(lost, claim("A team has 25 members.", MEMBERS.id)), INPUT)

    assert [each.text for each in made.claims] == ["A team has 25 members."]
    assert made.paragraphs[-1].remark.startswith("1 sentence left out")


def test_claims_are_numbered_anew_and_cite_each_accepted_quote_once() -> None:
    made = accept_draft(
        draft(claim("A", MEMBERS.id, "ev-x", MEMBERS.id), claim("B", LOGS.id)), INPUT
    )

    assert made.section == "findings"
    assert made.claims == (
        Claim("findings-1", "findings", "A", (MEMBERS.id,)),
        Claim("findings-2", "findings", "B", (LOGS.id,)),
    )


def test_a_section_holds_no_more_claims_than_its_limit() -> None:
    made = accept_draft(draft(*[claim(f"C{n}", LOGS.id) for n in range(20)]), INPUT)

    assert len(made.claims) == 12
    assert made.paragraphs[-1].remark.startswith("8 sentences left out")


@pytest.mark.parametrize(
    "remark", ["As shown in [3].", "See https://example.org", "Ask www.example.org", "Both [1, 2]."]
)
def test_a_remark_can_smuggle_in_neither_a_citation_nor_a_link(remark: str) -> None:
    """Cases: B1 4."""
    made = accept_draft(draft(Paragraph(remark=remark), Paragraph(remark="Nothing more.")), INPUT)

    assert made.paragraphs[0].remark == "Nothing more."
    assert remark not in str(made)


def test_an_empty_draft_says_that_the_archive_holds_nothing() -> None:
    made = accept_draft(draft(), INPUT)

    assert made.paragraphs == (Paragraph(remark="The archive holds nothing for this section."),)


@given(
    st.lists(
        st.tuples(st.text(max_size=5), st.lists(st.sampled_from([MEMBERS.id, "ev-x"]), max_size=9)),
        max_size=20,
    )
)
def test_every_claim_is_kept_or_counted_as_left_out(said: list[tuple[str, list[str]]]) -> None:
    made = accept_draft(draft(*[claim(text, *ids) for text, ids in said]), INPUT)

    left_out = [p.remark for p in made.paragraphs if "left out" in p.remark]
    lost = int(left_out[0].split()[0]) if left_out else 0
    assert len(made.claims) + lost == len(said)
    assert all(set(each.evidence_ids) == {MEMBERS.id} for each in made.claims)
    assert all(bool(p.claims) != bool(p.remark) for p in made.paragraphs)


def test_an_outline_has_one_item_a_section_and_rests_on_accepted_quotes_only() -> None:
    sections = (("summary", "Summary"), ("findings", "Findings"))
    said = (
        OutlineItem("findings", "Renamed", "say", (MEMBERS.id, "ev-x", MEMBERS.id)),
        OutlineItem("invented", "Invented", "say"),
    )

    answer = asyncio.run(
        make_outline(
            OutlineInput(sections, PLAN, assessed(MEMBERS)), FakeResearcher(outlines=[said])
        )
    )

    assert answer.value == (
        OutlineItem("summary", "Summary", ""),
        OutlineItem("findings", "Findings", "say", (MEMBERS.id,)),
    )
