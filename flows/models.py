"""Who judges and writes: the built-in researcher, or the language models that settings name."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from adapters.models.chat.accounts import Price
from adapters.models.chat.fallback import FallbackModel
from adapters.models.chat.kept import KeptAnswers
from adapters.models.chat.limiter import Limiter
from adapters.models.chat.port import ChatModel
from adapters.models.chat.provider import Patience, ProviderModel
from adapters.models.language.researcher import LanguageResearcher, Operation
from adapters.models.port import PlanInput, Researcher
from flows.estimating import Estimate, estimate
from flows.settings import Settings
from state.request import ResearchRequest
from state.values.errors import AssayError, InvalidRequest, ObstructedError, RejectedError
from tasks.limits import limits_at

PLANNING: tuple[Operation, ...] = ("plan", "outline")
ASSESSING: tuple[Operation, ...] = ("assess",)
WRITING: tuple[Operation, ...] = ("synthesise", "write_section", "repair")
CHECKING: tuple[Operation, ...] = ("check_claims", "check_report")


@dataclass(frozen=True, slots=True)
class Judges:
    """A researcher, and the models that it asks."""

    researcher: Researcher
    models: tuple[ProviderModel, ...]

    async def prepare(self) -> None:
        """Learn how much each model takes; raises `ObstructedError` where one lacks a key."""
        for model in self.models:
            await model.find_context()
        try:
            self.researcher.price(PlanInput("What is asked?"))
        except RejectedError as error:
            raise ObstructedError(error.message, code=error.code) from error

    async def aclose(self) -> None:
        """Close the connections to the models."""
        for model in self.models:
            await model.aclose()


def open_judges(settings: Settings, name: str) -> Judges:
    """Return the researcher that asks the model `name`, and others where the settings say so."""
    opened: dict[str, ProviderModel] = {}

    def named(wanted: str) -> ProviderModel:
        if wanted not in opened:
            opened[wanted] = chat_model(settings, wanted)
        return opened[wanted]

    first: ChatModel = named(name)
    if settings.model_fallback:
        first = FallbackModel(first, *(named(other) for other in settings.model_fallback))
    others: dict[Operation, ChatModel] = {}
    for chosen, operations in (
        (settings.model_plan, PLANNING),
        (settings.model_assess, ASSESSING),
        (settings.model_write, WRITING),
        (settings.model_check, CHECKING),
    ):
        if chosen:
            others |= dict.fromkeys(operations, named(chosen))
    kept = KeptAnswers(settings.cache / "answers")
    return Judges(LanguageResearcher(first, models=others, kept=kept), tuple(opened.values()))


def require_model(settings: Settings, name: str, *, in_dollars: bool) -> None:
    """Raise `InvalidRequest` unless the model can be asked, and priced where that is needed.

    So has every other model that the settings name. Asks nothing of them.
    """
    for model in open_judges(settings, name).models:
        try:
            LanguageResearcher(model).price(PlanInput("What is asked?"))
            is_priced = model.is_priced
        except RejectedError as error:
            raise InvalidRequest(error.message, code=error.code) from error
        if in_dollars and not is_priced:
            raise InvalidRequest(unpriced(model.name))


def unpriced(name: str) -> str:
    """Return why a budget in dollars cannot be kept with the model `name`, and what can be."""
    return (
        f"what {name} costs is not known, so a budget in dollars means nothing; use "
        "--budget-tokens, or set ASSAY_MODEL_INPUT_USD and ASSAY_MODEL_OUTPUT_USD"
    )


async def estimate_run(settings: Settings, request: ResearchRequest) -> Estimate | None:
    """Return what the run may take; None where its model lacks something, which the run will say.

    Asks servers of one's own how much they take, and nothing else.
    """
    judges = open_judges(settings, request.model)
    try:
        await judges.prepare()
        return estimate(request, judges.researcher)
    except AssayError:
        return None
    finally:
        await judges.aclose()


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
