"""What a round searches for and reads, decided before it does."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from adapters.models.port import Assessment
from adapters.search.port import Hit, SearchPage
from flows.finding import choose_reading
from flows.knowledge import Knowledge, nothing_known
from flows.stopping import next_queries
from state.values.evidence import Coverage, CoverageRow
from state.values.report import RoundEntry
from tests.flows.world import PLAN

START = Knowledge(PLAN, assessment=nothing_known(PLAN))


def after(*rows: CoverageRow, used: tuple[str, ...] = ("team members",)) -> Knowledge:
    entry = RoundEntry(1, used, (), 0)
    return replace(START, assessment=Assessment((), rows), used_queries=used, rounds=(entry,))


def queries(knowledge: Knowledge) -> list[tuple[str, str]]:
    return [(entry.subquestion_id, entry.query) for entry in next_queries(knowledge)]


def test_before_the_first_round_every_subquestion_is_open() -> None:
    assert [row.coverage for row in START.assessment.rows] == [Coverage.GAP, Coverage.GAP]
    assert queries(START) == [("members", "team members"), ("retention", "audit retention")]


def test_what_an_assessment_asks_for_comes_before_what_the_plan_has_left() -> None:
    rows = (
        CoverageRow("members", Coverage.GAP, gap="x", next_query="pavo size"),
        CoverageRow("retention", Coverage.GAP, gap="x"),
    )

    assert queries(after(*rows)) == [("members", "pavo size"), ("retention", "audit retention")]


def test_what_is_covered_or_was_used_is_not_searched_again() -> None:
    rows = (
        CoverageRow("members", Coverage.COVERED, next_query="pavo size"),
        CoverageRow("retention", Coverage.CONFLICT, next_query="team members"),
    )

    assert queries(after(*rows, used=("team members", "audit retention"))) == []


def test_one_query_for_two_subquestions_is_one_search() -> None:
    rows = tuple(
        CoverageRow(s.id, Coverage.GAP, gap="x", next_query="both") for s in PLAN.subquestions
    )

    found = queries(after(*rows, used=("team members", "audit retention")))

    assert found == [("members", "both")]


def page(*locators: str) -> SearchPage:
    return SearchPage(tuple(Hit(locator, None, "", 1.0) for locator in locators))


def test_the_queries_take_turns_and_nothing_is_read_twice() -> None:
    found = choose_reading([page("/a", "/b", "/c"), page("/d", "/a")], seen={"/c"})

    assert found.locators == ("/a", "/d", "/b")


PAGES = st.lists(st.lists(st.sampled_from("abcdef"), max_size=6), max_size=4)


@given(PAGES, st.sets(st.sampled_from("abcdef")))
def test_everything_found_is_read_or_was_seen_and_once(
    found: list[list[str]], seen: set[str]
) -> None:
    chosen = choose_reading([page(*locators) for locators in found], seen=seen).locators

    assert len(set(chosen)) == len(chosen)
    assert set(chosen) == {each for locators in found for each in locators} - seen


def test_references_are_read_first_and_what_is_out_of_bounds_is_left_out() -> None:
    hits = page("https://a.example.org/1", "https://elsewhere.com/2")

    found = choose_reading(
        [hits], origins=("*.example.org",), references=["https://b.example.org/3"]
    )

    assert found.locators == ("https://b.example.org/3", "https://a.example.org/1")
    assert found.omitted == ("https://elsewhere.com/2",)


def test_a_retracted_work_and_its_notice_are_no_evidence() -> None:
    """Cases: B1 19."""
    works = [
        Hit("https://a.org/1", "Retracted", "", 1.0, notice="retracted"),
        Hit("https://a.org/2", "Notice", "", 1.0, notice="retraction-notice"),
    ]

    found = choose_reading([SearchPage(tuple(works))], origins="any")

    assert found.locators == ()
    assert [entry.code for entry in found.unfit] == ["RETRACTED", "RETRACTION_NOTICE"]
