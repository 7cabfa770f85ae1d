"""A `Notifier` over HTTP as the Standard Webhooks specification 1.0.0 describes webhooks."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from adapters.notify.errors import NotificationDelayed, NotificationRefused
from adapters.notify.port import Message
from adapters.notify.signing import signature
from adapters.web.client import HttpClient
from adapters.web.errors import NoAnswer, RedirectLimit, UrlDenied
from adapters.web.exchange import Answer
from adapters.web.port import Request
from adapters.web.rules import Rules
from adapters.web.waiting import retry_after_s
from state.values.errors import InvalidRequest, RejectedError

WALL_S = 15.0
_LONGEST_RETRY_AFTER_S = 86_400.0
_LATER = (408, 425, 429)


@dataclass(frozen=True, slots=True)
class _Heard:
    status: int
    retry_after: str


class Webhook:
    """Posts messages to one address, signed with each of `keys`. Redirects are not followed.

    The address is https on a public host, or at one of `services`. Of an answer only its status is
    read. `wall_s` is for one try; there is no second one.
    """

    def __init__(
        self,
        address: str,
        *,
        keys: Sequence[bytes] = (),
        services: tuple[str, ...] = (),
        wall_s: float = WALL_S,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Raise `InvalidRequest`, without the address, when that may not be asked."""
        rules = Rules(
            services=services, wall_s=wall_s, deadline_s=wall_s, max_redirects=0, max_retries=0
        )
        try:
            rules.admit(address)
        except UrlDenied:
            raise InvalidRequest(
                "a webhook's address is https on a public host without a user name, or at a "
                "service of your own that is listed in ASSAY_SERVICES"
            ) from None  # whose text may show a part of the address
        self._address = address
        self._keys = tuple(keys)
        self._client = HttpClient(rules)
        self._clock = clock

    async def send(self, message: Message) -> int:
        """See `Notifier.send`."""
        now = self._clock()
        headers = [
            ("content-type", "application/json"),
            ("webhook-id", message.id),
            ("webhook-timestamp", str(int(now))),
        ]
        if self._keys:
            signed = signature(self._keys, message.id, int(now), message.body)
            headers.append(("webhook-signature", signed))
        heard = await self._ask(
            Request(self._address, headers=tuple(headers), content=message.body)
        )
        if 200 <= heard.status < 300:
            return heard.status
        code, said = f"HTTP_{heard.status}", f"the webhook answered {heard.status}"
        if heard.status in _LATER or heard.status >= 500:
            wanted_s = retry_after_s(heard.retry_after, now=now) or 0.0
            wait_s = math.ceil(min(wanted_s, _LONGEST_RETRY_AFTER_S))
            raise NotificationDelayed(
                said, code=code, http_status=heard.status, retry_after_s=wait_s
            )
        raise NotificationRefused(said, code=code, http_status=heard.status)

    async def _ask(self, request: Request) -> _Heard:
        try:
            return await self._client.ask(request, _read)
        except NoAnswer:
            raise NotificationDelayed(
                "the webhook gave no answer in time", code="NO_ANSWER"
            ) from None  # errors of the web name hosts and addresses
        except (RedirectLimit, UrlDenied):
            raise NotificationRefused(
                "the webhook redirects, which is not followed", code="REDIRECTED"
            ) from None
        except RejectedError as error:
            raise NotificationRefused(
                f"the webhook may not be asked ({error.code})", code=error.code
            ) from None


async def _read(answer: Answer) -> _Heard:
    return _Heard(answer.status, answer.headers.get("retry-after", ""))
