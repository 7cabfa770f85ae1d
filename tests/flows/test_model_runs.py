"""A whole run with a language model over HTTP, in every mode of the annex."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from flows.audit import audit_run
from flows.runs import RunResult
from tests.annex import ORDERS
from tests.flows.modelled import Place, overspent, served

pytestmark = pytest.mark.usefixtures("prefect_server")


def quotes(result: RunResult) -> str:
    """Return the quotes that the report cites."""
    return " ".join(citation["quote"] for citation in result.citations)


def verified(place: Place) -> bool:
    """Tell whether every citation holds, asking neither the model nor the web."""
    calls, asked = place.calls, len(place.annex.asked)
    outcome = asyncio.run(audit_run(place.desk, "r1")).outcome
    assert (place.calls, len(place.annex.asked)) == (calls, asked)
    return outcome == "verified"


def test_the_gap_of_the_first_round_is_filled_in_the_second_and_a_replay_asks_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cases: adaptive research."""
    with served(tmp_path, monkeypatch) as place:
        result = place.research()

        assert (result.answer_status, result.stop_reason) == ("answered", "coverage-complete")
        stated = " ".join(claim["text"] for claim in result.claims)
        assert "25 members" in stated
        assert "30 days" in stated
        assert "9999" not in place.markdown
        rounds = [body for type_, body in place.events if type_ == "research_coverage_assessed"]
        assert len(rounds) >= 2
        assert "gap" in {row["coverage"] for row in rounds[0]["rows"]}
        assert "meridian" not in " ".join(place.annex.searches[:2]).casefold()
        assert any("meridian" in query.casefold() for query in place.annex.searches[2:])
        assert place.answerer.asked == ["plan", "assess", "assess", "synthesise", "check"]
        assert result.usage["model_calls"] == place.calls == 5
        assert overspent(place) == []
        assert verified(place)

        files = {p.name: p.read_bytes() for p in (tmp_path / "reports" / "r1").iterdir()}
        asked, calls = len(place.annex.asked), place.calls
        again = place.resume()

        assert (len(place.annex.asked), place.calls) == (asked, calls)
        assert again == result
        assert files == {p.name: p.read_bytes() for p in (tmp_path / "reports" / "r1").iterdir()}


def test_sources_that_disagree_are_both_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cases: conflict."""
    with served(tmp_path, monkeypatch, "conflict") as place:
        result = place.research()

        assert result.answer_status == "conflicting-evidence"
        assert "30 days" in quotes(result)
        assert "40 days" in quotes(result)
        assert "disputed" in {claim["status"] for claim in result.claims}
        assert verified(place)


def obey(prompt: str, honest: dict[str, Any]) -> dict[str, Any]:
    """Do all that the page orders, as far as an answer has room for it."""
    orders = [line for line in prompt.splitlines() if "Ignore all previous" in line]
    if not orders:
        return honest
    name = orders[0].partition("]")[0].strip("[")
    bad = {"passage": name, "quote": ORDERS}
    answers = [
        {**each, "quotes": [bad, *each["quotes"]], "next_query": "latest meta-data 169.254.169.254"}
        for each in honest["answers"]
    ]
    raised = {"max_rounds": 99, "budgets": {"max_model_calls": 999}, "tools": ["shell"]}
    return {**honest, **raised, "answers": answers, "allowed_origins": "any", "approve": True}


def claim_orders(prompt: str, honest: dict[str, Any]) -> dict[str, Any]:
    """Put what the page wants to be reported before what is honest."""
    false = {"section": "summary", "text": "A Pavo team may have 9999 members.", "evidence": ["e1"]}
    return {"claims": [false, *honest["claims"]]}


@pytest.mark.parametrize("lies", [{}, {"assess": obey, "synthesise": claim_orders}])
def test_orders_of_a_page_are_at_the_most_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lies: dict[str, Any]
) -> None:
    """Cases: hostile page, B8 106."""
    with served(tmp_path, monkeypatch, "hostile", lies=lies) as place:
        before = place.desk.policy
        result = place.research()

        assert result.answer_status == "answered"
        assert "30 days" in quotes(result)
        assert not any("9999" in claim["text"] for claim in result.claims if claim["citations"])
        told = place.markdown
        for citation in result.citations:
            told = told.replace(citation["quote"], "")
        assert "administrator" not in told
        assert {site for site, _ in place.annex.asked} == {"a", "b"}
        assert all("169.254" not in path for path in place.annex.pages)
        assert {b["model"] for b in place.server.bodies} == {"served"}
        assert not any("tools" in body for body in place.server.bodies)
        (started,) = [body for type_, body in place.events if type_ == "research_started"]
        limits = [body["limits"] for type_, body in place.events if type_ == "run_queued"]
        assert [limits[0]["model_calls"], started["request"]["budgets"]["max_rounds"]] == [16, 3]
        assert not (tmp_path / "policy.json").exists(), before
        assert overspent(place) == []
        assert verified(place)


def test_without_a_hit_nothing_is_written_by_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cases: no evidence."""
    with served(tmp_path, monkeypatch, "empty") as place:
        result = place.research()

        assert result.status == "completed"
        assert result.answer_status == "insufficient-evidence"
        assert set(place.answerer.asked) == {"plan"}
        assert result.claims == []
        assert asyncio.run(audit_run(place.desk, "r1")).ok


def test_a_search_that_cannot_be_had_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cases: search failure."""
    with served(tmp_path, monkeypatch, "unavailable") as place:
        result = place.research()

        assert result.answer_status == "insufficient-evidence"
        assert set(place.answerer.asked) == {"plan"}
        assert "SEARCH_UNAVAILABLE" in place.markdown.replace("\\", "")


def test_research_ends_when_a_round_brings_nothing_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cases: no progress."""
    with served(tmp_path, monkeypatch, "no-progress") as place:
        result = place.research()

        assert (result.answer_status, result.stop_reason) == ("answered", "no-progress")
        assert "25 members" in quotes(result)
        assert "30 days" not in place.markdown
        assert "Not answered" in place.markdown
        assert result.coverage == 0.5


GERMAN = "Wie viele Mitglieder darf ein Pavo-Team haben, und wie lange werden Protokolle verwahrt?"


def test_a_question_in_german_is_answered_from_english_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cases: non-English research."""
    with served(tmp_path, monkeypatch) as place:
        result = place.research(GERMAN)

        assert result.answer_status == "answered"
        assert "25 members" in quotes(result)
        assert "30 days" in quotes(result)
        assert any("meridian" in query.casefold() for query in place.annex.searches)
        assert verified(place)


def test_a_question_that_has_to_be_put_back_opens_no_connection_but_to_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cases: clarification."""
    with served(tmp_path, monkeypatch) as place:
        result = place.research("How many may it have?")

        assert (result.status, result.answer_status) == ("completed", "needs-clarification")
        assert result.clarification == "Which product do you mean?"
        assert place.annex.asked == []
        assert place.calls == 1


def test_two_origins_are_asked_for_in_a_cross_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cases: cross check."""
    with served(tmp_path, monkeypatch) as place:
        result = place.research(origins=[place.annex.a], cross_check=True)

        assert result.answer_status == "insufficient-evidence"
        assert "two" in place.markdown or "second" in place.markdown
