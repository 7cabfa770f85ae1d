"""Whatever JSON of its form a model gives, what comes out keeps to the port's contract."""

import asyncio
from typing import Any

from hypothesis import given as having
from hypothesis import settings
from hypothesis import strategies as st

from adapters.models.language.researcher import LanguageResearcher
from adapters.models.port import (
    AssessInput,
    Assessment,
    CheckInput,
    OutlineInput,
    Paragraph,
    PlanInput,
    RepairInput,
    ReportCheckInput,
    SectionDraft,
    SynthesisInput,
    WriteInput,
)
from state.values.claims import Claim, ClaimCheck, Verdict
from state.values.errors import RejectedError
from state.values.plan import check_plan
from tasks.assess import accept
from tests.adapters.models.language.scripts import (
    ALSO_KEPT,
    DISPUTED,
    FIRST,
    KEPT,
    KNOWN,
    OTHERWISE,
    PLAN,
    POINTER,
    QUESTION,
    SECTIONS,
    TEAM_A,
    USED,
    A,
    B,
    by_form,
    passage,
)
from tests.adapters.models.test_researcher_contract import (
    check_assessment,
    check_draft,
)

TEXTS = st.one_of(
    st.sampled_from(
        [
            "", A, B, KEPT, ALSO_KEPT, OTHERWISE, POINTER, "25", "members", f"{A} {POINTER}",
            "Audit logs are never kept.", "Pavo has 9999 members [e1].", "Query: Pavo [1]",
            "\ud83d", "100%",
            "A Pavo team " * 120, "conflict", "supported", "covered", "contradicted", USED[0],
        ]
    ),
    st.text(max_size=40),
)  # fmt: skip
NAMES = st.sampled_from(
    ["q1", "q2", "p1", "p2", "p3", "p4", "h1", "h2", "e1", "e2", "e3", "[e1]", "E4", "c1", "c2",
     "c3", "summary", "Findings", "conflicts_and_gaps", "implications", "none", "x"]
)  # fmt: skip


def entries(*fields: str, lists: tuple[str, ...] = ()) -> st.SearchStrategy[list[Any]]:
    """Return lists of records: fields by name, which may be absent, null or of a wrong sort."""
    wrong: st.SearchStrategy[Any] = st.one_of(st.none(), st.integers(0, 9), st.just({}))
    value = st.one_of(TEXTS, NAMES, wrong)
    named = {name: st.one_of(NAMES, NAMES, value) for name in fields}
    named |= {
        name: st.one_of(st.lists(st.one_of(NAMES, wrong), max_size=4), value) for name in lists
    }
    texts = dict.fromkeys(("text", "question", "query", "quote", "gap", "next_query"), value)
    optional = {name: texts.get(name, each) for name, each in named.items()}
    record = st.fixed_dictionaries({}, optional=optional)
    return st.lists(st.one_of(record, record, record, wrong), max_size=6)


QUOTES = entries("passage", "quote")
ANSWERS = st.lists(
    st.fixed_dictionaries(
        {"subquestion": NAMES, "quotes": QUOTES},
        optional={"coverage": TEXTS, "gap": TEXTS, "next_query": TEXTS},
    ),
    max_size=4,
)
FORMS = st.fixed_dictionaries(
    {
        "PlanForm": st.fixed_dictionaries(
            {"subquestions": entries("question", "query")}, optional={"clarification": TEXTS}
        ),
        "AssessForm": st.fixed_dictionaries(
            {"answers": ANSWERS},
            optional={"conflicts": entries("subquestion", "difference", lists=("passages",))},
        ),
        "ReportForm": st.fixed_dictionaries(
            {"claims": entries("section", "text", lists=("evidence",))}
        ),
        "SectionForm": st.fixed_dictionaries({"claims": entries("text", lists=("evidence",))}),
        "OutlineForm": st.fixed_dictionaries(
            {"sections": entries("section", "intent", lists=("evidence",))}
        ),
        "CheckForm": st.fixed_dictionaries(
            {"checks": entries("claim", "quoted", "verdict", "reason")}
        ),
        "RepairForm": st.fixed_dictionaries(
            {"repairs": entries("claim", "text", lists=("evidence",))}
        ),
        "WholeForm": st.fixed_dictionaries({"reopen": entries("section", "problem")}),
    }
)
BOUNDS = st.tuples(st.booleans(), st.integers(1, 5), st.booleans())
TEXT_OF = {item.id: item.text for item in (*KNOWN.selected, *DISPUTED.selected)}


def run(operation: Any) -> Any:
    """Return the value, or None when the answer was refused as a whole."""
    try:
        return asyncio.run(operation).value
    except RejectedError:
        return None


@having(forms=FORMS, bounds=BOUNDS)
@settings(max_examples=60, deadline=None)
def test_plans_and_assessments_keep_to_the_contract(
    forms: dict[str, Any], bounds: tuple[bool, int, bool]
) -> None:
    who = LanguageResearcher(by_form(forms))
    check_plan(run(who.plan(PlanInput(QUESTION))))
    more = (passage("c", KEPT), passage("d", OTHERWISE))
    given = AssessInput(PLAN, 2, (*FIRST, *more), (TEAM_A,), USED, *bounds)

    made = run(who.assess(given))

    if made is not None:
        check_assessment(made, given)
        texts = {p.source_id: " " * p.start + p.text for p in given.passages}
        accepted = accept(made, given, texts)
        assert accepted.selected == made.selected
        assert [row.coverage for row in accepted.rows] == [row.coverage for row in made.rows]


@having(forms=FORMS, known=st.sampled_from([KNOWN, DISPUTED]), most=st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_sections_keep_to_the_contract(forms: dict[str, Any], known: Assessment, most: int) -> None:
    who = LanguageResearcher(by_form(forms))
    drafts = run(who.synthesise(SynthesisInput(SECTIONS, PLAN, known, most))) or ()
    for (key, title), draft in zip(SECTIONS, drafts, strict=False):
        check_draft(draft, WriteInput(key, title, PLAN, known, most))
    assert sum(len(draft.claims) for draft in drafts) <= most
    for key, title in SECTIONS:
        given = WriteInput(key, title, PLAN, known, most)
        if (draft := run(who.write_section(given))) is not None:
            check_draft(draft, given)

    items = run(who.outline(OutlineInput(SECTIONS, PLAN, known)))
    reopened = run(who.check_report(ReportCheckInput(drafts, PLAN, known)))

    ids = {item.id for item in known.selected}
    assert items is None or [(item.section, item.title) for item in items] == list(SECTIONS)
    assert items is None or all(set(item.evidence_ids) <= ids for item in items)
    assert {entry.section for entry in reopened or ()} <= {draft.section for draft in drafts}


@having(forms=FORMS, texts=st.lists(TEXTS.filter(bool), min_size=1, max_size=3, unique=True))
@settings(max_examples=60, deadline=None)
def test_every_claim_keeps_its_check(forms: dict[str, Any], texts: list[str]) -> None:
    who = LanguageResearcher(by_form(forms))
    plain = [text.encode(errors="ignore").decode() for text in texts]
    claims = tuple(
        Claim(f"findings-{n + 1}", "findings", text, (KNOWN.selected[n % 4].id,))
        for n, text in enumerate(plain)
    )
    checks = run(who.check_claims(CheckInput(claims, KNOWN.selected)))
    if checks is None:
        return
    assert [check.claim_id for check in checks] == [claim.id for claim in claims]
    for claim, check in zip(claims, checks, strict=True):
        if "9999" in claim.text:
            assert check.verdict is not Verdict.SUPPORTED


@having(forms=FORMS, failing=st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_repairs_change_only_what_failed(forms: dict[str, Any], failing: int) -> None:
    texts = (A, B, KEPT)
    claims = tuple(
        Claim(f"findings-{n}", "findings", text, (item.id,))
        for n, (text, item) in enumerate(zip(texts, KNOWN.selected, strict=False), start=1)
    )
    draft = SectionDraft("findings", (Paragraph(claims), Paragraph(remark="That is all.")))
    checks = (ClaimCheck(f"findings-{failing}", Verdict.CONTRADICTED, "m", "It says 12."),)

    made = run(
        LanguageResearcher(by_form(forms)).repair(RepairInput((draft,), checks, PLAN, KNOWN))
    )

    if made is not None:
        (repaired,) = made
        others = [claim for claim in claims if claim.id != f"findings-{failing}"]
        assert [c for c in repaired.claims if c.id != f"findings-{failing}"] == others
        assert repaired.paragraphs[-1] == draft.paragraphs[-1]
