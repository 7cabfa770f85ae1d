"""Models and servers that lie, break off or refuse: how the run ends, with nothing invented."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flows.runs import RunResult
from tests.adapters.models.chat.openai_server import (
    KEY,
    Behaviour,
    Body,
    Hang,
    Refuse,
    Reset,
    Say,
    retry_after_date,
    retry_after_seconds,
)
from tests.flows.answerer import Answer, Lie, operation_of
from tests.flows.modelled import NOTES, Place, overspent, served

pytestmark = pytest.mark.usefixtures("prefect_server")

FALSE = "A Pavo team may have 9999 members."
HTML = Body(b"<!doctype html><h1>Sign in</h1>", "text/html")
EMPTY = Body(json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": "m",
                         "choices": []}).encode())  # fmt: skip


def always(behaviour: Behaviour | Answer | str) -> Lie:
    return lambda prompt, honest: behaviour


def at_first(make: Callable[[], Behaviour]) -> Lie:
    """Behave so the first time, and well from then on."""
    left = [make]
    return lambda prompt, honest: left.pop()() if left else honest


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


def hold(place: Place, result: RunResult) -> None:
    """Assert that all the report says is in the notes, and that no budget was exceeded."""
    said = " ".join(NOTES.values())
    assert all(citation["quote"] in said for citation in result.citations)
    assert all("9999" not in claim["text"] for claim in result.claims)
    numbers = {number for claim in result.claims for number in claim["citations"]}
    assert numbers == {citation["number"] for citation in result.citations}
    assert overspent(place) == []


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


# ---- servers that say no


@pytest.mark.parametrize("made", [retry_after_seconds, retry_after_date])
def test_a_server_that_wants_to_be_left_alone_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Callable[[int], Refuse]
) -> None:
    """Cases: B5 74."""
    with served(tmp_path, monkeypatch, lies={"assess": at_first(lambda: made(2))}) as place:
        result = place.read_notes()

        assert result.answer_status == "answered"
        gaps = [b - a for a, b in zip(place.server.starts, place.server.starts[1:], strict=False)]
        refused = [operation_of(body) for body in place.server.bodies].index("assess")
        assert gaps[refused] >= 0.9, "a date has whole seconds"
        hold(place, result)


@pytest.fixture
def said(capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> Callable[[], str]:
    """Return what was said so far, on either stream or in the log."""
    return lambda: caplog.text + "".join(capfd.readouterr())


NO: dict[str, Behaviour] = {
    "key refused": Refuse(401, f"Incorrect API key provided: {KEY}.", "invalid_api_key"),
    "quota exhausted": Refuse(429, "You exceeded your current quota.", "insufficient_quota"),
    "no such model": Refuse(404, "no such model", "model_not_found"),
    "html": HTML,
}


@pytest.mark.parametrize(("operation", "how"), [*zip(["plan", "synthesise"] * 2, NO, strict=True)])
def test_a_run_whose_model_cannot_be_had_goes_on_once_that_is_mended(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    said: Callable[[], str],
    operation: str,
    how: str,
) -> None:
    monkeypatch.setenv("ASSAY_MODEL_KEY", KEY)
    with served(tmp_path, monkeypatch, lies={operation: always(NO[how])}) as place:
        result = place.read_notes()

        assert result.status == "interrupted"
        assert place.run.status == "interrupted"
        assert "served" in result.reason, "it says which model"
        assert not (tmp_path / "reports" / "r1").exists()
        before = Counter(place.answerer.asked)
        place.answerer.lies = {}
        again = place.resume()

        assert again.answer_status == "answered"
        fresh = Counter(place.answerer.asked) - before
        order = ["plan", "assess", "synthesise", "check"]
        assert fresh == Counter(order[order.index(operation) :]), "nothing settled is repaid"
        hold(place, again)
        assert set(place.server.keys) == {f"Bearer {KEY}"}
    assert KEY not in said()
    assert KEY not in everything_in(tmp_path)


def everything_in(folder: Path) -> str:
    return "".join(
        path.read_bytes().decode(errors="replace") for path in folder.rglob("*") if path.is_file()
    )


def test_a_server_that_never_answers_is_left_after_its_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cases: B5 73."""
    lies = {"assess": always(Hang())}
    with served(tmp_path, monkeypatch, lies=lies, model_deadline_s=1.5) as place:
        result = place.read_notes()

        assert result.status == "interrupted"
        assert "1.5 s" in result.reason
        place.answerer.lies = {}
        place.settings = {}
        assert place.resume().answer_status == "answered"
        assert place.answerer.asked == ["plan", "assess", "assess", "synthesise", "check"]


@pytest.mark.parametrize("pieces", [0, 2])
def test_a_connection_that_breaks_once_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pieces: int
) -> None:
    with served(tmp_path, monkeypatch, lies={"assess": at_first(lambda: Reset(pieces))}) as place:
        result = place.read_notes()
        if result.status == "interrupted":  # what was begun is not asked for again in one step
            result = place.resume()

        assert result.answer_status == "answered"
        hold(place, result)


@pytest.mark.parametrize("no", [Refuse(500, "oops"), Reset(), retry_after_seconds(3600)])
def test_a_server_that_is_out_of_order_leaves_a_run_that_can_be_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no: Behaviour
) -> None:
    with served(tmp_path, monkeypatch, lies={"assess": always(no)}) as place:
        result = place.read_notes()

        assert result.status == "interrupted"
        assert "served" in result.reason
        assert overspent(place) == []


def test_prefect_is_told_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_MODEL_KEY", KEY)
    refused = {"plan": always(NO["key refused"])}
    with served(tmp_path, monkeypatch, lies=refused) as place:
        result = place.read_notes()

    assert result.status == "interrupted"
    assert KEY not in asyncio.run(all_of_prefect())


async def all_of_prefect() -> str:
    """Return all runs and logs that the Prefect server of these tests has, as one text."""
    from prefect import get_client

    async with get_client() as client:
        told: list[Any] = [
            *await client.read_flow_runs(),
            *await client.read_task_runs(),
            *await client.read_logs(),
        ]
        states = [
            await client.read_flow_run_states(run.id) for run in await client.read_flow_runs()
        ]
    return "".join(one.model_dump_json() for one in told) + str(states)
