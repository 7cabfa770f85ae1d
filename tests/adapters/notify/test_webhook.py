"""Webhooks: what is sent to the letter, how it is signed, where to, and what is never shown."""

import asyncio
import base64
import traceback

import anyio
import pytest

from adapters.notify.errors import NotificationDelayed, NotificationRefused
from adapters.notify.port import Message
from adapters.notify.signing import signature, signing_keys
from adapters.notify.webhook import Webhook
from state.values.errors import AssayError, InvalidRequest
from tests.adapters.web.loopback import answer, serving

pytestmark = pytest.mark.anyio
TOKEN = "T0KENT0KENT0KEN"
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BODY = '{"subject": "Wie groß?"}'.encode()
MESSAGE = Message("msg_f00d", BODY)


def test_a_signature_is_that_of_the_specification() -> None:
    keys = signing_keys(SECRET)
    payload = b'{"test": 2432232314}'

    signed = signature(keys, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, payload)

    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_each_key_signs_while_one_is_replaced() -> None:
    newer = base64.b64encode(b"n" * 32).decode()

    both = signature(signing_keys(f"{newer} {SECRET}"), "m", 1, b"x").split(" ")

    assert both[0] != both[1] == signature(signing_keys(SECRET), "m", 1, b"x")
    assert signing_keys("") == ()


@pytest.mark.parametrize(
    "secret", ["whsec_", "whsec_short", "not base64 at all!", "whsec_" + "A" * 400]
)
def test_a_secret_of_another_form_is_refused_and_not_shown(secret: str) -> None:
    with pytest.raises(InvalidRequest, match="base64 of 24 to 64 bytes") as raised:
        signing_keys(secret)

    assert secret.removeprefix("whsec_")[:200] not in raised.value.message or secret == "whsec_"


async def test_the_body_is_sent_to_the_letter_with_its_id_time_and_signature() -> None:
    async with serving({f"/hook/{TOKEN}": answer(b"", status="204 No Content")}) as server:
        keys = signing_keys(SECRET)
        webhook = Webhook(
            f"{server.origin}/hook/{TOKEN}",
            keys=keys,
            services=(server.origin,),
            clock=lambda: 1614265330.7,
        )

        assert await webhook.send(MESSAGE) == 204

        assert server.heads[0].startswith(f"POST /hook/{TOKEN} HTTP/1.1")
        assert server.bodies == [BODY]
        assert server.header("content-type") == "application/json"
        assert server.header("webhook-id") == "msg_f00d"
        assert server.header("webhook-timestamp") == "1614265330"
        assert server.header("webhook-signature") == signature(keys, "msg_f00d", 1614265330, BODY)


async def test_without_a_secret_nothing_is_signed() -> None:
    async with serving({"/": answer()}) as server:
        await Webhook(server.origin, services=(server.origin,)).send(MESSAGE)

        assert server.header("webhook-signature") is None


async def test_one_try_is_one_request_whatever_is_answered() -> None:
    async with serving({"/": answer(b"", status="503 Busy")}) as server:
        webhook = Webhook(server.origin, services=(server.origin,))

        with pytest.raises(NotificationDelayed):
            await webhook.send(MESSAGE)

        assert server.connections == 1


async def test_a_redirect_is_not_followed_not_even_to_a_service() -> None:
    async with serving({"/": answer()}) as other:
        to = (f"Location: {other.origin}/",)
        async with serving({"/": answer(b"", status="307 Moved", headers=to)}) as server:
            webhook = Webhook(server.origin, services=(server.origin, other.origin))

            with pytest.raises(NotificationRefused, match="redirects"):
                await webhook.send(MESSAGE)

        assert other.connections == 0


async def test_a_receiver_that_does_not_answer_is_waited_for_only_so_long() -> None:
    async def hang(_: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    async with serving(hang) as server:
        webhook = Webhook(server.origin, services=(server.origin,), wall_s=0.2)

        with anyio.fail_after(30), pytest.raises(NotificationDelayed, match="in time"):
            await webhook.send(MESSAGE)


async def test_an_answer_without_end_is_not_read() -> None:
    async def endless(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()

    async with serving(endless) as server:
        webhook = Webhook(server.origin, services=(server.origin,))

        with anyio.fail_after(30):
            assert await webhook.send(MESSAGE) == 200


@pytest.mark.parametrize(
    "address",
    [
        f"http://hooks.example/{TOKEN}",
        f"http://127.0.0.1:9/{TOKEN}",
        f"https://10.0.0.1/{TOKEN}",
        f"https://user:{TOKEN}@hooks.example/",
        f"https://hooks.example:8443/{TOKEN}",
        f"ftp://hooks.example/{TOKEN}",
        TOKEN,
    ],
)
def test_where_nothing_may_be_sent_is_refused_at_once_and_not_shown(address: str) -> None:
    with pytest.raises(InvalidRequest, match="ASSAY_SERVICES") as raised:
        Webhook(address)

    assert TOKEN not in "".join(traceback.format_exception(raised.value))


@pytest.mark.parametrize("fault", ["gone", "404 Not Found", "307 Moved", "500 Broken", "nonsense"])
async def test_no_error_shows_the_address_or_a_key(fault: str) -> None:
    to = (f"Location: /elsewhere/{TOKEN}",)
    said = b"nonsense\r\n\r\n" if fault == "nonsense" else answer(status=fault, headers=to)
    async with serving({f"/{TOKEN}": said}) as server:
        webhook = Webhook(
            f"{server.origin}/{TOKEN}", keys=signing_keys(SECRET), services=(server.origin,)
        )
        if fault != "gone":
            shown = await _shown(webhook)
    if fault == "gone":
        shown = await _shown(webhook)

    assert TOKEN not in shown
    assert SECRET not in shown
    assert "127.0.0.1" not in shown


async def _shown(webhook: Webhook) -> str:
    with pytest.raises(AssayError) as raised:
        await webhook.send(MESSAGE)
    shown = "".join(traceback.format_exception(raised.value))
    return f"{raised.value!r} {raised.value.message} {webhook!r} {shown.partition('Traceback')[2]}"
