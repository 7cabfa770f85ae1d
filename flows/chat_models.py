"""The language models that settings name: opened, looked at, and closed, whatever they are for."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from adapters.models.chat.accounts import Price
from adapters.models.chat.fallback import FallbackModel
from adapters.models.chat.kept import KeptAnswers
from adapters.models.chat.limiter import Limiter
from adapters.models.chat.port import ChatModel
from adapters.models.chat.provider import Patience, ProviderModel
from flows.settings import Settings
from state.values.errors import InvalidRequest, ObstructedError, RejectedError
from tasks.limits import limits_at

Operation = TypeVar("Operation", bound=str)


@dataclass(frozen=True, slots=True)
class Chosen(Generic[Operation]):
    """The model that is asked for all but what `others` are for, and `all` that may be asked."""

    first: ChatModel
    others: dict[Operation, ChatModel]
    all: tuple[ProviderModel, ...]
    kept: KeptAnswers

    async def prepare(self, price: Callable[[], object]) -> None:
        """Learn how much each model takes; raises `ObstructedError` where `price` finds none.

        One that lacks a key cannot be priced.
        """
        for model in self.all:
            await model.find_context()
        try:
            price()
        except RejectedError as error:
            raise ObstructedError(error.message, code=error.code) from error

    async def aclose(self) -> None:
        """Close the connections to the models."""
        for model in self.all:
            await model.aclose()

    def require(self, price: Callable[[ChatModel], object], *, in_dollars: bool) -> None:
        """Raise `InvalidRequest` unless each can be asked, and priced where that is needed.

        Asks nothing of them.
        """
        for model in self.all:
            try:
                price(model)
                is_priced = model.is_priced
            except RejectedError as error:
                raise InvalidRequest(error.message, code=error.code) from error
            if in_dollars and not is_priced:
                raise InvalidRequest(unpriced(model.name))


def choose_models(
    settings: Settings, name: str, by_operation: Iterable[tuple[str, tuple[Operation, ...]]]
) -> Chosen[Operation]:
    """Return the model `name` with its fallbacks, and others for operations, each opened once.

    `by_operation` are the names that the settings have for them; '' is none.
    """
    opened: dict[str, ProviderModel] = {}

    def named(wanted: str) -> ProviderModel:
        if wanted not in opened:
            opened[wanted] = chat_model(settings, wanted)
        return opened[wanted]

    first: ChatModel = named(name)
    if settings.model_fallback:
        first = FallbackModel(first, *(named(other) for other in settings.model_fallback))
    others: dict[Operation, ChatModel] = {}
    for chosen, operations in by_operation:
        if chosen:
            others |= dict.fromkeys(operations, named(chosen))
    kept = KeptAnswers(settings.cache / "answers")
    return Chosen(first, others, tuple(opened.values()), kept)


def unpriced(name: str) -> str:
    """Return why a budget in dollars cannot be kept with the model `name`, and what can be."""
    return (
        f"what {name} costs is not known, so a budget in dollars means nothing; use "
        "--budget-tokens, or set ASSAY_MODEL_INPUT_USD and ASSAY_MODEL_OUTPUT_USD"
    )


class SharedLimiter(Limiter):
    """The limiter of this machine, and with each turn a slot of what all workers share.

    `also` is another name of the provider: what stands before the name of its model.
    """

    def __init__(self, folder: Path, *, at_once: int, also: str) -> None:
        super().__init__(folder, at_once=at_once)
        self._also = also

    @asynccontextmanager
    async def turn(self, provider: str) -> AsyncIterator[None]:
        """Hold a turn on this machine, and then a slot, while the block runs."""
        async with super().turn(provider):
            if not limits_at("model", provider, self._also):
                yield
                return
            from tasks.slots import slots

            async with slots("model", provider, self._also):
                yield


def chat_model(settings: Settings, name: str) -> ProviderModel:
    """Return the model `name`, which is asked at most so often at once on this whole machine."""
    return ProviderModel(
        name,
        base_url=settings.model_url,
        api_key=settings.model_key.get_secret_value() if settings.model_url else "",
        context_tokens=settings.model_context,
        limiter=SharedLimiter(
            settings.cache / "limits",
            at_once=settings.model_calls_at_once,
            also=name.rpartition(":")[0],
        ),
        patience=Patience(deadline_s=settings.model_deadline_s),
        price=_price(settings),
    )


def _price(settings: Settings) -> Price | None:
    given, put_out = settings.model_input_usd, settings.model_output_usd
    return None if given is None or put_out is None else Price(given, put_out)
