"""Who judges and writes: the built-in researcher, or the language models that settings name."""

from dataclasses import dataclass

from adapters.models.chat.provider import ProviderModel
from adapters.models.language.researcher import LanguageResearcher, Operation
from adapters.models.port import PlanInput, Researcher
from flows.chat_models import Chosen, choose_models
from flows.estimating import Estimate, estimate
from flows.settings import Settings
from state.request import ResearchRequest
from state.values.errors import AssayError

PLANNING: tuple[Operation, ...] = ("plan", "outline")
ASSESSING: tuple[Operation, ...] = ("assess",)
WRITING: tuple[Operation, ...] = ("synthesise", "write_section", "repair")
CHECKING: tuple[Operation, ...] = ("check_claims", "check_report")
_SAMPLE = PlanInput("What is asked?")


@dataclass(frozen=True, slots=True)
class Judges:
    """A researcher, and the models that it asks."""

    researcher: Researcher
    chosen: Chosen[Operation]

    @property
    def models(self) -> tuple[ProviderModel, ...]:
        """Return all models that may be asked."""
        return self.chosen.all

    async def prepare(self) -> None:
        """Learn how much each model takes; raises `ObstructedError` where one lacks a key."""
        await self.chosen.prepare(lambda: self.researcher.price(_SAMPLE))

    async def aclose(self) -> None:
        """Close the connections to the models."""
        await self.chosen.aclose()


def open_judges(settings: Settings, name: str) -> Judges:
    """Return the researcher that asks the model `name`, and others where the settings say so."""
    chosen = choose_models(
        settings,
        name,
        (
            (settings.model_plan, PLANNING),
            (settings.model_assess, ASSESSING),
            (settings.model_write, WRITING),
            (settings.model_check, CHECKING),
        ),
    )
    asked = LanguageResearcher(chosen.first, models=chosen.others, kept=chosen.kept)
    return Judges(asked, chosen)


def require_model(settings: Settings, name: str, *, in_dollars: bool) -> None:
    """Raise `InvalidRequest` unless the model can be asked, and priced where that is needed.

    So has every other model that the settings name. Asks nothing of them.
    """
    open_judges(settings, name).chosen.require(
        lambda model: LanguageResearcher(model).price(_SAMPLE), in_dollars=in_dollars
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
