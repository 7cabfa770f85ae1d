"""The `Http` port over the real network: rules, addresses, redirects, retries and deadlines."""

import random
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import anyio
import httpcore

from adapters.web.addresses import Permits, Resolve, is_public, public_addresses, resolve
from adapters.web.asking import Asking, Question
from adapters.web.errors import NoAnswer, RetryAfterTooLong
from adapters.web.exchange import Answer, exchange
from adapters.web.port import Request, Response
from adapters.web.rules import Rules
from adapters.web.urls import IpAddress, Url, request_url
from adapters.web.waiting import Sleep, pause_s, retry_after_s

T = TypeVar("T")
Read = Callable[[Answer], Awaitable[T]]
BeforeHop = Callable[[Url], Awaitable[None]]

_REDIRECTS = (301, 302, 303, 307, 308)
_BUSY = (429, 502, 503, 504)
_LONGEST_RETRY_AFTER_S = 60.0
_ABOUT_THE_WIRE = ("connection", "content-encoding", "content-length", "set-cookie")


class HttpClient:
    """Asks servers over HTTP within `rules`. No cookies, no proxies, nothing of the environment.

    `permits` says which addresses may be connected to, `resolve` is asked for a name once per
    attempt, and its answer is where the attempt connects. `tls` is the context that certificates
    are verified with (by default the system's authorities and certifi's).
    """

    def __init__(
        self,
        rules: Rules,
        *,
        resolve: Resolve = resolve,
        permits: Permits = is_public,
        tls: ssl.SSLContext | None = None,
        max_connections: int = 8,
        clock: Callable[[], float] = time.time,
        sleep: Sleep = anyio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.rules = rules
        self._resolve = resolve
        self._permits = permits
        self._tls = tls
        self._slots = anyio.Semaphore(max_connections)
        self._clock = clock
        self._sleep = sleep
        self._chance = chance

    async def send(self, request: Request) -> Response:
        """Return the answer, whatever its status."""
        return await self.ask(request, _whole)

    async def ask(
        self, request: Request, read: Read[T], *, before_hop: BeforeHop | None = None
    ) -> T:
        """Return what `read` makes of the answer: the last one, redirects and retries behind it.

        `read` is called again when an attempt broke off in its midst. `before_hop` is awaited
        before a redirect is followed, and may raise. Raises as `Http.send`, and what `read` does.
        """
        asking = Asking.begin(request, self.rules.admit(request_url(request)))
        deadline_s = self.rules.deadline_s
        ends_at = anyio.current_time() + deadline_s
        try:
            with anyio.fail_after(deadline_s):
                while True:
                    outcome = await self._try(asking, read)
                    if isinstance(outcome, _Done):
                        return outcome.value
                    if isinstance(outcome, _Moved):
                        asking.follow(self.rules, outcome.location, outcome.status)
                        if before_hop is not None:
                            await before_hop(asking.question.url)
                        continue
                    asking.retries += 1
                    await self._pause(asking, outcome, ends_at)
        except TimeoutError as error:
            raise NoAnswer(
                f"{asking.host} gave no whole answer within {deadline_s:g} s; try again later."
            ) from error

    async def aclose(self) -> None:
        """Do nothing: every connection ended with its answer."""

    async def _try(self, asking: Asking, read: Read[T]) -> "_Done[T] | _Moved | _Later":
        may_retry = asking.retries < self.rules.max_retries
        try:
            async with self._slots:
                return await self._attempt(asking.question, read, may_retry=may_retry)
        except NoAnswer as error:
            if error.again and may_retry:
                return _Later()
            raise

    async def _attempt(
        self, question: Question, read: Read[T], *, may_retry: bool
    ) -> "_Done[T] | _Moved | _Later":
        wall_s = self.rules.wall_s
        try:
            with anyio.fail_after(wall_s):
                addresses = await self._addresses(question.url)
                async with exchange(
                    question,
                    addresses,
                    tls=self._context(question.url),
                    max_bytes=self.rules.max_bytes,
                ) as answer:
                    location = answer.headers.get("location")
                    if answer.status in _REDIRECTS and location:
                        return _Moved(location, answer.status)
                    if answer.status in _BUSY and may_retry:
                        return _Later(answer.headers.get("retry-after", ""))
                    if answer.status == 206:
                        raise NoAnswer(f"{question.url.host} sent a part, the whole was asked for.")
                    return _Done(await read(answer))
        except TimeoutError as error:
            raise NoAnswer(
                f"{question.url.host} gave no whole answer within {wall_s:g} s; try again later."
            ) from error

    async def _addresses(self, url: Url) -> tuple[IpAddress, ...]:
        if url.address is not None:
            return (url.address,)  # of a service: the rules let no other in
        permits = _permit_all if self.rules.is_service(url) else self._permits
        return await public_addresses(url.host, resolve=self._resolve, permits=permits)

    def _context(self, url: Url) -> ssl.SSLContext | None:
        if url.scheme != "https":
            return None
        if self._tls is None:
            self._tls = httpcore.default_ssl_context()
        # Or an answer that is cut off passes for one that has ended.
        self._tls.options &= ~ssl.OP_IGNORE_UNEXPECTED_EOF
        return self._tls

    async def _pause(self, asking: Asking, later: "_Later", ends_at: float) -> None:
        wait_s = retry_after_s(later.retry_after, now=self._clock())
        if wait_s is None:
            wait_s = pause_s(asking.retries - 1, self._chance())
        elif wait_s > min(_LONGEST_RETRY_AFTER_S, ends_at - anyio.current_time()):
            raise RetryAfterTooLong(
                f"{asking.host} asks to be left alone for {wait_s:,.0f} s, which is longer than "
                "this request may take; try again after that."
            )
        await self._sleep(wait_s)


@dataclass(frozen=True, slots=True)
class _Done(Generic[T]):
    value: T


@dataclass(frozen=True, slots=True)
class _Moved:
    location: str
    status: int


@dataclass(frozen=True, slots=True)
class _Later:
    retry_after: str = ""


async def _whole(answer: Answer) -> Response:
    return Response(
        url=str(answer.url),
        status=answer.status,
        headers={k: v for k, v in answer.headers.items() if k not in _ABOUT_THE_WIRE},
        body=await answer.whole(),
    )


def _permit_all(_: IpAddress) -> bool:
    return True
