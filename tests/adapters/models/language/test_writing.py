"""Sections: claims rest on quotes that have their facts, remarks are told by rule."""

from dataclasses import replace

import pytest

from adapters.models.language.researcher import LanguageResearcher
from adapters.models.port import (
    Assessment,
    OutlineInput,
    ReportCheckInput,
    SectionDraft,
    SynthesisInput,
    WriteInput,
)
from state.values.evidence import Coverage, CoverageRow
from tests.adapters.models.language.scripts import (
    ALSO_KEPT,
    DISPUTED,
    KEPT,
    KNOWN,
    LOGS_C,
    LOGS_D,
    LOGS_X,
    OTHERWISE,
    PLAN,
    SECTIONS,
    TEAM_A,
    TEAM_B,
    A,
    prompt_of,
    researcher,
    run,
    says,
    stated,
)

REPORT = SynthesisInput(SECTIONS, PLAN, KNOWN)
FINDINGS = WriteInput("findings", "Findings", PLAN, KNOWN)


def report(*claims: object, given: SynthesisInput = REPORT) -> dict[str, SectionDraft]:
    drafts = run(researcher({"claims": list(claims)}).synthesise(given))
    assert [draft.section for draft in drafts] == [key for key, _ in given.sections]
    return {draft.section: draft for draft in drafts}


def section(*claims: object, given: WriteInput = FINDINGS) -> SectionDraft:
    return run(researcher({"claims": list(claims)}).write_section(given))


def said(draft: SectionDraft) -> list[tuple[str, tuple[str, ...]]]:
    return [(claim.text, claim.evidence_ids) for claim in draft.claims]


def remarks(draft: SectionDraft) -> str:
    return " ".join(paragraph.remark for paragraph in draft.paragraphs)


def test_claims_are_laid_out_into_their_sections() -> None:
    made = report(
        stated("summary", "A team may have at most 25 members.", "e1", "e2"),
        stated("Findings", "Logs are kept for 30 days.", "e3"),
        stated("history", "Teams are limited to 25 members each.", "e2"),
    )

    assert said(made["summary"]) == [
        ("A team may have at most 25 members.", (TEAM_A.id, TEAM_B.id))
    ]
    assert [claim.id for claim in made["findings"].claims] == ["findings-1", "findings-2"]


def test_findings_stand_under_the_subquestion_they_answer() -> None:
    made = section(
        stated("findings", "Logs are kept for 30 days.", "e3"),
        stated("findings", "Teams have at most 25 members.", "e1"),
    )

    assert [(p.heading, len(p.claims)) for p in made.paragraphs] == [
        (PLAN.subquestions[0].question, 1),
        (PLAN.subquestions[1].question, 1),
    ]


@pytest.mark.parametrize("names", [["e77"], [], ["[1]"], ["none"]])
def test_a_claim_on_invented_evidence_gets_the_quote_that_states_it_or_goes(
    names: list[str],
) -> None:
    made = section(
        stated("findings", "Audit logs are kept for 30 days and then deleted.", *names),
        stated("findings", "Ferries float on water because of Archimedes.", *names),
    )

    assert [ids for _, ids in said(made)] == [(LOGS_C.id,)]
    assert "1 sentence left out" in remarks(made)


def test_a_number_that_the_cited_quote_lacks_brings_in_the_quote_that_has_it() -> None:
    made = section(stated("findings", "Audit logs are kept for 30 days.", "e1"))

    assert LOGS_C.id in made.claims[0].evidence_ids
    assert TEAM_A.id not in made.claims[0].evidence_ids


def test_a_number_that_no_quote_has_is_left_to_the_check() -> None:
    made = section(stated("findings", "A Pavo team may have up to 9999 members.", "e1"))

    assert said(made) == [("A Pavo team may have up to 9999 members.", (TEAM_A.id,))]


def test_citation_marks_in_the_text_become_citations() -> None:
    made = section(stated("findings", "Teams have at most 25 members [e1, e2]. [4]", "e1"))

    assert said(made) == [("Teams have at most 25 members.", (TEAM_A.id, TEAM_B.id))]


def test_what_was_told_before_is_not_told_again() -> None:
    made = report(
        stated("findings", KEPT, "e3"),
        stated("findings", KEPT, "e3"),
        stated("implications", "Audit logs are kept for 30 days and then are deleted.", "e3"),
    )

    assert len(made["findings"].claims) == 1
    assert not made["implications"].claims
    assert "told elsewhere" in remarks(made["implications"])


def test_a_disagreement_is_told_with_both_sides_even_if_the_model_tells_one() -> None:
    given = replace(REPORT, assessment=DISPUTED)

    made = report(stated("summary", "Logs are kept for 30 days.", "e2"), given=given)
    both = report(
        stated("summary", "Page of c says that logs are kept for 30 days.", "e2"),
        stated("summary", "Page of d says that logs are kept for 40 days.", "e3"),
        given=given,
    )

    assert "30 days against 40 days" in remarks(made["summary"])
    assert "30 days against 40 days" in remarks(made["conflicts_and_gaps"])
    assert not remarks(both["summary"])


def test_the_side_that_a_model_leaves_out_is_given_in_its_sources_words() -> None:
    given = WriteInput("conflicts_and_gaps", "Conflicts and gaps", PLAN, DISPUTED)

    made = section(stated("conflicts_and_gaps", "Logs are kept for 30 days.", "e2"), given=given)

    assert said(made) == [
        ("Logs are kept for 30 days.", (LOGS_C.id,)),
        (OTHERWISE, (LOGS_X.id,)),
    ]


def test_without_a_disagreement_none_can_be_claimed() -> None:
    model = says({"claims": [stated("conflicts_and_gaps", "Site c and d differ: 30 days.", "e3")]})

    drafts = run(LanguageResearcher(model).synthesise(REPORT))

    assert not drafts[2].claims
    assert "conflicts_and_gaps" not in prompt_of(model)


def test_a_gap_is_told_in_summary_and_gaps() -> None:
    gap = CoverageRow("q2", Coverage.GAP, (), "No source says how long logs are kept.")
    given = replace(REPORT, assessment=Assessment((TEAM_A,), (KNOWN.rows[0], gap)))

    made = report(stated("summary", "Teams have at most 25 members.", "e1"), given=given)

    assert "No source says how long" in remarks(made["summary"])
    assert "No source says how long" in remarks(made["conflicts_and_gaps"])


def test_no_evidence_is_no_call() -> None:
    model = says("never")
    nothing = Assessment(
        (), tuple(CoverageRow(s.id, Coverage.GAP, (), "Nothing.") for s in PLAN.subquestions)
    )

    drafts = run(LanguageResearcher(model).synthesise(replace(REPORT, assessment=nothing)))
    draft = run(LanguageResearcher(model).write_section(replace(FINDINGS, assessment=nothing)))

    assert not model.requests
    assert not any(each.claims for each in (*drafts, draft))
    assert all(each.paragraphs for each in (*drafts, draft))


def test_claims_beyond_the_limit_are_left_out_and_said_to_be() -> None:
    many = [
        stated("findings", text, "e1", "e3")
        for text in ("Teams have 25 members.", "Logs are kept for 30 days.", "Then they are gone.")
    ]

    made = section(*many, given=replace(FINDINGS, max_claims=2))

    assert len(made.claims) == 2
    assert "1 sentence left out" in remarks(made)


def test_a_claim_that_is_too_long_is_cut_after_a_sentence() -> None:
    made = section(stated("findings", f"{A} " * 30, "e1"))

    assert made.claims[0].text.endswith("members.")
    assert len(made.claims[0].text) <= 800


def test_the_writer_is_shown_quotes_sources_conflicts_and_feedback() -> None:
    model = says({"claims": []})
    given = WriteInput(
        "findings", "Findings", PLAN, DISPUTED, outline=(LOGS_X.id,), feedback="Name both sides."
    )

    run(LanguageResearcher(model).write_section(given))

    shown = prompt_of(model)
    assert f"[e3, on q2] {OTHERWISE}" in shown
    assert "Page of d" in shown
    assert "Disagreement between e2 and e3" in shown
    assert "Name both sides." in shown


def test_an_answer_in_another_language_keeps_its_quotes() -> None:
    made = section(stated("findings", "Prüfprotokolle werden 30 Tage aufbewahrt.", "e3", "e4"))

    assert said(made) == [("Prüfprotokolle werden 30 Tage aufbewahrt.", (LOGS_C.id, LOGS_D.id))]


def test_an_outline_rests_on_accepted_quotes_and_findings_on_all() -> None:
    form = {
        "sections": [
            {"section": "summary", "intent": "The limits.", "evidence": ["e1", "e99"]},
            {"section": "weather", "intent": "Rain.", "evidence": ["e2"]},
        ]
    }

    items = run(researcher(form).outline(OutlineInput(SECTIONS, PLAN, KNOWN)))

    assert [item.section for item in items] == [key for key, _ in SECTIONS]
    assert items[0].evidence_ids == (TEAM_A.id,)
    assert items[1].evidence_ids == tuple(item.id for item in KNOWN.selected)


def test_only_sections_of_the_report_with_a_problem_are_reopened() -> None:
    drafts = tuple(report(stated("summary", ALSO_KEPT, "e4")).values())
    form = {
        "reopen": [
            {"section": "findings", "problem": "It leaves out the limit of 25 members."},
            {"section": "findings", "problem": "Again."},
            {"section": "summary", "problem": " - "},
            {"section": "budget", "problem": "Raise it."},
            {"section": "implications", "problem": "It should say 9999 members."},
        ]
    }

    made = run(researcher(form).check_report(ReportCheckInput(drafts, PLAN, KNOWN)))

    assert [(entry.section, entry.reason) for entry in made] == [
        ("findings", "It leaves out the limit of 25 members.")
    ]
