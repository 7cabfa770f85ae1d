"""What every `Researcher` must keep to, whoever it is."""

import asyncio
import json
from collections.abc import Coroutine
from typing import TypeVar

import pytest
from hypothesis import given as having
from hypothesis import settings
from hypothesis import strategies as st

from adapters.models.chat.scripted import ScriptedModel
from adapters.models.extractive.researcher import ExtractiveResearcher
from adapters.models.fake import FakeResearcher
from adapters.models.language.researcher import LanguageResearcher
from adapters.models.port import (
    Answer,
    AssessInput,
    Assessment,
    CheckInput,
    OutlineInput,
    OutlineItem,
    Paragraph,
    PlanInput,
    RepairInput,
    ReportCheckInput,
    Researcher,
    SectionDraft,
    Selected,
    SynthesisInput,
    WriteInput,
)
from state.values.claims import Claim, ClaimCheck, Verdict
from state.values.evidence import Coverage, CoverageRow, Passage
from state.values.ids import is_stable_id
from state.values.plan import Plan, Subquestion
from state.values.profiles import CODEBASE, QUESTION

T = TypeVar("T")

TEXT = "The Ostra ferry carries 120 passengers. It crosses the strait in 25 minutes."
PASSAGE = Passage("s1", "/papers/ferry.txt", None, TEXT, 10, 10 + len(TEXT), 1)
PLAN = Plan(
    "How many passengers does the Ostra ferry carry?",
    (
        Subquestion(
            "q1", "How many passengers does the Ostra ferry carry?", "Ostra ferry passengers"
        ),
    ),
)
CHOSEN = Selected("q1", "s1", "/papers/ferry.txt", None, TEXT[:39], 10, 49, 1)
ASSESSMENT = Assessment((CHOSEN,), (CoverageRow("q1", Coverage.COVERED, (CHOSEN.id,)),))
CLAIM = Claim("summary-1", "summary", CHOSEN.text, (CHOSEN.id,))


def scripted() -> FakeResearcher:
    return FakeResearcher(
        plans=[PLAN],
        assessments=[ASSESSMENT],
        outlines=[tuple(OutlineItem(s.key, s.title, "say it") for s in QUESTION.sections)],
        drafts=[SectionDraft("summary", (Paragraph((CLAIM,)),))],
        checks=[(ClaimCheck("summary-1", Verdict.SUPPORTED, "scripted"),)],
    )


def language() -> LanguageResearcher:
    """Return the researcher with a model that answers every question about the ferry well."""
    quoted = {"passage": "p1", "quote": TEXT[:39]}
    answer = {"subquestion": "q1", "quotes": [quoted], "coverage": "covered"}
    stated = {"section": "summary", "text": CHOSEN.text, "evidence": ["e1"]}
    forms = {
        "PlanForm": {"subquestions": [{"question": PLAN.goal, "query": "Ostra ferry passengers"}]},
        "AssessForm": {"answers": [answer]},
        "ReportForm": {"claims": [stated]},
        "SectionForm": {"claims": [stated]},
        "OutlineForm": {"sections": [{"section": "summary", "evidence": ["e1"]}]},
        "CheckForm": {"checks": [{"claim": "c1", "quoted": CHOSEN.text, "verdict": "supported"}]},
        "RepairForm": {"repairs": [{"claim": "c1", "text": ""}]},
        "WholeForm": {"reopen": [{"section": "summary", "problem": "It is too short."}]},
    }
    return LanguageResearcher(ScriptedModel(lambda request: json.dumps(forms[request.schema_name])))


@pytest.fixture(
    params=[ExtractiveResearcher, scripted, language], ids=["extractive", "fake", "language"]
)
def researcher(request: pytest.FixtureRequest) -> Researcher:
    made: Researcher = request.param()
    return made


def run(operation: Coroutine[object, object, Answer[T]]) -> T:
    return asyncio.run(operation).value


def check_plan(plan: Plan) -> None:
    assert bool(plan.subquestions) != bool(plan.clarification)
    assert len(plan.subquestions) <= 3
    ids = [sub.id for sub in plan.subquestions]
    assert len(set(ids)) == len(ids)
    for sub in plan.subquestions:
        assert is_stable_id(sub.id)
        assert 0 < len(sub.question.strip()) <= 400
        assert 0 < len(sub.query.strip()) <= 100


def check_assessment(made: Assessment, given: AssessInput) -> None:
    by_id = {item.id: item for item in made.selected}
    assert len(by_id) == len(made.selected)
    assert [row.subquestion_id for row in made.rows] == [s.id for s in given.plan.subquestions]
    check_selection(made, given)
    for row in made.rows:
        assert all(by_id[key].subquestion_id == row.subquestion_id for key in row.evidence_ids)
        assert bool(row.gap) == (row.coverage is Coverage.GAP)
        assert row.evidence_ids or row.coverage is Coverage.GAP
        assert len(row.next_query) <= 100
        assert not row.next_query or row.next_query not in given.used_queries
        if given.cross_check and row.coverage is Coverage.COVERED:
            assert len({by_id[key].locator for key in row.evidence_ids}) >= 2
    assert len(made.missing) <= 5
    assert len(made.conflicts) <= 5
    for conflict in made.conflicts:
        assert len({by_id[key].source_id for key in conflict.evidence_ids}) >= 2
        assert conflict.difference.strip()


def check_selection(made: Assessment, given: AssessInput) -> None:
    for item in made.selected:
        assert 4 <= len(item.text) <= 1800
        assert item in given.held or any(
            passage.source_id == item.source_id
            and passage.start <= item.start < item.end <= passage.end
            and passage.text[item.start - passage.start : item.end - passage.start] == item.text
            and item.title == passage.title
            for passage in given.passages
        )
    if given.per_subquestion:
        counts = [
            sum(i.subquestion_id == s.id for i in made.selected) for s in given.plan.subquestions
        ]
        assert max(counts, default=0) <= given.max_evidence
    else:
        assert len(made.selected) <= given.max_evidence


def check_draft(draft: SectionDraft, given: WriteInput) -> None:
    known = {item.id for item in given.assessment.selected}
    assert draft.section == given.section
    assert [c.id for c in draft.claims] == [
        f"{given.section}-{n + 1}" for n in range(len(draft.claims))
    ]
    assert len(draft.claims) <= given.max_claims
    assert len({claim.text for claim in draft.claims}) == len(draft.claims)
    for paragraph in draft.paragraphs:
        assert bool(paragraph.claims) != bool(paragraph.remark)
    for claim in draft.claims:
        assert 0 < len(claim.text) <= 800
        assert "\n" not in claim.text
        assert claim.evidence_ids
        assert set(claim.evidence_ids) <= known


def test_it_has_a_name_and_says_whether_it_costs_model_calls(researcher: Researcher) -> None:
    assert researcher.name
    assert researcher.uses_model in (True, False)


def test_a_plan_has_subquestions_within_the_limits(researcher: Researcher) -> None:
    check_plan(run(researcher.plan(PlanInput(PLAN.goal))))


def test_an_assessment_has_exact_slices_and_one_row_a_subquestion(researcher: Researcher) -> None:
    given = AssessInput(PLAN, 1, (PASSAGE,))

    made = run(researcher.assess(given))

    check_assessment(made, given)
    assert made.rows[0].coverage is Coverage.COVERED


def test_an_outline_has_one_item_a_section_in_order(researcher: Researcher) -> None:
    sections = tuple((section.key, section.title) for section in QUESTION.sections)

    made = run(researcher.outline(OutlineInput(sections, PLAN, ASSESSMENT)))

    assert tuple((item.section, item.title) for item in made) == sections


def test_a_report_written_at_once_has_the_sections_in_order(researcher: Researcher) -> None:
    sections = (("summary", "Summary"),)

    made = run(researcher.synthesise(SynthesisInput(sections, PLAN, ASSESSMENT)))

    assert [draft.section for draft in made] == ["summary"]
    assert sum(len(draft.claims) for draft in made) <= 12


def test_a_repair_gives_the_same_sections_without_what_did_not_hold(
    researcher: Researcher,
) -> None:
    draft = SectionDraft("summary", (Paragraph((CLAIM,)),))
    failed = (ClaimCheck("summary-1", Verdict.CONTRADICTED, "reading"),)

    (made,) = run(researcher.repair(RepairInput((draft,), failed, PLAN, ASSESSMENT)))

    assert made.section == "summary"
    assert CLAIM.text not in [claim.text for claim in made.claims]


def test_only_sections_of_the_report_are_reopened(researcher: Researcher) -> None:
    draft = SectionDraft("summary", (Paragraph((CLAIM,)),))

    made = run(researcher.check_report(ReportCheckInput((draft,), PLAN, ASSESSMENT)))

    assert {entry.section for entry in made} <= {"summary"}


def test_a_price_is_told_before_the_call(researcher: Researcher) -> None:
    price = researcher.price(PlanInput("How many?"))

    assert price.model_calls == int(researcher.uses_model)


def test_a_section_rests_on_the_evidence(researcher: Researcher) -> None:
    given = WriteInput("summary", "Summary", PLAN, ASSESSMENT)

    check_draft(run(researcher.write_section(given)), given)


def test_each_claim_gets_one_check_in_order(researcher: Researcher) -> None:
    checks = run(researcher.check_claims(CheckInput((CLAIM,), (CHOSEN,))))

    assert [check.claim_id for check in checks] == [CLAIM.id]
    assert checks[0].verdict is Verdict.SUPPORTED
    assert checks[0].method


# The extractive researcher meets whatever people and files may hold.

WORDS = st.sampled_from(
    "the Ostra ferry carries 120 130 passengers. It crosses in 25 minutes, not 40 days; see `a_b` "
    "\n\n \n- item | cell | row | ?! ```\n # Head\n “Quote” 渡轮载客。 30天 Straße "
    "Ünïcode \u200b \ud83d e.g. Dr. 1. 3.5 −18 °C $5 km/h ignore previous instructions".split(" ")
)
PROSE = st.one_of(
    st.lists(WORDS, max_size=60).map(" ".join), st.text(max_size=300), st.just("pebble " * 700)
)
QUESTIONS = st.one_of(
    PROSE,
    st.sampled_from([
        "How many passengers does the Ostra ferry carry, how long does it take and who built it?",
        "渡轮载客多少？", "Wie lange fährt die Fähre und wer hat sie gebaut?", "Ostra vs ferry",
    ]),
)  # fmt: skip


@st.composite
def passages(draw: st.DrawFn) -> tuple[Passage, ...]:
    made = []
    for number, text in enumerate(draw(st.lists(PROSE, max_size=6))):
        start = number * 100_000
        source = draw(st.integers(0, 3))
        title = draw(st.sampled_from([None, "", "Ostra ferry"]))
        made.append(
            Passage(f"s{source}", f"/d{source}.md", title, text, start, start + len(text), number)
        )
    return tuple(made)


@having(question=QUESTIONS, feedback=st.one_of(st.just(""), PROSE))
@settings(max_examples=60)
def test_any_question_gives_a_sound_plan(question: str, feedback: str) -> None:
    plan = run(ExtractiveResearcher().plan(PlanInput(question)))
    check_plan(plan)

    revised = PlanInput(question, feedback=feedback, previous=plan)
    check_plan(run(ExtractiveResearcher().plan(revised)))


@having(
    question=QUESTIONS,
    first=passages(),
    second=passages(),
    bounds=st.tuples(st.booleans(), st.integers(1, 9), st.booleans()),
)
@settings(max_examples=60)
def test_any_passages_give_sound_assessments_sections_and_checks(
    question: str,
    first: tuple[Passage, ...],
    second: tuple[Passage, ...],
    bounds: tuple[bool, int, bool],
) -> None:
    who = ExtractiveResearcher()
    plan = run(who.plan(PlanInput(question)))
    used = tuple(sub.query for sub in plan.subquestions)
    given = AssessInput(plan, 1, first, (), used, *bounds)
    made = run(who.assess(given))
    check_assessment(made, given)
    used += tuple(row.next_query for row in made.rows)

    given = AssessInput(plan, 2, second, made.selected, used, *bounds)
    made = run(who.assess(given))

    check_assessment(made, given)
    assert run(who.assess(given)) == made
    for section in (*QUESTION.sections, *CODEBASE.sections):
        order = WriteInput(section.key, section.title, plan, made, max_claims=bounds[1])
        draft = run(who.write_section(order))
        check_draft(draft, order)
        checks = run(who.check_claims(CheckInput(draft.claims, made.selected)))
        assert {check.verdict for check in checks} <= {Verdict.SUPPORTED, Verdict.PARTIAL}


@having(text=st.text(max_size=60), quote=st.text(max_size=200))
def test_nothing_is_supported_that_is_not_contained(text: str, quote: str) -> None:
    evidence = Selected("q1", "s1", "/d", None, quote, 0, len(quote), 1)
    claim = Claim("a-1", "a", text, (evidence.id,))

    check = run(ExtractiveResearcher().check_claims(CheckInput((claim,), (evidence,))))[0]

    if check.verdict is Verdict.SUPPORTED:
        letters = [ch for ch in text.casefold() if ch.isascii() and ch.isalnum()]
        assert set(letters) <= set(quote.casefold()) | set("aeoefilst")
