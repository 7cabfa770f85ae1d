"""Models that answer wrongly, invent or count wrongly: how the run ends, with nothing invented."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.adapters.models.chat.openai_server import Behaviour, Body, Say
from tests.flows.answerer import Answer, Lie, always
from tests.flows.modelled import hold, overspent, served

pytestmark = pytest.mark.usefixtures("prefect_server")

FALSE = "A Pavo team may have 9999 members."
EMPTY = Body(json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": "m",
                         "choices": []}).encode())  # fmt: skip


def truncated(prompt: str, honest: Answer) -> Behaviour:
    return Say(json.dumps(honest)[:40], finish="length", truth=True)


BROKEN: dict[str, Lie] = {
    "prose": always("I would be glad to help you with that question about teams."),
    "html": always("<html><body>It works!</body></html>"),
    "truncated": truncated,
    "repeating": always('{"answers": ["' + "End of Document. " * 400),
    "null": always("null"),
    "no choices": always(EMPTY),
}


# ---- answers that are none


@pytest.mark.parametrize("how", BROKEN)
def test_without_a_plan_of_the_model_the_question_gives_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Cases: B6 77, 79, 80, 83."""
    with served(tmp_path, monkeypatch, lies={"plan": BROKEN[how]}) as place:
        result = place.read_notes()

        assert result.answer_status == "answered"
        assert place.answerer.asked.count("plan") <= 4, "a few times, and no more"
        hold(place, result)


@pytest.mark.parametrize(
    ("operation", "how"),
    [("assess", "prose"), ("assess", "repeating"), ("synthesise", "truncated")],
)
def test_a_run_without_a_usable_answer_fails_and_a_retry_repays_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, operation: str, how: str
) -> None:
    """Cases: B6 82, 86."""
    with served(tmp_path, monkeypatch, lies={operation: BROKEN[how]}) as place:
        result = place.read_notes()

        assert result.status == "failed"
        assert result.code in {"MODEL_OUTPUT", "MODEL_LOOP"}
        assert place.answerer.asked.count(operation) <= 3
        assert not (tmp_path / "reports" / "r1").exists()
        assert overspent(place) == []

        before = Counter(place.answerer.asked)
        place.answerer.lies = {}
        again = place.retry()

        assert again.answer_status == "answered"
        fresh = Counter(place.answerer.asked) - before
        assert fresh["plan"] == 0
        assert fresh["assess"] == (operation == "assess")


@pytest.mark.parametrize("how", ["prose", "null", "no choices"])
def test_claims_of_which_the_check_failed_are_unverified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Cases: B1 23, 25."""
    with served(tmp_path, monkeypatch, lies={"check": BROKEN[how]}) as place:
        result = place.read_notes()

        assert result.answer_status == "answered"
        assert {claim["verdict"] for claim in result.claims} == {"unverified"}
        assert all(claim["reason"] for claim in result.claims)
        hold(place, result)


@pytest.mark.parametrize("said", [{"checks": []}, {"checks": [None, {"claim": None}]}])
def test_no_claim_is_lost_to_verdicts_that_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Answer
) -> None:
    """Cases: B1 25."""
    with served(tmp_path, monkeypatch, lies={"check": always(said)}) as place:
        result = place.read_notes()

        assert len(result.claims) == 4
        assert {claim["verdict"] for claim in result.claims} <= {"supported", "unverified"}
        hold(place, result)


# ---- answers that are invented


def invented_quotes(prompt: str, honest: Answer) -> Answer:
    for each in honest["answers"]:
        each["quotes"] = [{"passage": "p1", "quote": FALSE}, {"passage": "p99", "quote": FALSE}]
        each["coverage"] = "covered"
    return honest


def test_quotes_that_stand_nowhere_are_no_evidence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cases: B1 4, 10."""
    with served(tmp_path, monkeypatch, lies={"assess": invented_quotes}) as place:
        result = place.read_notes()

        assert result.answer_status == "insufficient-evidence"
        assert result.claims == []
        assert "synthesise" not in place.answerer.asked
        assert "9999" not in place.markdown
        hold(place, result)


def claiming(*claims: tuple[str, str]) -> Lie:
    """Put claims, each with what it says it rests on, before those that are honest."""
    made = [{"section": "summary", "text": text, "evidence": [e]} for text, e in claims]
    return lambda prompt, honest: {"claims": [*made, *honest["claims"]]}


@pytest.mark.parametrize("cited", ["e99", "https://invented.example"])
def test_a_citation_of_nothing_carries_no_claim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cited: str
) -> None:
    """Cases: invalid citation, B1 1, 10."""
    with served(tmp_path, monkeypatch, lies={"synthesise": claiming((FALSE, cited))}) as place:
        result = place.read_notes()

        assert result.answer_status == "answered"
        assert "invented.example" not in place.markdown
        hold(place, result)


def test_an_unsupported_claim_is_repaired(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cases: repaired claim."""
    with served(tmp_path, monkeypatch, lies={"synthesise": claiming((FALSE, "e1"))}) as place:
        result = place.read_notes()

        assert place.answerer.asked[-4:] == ["synthesise", "check", "repair", "check"]
        assert any("According to the source" in claim["text"] for claim in result.claims)
        assert "Left out because not supported" in place.markdown
        hold(place, result)


def test_what_is_still_unsupported_is_dropped_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cases: unsupported claim."""
    again = always({"repairs": [{"claim": "c1", "text": FALSE, "evidence": ["e1"]}]})
    lies = {"synthesise": claiming((FALSE, "e1")), "repair": again}
    with served(tmp_path, monkeypatch, lies=lies) as place:
        result = place.read_notes()

        assert place.answerer.asked.count("repair") == 1
        assert "Left out because not supported" in place.markdown
        hold(place, result)


# ---- counts that cannot be


@pytest.mark.parametrize("usage", [None, (0, 0), (-5, 1)])
@pytest.mark.filterwarnings("ignore:Failed to extract usage")  # as outside of tests, see `wire`
def test_what_was_used_is_counted_also_when_the_provider_does_not_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, usage: tuple[int, int] | None
) -> None:
    with served(tmp_path, monkeypatch) as place:
        place.answerer.shape = lambda text: Say(text, usage=usage, piece=2000)
        result = place.read_notes()

        assert result.answer_status == "answered"
        sent = sum(len(str(body["messages"])) for body in place.server.bodies)
        assert result.usage["input_tokens"] > sent / 8
        assert result.usage["output_tokens"] > 100
        hold(place, result)


def test_more_than_was_reserved_is_seen_and_nothing_is_begun_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cases: B5 58, 62."""
    with served(tmp_path, monkeypatch) as place:
        place.answerer.lies = {
            "assess": lambda prompt, honest: Say(json.dumps(honest), usage=(900_000, 50))
        }
        result = place.read_notes(limits={"max_tokens": 100_000})

        assert place.answerer.asked == ["plan", "assess"]
        assert "effect_settled" in overspent(place)[0], "no reservation brought it there"
        assert result.status == "completed"
        assert result.claims == []
        assert "Incomplete" in place.markdown
        assert "**Answered in part.**" in place.markdown
        assert result.usage["input_tokens"] >= 900_000
