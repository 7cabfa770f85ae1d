"""SIGKILL in runs with a model: the same bytes after a resume, and nothing settled asked again."""

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.adapters.models.chat.openai_server import Say, serving
from tests.flows.answerer import Answer, Answerer, operation_of
from tests.flows.killing import ENDED_WELL, Bench, check_same, journal, kill_bench

AT_ONCE = 2
SAMPLE = 14
CALLS = ["plan", "assess", "synthesise", "check", "repair", "check"]
VERBS = {"check": "check_claims"}
FALSE = "The Ostrel kiln is fired at 7777 \N{DEGREE SIGN}C by the night shift."


def claim_falsely(prompt: str, honest: Answer) -> Answer:
    """Put a claim before the others that has to be repaired."""
    return {
        "claims": [{"section": "summary", "text": FALSE, "evidence": ["e1"]}, *honest["claims"]]
    }


def answerer() -> Answerer:
    return Answerer({"synthesise": claim_falsely})


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with kill_bench(tmp_path_factory.mktemp("kills"), at_once=AT_ONCE) as made:
        made.unbroken = made.folder / "unbroken-with-model"
        model = answerer()
        with serving(answer=model) as server:
            assert made.run(made.unbroken, model_url=server.base_url) == ENDED_WELL
        assert [call for call in model.asked if call != "assess"] == [
            call for call in CALLS if call != "assess"
        ]
        yield made


def positions(bench: Bench) -> list[int]:
    """Return a sample of events to die after: both ends of every model call, and others evenly."""
    lines = [line.envelope for line in journal(bench.unbroken)]
    modelled = {e.refs.call_id for e in lines if e.body.get("reserve", {}).get("model_calls")}
    ends = [e.position for e in lines if e.refs.call_id in modelled]
    others = [e.position for e in lines if e.position not in ends]
    step = max(1, len(others) // max(1, SAMPLE - len(ends)))
    return sorted([*ends, *others[::step]])[: SAMPLE + 5]


def break_and_resume(bench: Bench, name: str, model: Answerer, **kill: Any) -> Counter[str]:
    """Break a run as `kill` says, resume it; return how often each request came to the server."""
    home = bench.folder / name
    with serving(answer=model) as server:
        broken = bench.run(home, model_url=server.base_url, **kill)
        assert broken["signal"] == 9, broken["said"]
        assert bench.run(home, model_url=server.base_url) == ENDED_WELL
        asked = Counter(json.dumps(body, sort_keys=True) for body in server.bodies)
    check_same(bench, home)
    shutil.rmtree(home)
    return asked


@pytest.mark.timeout(300)
def test_killed_after_an_event_a_run_asks_nothing_twice(bench: Bench) -> None:
    """Cases: B3 34, 37."""

    def one(position: int) -> int:
        asked = break_and_resume(bench, f"after-{position}", answerer(), kill_after=position)
        return asked.total() - len(asked)

    sample = positions(bench)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        repeated = list(pool.map(one, sample))

    assert 12 <= len(sample) <= SAMPLE + 5
    # Whoever dies after an event was written waits for no answer at that moment.
    assert repeated == [0] * len(sample)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("operation", ["plan", "assess", "synthesise", "check", "repair"])
def test_killed_while_it_waits_for_an_answer_a_run_asks_only_that_again(
    bench: Bench, operation: str
) -> None:
    def slowly(prompt: str, honest: Answer) -> Say:
        text = json.dumps(claim_falsely(prompt, honest) if operation == "synthesise" else honest)
        return Say(
            text, truth=True, piece=4000, pause_s=0.0 if model.asked.count(operation) > 1 else 1.5
        )

    model = answerer()
    model.lies = {**model.lies, operation: slowly}
    killed = {"kill_in": VERBS.get(operation, operation)}

    asked = break_and_resume(bench, f"in-{operation}", model, **killed)

    twice = [json.loads(body) for body, count in asked.items() if count > 1]
    assert [operation_of(body) for body in twice] == [operation]
    assert asked.total() == len(asked) + 1
