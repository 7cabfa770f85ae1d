"""Who reads papers and writes code: the language models that settings name for it."""

from dataclasses import dataclass

from adapters.models.chat.fallback import FallbackModel
from adapters.models.chat.kept import KeptAnswers
from adapters.models.chat.port import ChatModel
from adapters.models.chat.provider import ProviderModel
from adapters.models.coder import AnalyseInput, Coder
from adapters.models.coding.coder import LanguageCoder, Operation
from flows.models import chat_model, unpriced
from flows.settings import Settings
from state.values.errors import InvalidRequest, ObstructedError, RejectedError
from state.values.segments import Segment, SegmentKind

DESIGNING: tuple[Operation, ...] = ("analyse", "design")
CODING: tuple[Operation, ...] = ("write_file", "repair")
_SAMPLE = Segment("s1", SegmentKind.PROSE, (), "A method.", 0, 9)


@dataclass(frozen=True, slots=True)
class Coders:
    """A coder, and the models that it asks."""

    coder: Coder
    models: tuple[ProviderModel, ...]

    async def prepare(self) -> None:
        """Learn how much each model takes; raises `ObstructedError` where one lacks a key."""
        for model in self.models:
            await model.find_context()
        try:
            self.coder.price(AnalyseInput("", (_SAMPLE,)))
        except RejectedError as error:
            raise ObstructedError(error.message, code=error.code) from error

    async def aclose(self) -> None:
        """Close the connections to the models."""
        for model in self.models:
            await model.aclose()


def open_coder(settings: Settings, model_name: str) -> Coders:
    """Return the coder that asks the model `model_name`, and others where the settings say so.

    Raises `InvalidRequest` MODEL_MISSING without a model: code is not written by rule.
    """
    if not model_name.strip():
        raise InvalidRequest(
            "code is planned and written by a language model, and none is set; use --model, or set "
            "ASSAY_MODEL, and for a server of one's own ASSAY_MODEL_URL",
            code="MODEL_MISSING",
        )
    opened: dict[str, ProviderModel] = {}

    def named(wanted: str) -> ProviderModel:
        if wanted not in opened:
            opened[wanted] = chat_model(settings, wanted)
        return opened[wanted]

    first: ChatModel = named(model_name)
    if settings.model_fallback:
        first = FallbackModel(first, *(named(other) for other in settings.model_fallback))
    others: dict[Operation, ChatModel] = {}
    for chosen, operations in (
        (settings.model_design, DESIGNING),
        (settings.model_code, CODING),
    ):
        if chosen:
            others |= dict.fromkeys(operations, named(chosen))
    kept = KeptAnswers(settings.cache / "answers")
    return Coders(LanguageCoder(first, models=others, kept=kept), tuple(opened.values()))


def require_coder(settings: Settings, model_name: str, *, in_dollars: bool) -> None:
    """Raise `InvalidRequest` unless the model can be asked, and priced where that is needed.

    So has every other model that the settings name. Asks nothing of them.
    """
    for model in open_coder(settings, model_name).models:
        try:
            LanguageCoder(model).price(AnalyseInput("", (_SAMPLE,)))
            is_priced = model.is_priced
        except RejectedError as error:
            raise InvalidRequest(error.message, code=error.code) from error
        if in_dollars and not is_priced:
            raise InvalidRequest(unpriced(model.name))
