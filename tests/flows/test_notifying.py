"""A webhook is told what became of runs: each occurrence once, recorded, and in nobody's way."""

import asyncio
import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest

from adapters.notify.fake import FakeNotifier
from adapters.notify.port import Notifier
from flows.answering import answer_review
from flows.notifying import Told, notify_due, open_notifier, tell_due
from flows.runs import cancel, execute, retry
from flows.settings import Settings, load_settings
from flows.wiring import Desk, make_desk
from state.notices import CLAIM_S, DELAYS_S
from state.values.errors import InvalidRequest, ObstructedError, RejectedError
from tests.flows.receiver import TOKEN, Receiver, receiving
from tests.flows.world import Clock, World, annex, queued, types

pytestmark = pytest.mark.usefixtures("prefect_server")
SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()


@pytest.fixture
def world(assay_home: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr("flows.notifying.PATIENCE_S", 2.0)
    return annex(assay_home)


class Ticking(Clock):
    """A clock that goes."""

    def __call__(self) -> datetime:
        return datetime.now(UTC)


def desk_of(world: World, receiver: Receiver, **settings: Any) -> Desk:
    """Return a desk as a new process would have it, that tells `receiver`."""
    given = {
        "webhook_url": receiver.address,
        "services": (receiver.origin,),
        "webhook_secret": SECRET,
        **settings,
    }
    return replace(world.desk(), settings=Settings(home=world.home, **given))


def told(desk: Desk, notifier: Notifier | None = None, **how: Any) -> list[Told]:
    """Tell what is due of all runs."""

    async def tell() -> list[Told]:
        return await tell_due(desk, notifier=notifier, **how)

    return anyio.run(tell)


def notices(desk: Desk, run_id: str = "r1") -> list[tuple[str, str]]:
    return [(notice.what, notice.state) for notice in desk.ledger.project(run_id).notices]


def test_the_end_of_a_run_is_told_with_what_it_came_to(world: World) -> None:
    with receiving() as receiver:
        desk = desk_of(world, receiver)
        result = execute(desk, queued(desk))

    assert result.status == "completed"
    assert receiver.told == ["r1 run.completed"]
    path, headers, body = receiver.requests[0]
    said = json.loads(body)
    data = said["data"]
    assert path == f"/hooks/{TOKEN}"
    assert said["timestamp"] == desk.ledger.project("r1").ended_at
    assert (data["kind"], data["status"], data["answer_status"]) == (
        "research", "completed", "answered",
    )  # fmt: skip
    assert data["subject"].startswith("How many members")
    assert Path(data["report"]["report.md"]).read_text().startswith("#")
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    digest = base64.b64encode(hmac.new(b"k" * 32, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{digest}"
    assert types(desk)[-2:] == ["notification_claimed", "notification_sent"]
    assert notices(desk) == [("completed", "sent")]


def test_what_was_told_is_not_told_again_by_whoever_looks(world: World) -> None:
    with receiving() as receiver:
        desk = desk_of(world, receiver)
        execute(desk, queued(desk))
        execute(desk_of(world, receiver), "r1")

        assert notify_due(desk_of(world, receiver)) == []
        assert notify_due(desk_of(world, receiver), ["r1"]) == []

    assert len(receiver.requests) == 1


def test_a_run_that_waits_for_a_person_says_so_each_time_it_asks(world: World) -> None:
    with receiving() as receiver:
        desk = desk_of(world, receiver)
        execute(desk, queued(desk, plan_review=True))
        answer_review(desk, "r1", "revise", feedback="narrower")
        execute(desk_of(world, receiver), "r1")
        answer_review(desk, "r1", "approve")
        execute(desk_of(world, receiver), "r1")

    assert receiver.told == ["r1 run.waiting", "r1 run.waiting", "r1 run.completed"]
    reviews = [body["data"]["review"] for _, body in receiver.taken[:2]]
    assert [review["interaction_id"] for review in reviews] == ["review-1", "review-2"]
    assert reviews[0]["command"] == "assay review r1"
    assert len(receiver.ids) == 3


def test_what_is_asked_for_is_told_and_nothing_else(world: World) -> None:
    with receiving() as receiver:
        desk = desk_of(world, receiver, webhook_events="cancelled, interrupted")
        desk.stop_after = "plan"
        execute(desk, queued(desk))
        cancel(desk, "r1", "enough")
        told(desk)
        quiet = desk_of(world, receiver, webhook_events="failed")
        execute(quiet, queued(quiet, "r2"))

    assert receiver.told == ["r1 run.interrupted", "r1 run.cancelled"]
    assert receiver.taken[0][1]["data"]["command"] == "assay resume r1"
    assert receiver.taken[1][1]["data"]["reason"] == "enough"


def test_a_failure_is_told_with_its_reason_and_what_to_do(world: World) -> None:
    world.scholar.lies["plan"] = raising(RejectedError("no plan came", code="NO_PLAN"))
    with receiving() as receiver:
        desk = desk_of(world, receiver)
        execute(desk, queued(desk))
        world.scholar.lies.clear()
        execute(desk, retry(desk, "r1").run_id)

    assert receiver.told == ["r1 run.failed", "r1-attempt-2 run.completed"]
    data = receiver.taken[0][1]["data"]
    assert (data["code"], data["reason"]) == ("NO_PLAN", "no plan came")
    assert data["command"] == "assay retry r1"


def raising(error: Exception) -> Callable[[Any, Any], Any]:
    def lie(given: Any, honest: Any) -> Any:
        raise error

    return lie


def test_runs_that_ended_before_there_was_a_webhook_are_not_told_of(world: World) -> None:
    desk = world.desk()
    execute(desk, queued(desk))

    with receiving() as receiver:
        assert told(desk_of(world, receiver)) == []

    assert receiver.requests == []


def test_a_receiver_that_stumbles_is_tried_again_at_once(world: World) -> None:
    world.clock = Ticking()
    with receiving(answers=lambda number: 503 if number == 1 else 204) as receiver:
        desk = desk_of(world, receiver)

        assert execute(desk, queued(desk)).status == "completed"

    assert len(receiver.requests) == 2
    assert len({headers["webhook-id"] for _, headers, _ in receiver.requests}) == 1
    assert receiver.requests[0][2] == receiver.requests[1][2]
    assert notices(desk) == [("completed", "sent")]
    assert desk.ledger.project("r1").notices[0].attempts == 2


def test_a_receiver_that_is_down_for_a_while_is_told_later_once_each(world: World) -> None:
    fake = FakeNotifier((0,))
    with receiving() as receiver:
        desk = desk_of(world, receiver)
    address_is_free_now = desk.settings
    assert execute(desk, queued(desk)).status == "completed"
    assert execute(desk, queued(desk, "r2")).status == "completed"
    assert types(desk).count("notification_failed") >= 1
    world.clock.advance(seconds=DELAYS_S[1])
    assert [each.code for each in told(desk, fake, patience_s=0)] == ["NO_ANSWER"]
    assert len(fake.tried) == 1  # while it is down no second run is tried

    port = int(receiver.origin.rpartition(":")[2])
    world.clock.advance(seconds=DELAYS_S[2])
    with receiving(port) as receiver:
        later = replace(world.desk(), settings=address_is_free_now)
        assert [each.code for each in told(later)] == ["", ""]
        assert told(later) == []

    assert sorted(receiver.told) == ["r1 run.completed", "r2 run.completed"]
    assert set(receiver.ids.values()) == {1}


def test_a_receiver_that_wants_to_be_left_alone_is(world: World) -> None:
    fake = FakeNotifier((429, 204), retry_after_s=900)
    with receiving() as receiver:
        desk = desk_of(world, receiver)
        run_quietly(desk)
    assert [each.code for each in told(desk, fake)] == ["HTTP_429"]
    world.clock.advance(seconds=899)
    assert told(desk, fake) == []
    world.clock.advance(seconds=1)

    assert [each.code for each in told(desk, fake)] == [""]


def test_a_receiver_that_refuses_is_not_asked_again(world: World) -> None:
    with receiving(answers=lambda _: 410) as receiver:
        desk = desk_of(world, receiver)
        assert execute(desk, queued(desk)).status == "completed"
        world.clock.advance(days=3)
        assert told(desk) == []

    assert len(receiver.requests) == 1
    rows = desk.ledger.query("SELECT state, http_status, code, attempts FROM notifications").rows
    assert rows == (("given-up", 410, "HTTP_410", 1),)


def test_a_redirect_is_not_followed(world: World) -> None:
    with receiving(answers=lambda _: 307) as receiver:
        desk = desk_of(world, receiver)
        assert execute(desk, queued(desk)).status == "completed"

    assert [path for path, _, _ in receiver.requests] == [f"/hooks/{TOKEN}"]
    assert notices(desk) == [("completed", "given-up")]


def test_attempts_end_after_days(world: World) -> None:
    with receiving() as receiver:
        desk = desk_of(world, receiver)
    execute(desk, queued(desk))
    fake = FakeNotifier((500,))
    for _ in range(20):
        world.clock.advance(seconds=DELAYS_S[-1])
        told(desk, fake, patience_s=0)

    run = desk.ledger.project("r1")
    assert run.notices[0].state == "given-up"
    assert run.notices[0].attempts == len(DELAYS_S) + 1


def test_two_processes_at_once_tell_it_once(world: World) -> None:
    with receiving() as receiver:
        desk = desk_of(world, receiver)
        run_quietly(desk)
        receiver.pause_s = 0.3
        desks = [desk_of(world, receiver) for _ in range(4)]
        threads = [threading.Thread(target=notify_due, args=(each,)) for each in desks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)

    assert receiver.told == ["r1 run.completed"]
    assert types(desk).count("notification_claimed") == 1


def run_quietly(desk: Desk) -> None:
    """Execute a run whose end nobody tells of, as if its process had been killed right then."""

    async def killed(*_: object) -> None:
        """Tell nobody."""

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("flows.execution.tell_quietly", killed)
        execute(desk, queued(desk))


def test_a_teller_that_died_is_made_up_for_under_the_same_id(world: World) -> None:
    class Dying(FakeNotifier):
        async def send(self, message: Any) -> int:
            await super().send(message)
            raise asyncio.CancelledError

    with receiving() as receiver:
        desk = desk_of(world, receiver)
        run_quietly(desk)
        dying = Dying()
        with pytest.raises(BaseException):  # noqa: B017, PT011 - however it comes out
            told(desk, dying)
        assert notices(desk) == [("completed", "claimed")]
        assert told(desk) == []
        world.clock.advance(seconds=CLAIM_S)

        assert [each.attempt for each in told(desk)] == [2]

    assert [name for name, _ in receiver.taken] == [dying.tried[0].id]


def test_a_slow_receiver_delays_nobody_who_executes_the_run(world: World) -> None:
    """The lease is given back before anything is told."""
    holders: list[object] = []
    with receiving() as receiver:
        receiver.before = lambda: holders.append(world.desk().ledger.holder("r1"))
        desk = desk_of(world, receiver)
        execute(desk, queued(desk, plan_review=True))

    assert holders == [None]


def test_a_wait_that_was_answered_meanwhile_is_not_told_of(world: World) -> None:
    with receiving() as receiver:
        desk = desk_of(world, receiver)
    execute(desk, queued(desk, plan_review=True))
    answer_review(desk, "r1", "approve")
    fake = FakeNotifier()
    world.clock.advance(hours=1)

    assert told(desk, fake) == []
    assert fake.tried == []


def test_an_unreadable_ledger_is_no_failure_of_the_run(world: World) -> None:
    with receiving() as receiver:
        desk = desk_of(world, receiver)
        real, ended = desk.ledger.append, threading.Event()

        def append(run_id: str, drafts: Any, **how: Any) -> Any:
            if drafts[0].type == "notification_claimed":
                ended.set()
                raise ObstructedError("the disk is full")
            return real(run_id, drafts, **how)

        desk.ledger.append = append  # type: ignore[method-assign]
        assert execute(desk, queued(desk)).status == "completed"
        assert ended.is_set()
        assert receiver.requests == []
        assert [each.code for each in told(desk_of(world, receiver))] == [""]


@pytest.mark.parametrize("answer", [204, 404, 307, 500])
def test_neither_the_address_nor_a_secret_is_kept_or_shown_anywhere(
    world: World, answer: int, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with receiving(answers=lambda _: answer) as receiver:
        desk = desk_of(world, receiver)
        execute(desk, queued(desk))

    said = "".join(capfd.readouterr()) + caplog.text + repr(desk.settings) + repr(told(desk))
    kept = b"".join(path.read_bytes() for path in world.home.rglob("*") if path.is_file())
    for secret in (TOKEN, SECRET, SECRET.removeprefix("whsec_"), receiver.origin):
        assert secret not in said.replace(f"'{receiver.origin}'", "")  # of the listed services
        assert secret.encode() not in kept


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ASSAY_WEBHOOK_URL", f"http://hooks.example/{TOKEN}"),
        ("ASSAY_WEBHOOK_URL", f"http://127.0.0.1:1/{TOKEN}"),
        ("ASSAY_WEBHOOK_SECRET", TOKEN),
        ("ASSAY_WEBHOOK_EVENTS", "waiting,everything"),
    ],
)
def test_a_wrong_setting_is_named_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv("ASSAY_WEBHOOK_URL", "https://hooks.example/")
    monkeypatch.setenv(name, value)

    with pytest.raises(InvalidRequest, match=name) as raised:
        make_desk(load_settings())

    assert TOKEN not in raised.value.message


def test_without_an_address_nobody_is_told() -> None:
    assert open_notifier(Settings()) is None
    assert Settings().notify == ()
