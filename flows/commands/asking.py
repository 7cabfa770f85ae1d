"""What `research` and `schedule add` have in common: the options that make a request."""

import inspect
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.commands.shared import budgets_of

if TYPE_CHECKING:
    from state.request import ResearchRequest


def requested(
    question: str,
    more: Sequence[Path] | None,
    *,
    run_id: str | None = None,
    budget_usd: float | None,
    budget_tokens: int | None,
    **options: Any,
) -> "ResearchRequest":
    """Return the request that the options of `research` ask for, as they are called there.

    Raises as `compose_request` does.
    """
    from flows.composing import compose_request

    limits = {name: given for name, given in options.items() if name in _LIMITS}
    return compose_request(
        question,
        sources=[*(options["sources"] or []), *(more or [])],
        search=options["search"] or [],
        origins=options["origin"] or [],
        references=options["reference"] or [],
        model=options["model"],
        now=datetime.now(UTC),
        run_id=run_id,
        scope=options["scope"],
        limits={
            **limits,
            **budgets_of(budget_tokens, budget_usd),
        },
        profile=options["profile"],
        plan_review=options["review"],
        cross_check=options["cross_check"],
        audience=options["audience"],
        boundaries=options["boundaries"],
        research_type=options["type_"],
    )


_LIMITS = (
    "max_rounds", "max_queries", "max_pages", "max_searches", "max_read_pages", "max_model_calls",
    "research_seconds",
)  # fmt: skip


def with_options_of(
    other: Callable[..., None], *, without: Sequence[str]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command every parameter of `other` but `without` that it lacks, as `**options`.

    So what can be asked for once can be asked for on a schedule, whatever is added to it.
    """

    def give(command: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(command).parameters.values())[:-1]  # but `**options`
        taken = {each.name for each in own} | {*without}
        more = [
            each for each in inspect.signature(other).parameters.values() if each.name not in taken
        ]
        both = sorted([*own, *more], key=lambda each: each.kind)
        command.__signature__ = inspect.Signature(both)  # type: ignore[attr-defined]  # Typer reads it
        command.__annotations__ = {each.name: each.annotation for each in both} | {"return": None}
        return command

    return give
