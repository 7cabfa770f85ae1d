"""What is left of an assessment when everything it cannot prove is taken out."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.models.port import Assessment, Selected
from state.values.evidence import Conflict, Coverage, CoverageRow, Passage
from tasks.assess import accept, choose_passages
from tests.tasks.makers import (
    LOGS,
    LOGS_40,
    MEMBERS,
    TEXTS,
    asked,
    assessed,
    chosen,
    covered,
    passage,
)


@pytest.mark.parametrize(
    "forged",
    [
        replace(MEMBERS, text="A team holds at most 99 members."),
        replace(MEMBERS, start=MEMBERS.start + 1, end=MEMBERS.end + 1),
        replace(MEMBERS, start=-32, end=0),
        replace(MEMBERS, start=10, end=5),
        replace(MEMBERS, source_id="s9"),
        replace(MEMBERS, subquestion_id="q9"),
        replace(MEMBERS, text="A t", end=MEMBERS.start + 3),
    ],
    ids=["words", "place", "negative", "backwards", "source", "subquestion", "too-short"],
)
def test_a_selection_that_the_archive_does_not_hold_is_dropped(forged: Selected) -> None:
    made = accept(assessed(forged, rows=(covered("q1", forged),)), asked(), TEXTS)

    assert made.selected == ()
    assert made.rows[0].coverage is Coverage.GAP
    assert made.rows[0].gap == "no quote was found"


def test_a_selection_that_was_never_offered_is_dropped() -> None:
    only = passage("s1", TEXTS["s1"][:32])

    made = accept(assessed(MEMBERS, LOGS), asked(passages=(only,)), TEXTS)

    assert made.selected == (MEMBERS,)


def test_what_is_held_stays_selectable_when_its_passage_is_not_offered_again() -> None:
    made = accept(assessed(MEMBERS), asked(passages=(), held=(MEMBERS,)), TEXTS)

    assert made.selected == (MEMBERS,)


def test_where_a_quote_stands_is_taken_from_the_archive_and_not_from_whoever_selected_it() -> None:
    forged = replace(MEMBERS, locator="/elsewhere", title="Invented", paragraph=7, page=3)

    made = accept(assessed(forged), asked(), TEXTS)

    assert made.selected == (MEMBERS,)


def test_a_forged_locator_does_not_pass_a_cross_check() -> None:
    second = replace(chosen("A team holds at most 25"), locator="/another.txt")
    assessment = assessed(MEMBERS, second, rows=(covered("q1", MEMBERS, second),))

    made = accept(assessment, asked(cross_check=True), TEXTS)

    assert made.rows[0].coverage is Coverage.GAP
    assert "only one source" in made.rows[0].gap


def test_with_a_cross_check_two_sources_cover() -> None:
    both = covered("q2", LOGS, LOGS_40)

    made = accept(assessed(LOGS, LOGS_40, rows=(both,)), asked(cross_check=True), TEXTS)

    assert made.rows[1].coverage is Coverage.COVERED


def test_a_selection_that_cuts_a_secret_in_two_is_dropped() -> None:
    text = "Log in with sk-abcdefghijklmnop123 to see the members."
    cut = replace(MEMBERS, start=20, end=54, text=text[20:54])
    whole = replace(MEMBERS, start=0, end=54, text=text)

    made = accept(assessed(cut, whole), asked(passages=(passage("s1", text),)), {"s1": text})

    assert made.selected == (whole,)


def test_a_row_rests_on_each_quote_of_its_own_subquestion_once() -> None:
    row = CoverageRow("q1", Coverage.COVERED, (MEMBERS.id, MEMBERS.id, LOGS.id, "ev-unknown"))

    made = accept(assessed(MEMBERS, LOGS, rows=(row,)), asked(), TEXTS)

    assert made.rows[0].evidence_ids == (MEMBERS.id,)


def test_a_subquestion_without_a_row_is_a_gap_that_says_so() -> None:
    made = accept(assessed(MEMBERS, rows=(covered("q1", MEMBERS),)), asked(), TEXTS)

    assert [row.subquestion_id for row in made.rows] == ["q1", "q2"]
    assert made.rows[1].gap == "this subquestion was not assessed"


def test_a_conflict_needs_quotes_of_two_sources() -> None:
    one = chosen("30 days", "q2")
    conflict = Conflict("q2", (LOGS.id, one.id), "30 against 30")
    row = CoverageRow("q2", Coverage.CONFLICT, (LOGS.id,))

    made = accept(Assessment((LOGS, one), (row,), conflicts=(conflict,)), asked(), TEXTS)

    assert made.conflicts == ()
    assert made.rows[1].coverage is Coverage.GAP
    assert "not shown by two sources" in made.rows[1].gap


@pytest.mark.parametrize(
    "conflict",
    [
        Conflict("q1", (LOGS.id, LOGS_40.id), "another subquestion's"),
        Conflict("q2", (LOGS.id, LOGS_40.id), "  "),
        Conflict("q2", (LOGS.id, "ev-unknown"), "one side unknown"),
    ],
)
def test_a_conflict_that_is_not_one_is_dropped(conflict: Conflict) -> None:
    made = accept(Assessment((LOGS, LOGS_40), (), conflicts=(conflict,)), asked(), TEXTS)

    assert made.conflicts == ()


def test_a_real_conflict_outweighs_the_row_and_brings_both_sides() -> None:
    conflict = Conflict("q2", (LOGS.id, LOGS_40.id), "30 against 40")
    said = Assessment((LOGS, LOGS_40), (covered("q2", LOGS),), conflicts=(conflict,))

    made = accept(said, asked(), TEXTS)

    assert made.rows[1] == CoverageRow("q2", Coverage.CONFLICT, (LOGS.id, LOGS_40.id))


def test_one_selection_said_many_times_takes_one_place() -> None:
    made = accept(assessed(*[MEMBERS] * 9, LOGS), asked(max_evidence=2), TEXTS)

    assert made.selected == (MEMBERS, LOGS)


def test_the_limit_holds_for_the_whole_or_for_each_subquestion() -> None:
    many = [chosen(TEXTS["s1"][n : n + 12], q) for q in ("q1", "q2") for n in range(5)]

    whole = accept(assessed(*many), asked(max_evidence=3), TEXTS)
    each = accept(assessed(*many), asked(max_evidence=3, per_subquestion=True), TEXTS)

    assert len(whole.selected) == 3
    assert [choice.subquestion_id for choice in each.selected] == ["q1"] * 3 + ["q2"] * 3


@pytest.mark.parametrize("query", ["members", "  ", "???", " members\n"])
def test_a_next_query_that_is_used_or_empty_is_left_out(query: str) -> None:
    row = CoverageRow("q1", Coverage.GAP, gap="nothing", next_query=query)

    made = accept(assessed(rows=(row,)), asked(used_queries=("members",)), TEXTS)

    assert made.rows[0].next_query == ""


def test_texts_of_any_length_are_cut_to_what_can_be_recorded() -> None:
    row = CoverageRow("q1", Coverage.GAP, gap="g" * 9000, next_query="n " * 900)
    said = Assessment((), (row,), missing=("", *["m" * 9000] * 9))

    made = accept(said, asked(), TEXTS)

    assert len(made.rows[0].gap) == 2000
    assert len(made.rows[0].next_query) <= 100
    assert [len(text) for text in made.missing] == [1000] * 5


SELECTED = st.builds(
    Selected,
    st.sampled_from(["q1", "q2", "q9"]),
    st.sampled_from(["s1", "s2", "s9"]),
    st.sampled_from(["/s1.txt", "/x"]),
    st.none(),
    st.sampled_from([TEXTS["s1"][:32], TEXTS["s1"][3:9], TEXTS["s2"][:20], "invented"]),
    st.integers(-3, 90),
    st.integers(-3, 90),
    st.integers(0, 3),
) | st.sampled_from([MEMBERS, LOGS, LOGS_40])
IDS = st.lists(st.sampled_from([MEMBERS.id, LOGS.id, LOGS_40.id, "ev-x"]), max_size=5).map(tuple)
ROWS = st.builds(
    CoverageRow,
    st.sampled_from(["q1", "q2", "q9"]),
    st.sampled_from(Coverage),
    IDS,
    st.text(max_size=5),
    st.text(max_size=5),
)
CONFLICTS = st.builds(Conflict, st.sampled_from(["q1", "q2"]), IDS, st.text(max_size=5))


@given(
    st.lists(SELECTED, max_size=12),
    st.lists(ROWS, max_size=4),
    st.lists(CONFLICTS, max_size=7),
    st.booleans(),
)
def test_whatever_was_said_what_is_accepted_holds(
    selected: list[Selected], rows: list[CoverageRow], conflicts: list[Conflict], cross: bool
) -> None:
    said = Assessment(tuple(selected), tuple(rows), conflicts=tuple(conflicts))
    made = accept(said, asked(cross_check=cross), TEXTS)

    by_id = {choice.id: choice for choice in made.selected}
    assert len(by_id) == len(made.selected) <= 8
    assert all(TEXTS[c.source_id][c.start : c.end] == c.text for c in made.selected)
    assert [row.subquestion_id for row in made.rows] == ["q1", "q2"]
    for row in made.rows:
        assert len(set(row.evidence_ids)) == len(row.evidence_ids)
        assert all(by_id[id_].subquestion_id == row.subquestion_id for id_ in row.evidence_ids)
        assert bool(row.gap) == (row.coverage is Coverage.GAP)
        assert row.evidence_ids or row.coverage is Coverage.GAP
        if cross and row.coverage is Coverage.COVERED:
            assert len({by_id[id_].source_id for id_ in row.evidence_ids}) > 1
    assert all(len({by_id[i].source_id for i in c.evidence_ids}) > 1 for c in made.conflicts)
    assert accept(made, asked(cross_check=cross), TEXTS) == made


def test_the_best_passages_are_offered_in_their_given_order() -> None:
    offered = choose_passages(["logs kept"], [passage("s1"), passage("s2")])

    assert [each.source_id for each in offered] == ["s1", "s2"]


def test_passages_without_a_word_of_any_query_are_not_offered() -> None:
    assert choose_passages(["zebra"], [passage("s1")]) == ()
    assert choose_passages([], [passage("s1")]) == ()
    assert choose_passages(["logs"], []) == ()


def test_no_source_offers_more_than_its_share_and_the_whole_fits() -> None:
    many = [replace(passage("s1", f"logs {n} " + "x" * 90), start=n) for n in range(50)]

    assert len(choose_passages(["logs"], many)) == 4
    few = choose_passages(["logs"], many, per_source=50, max_characters=1000)
    assert sum(len(each.text) for each in few) <= 1000


def test_queries_take_turns_so_that_a_long_one_does_not_starve_the_other() -> None:
    passages = [passage("s1", "logs " * 20), passage("s2", "logs " * 20)]
    passages.append(replace(passage("s1", "members of the team " * 5), source_id="s3"))

    offered = choose_passages(["logs", "members"], passages, max_characters=200)

    assert {each.source_id for each in offered} >= {"s3"}


def paragraphs(*texts: str, heading: str = "") -> list[Passage]:
    return [
        Passage("s9", "/d/nine.md", None, text, 100 * number, 100 * number + len(text), number,
                None, heading)
        for number, text in enumerate(texts, 1)
    ]  # fmt: skip


def test_what_a_passage_leads_into_is_offered_with_it() -> None:
    passages = paragraphs("Turn the zebra crank like this:", "crank --left 3")

    offered = choose_passages(["zebra"], passages, per_source=1)

    assert [each.text for each in offered] == ["Turn the zebra crank like this:", "crank --left 3"]


def test_the_beginning_of_a_source_is_offered_with_what_was_found_in_it() -> None:
    opening = "Nine is a small handbook about striped animals."
    badge = "[![build](https://example.org/b.svg)](https://example.org)"
    far = [f"Filler number {n} says nothing at all." for n in range(9)]

    offered = choose_passages(["zebra"], paragraphs(badge, opening, *far, "The zebra sleeps."))

    assert opening in [each.text for each in offered]
    assert badge not in [each.text for each in offered]


def test_a_heading_or_a_repeat_takes_no_passage_s_place() -> None:
    under = paragraphs("Zebra", "A zebra sleeps.", "A zebra sleeps.", heading="Zebra")
    answer = replace(under[1], text="The zebra of the valley eats oats.", start=900, end=934)

    offered = choose_passages(["zebra"], [*under, replace(answer, paragraph=9)], per_source=2)

    assert "The zebra of the valley eats oats." in [each.text for each in offered]
