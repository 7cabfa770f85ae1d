"""What every `Notifier` does: the real one against a loopback server, and the fake."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import pytest

from adapters.notify.errors import NotificationDelayed, NotificationRefused
from adapters.notify.fake import FakeNotifier
from adapters.notify.port import Message, Notifier
from adapters.notify.webhook import Webhook
from tests.adapters.web.loopback import answer, serving

pytestmark = pytest.mark.anyio
MESSAGE = Message("msg_1", b'{"type":"run.completed"}')
Answering = Callable[..., Awaitable[Notifier]]


@pytest.fixture(params=["real", "fake"])
async def answering(request: pytest.FixtureRequest) -> AsyncIterator[Answering]:
    """Return a function that gives a notifier whose receiver answers with these statuses."""
    async with AsyncExitStack() as stack:

        async def make(*statuses: int, retry_after_s: int = 0) -> Notifier:
            if request.param == "fake":
                return FakeNotifier(statuses, retry_after_s=retry_after_s)
            headers = (f"Retry-After: {retry_after_s}",) if retry_after_s else ()
            moved = ("Location: /elsewhere",)
            answers = [
                answer(b"", status=f"{s} So", headers=moved if 300 <= s < 400 else headers)
                for s in statuses
                if s
            ]
            server = await stack.enter_async_context(serving({"/hook": answers or b""}))
            return Webhook(f"{server.origin}/hook", services=(server.origin,), wall_s=5.0)

        yield make


@pytest.mark.parametrize("status", [200, 202, 204])
async def test_a_status_of_success_is_returned(answering: Answering, status: int) -> None:
    notifier = await answering(status)

    assert await notifier.send(MESSAGE) == status


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
async def test_what_may_pass_delays(answering: Answering, status: int) -> None:
    notifier = await answering(status, 200)

    with pytest.raises(NotificationDelayed) as raised:
        await notifier.send(MESSAGE)

    assert (raised.value.http_status, raised.value.code) == (status, f"HTTP_{status}")
    assert await notifier.send(MESSAGE) == 200


@pytest.mark.parametrize("status", [400, 401, 404, 410])
async def test_what_does_not_pass_refuses(answering: Answering, status: int) -> None:
    notifier = await answering(status)

    with pytest.raises(NotificationRefused) as raised:
        await notifier.send(MESSAGE)

    assert (raised.value.http_status, raised.value.code) == (status, f"HTTP_{status}")


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_refuses(answering: Answering, status: int) -> None:
    notifier = await answering(status)

    with pytest.raises(NotificationRefused) as raised:
        await notifier.send(MESSAGE)

    assert raised.value.code == "REDIRECTED"


async def test_the_receiver_may_say_when(answering: Answering) -> None:
    notifier = await answering(429, retry_after_s=90)

    with pytest.raises(NotificationDelayed) as raised:
        await notifier.send(MESSAGE)

    assert raised.value.retry_after_s == 90


async def test_no_answer_delays(answering: Answering) -> None:
    notifier = await answering(0)

    with pytest.raises(NotificationDelayed) as raised:
        await notifier.send(MESSAGE)

    assert (raised.value.code, raised.value.http_status) == ("NO_ANSWER", None)
