"""Comparing two reports: what is new, gone, different or disputed, and what is not."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.values.changes import ClaimChange, compare
from state.values.claims import AnswerStatus, ClaimStatus, Verdict
from state.values.evidence import Coverage
from state.values.report import Failure, Report
from state.values.statements import form
from tests.state.values.reports import Said, report_of

CARRIES = Said("The Ostra ferry carries 120 passengers.")
CROSSES = Said("It crosses the strait in 25 minutes.", about=1)
WORDS = ("ferry", "carries", "120", "150", "passengers", "not", "Ostra", "Pavo", "the", "in")

said = st.builds(
    Said,
    text=st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join),
    quote=st.sampled_from(("", "one quote", "another quote")),
    source=st.sampled_from(("a.md", "b.md")),
    about=st.sampled_from((0, 1)),
    status=st.sampled_from(ClaimStatus),
    section=st.sampled_from(("findings", "limits")),
)
reports = st.builds(
    lambda claims, sources, conflicts: report_of(*claims, sources=sources, conflicts=conflicts),
    st.lists(said, max_size=5),
    st.dictionaries(st.sampled_from(("a.md", "b.md", "c.md")), st.sampled_from(("x", "y"))),
    st.dictionaries(st.just(0), st.just("120 against 150"), max_size=1),
)


def texts(changes: tuple[ClaimChange, ...]) -> list[tuple[str, str]]:
    return [(c.before.text if c.before else "", c.after.text if c.after else "") for c in changes]


@given(reports)
def test_a_report_compared_with_itself_has_no_change(report: Report) -> None:
    changes = compare(report, report)

    assert changes.is_empty
    assert len(changes.unchanged) == len({form(claim.text) for claim in report.claims})


@given(reports, reports)
def test_exchanging_the_sides_mirrors_every_change(one: Report, two: Report) -> None:
    there, back = compare(one, two), compare(two, one)

    assert [c.after for c in there.new] == [c.before for c in back.withdrawn]
    assert [c.before for c in there.withdrawn] == [c.after for c in back.new]
    pairs = [(c.before, c.after) for c in there.changed]
    assert sorted(map(str, pairs)) == sorted(str((c.after, c.before)) for c in back.changed)
    assert [s.locator for s in there.new_sources] == [s.locator for s in back.gone_sources]
    assert len(there.contradicted) == len(back.resolved)
    assert there.is_empty == back.is_empty


@given(reports, reports)
def test_every_claim_is_in_one_list_of_its_side(one: Report, two: Report) -> None:
    changes = compare(one, two)

    both = (*changes.changed, *changes.unchanged)
    before = [form(c.before.text) for c in (*changes.withdrawn, *both) if c.before]
    after = [form(c.after.text) for c in (*changes.new, *both) if c.after]
    assert sorted(before) == sorted({form(claim.text) for claim in one.claims})
    assert sorted(after) == sorted({form(claim.text) for claim in two.claims})


def test_new_and_withdrawn_claims_are_told_with_quote_and_reason() -> None:
    before = report_of(CARRIES, CROSSES, sources={"a.md": "1"})
    after = report_of(CARRIES, Said("Dogs are welcome.", source="b.md"), sources={"a.md": "2"})

    changes = compare(before, after)

    (new,), (withdrawn,) = changes.new, changes.withdrawn
    assert (new.before, new.detail) == (None, "its source is new")
    assert new.after is not None
    assert [(q.quote, q.display) for q in new.after.quotes] == [("Dogs are welcome.", "b.md")]
    assert withdrawn.before is not None
    assert (withdrawn.before.text, withdrawn.detail) == (CROSSES.text, "its source changed")
    assert texts(changes.unchanged) == [(CARRIES.text, CARRIES.text)]


@pytest.mark.parametrize(
    ("one", "two", "detail"),
    [
        ("The ferry carries 120 passengers.", "The ferry carries 150 passengers.", "120 → 150"),
        ("Guests may delete projects.", "Guests may not delete projects.", "(nothing) → not"),
        ("The captain is Anna Berg.", "The captain is Otto Klein.", "Anna Berg → Otto Klein"),
        ("It opened on 3 May 2024.", "It opened on 9 June 2025.", "3 May 2024 → 9 June 2025"),
        ("In 2024 the limit was 30 days.", "In 2025 the limit is 45 days.",
         "2024 → 2025; was 30 days → is 45 days"),
        ("It is kept at -18 °C.", "It is kept at -19 °C.", "-18 °C → -19 °C"),
        ("It is kept at −18 °C.", "It is kept at −4 °C.", "-18 °C → -4 °C"),
        ("It holds 5 GB of logs.", "It holds 8 GB of logs.", "5 GB → 8 GB"),
        ("It spans 5 to 10 km.", "It spans 5 to 12 km.", "10 km → 12 km"),
        ("There are 5 gates here.", "There are 6 gates here.", "5 → 6"),
        ("The default mode is safe.", "The default mode is fast.", "safe → fast"),
        ("A ticket costs $5.", "A ticket costs €5.", "$5 → €5"),
    ],
)  # fmt: skip
def test_the_same_statement_with_another_fact_is_a_changed_claim(
    one: str, two: str, detail: str
) -> None:
    changes = compare(report_of(Said(one), CROSSES), report_of(Said(two), CROSSES))

    assert texts(changes.changed) == [(one, two)]
    assert changes.changed[0].detail == detail
    assert changes.new == changes.withdrawn == ()


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (Said("A Pavo team holds 25 members."), Said("A Lyra team holds 40 members.")),
        (Said("The ferry carries 120 passengers."), Said("The ferry is painted blue.")),
        (Said("The fee is 5 euros.", about=0), Said("The fee is 7 euros.", about=1)),
        (Said("Anna leads Meridian."), Said("Otto leads Pavo.")),
    ],
)
def test_statements_about_something_else_are_new_and_withdrawn(one: Said, two: Said) -> None:
    changes = compare(report_of(one), report_of(two))

    assert changes.changed == ()
    assert texts(changes.withdrawn) == [(one.text, "")]
    assert texts(changes.new) == [("", two.text)]


def test_a_claim_that_two_sections_make_is_one_change() -> None:
    before = report_of(CARRIES, replace(CARRIES, section="summary"))
    other = replace(CARRIES, text="The Ostra ferry carries 150 passengers.")
    after = report_of(other, replace(other, section="summary", source="b.md"))

    (changed,) = compare(before, after).changed

    assert changed.after is not None
    assert [quote.display for quote in changed.after.quotes] == ["a.md", "b.md"]


def test_the_closest_statements_are_paired() -> None:
    before = report_of(Said("Team A has 25 members."), Said("Team B has 30 members."))
    after = report_of(Said("Team B has 31 members."), Said("Team A has 26 members."))

    assert texts(compare(before, after).changed) == [
        ("Team B has 30 members.", "Team B has 31 members."),
        ("Team A has 25 members.", "Team A has 26 members."),
    ]


def test_a_quote_that_only_moved_is_no_change() -> None:
    moved = replace(CARRIES, text="The “Ostra” ferry carries 120  passengers", start=700)
    before = report_of(replace(CARRIES, text='The "Ostra" ferry carries 120 passengers.'))

    assert compare(before, report_of(moved)).is_empty


def test_a_claim_in_other_words_on_the_same_quote_is_no_change() -> None:
    quote = "Audit logs are kept for 30 days."
    before = report_of(Said("Meridian keeps audit logs for 30 days.", quote))
    after = report_of(Said("Audit logs of Meridian are kept 30 days.", quote))

    changes = compare(before, after)

    assert changes.is_empty
    assert len(changes.unchanged) == 1


def test_a_claim_becomes_and_ceases_to_be_contradicted() -> None:
    calm = report_of(CARRIES)
    other = Said(
        "The Ostra ferry carries 150 passengers.", source="b.md", status=ClaimStatus.DISPUTED
    )
    disputed = report_of(
        replace(CARRIES, status=ClaimStatus.DISPUTED), other, conflicts={0: "120 against 150"}
    )

    there, back = compare(calm, disputed), compare(disputed, calm)

    assert texts(there.contradicted) == [(CARRIES.text, CARRIES.text)]
    assert there.contradicted[0].detail == "120 against 150"
    assert texts(there.new) == [("", other.text)]
    assert [row.question for row in there.newly_in_conflict] == [
        disputed.plan.subquestions[0].question
    ]
    assert (there.answer_before, there.answer_after) == (
        AnswerStatus.ANSWERED,
        AnswerStatus.CONFLICTING,
    )
    assert texts(back.resolved) == [(CARRIES.text, CARRIES.text)]
    assert back.contradicted == ()


def test_a_claim_whose_subquestion_is_in_conflict_is_contradicted_whatever_its_status() -> None:
    changes = compare(report_of(CARRIES), report_of(CARRIES, conflicts={0: "120 against 150"}))

    assert len(changes.contradicted) == 1


def test_another_verdict_or_standing_is_told() -> None:
    after = report_of(replace(CARRIES, verdict=Verdict.PARTIAL, status=ClaimStatus.CORROBORATED))

    changes = compare(report_of(CARRIES), after)

    assert changes.rejudged[0].detail == "supported, single-source → partial, corroborated"
    assert not changes.is_empty


def test_a_claim_that_was_dropped_says_why_it_is_withdrawn() -> None:
    before = report_of(CARRIES, CROSSES)
    dropped = replace(before.claims[1], verdict=Verdict.CONTRADICTED, reason="the quote says 30")
    after = report_of(CARRIES, dropped_claims=(dropped,))

    (withdrawn,) = compare(before, after).withdrawn

    assert withdrawn.detail == "written again, and dropped: contradicted, the quote says 30"


def test_coverage_that_moved_is_told_by_question() -> None:
    changes = compare(report_of(CARRIES), report_of(CROSSES))

    assert [(r.question, r.before, r.after) for r in changes.newly_covered] == [
        ("How long does the crossing take?", Coverage.GAP, Coverage.COVERED)
    ]
    assert [(r.question, r.gap) for r in changes.newly_open] == [
        ("How many passengers does the ferry carry?", "nothing says")
    ]


def test_a_subquestion_in_other_words_is_known_and_another_one_is_not() -> None:
    before = report_of(
        CARRIES, questions=("How many passengers does the ferry carry?", "Who runs it?")
    )
    after = report_of(
        replace(CARRIES, text="The Ostra ferry carries 150 passengers."),
        questions=("How many passengers can the ferry carry?", "What does a ticket cost?"),
    )

    changes = compare(before, after)

    assert len(changes.changed) == 1
    assert [row.question for row in changes.no_longer_asked] == ["Who runs it?"]
    assert [row.question for row in changes.newly_open] == ["What does a ticket cost?"]


def test_sources_are_new_gone_or_have_other_bytes() -> None:
    before = report_of(CARRIES, sources={"a.md": "1", "b.md": "1", "c.md": "1", "d.md": "1"})
    after = report_of(
        CARRIES,
        sources={"a.md": "2", "e.md": "1"},
        failures=(Failure("reading", "b.md", "MALFORMED", "it is cut off"),),
        omitted=(Failure("search", "/notes/c.md", "RANK", "it ranked below the others"),),
    )

    changes = compare(before, after)

    assert [(s.display, s.cited) for s in changes.changed_sources] == [("a.md", True)]
    assert [s.display for s in changes.new_sources] == ["e.md"]
    assert {s.display: s.detail for s in changes.gone_sources} == {
        "b.md": "MALFORMED: it is cut off",
        "c.md": "found, not read: it ranked below the others",
        "d.md": "not found",
    }
    assert not changes.is_empty
    assert not changes.touches_claims
