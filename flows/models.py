"""Who judges and writes: the built-in researcher, or the language models that settings name."""

import os

from adapters.models.chat.fallback import FallbackModel
from adapters.models.chat.kept import KeptAnswers
from adapters.models.chat.limiter import Limiter
from adapters.models.chat.port import ChatModel
from adapters.models.chat.provider import Patience, ProviderModel
from adapters.models.language.researcher import LanguageResearcher
from adapters.models.port import Researcher
from flows.settings import Settings

BUILT_IN = "extractive"


def language_researcher(settings: Settings, name: str) -> Researcher:
    """Return the researcher that asks the model `name`, and others where the settings say so."""
    opened: dict[str, ChatModel] = {}

    def named(wanted: str) -> ChatModel:
        if wanted not in opened:
            opened[wanted] = chat_model(settings, wanted)
        return opened[wanted]

    by_operation = {
        "plan": settings.model_plan,
        "assess": settings.model_assess,
        "write": settings.model_write,
        "check": settings.model_check,
    }
    first = named(name)
    if settings.model_fallback:
        first = FallbackModel(first, *(named(other) for other in settings.model_fallback))
    return LanguageResearcher(
        first,
        models={operation: named(other) for operation, other in by_operation.items() if other},
        kept=KeptAnswers(settings.cache / "answers"),
    )


def chat_model(settings: Settings, name: str) -> ChatModel:
    """Return the model `name`, which is asked at most so often at once on this whole machine."""
    return ProviderModel(
        name,
        base_url=settings.model_url,
        api_key=os.environ.get("ASSAY_MODEL_KEY", "") if settings.model_url else "",
        context_tokens=settings.model_context,
        limiter=Limiter(settings.cache / "limits", at_once=settings.model_calls_at_once),
        patience=Patience(deadline_s=settings.model_deadline_s),
    )
