"""Who reads papers and writes code: the language models that settings name for it."""

from dataclasses import dataclass

from adapters.models.chat.provider import ProviderModel
from adapters.models.coder import AnalyseInput, Coder
from adapters.models.coding.coder import LanguageCoder, Operation
from flows.chat_models import Chosen, choose_models
from flows.settings import Settings
from state.values.errors import InvalidRequest
from state.values.segments import Segment, SegmentKind

DESIGNING: tuple[Operation, ...] = ("analyse", "design")
CODING: tuple[Operation, ...] = ("write_file", "repair")
_SAMPLE = AnalyseInput("", (Segment("s1", SegmentKind.PROSE, (), "A method.", 0, 9),))


@dataclass(frozen=True, slots=True)
class Coders:
    """A coder, and the models that it asks."""

    coder: Coder
    chosen: Chosen[Operation]

    @property
    def models(self) -> tuple[ProviderModel, ...]:
        """Return all models that may be asked."""
        return self.chosen.all

    async def prepare(self) -> None:
        """Learn how much each model takes; raises `ObstructedError` where one lacks a key."""
        await self.chosen.prepare(lambda: self.coder.price(_SAMPLE))

    async def aclose(self) -> None:
        """Close the connections to the models."""
        await self.chosen.aclose()


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
    chosen = choose_models(
        settings, model_name, ((settings.model_design, DESIGNING), (settings.model_code, CODING))
    )
    return Coders(LanguageCoder(chosen.first, models=chosen.others, kept=chosen.kept), chosen)


def require_coder(settings: Settings, model_name: str, *, in_dollars: bool) -> None:
    """Raise `InvalidRequest` unless the model can be asked, and priced where that is needed.

    So has every other model that the settings name. Asks nothing of them.
    """
    open_coder(settings, model_name).chosen.require(
        lambda model: LanguageCoder(model).price(_SAMPLE), in_dollars=in_dollars
    )
