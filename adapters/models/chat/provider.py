"""Real models: any provider that pydantic-ai knows, and any OpenAI-compatible server."""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Final

import anyio

from adapters.models.chat.accounts import Account, Price, estimated, overflow, settle
from adapters.models.chat.errors import (
    CONTEXT,
    OUTPUT,
    TIMEOUT,
    ModelError,
    ModelRejected,
    ModelUnavailable,
)
from adapters.models.chat.heard import Counts, Failure, Heard
from adapters.models.chat.limiter import Limiter
from adapters.models.chat.port import ChatAnswer, ChatRequest
from adapters.models.chat.prompts import load
from adapters.models.chat.tokens import estimate_request
from adapters.models.chat.verdict import answer_in, object_to
from adapters.models.chat.wording import in_words
from state.values.money import Usage

if TYPE_CHECKING:
    from adapters.models.chat.wire import Wire

RETRIES: Final = 2
LONGEST_WAIT_S: Final = 60.0
# What a server of one's own has when nothing is said: small, since too much is silently cut off.
DEFAULT_CONTEXT: Final = 8192


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a call may take, retries included, and how long before it is first repeated.

    `dice` (from 0 to 1) spreads the waits.
    """

    deadline_s: float = 300.0
    backoff_s: float = 1.0
    dice: Callable[[], float] = random.random


@dataclass(frozen=True, slots=True)
class _Way:
    """How a server is asked: what it turns out not to know is not asked of it again."""

    streamed: bool
    by_schema: bool


class ProviderModel:
    """The model that `model` names, as pydantic-ai does: `openai:…`, `anthropic:…`.

    With a `base_url` it is asked at that OpenAI-compatible server, under its name there. Only
    `api_key` is sent to it as a key; but when the name begins with `openai:`, OPENAI_API_KEY is,
    as it is to OpenAI itself. Prices are known of hosted models alone, and `price` overrides them.
    The wait for a turn at the `limiter` is no part of a call's deadline. One instance belongs to
    one event loop.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str = "",
        api_key: str = "",
        context_tokens: int | None = None,
        price: Price | None = None,
        limiter: Limiter | None = None,
        patience: Patience = Patience(),
        streamed: bool = True,
    ) -> None:
        self._name = model
        self._base_url = base_url
        self._api_key = api_key
        self._context_tokens = context_tokens
        self._price = price
        self._limiter = limiter or Limiter()
        self._patience = patience
        self._opened: Wire | None = None
        self._streamed = streamed
        self._known_way: _Way | None = None

    @property
    def name(self) -> str:
        """Return the model's name as it was given."""
        return self._name

    @property
    def context_tokens(self) -> int:
        """Return the context that was set or found, else what is known of the name, else 8,192."""
        return self._context_tokens or self._wire.context_tokens or DEFAULT_CONTEXT

    async def find_context(self) -> int:
        """Ask a server of one's own for its context, unless one was set, and return it.

        To be called before prompts are packed; a server that does not say is taken for small.
        """
        if self._context_tokens is None:
            self._context_tokens = await self._wire.find_context()
        return self.context_tokens

    @property
    def is_priced(self) -> bool:
        """Tell whether its cost is known; a budget in dollars means nothing where it is not."""
        return self._price is not None or self._wire.cost_micro_usd(Counts(1, 1)) is not None

    def price(self, request: ChatRequest) -> Usage:
        """Return the estimated prompt and the whole output limit, and what they cost."""
        worded = self._worded(request, self._way)
        return self._charge(Counts(estimate_request(worded), request.max_output_tokens))

    async def complete(self, request: ChatRequest) -> ChatAnswer:
        """Return the answer; asks again, at most twice, only while nothing has been answered."""
        if too_long := overflow(request, self.context_tokens):
            raise ModelRejected(f"{self._name}: {too_long}", code=CONTEXT)
        way, left_s, attempt = self._way, self._patience.deadline_s, 0
        while True:
            worded = self._worded(request, way)
            heard = Heard(request.max_output_tokens)
            async with self._limiter.turn(self._wire.provider):
                started = anyio.current_time()
                with anyio.move_on_after(left_s) as scope:
                    failure = await self._wire.hear(worded, heard, streamed=way.streamed)
            if scope.cancelled_caught:
                raise self._too_late(worded, heard)
            if failure is None:
                self._known_way = way
                return self._answer(worded, heard)
            left_s -= anyio.current_time() - started
            if (other := _other_way(way, failure, request)) is not None:
                way = other
                continue
            attempt += 1
            left_s -= await self._wait(failure, worded, heard, attempt=attempt, left_s=left_s)

    async def aclose(self) -> None:
        """Close the connections; a later call opens them anew."""
        if self._opened is not None:
            opened, self._opened = self._opened, None
            await opened.aclose()

    @property
    def _wire(self) -> "Wire":
        if self._opened is None:
            # pydantic-ai takes seconds to import, and many runs never ask a model.
            module = import_module("adapters.models.chat.wire")
            opened: Wire = module.Wire(
                self._name,
                base_url=self._base_url,
                api_key=self._api_key,
                wait_s=self._patience.deadline_s,
            )
            self._opened = opened
        return self._opened

    @property
    def _way(self) -> _Way:
        return self._known_way or _Way(self._streamed, self._wire.takes_schema)

    def _worded(self, request: ChatRequest, way: _Way) -> ChatRequest:
        """Return `request` with its schema in words, unless the provider surely shows it itself.

        A server of one's own binds the answer to it at best: a small model that knows it as well
        fills it in better, and one whose server ignores schemas knows it at all.
        """
        if request.schema is None or (way.by_schema and self._wire.is_hosted):
            return request
        shown = in_words(request.schema, is_bound=way.by_schema)
        said = request.saying_more(load("answer-in-json").render(schema=shown))
        return said if way.by_schema else replace(said, schema=None)

    async def _wait(
        self, failure: Failure, request: ChatRequest, heard: Heard, *, attempt: int, left_s: float
    ) -> float:
        """Wait until the next attempt and return how long that was, or raise what ends the call."""
        backoff_s = self._patience.backoff_s * 2 ** (attempt - 1) * (0.5 + self._patience.dice())
        wait_s = backoff_s if failure.wait_s is None else failure.wait_s
        if failure.is_busy:
            self._limiter.back_off(self._wire.provider, min(wait_s, LONGEST_WAIT_S))
        if failure.is_transient and wait_s > min(LONGEST_WAIT_S, left_s) and failure.wait_s:
            message = f"{failure.message}; it wants to be left alone for {wait_s:.0f} s"
            failure = replace(failure, message=message, is_transient=False)
        ends = attempt > RETRIES or failure.gives_up or heard.output != "" or wait_s > left_s
        if ends or not failure.is_transient:
            raise self._error(failure, request, heard, was_repeated=attempt > RETRIES)
        await anyio.sleep(wait_s)
        return wait_s

    def _answer(self, request: ChatRequest, heard: Heard) -> ChatAnswer:
        account = settle(request, heard)
        if (objection := object_to(request, heard)) is not None:
            raise self._rejected(objection.code, objection.message, account)
        return ChatAnswer(
            text=answer_in(heard),
            model=heard.model or self._name,
            input_tokens=account.counts.input_tokens,
            output_tokens=account.counts.output_tokens,
            cached_tokens=account.counts.cached_tokens,
            cost_micro_usd=self._charge(account.counts).cost_micro_usd,
            is_estimated=account.is_estimated,
            finish="length" if heard.is_too_long else heard.finish,
        )

    def _too_late(self, request: ChatRequest, heard: Heard) -> ModelRejected:
        message = f"no whole answer within {self._patience.deadline_s:g} s"
        return self._rejected(TIMEOUT, message, estimated(request, heard))

    def _error(
        self, failure: Failure, request: ChatRequest, heard: Heard, *, was_repeated: bool
    ) -> ModelError:
        took_something = heard.output or failure.code == OUTPUT
        usage = Usage(model_calls=1)
        if took_something:
            usage = self._charge(estimated(request, heard).counts)
        if failure.is_transient:
            return ModelUnavailable(failure.message, usage=usage, was_repeated=was_repeated)
        return ModelRejected(failure.message, code=failure.code, usage=usage)

    def _rejected(self, code: str, message: str, account: Account) -> ModelRejected:
        usage = self._charge(account.counts)
        return ModelRejected(f"{self._name}: {message}", code=code, usage=usage)

    def _charge(self, counts: Counts) -> Usage:
        cost = self._price.micro_usd(counts) if self._price else self._wire.cost_micro_usd(counts)
        return Usage(
            model_calls=1,
            input_tokens=counts.input_tokens - counts.cached_tokens,
            cached_tokens=counts.cached_tokens,
            output_tokens=counts.output_tokens,
            cost_micro_usd=cost or 0,
        )


def _other_way(way: _Way, failure: Failure, request: ChatRequest) -> _Way | None:
    """Return another way to ask when `failure` may lie in how it was asked, each way once."""
    if failure.is_stream and way.streamed:
        return replace(way, streamed=False)
    if failure.is_form and way.by_schema and request.schema is not None:
        return replace(way, by_schema=False)
    return None
