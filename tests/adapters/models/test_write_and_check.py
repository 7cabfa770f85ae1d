"""Sections made of quotes, and claims held against them."""

import pytest

from adapters.models.extractive.check import check_claims
from adapters.models.extractive.write import claim_text, outline, write_section
from adapters.models.port import Assessment, CheckInput, SectionDraft, Selected, WriteInput
from state.values.claims import Claim, Verdict
from state.values.evidence import Conflict, Coverage, CoverageRow
from state.values.plan import Plan, Subquestion
from state.values.profiles import QUESTION

PLAN = Plan(
    "mast",
    (
        Subquestion("q1", "How tall is the mast?", "tall mast"),
        Subquestion("q2", "Who built the mast?", "built mast"),
        Subquestion("q3", "Who insures the mast?", "insures mast"),
    ),
)


def quote(sub: str, source: str, text: str) -> Selected:
    return Selected(sub, source, f"/papers/{source}.md", None, text, 0, len(text), 1)


TALL, TALLER = (
    quote("q1", "a", "The mast is 90 m tall."),
    quote("q1", "b", "The mast is 72 m tall."),
)
BUILT = quote("q2", "a", "Ott & Sons built the mast.")
RULE = quote("q2", "c", "The mast must not be climbed, so builders should keep off.")
ASSESSMENT = Assessment(
    (TALL, TALLER, BUILT, RULE),
    (
        CoverageRow("q1", Coverage.CONFLICT, (TALL.id, TALLER.id)),
        CoverageRow("q2", Coverage.COVERED, (BUILT.id, RULE.id)),
        CoverageRow("q3", Coverage.GAP, (), "No source read answers “Who insures the mast?”."),
    ),
    ("No source read answers “Who insures the mast?”.",),
    (Conflict("q1", (TALL.id, TALLER.id), "90 m against 72 m"),),
)
NOTHING = Assessment(
    (), tuple(CoverageRow(f"q{n}", Coverage.GAP, (), "Nothing.") for n in (1, 2, 3))
)


def write(section: str, assessment: Assessment = ASSESSMENT, max_claims: int = 12) -> SectionDraft:
    return write_section(WriteInput(section, section, PLAN, assessment, max_claims))


def texts(draft: SectionDraft) -> list[str]:
    return [claim.text for claim in draft.claims]


def remarks(draft: SectionDraft) -> list[str]:
    return [paragraph.remark for paragraph in draft.paragraphs if paragraph.remark]


@pytest.mark.parametrize("section", ["summary", "conclusion"])
def test_a_summary_has_the_best_quote_of_each_part_and_both_sides_of_a_conflict(
    section: str,
) -> None:
    draft = write(section)

    assert texts(draft) == [TALL.text, TALLER.text, BUILT.text]
    assert remarks(draft) == [
        "Two sources disagree: 90 m against 72 m.",
        "No source read answers “Who insures the mast?”.",
    ]


@pytest.mark.parametrize("section", ["findings", "source_evidence"])
def test_findings_have_everything_under_its_question(section: str) -> None:
    draft = write(section)

    assert [p.heading for p in draft.paragraphs] == [sub.question for sub in PLAN.subquestions]
    assert texts(draft) == [TALL.text, TALLER.text, BUILT.text, RULE.text]


def test_findings_share_a_short_section_fairly() -> None:
    draft = write("findings", max_claims=2)

    assert texts(draft) == [TALL.text, BUILT.text]
    assert remarks(draft)[-1].startswith("2 further quotes")


@pytest.mark.parametrize("section", ["conflicts_and_gaps", "borrow_diverge_risk_gate"])
def test_conflicts_and_gaps_show_both_sides_and_each_gap(section: str) -> None:
    draft = write(section)

    assert texts(draft) == [TALL.text, TALLER.text]
    assert "No source read answers “Who insures the mast?”." in remarks(draft)


@pytest.mark.parametrize("section", ["implications", "implementation_recommendations"])
def test_implications_are_only_what_sources_state(section: str) -> None:
    assert texts(write(section)) == [RULE.text]


@pytest.mark.parametrize("section", [section.key for section in QUESTION.sections])
def test_without_evidence_no_section_claims_anything(section: str) -> None:
    draft = write(section, NOTHING)

    assert not draft.claims
    assert remarks(draft)


def test_the_outline_says_what_each_section_rests_on() -> None:
    sections = tuple((section.key, section.title) for section in QUESTION.sections)

    made = {item.section: item.evidence_ids for item in outline(sections, PLAN, ASSESSMENT)}

    assert made["summary"] == (TALL.id, TALLER.id, BUILT.id)
    assert made["conflicts_and_gaps"] == (TALL.id, TALLER.id)
    assert made["method_and_verification"] == ()


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("- **Never** climb\n  the mast.", "Never climb the mast."),
        ("## The mast", "The mast"),
        ("> It is\n> tall.", "It is tall."),
        ("Call `run_all(**kw)` twice.", "Call `run_all(**kw)` twice."),
        ("1. Open it.", "Open it."),
        ("3.5 m is tall.", "3.5 m is tall."),
    ],
)
def test_a_claim_is_the_quote_on_one_line(text: str, claim: str) -> None:
    assert claim_text(text) == claim
    assert check(claim, text) is Verdict.SUPPORTED


def test_a_long_quote_is_cut_after_a_sentence() -> None:
    text = "The mast is tall and it is made of iron. " * 40

    claim = claim_text(text)

    assert len(claim) <= 800
    assert claim.endswith("iron.")
    assert check(claim, text.strip()) is Verdict.SUPPORTED


# Checking


def check(said: str, *quotes: str) -> Verdict:
    evidence = tuple(quote("q1", f"s{n}", text) for n, text in enumerate(quotes))
    claim = Claim("x-1", "x", said, tuple(item.id for item in evidence))
    return check_claims(CheckInput((claim,), evidence))[0].verdict


@pytest.mark.parametrize(
    ("said", "stated", "verdict"),
    [
        (
            "The mast is 90 m tall.",
            "We know it: the mast is 90 m tall. It is red.",
            Verdict.SUPPORTED,
        ),
        ("It’s “tall”", 'It\'s "tall" - they say', Verdict.SUPPORTED),
        ("The mast is 90 m tall.", "The mast is 72 m tall.", Verdict.CONTRADICTED),
        ("Dogs are allowed on it.", "Dogs are not allowed on it.", Verdict.CONTRADICTED),
        ("The mast towers over Marnby.", "The mast is 90 m tall.", Verdict.UNVERIFIED),
        (
            "The mast is 90 m tall. It is blue.",
            "The mast is 90 m tall. It is red.",
            Verdict.PARTIAL,
        ),
        ("5 masts stand here.", "In all, 25 masts stand here.", Verdict.UNVERIFIED),
        ("mast is tall", "The topmast is tall.", Verdict.UNVERIFIED),
        ("dogs are allowed here", "It is not true that dogs are allowed here.", Verdict.PARTIAL),
        ("The mast is tall.", "   ", Verdict.NO_TEXT),
    ],
)
def test_supported_means_contained(said: str, stated: str, verdict: Verdict) -> None:
    found = check(said, stated)

    assert found is verdict


def test_a_claim_without_its_quote_has_no_text() -> None:
    claim = Claim("x-1", "x", "The mast is tall.", ("ev-gone",))

    found = check_claims(CheckInput((claim,), (TALL,)))

    assert [check.verdict for check in found] == [Verdict.NO_TEXT]
    assert found[0].reason
