"""Effects: reserved before they are made, settled or failed after, and never under-counted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from state.envelope import Refs
from state.errors import BudgetExceeded, Conflict
from state.events import Ancestor, Limits, Spend, draft
from state.run_events import EffectFailed, EffectSettled, RunInterrupted, RunResumed, RunStarted
from state.values.ids import content_hash
from tests.state.builders import (
    DIGEST,
    RUN,
    History,
    just,
    leased,
    planned,
    queued,
    request,
    research_started,
    reserved,
    running,
    settled,
)

GONE = RunInterrupted(code="WORKFLOW_INTERRUPTED", reason="killed")


def failed(code: str = "PAGE_UNAVAILABLE", epoch: int = 1, **usage: int) -> EffectFailed:
    return EffectFailed(epoch=epoch, code=code, message="gone", usage=Spend(**usage))


def test_a_reservation_counts_at_once() -> None:
    history = running().record(reserved(searches=1, input_tokens=500), call="c1")

    assert (history.run.spent.searches, history.run.spent.input_tokens) == (1, 500)


def test_a_settled_effect_replaces_its_reservation_but_no_dispatch_falls_away() -> None:
    history = running().record(reserved(searches=1, model_calls=2, input_tokens=500), call="c1")
    history.record(settled(model_calls=1, input_tokens=90, cost_micro_usd=7), call="c1")

    spent = history.run.spent
    assert (spent.searches, spent.model_calls) == (1, 2)
    assert (spent.input_tokens, spent.cost_micro_usd) == (90, 7)
    assert history.run.effects["c1"].outcome_hash == content_hash("outcome")


def test_a_crash_over_counts() -> None:
    history = running().record(reserved(searches=1), call="c1")
    history.record(GONE, leased(2), RunResumed())
    history.record(reserved(attempt=2, epoch=2, searches=1), call="c1")
    history.record(settled(epoch=2, searches=1), call="c1")

    assert history.run.spent.searches == 2
    assert history.run.effects["c1"].attempts == 2


def test_attempts_are_counted_from_1_without_a_gap() -> None:
    history = running()

    for attempt in (2, 3):
        assert history.refusal(reserved(attempt=attempt), call="c1") == "CONFLICT"
    history.record(reserved(), call="c1")
    assert history.refusal(reserved(attempt=1, searches=1), call="c1") == "CONFLICT"
    assert history.refusal(reserved(attempt=3), call="c1") == "CONFLICT"


def test_an_effect_is_settled_or_failed_once() -> None:
    for first in (settled(), failed()):
        history = running().record(reserved(), call="c1").record(first, call="c1")
        for second in (settled(outcome="other"), failed("OTHER"), reserved(attempt=2)):
            assert history.refusal(second, call="c1") == "CONFLICT"


@pytest.mark.parametrize("first", [settled(searches=1), failed()])
def test_the_same_ending_again_is_a_replay(first: EffectSettled | EffectFailed) -> None:
    history = running().record(reserved(searches=1), call="c1").record(first, call="c1")
    again = first.model_copy(update={"duration_ms": 99})

    assert not history.append(draft(again, Refs("t/1", "c1")))
    other = first.model_copy(update={"usage": Spend(searches=5)})
    assert history.refusal(other, call="c1") == "CONFLICT"


def test_a_reservation_is_never_a_replay() -> None:
    history = running().record(reserved(), call="c1")

    with pytest.raises(Conflict):
        history.record(reserved(), call="c1")


def test_nothing_is_settled_that_was_not_reserved() -> None:
    assert running().refusal(settled(), call="c1") == "NOT_RESERVED"
    assert running().refusal(failed(), call="c1") == "NOT_RESERVED"


def test_an_effect_is_settled_as_what_it_was_reserved() -> None:
    history = running().record(reserved(), call="c1")

    for name, value in (("verb", "read"), ("stage", "planning"), ("round", 2)):
        other = settled().model_copy(update={name: value})
        assert history.refusal(other, call="c1") == "CONFLICT"


def test_an_effect_needs_a_call_id_of_its_own() -> None:
    history = running().record(reserved(), call="c1").record(planned(), call="c2")

    assert running().refusal(reserved()) == "CALL_ID"
    assert history.refusal(reserved(), call="c2") == "CONFLICT"
    assert history.refusal(RunInterrupted(code="X", reason=""), call="c1") == "CONFLICT"


def test_effects_need_a_running_run() -> None:
    history = running().record(reserved(), call="c1").record(GONE)

    for event in (reserved(attempt=2), settled(), failed()):
        assert history.refusal(event, call="c1") == "STATUS"
    assert history.refusal(reserved(), call="c2") == "STATUS"


# ---- reuse


def test_a_retry_takes_over_what_its_parent_settled_and_pays_nothing() -> None:
    origin = Ancestor(run_id=RUN, position=9, hash=DIGEST)
    history = History("run-2").record(
        queued("run-2", task_id=RUN, attempt=2, retry_of=origin),
        research_started(run_id="run-2"),
        leased(),
        RunStarted(),
    )
    reuse = settled().model_copy(update={"reused_from": RUN})

    run = history.record(reuse, call="c1").run

    assert run.effects["c1"].state == "settled"
    assert run.spent.searches == 0
    assert request("run-2").id == run.run_id


def test_reuse_is_for_retries_and_free() -> None:
    reuse = settled().model_copy(update={"reused_from": "run-0"})

    assert running().refusal(reuse, call="c1") == "REUSE"
    with pytest.raises(ValueError, match="costs nothing"):
        EffectSettled.model_validate({**reuse.model_dump(), "usage": {"searches": 1}})


# ---- budgets

KINDS = ["searches", "pages", "model_calls", "cost_micro_usd"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_reservation_beyond_a_limit_is_refused_and_names_it(kind: str) -> None:
    history = running(caps=Limits(**just(kind, 2)))
    history.record(reserved(**just(kind, 2)), call="c1")

    with pytest.raises(BudgetExceeded, match=rf"{kind} to 3; the run's limit is 2") as caught:
        history.record(reserved(**just(kind, 1)), call="c2")
    assert caught.value.budget == kind
    assert "c2" not in history.run.effects


def test_tokens_are_counted_together() -> None:
    history = running(caps=Limits(tokens=100))
    history.record(reserved(input_tokens=50, cached_tokens=30, output_tokens=20), call="c1")

    with pytest.raises(BudgetExceeded, match="tokens to 101"):
        history.record(reserved(output_tokens=1), call="c2")


def test_no_model_is_called_once_a_cap_is_passed() -> None:
    history = running(caps=Limits(tokens=100))
    history.record(reserved(model_calls=1), call="c1")
    history.record(settled(model_calls=1, output_tokens=101), call="c1")

    with pytest.raises(BudgetExceeded, match="tokens"):
        history.record(reserved(model_calls=1), call="c2")


def test_a_passed_limit_holds_up_nothing_that_does_not_need_it() -> None:
    history = running(caps=Limits(searches=1, cost_micro_usd=5))
    history.record(reserved(searches=1), call="c1")
    history.record(settled(searches=3, cost_micro_usd=9), call="c1")

    history.record(reserved(pages=1), call="c2").record(reserved(), call="c3")


def test_no_limit_is_no_limit() -> None:
    running(caps=Limits()).record(reserved(searches=10**9, cost_micro_usd=10**12), call="c1")


# ---- laws


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12))
def test_spend_is_never_below_what_settled_effects_used(sizes: list[tuple[int, int]]) -> None:
    history, used = running(), 0
    for number, (kept, taken) in enumerate(sizes):
        call = f"c{number}"
        history.record(reserved(pages=kept, input_tokens=kept), call=call)
        history.record(settled(pages=taken, input_tokens=taken), call=call)
        used += taken
        assert history.run.spent.pages >= used
        assert history.run.spent.input_tokens == used


class Spending(RuleBasedStateMachine):
    """Reserve, settle, fail and crash at will: dispatches never fall, money is never lost."""

    def __init__(self) -> None:
        super().__init__()
        self.history = running()
        self.open: dict[str, int] = {}
        self.dispatches = 0
        self.count = 0

    @rule(size=st.integers(0, 3))
    def reserve(self, size: int) -> None:
        self.count += 1
        call = f"c{self.count}"
        event = reserved(epoch=self.history.run.epoch, pages=size)
        self.history.record(event, call=call)
        self.open[call] = size
        self.dispatches += size

    @precondition(lambda self: self.open)
    @rule(data=st.data(), used=st.integers(0, 3), fails=st.booleans())
    def end(self, data: st.DataObject, used: int, fails: bool) -> None:
        call = data.draw(st.sampled_from(sorted(self.open)))
        size = self.open.pop(call)
        epoch = self.history.run.epoch
        ending = failed(epoch=epoch, pages=used) if fails else settled(epoch=epoch, pages=used)
        self.history.record(ending, call=call)
        self.dispatches += max(used - size, 0)

    @precondition(lambda self: self.open)
    @rule()
    def crash_and_repeat(self) -> None:
        epoch = self.history.run.epoch + 1
        before = self.history.run.spent.pages
        self.history.record(GONE, leased(epoch), RunResumed())
        assert self.history.run.spent.pages == before
        for call, size in self.open.items():
            attempt = self.history.run.effects[call].attempts + 1
            event = reserved(attempt=attempt, epoch=epoch, pages=size)
            self.history.record(event, call=call)
            self.dispatches += size

    @invariant()
    def every_dispatch_is_counted(self) -> None:
        assert self.history.run.spent.pages == self.dispatches


TestSpending = Spending.TestCase
