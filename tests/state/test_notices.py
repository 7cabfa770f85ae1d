"""What others are told of a run: each occurrence once, claimed before, and never what is over."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from state.envelope import Refs
from state.errors import Conflict, Refused
from state.events import Event, draft
from state.local_ledger import LocalLedger
from state.notices import CLAIM_S, DELAYS_S, Notice
from state.postgres.ledger import PostgresLedger
from state.projection import Run, RunFold
from state.run_events import (
    NoticeKind,
    NotificationClaimed,
    NotificationFailed,
    NotificationSent,
    ReviewRequested,
    RunCancelled,
    RunFailed,
    RunInterrupted,
    RunResumed,
    RunStarted,
    RunWaiting,
)
from tests.postgres_server import PostgresServer
from tests.state.builders import plan, planned
from tests.state.stories import Clock, Story, open_ledger

ALL: tuple[NoticeKind, ...] = ("waiting", "failed", "completed", "cancelled", "interrupted")
FAILED = RunFailed(code="X", message="it failed")


class Told(Story):
    """A story whose driver tells a webhook of what is in `notify`."""

    notify: tuple[NoticeKind, ...] = ALL

    @property
    def notice(self) -> Notice:
        return self.run.notices[-1]

    def claims(self, attempt: int = 1, *, by: str = "one") -> None:
        notice = self.notice
        claim = NotificationClaimed(what=notice.what, about=notice.position, attempt=attempt, by=by)
        refs = Refs(f"notify/{attempt}", f"notify/{attempt}/claimed/{notice.position}")
        self.ledger.append(self.run_id, [draft(claim, refs)])

    def ends(self, kind: type[Event], attempt: int = 1, **fields: Any) -> None:
        notice = self.notice
        about = {"what": notice.what, "about": notice.position, "attempt": attempt}
        self.ledger.append(self.run_id, [draft(kind.model_validate({**about, **fields}))])


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ledger(tmp_path: Path, clock: Clock) -> Iterator[LocalLedger[Run]]:
    made = open_ledger(tmp_path / "home", clock)
    yield made
    made.close()


@pytest.fixture
def story(ledger: LocalLedger[Run], clock: Clock) -> Told:
    told = Told(ledger, clock)
    told.queued().started()
    return told


def test_an_occurrence_is_noticed_when_its_driver_tells_of_such(story: Told) -> None:
    story.record(FAILED)

    assert (story.notice.what, story.notice.position) == ("failed", story.run.position)
    assert (story.notice.state, story.notice.hash) == ("due", story.run.head_hash)


def test_nothing_is_noticed_for_a_driver_that_tells_nobody(
    ledger: LocalLedger[Run], clock: Clock
) -> None:
    told = Told(ledger, clock)
    told.notify = ("completed", "waiting")
    told.queued().started().record(FAILED)

    assert told.run.notices == ()


def test_of_two_that_claim_at_once_one_is_refused(story: Told) -> None:
    story.record(FAILED)
    story.claims(by="one")

    with pytest.raises(Conflict):
        story.claims(by="two")
    with pytest.raises(Conflict, match="another process"):
        story.claims(2, by="two")


def test_a_claim_that_nobody_ended_is_void_after_a_while(story: Told, clock: Clock) -> None:
    story.record(FAILED)
    story.claims(by="one")
    clock.advance(CLAIM_S)

    story.claims(2, by="two")

    assert (story.notice.state, story.notice.attempts) == ("claimed", 2)
    with pytest.raises(Conflict):
        story.ends(NotificationFailed, 1, code="TIMEOUT")
    story.ends(NotificationSent, 1, http_status=200)  # late, and true all the same
    assert story.notice.state == "sent"


def test_what_was_sent_is_not_claimed_again(story: Told) -> None:
    story.record(FAILED)
    story.claims()
    story.ends(NotificationSent, http_status=204)

    with pytest.raises(Conflict, match="sent already"):
        story.claims(2)


def test_attempts_are_further_and_further_apart_and_end(story: Told, clock: Clock) -> None:
    story.record(FAILED)
    waits = []
    for attempt in range(1, len(DELAYS_S) + 1):
        story.claims(attempt)
        story.ends(NotificationFailed, attempt, code="HTTP_503", http_status=503)
        waits.append(story.notice.next_at - datetime.fromisoformat(story.notice.since))
    story.claims(len(DELAYS_S) + 1)
    story.ends(NotificationFailed, len(DELAYS_S) + 1, code="HTTP_503", gives_up=True)

    assert waits == [timedelta(seconds=delay) for delay in DELAYS_S]
    assert story.notice.is_settled


def test_a_receiver_that_wants_to_be_left_alone_is(story: Told) -> None:
    story.record(FAILED)
    story.claims()
    story.ends(NotificationFailed, code="HTTP_429", http_status=429, retry_after_s=90)

    assert story.notice.next_at - datetime.fromisoformat(story.notice.since) == timedelta(
        seconds=90
    )


def test_an_outcome_that_was_not_claimed_is_refused(story: Told) -> None:
    story.record(FAILED)

    with pytest.raises(Refused):
        story.ends(NotificationSent, http_status=200)
    with pytest.raises(Refused):
        story.ends(NotificationFailed, code="X")


def test_what_never_occurred_cannot_be_told(story: Told) -> None:
    claim = NotificationClaimed(what="failed", about=2, attempt=1, by="one")

    with pytest.raises(Refused, match="nobody is to be told"):
        story.record(claim)


def test_telling_does_not_count_as_the_runs_own_doing(story: Told, clock: Clock) -> None:
    story.record(RunInterrupted(code="X", reason="y"))
    before = story.run.updated_at
    clock.advance(60)

    story.claims()

    assert story.run.updated_at == before
    assert story.run.position == story.notice.position + 1


def test_what_is_over_is_not_current(story: Told) -> None:
    story.record(RunInterrupted(code="X", reason="y"))
    interrupted = story.notice
    assert story.run.is_current(interrupted)

    story.leased().record(RunResumed())
    assert not story.run.is_current(interrupted)

    story.turn = "planning/1"
    made = plan()
    story.record(planned(1, made))
    story.record(ReviewRequested(interaction_id="review-1", version=1, plan_hash=made.hash))
    story.record(RunWaiting(interaction_id="review-1"))
    waiting = story.notice
    assert (waiting.what, waiting.interaction_id) == ("waiting", "review-1")
    assert story.run.is_current(waiting)

    story.record(RunCancelled(reason="enough"))
    assert not story.run.is_current(waiting)
    assert story.run.is_current(story.notice)


def test_the_view_says_what_the_projection_says_in_both_ledgers(
    story: Told, clock: Clock, postgres: PostgresServer, tmp_path: Path
) -> None:
    ledger = story.ledger
    story.record(RunInterrupted(code="X", reason="y"))
    story.claims()
    story.leased().record(RunResumed(), FAILED)
    story.claims()
    story.ends(NotificationFailed, code="HTTP_503", http_status=503)
    clock.advance(1)
    story.claims(2)
    story.ends(NotificationSent, 2, http_status=204)
    for number, kind in enumerate(("quiet", "due", "refused")):
        other = Told(ledger, clock, f"run-{kind}")
        other.notify = () if kind == "quiet" else ALL
        other.queued().leased().record(RunStarted(), FAILED)
        if number == 2:
            other.claims()
            other.ends(NotificationFailed, code="HTTP_404", http_status=404, gives_up=True)
    shared = PostgresLedger(postgres.create("notices"), RunFold(), copies=tmp_path / "copies")
    for run_id in ledger.runs():
        shared.adopt(run_id, ledger.read(run_id))

    table = "SELECT * FROM notifications ORDER BY run_id, position"
    told = ledger.query(table)

    fields = ("what", "position", "attempts", "state", "http_status", "code")
    shown = [dict(zip(told.columns, row, strict=True)) for row in told.rows]
    assert {(row["run_id"], *(row[name] for name in fields)) for row in shown} == {
        (run_id, n.what, n.position, n.attempts, n.state, n.http_status, n.code or None)
        for run_id in ledger.runs()
        for n in ledger.project(run_id).notices
        if n.what == "failed"
    } | {("run-1", "interrupted", 5, 1, "overtaken", None, None)}
    assert len(shown) == 4  # of the quiet run nobody is told
    assert shared.query(table).rows == told.rows
    shared.close()


def test_of_many_machines_that_claim_at_once_one_does(
    story: Told, postgres: PostgresServer, tmp_path: Path
) -> None:
    story.record(FAILED)
    notice = story.notice
    database = postgres.create("claims")
    ledgers = [
        PostgresLedger(database, RunFold(), copies=tmp_path / f"copies-{n}") for n in range(4)
    ]
    ledgers[0].adopt("run-1", story.ledger.read("run-1"))

    def claim(number: int) -> bool:
        event = NotificationClaimed(
            what="failed", about=notice.position, attempt=1, by=f"machine-{number}"
        )
        refs = Refs("notify/1", f"notify/1/claimed/{notice.position}")
        try:
            ledgers[number].append("run-1", [draft(event, refs)])
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        claimed = list(pool.map(claim, range(4)))

    assert claimed.count(True) == 1
    for ledger in ledgers:
        ledger.close()
