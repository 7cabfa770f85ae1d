"""Repairs: only what failed changes, to what quotes state, or goes."""

import pytest

from adapters.models.language.researcher import LanguageResearcher
from adapters.models.port import Paragraph, RepairInput, SectionDraft
from state.values.claims import ClaimCheck, Verdict
from tests.adapters.models.language.scripts import (
    KNOWN,
    LOGS_C,
    PLAN,
    TEAM_A,
    claim,
    prompt_of,
    researcher,
    run,
    says,
)

GOOD = claim("Logs  are kept — for 30 days.", LOGS_C)
LIE = claim("A Pavo team may have up to 9999 members.", TEAM_A, id_="summary-2")
REMARK = Paragraph(remark="Nothing else was found.", heading="Rest")
DRAFT = SectionDraft("summary", (Paragraph((GOOD, LIE), heading="All"), REMARK))
CHECKS = (
    ClaimCheck("summary-1", Verdict.SUPPORTED, "m"),
    ClaimCheck("summary-2", Verdict.CONTRADICTED, "m", "the quote says 25"),
)
GIVEN = RepairInput((DRAFT,), CHECKS, PLAN, KNOWN)


def repaired(*repairs: object) -> SectionDraft:
    (draft,) = run(researcher({"repairs": list(repairs)}).repair(GIVEN))
    return draft


def mend(text: str, *names: str, of: str = "c1") -> dict[str, object]:
    return {"claim": of, "text": text, "evidence": list(names)}


def test_a_failed_claim_is_reworded_and_nothing_else_changes() -> None:
    draft = repaired(mend("A Pavo team may have up to 25 members.", "e1"))

    first, second = draft.claims
    assert first == GOOD
    assert second == claim("A Pavo team may have up to 25 members.", TEAM_A, id_="summary-2")
    assert draft.paragraphs[1] == REMARK


@pytest.mark.parametrize(
    "repairs",
    [
        [],
        [mend("", "e1")],
        [mend(LIE.text, "e1")],
        [mend(GOOD.text, "e3")],
        [mend("A Pavo team may have up to 8888 members.", "e1")],
        [mend("Ferries float.")],
        [mend("A Pavo team may have up to 25 members.", "e1", of="c9")],
    ],
)
def test_what_is_not_mended_is_taken_out(repairs: list[object]) -> None:
    draft = repaired(*repairs)

    assert draft.claims == (GOOD,)
    assert draft.paragraphs[1] == REMARK


def test_only_the_failed_claims_are_shown_with_why() -> None:
    model = says({"repairs": []})

    run(LanguageResearcher(model).repair(GIVEN))

    assert LIE.text in prompt_of(model)
    assert "the quote says 25" in prompt_of(model)
    assert GOOD.text not in prompt_of(model)


def test_nothing_failed_is_no_call() -> None:
    model = says("never")

    made = run(LanguageResearcher(model).repair(RepairInput((DRAFT,), CHECKS[:1], PLAN, KNOWN)))

    assert made == (DRAFT,)
    assert not model.requests
