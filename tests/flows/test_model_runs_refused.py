"""Servers that refuse, are out of order or hang: the run can be resumed, and no key is told."""

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.models.chat.openai_server import (
    KEY,
    Behaviour,
    Body,
    Hang,
    Refuse,
    Reset,
    retry_after_date,
    retry_after_seconds,
)
from tests.flows.answerer import Lie, always, operation_of
from tests.flows.modelled import hold, overspent, served

pytestmark = pytest.mark.usefixtures("prefect_server")

HTML = Body(b"<!doctype html><h1>Sign in</h1>", "text/html")


def at_first(make: Callable[[], Behaviour]) -> Lie:
    """Behave so the first time, and well from then on."""
    left = [make]
    return lambda prompt, honest: left.pop()() if left else honest


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
        assert place.answerer.asked.count("assess") <= 3, "by the client, and not by Prefect again"
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
