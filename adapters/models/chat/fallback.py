"""A model with others behind it, for when it cannot be had."""

from collections.abc import Iterable
from contextlib import AsyncExitStack
from dataclasses import replace

from adapters.models.chat.errors import (
    AUTH,
    NOT_FOUND,
    QUOTA,
    TIMEOUT,
    UNAVAILABLE,
    ModelRejected,
    ModelUnavailable,
)
from adapters.models.chat.port import ChatAnswer, ChatModel, ChatRequest
from state.values.money import Usage

_GOES_ON = frozenset({UNAVAILABLE, QUOTA, AUTH, NOT_FOUND, TIMEOUT})


class FallbackModel:
    """Asks `first`, and each of `others` in turn when the one before could not be had.

    What a model says is never a reason to ask another one. Prompts are packed for the smallest
    context among them, and the price is that of all, since one that timed out may still cost.
    """

    def __init__(self, first: ChatModel, *others: ChatModel) -> None:
        self._models = (first, *others)

    @property
    def name(self) -> str:
        """Return the names in the order in which they are asked."""
        return " or ".join(model.name for model in self._models)

    @property
    def context_tokens(self) -> int:
        """Return the smallest context."""
        return min(model.context_tokens for model in self._models)

    def price(self, request: ChatRequest) -> Usage:
        """Return what all of them would take, as one call."""
        return replace(_sum(model.price(request) for model in self._models), model_calls=1)

    async def complete(self, request: ChatRequest) -> ChatAnswer:
        """Return the first answer; its `model` says whose it is, its tokens are those of all.

        When none could be had, raises the last one's error with the reasons of all: to be tried
        again when that may help with any.
        """
        failures: list[ModelRejected | ModelUnavailable] = []
        for model in self._models:
            try:
                answer = await model.complete(request)
            except (ModelRejected, ModelUnavailable) as error:
                if error.code not in _GOES_ON:
                    error.usage = _sum([error.usage, *(each.usage for each in failures)])
                    raise
                failures.append(error)
            else:
                return _charged(answer, _sum(each.usage for each in failures))
        raise _all_failed(failures)

    async def aclose(self) -> None:
        """Close all of them."""
        async with AsyncExitStack() as stack:
            for model in self._models:
                stack.push_async_callback(model.aclose)


def _sum(usages: Iterable[Usage]) -> Usage:
    return sum(usages, start=Usage())


def _charged(answer: ChatAnswer, before: Usage) -> ChatAnswer:
    return replace(
        answer,
        input_tokens=answer.input_tokens + before.input_tokens + before.cached_tokens,
        cached_tokens=answer.cached_tokens + before.cached_tokens,
        output_tokens=answer.output_tokens + before.output_tokens,
        cost_micro_usd=answer.cost_micro_usd + before.cost_micro_usd,
    )


def _all_failed(
    failures: list[ModelRejected | ModelUnavailable],
) -> ModelRejected | ModelUnavailable:
    message = "; then ".join(error.message for error in failures)
    usage = _sum(error.usage for error in failures)
    unavailable = [error for error in failures if isinstance(error, ModelUnavailable)]
    if unavailable:
        was_repeated = all(error.was_repeated for error in unavailable)
        return ModelUnavailable(message, usage=usage, was_repeated=was_repeated)
    return ModelRejected(message, code=failures[-1].code, usage=usage)
