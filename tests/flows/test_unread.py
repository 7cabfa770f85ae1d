"""What was found and not read, and why: by its rank, the budget, or where it lies."""

from typing import Any

from flows.unread import unread
from state.method_events import ResearchReadingFrozen
from state.research_projection import Research
from tests.state.builders import planned, running, source
from tests.state.method_builders import coverage, schedule


def after(*rounds: ResearchReadingFrozen, **request: Any) -> Research:
    history = running(**request).record(planned())
    for reading in rounds:
        history.record(schedule(reading.round), reading)
        if reading.round < len(rounds):
            rows = [{"subquestion_id": id_, "coverage": "gap"} for id_ in ("q1", "q2")]
            history.record(coverage(reading.round, rows=rows))
    return history.research


def reading(number: int, read: tuple[str, ...], *omitted: str) -> ResearchReadingFrozen:
    return ResearchReadingFrozen(round=number, locators=read, omitted=omitted)


def why(research: Research) -> dict[str, tuple[str, str]]:
    return {each.target: (each.code, each.reason) for each in unread(research)}


def test_what_ranked_below_what_a_round_may_read_is_told_so() -> None:
    full = tuple(f"/notes/{number}.md" for number in range(6))

    found = why(after(reading(1, full, "/notes/z.md")))

    assert found == {
        "/notes/z.md": (
            "RANK",
            "it ranked below the 6 that were read in round 1, the most of a round",
        )
    }


def test_what_the_budget_of_the_run_left_no_room_for_is_told_so() -> None:
    full = tuple(f"/notes/{number}.md" for number in range(6))
    last = reading(2, ("/notes/7.md",), "/notes/z.md")

    found = why(after(reading(1, full, "/notes/z.md"), last, limits={"max_read_pages": 7}))

    assert found == {
        "/notes/z.md": ("BUDGET", "the run may read 7 sources in all, which round 2 used up")
    }


def test_what_lies_outside_the_origins_is_told_so() -> None:
    one = reading(1, ("https://a.example.org/1",), "https://elsewhere.com/2")

    found = why(after(one, allowed_origins=("a.example.org",), search_providers=("arxiv",)))

    assert found == {
        "https://elsewhere.com/2": ("ORIGIN", "it lies outside the origins that may be read")
    }


def test_what_was_read_after_all_is_none_of_it() -> None:
    research = after(reading(1, (), "/notes/s1.md"))
    assert why(research)

    history = running().record(planned(), schedule(1), reading(1, (), "/notes/s1.md"))
    assert not why(history.record(source("s1")).research)
