"""What a person asks for becomes a request: sources, origins, model and limits, checked at once."""

import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

from adapters.search.fusing import WORDS, best_ranking, open_ranking
from flows.person import user_name
from state.request import ResearchRequest, make_request
from state.values.errors import InvalidRequest
from state.values.origins import ANY

BUILT_IN = "extractive"
_MOST_USD = 1e9  # in millionths it has to fit into a column of the ledger


def principal() -> str:
    """Return the operating system's user, in the form a policy names principals."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", user_name())[:80] or "unknown"


def new_run_id(now: datetime) -> str:
    """Return a fresh run id: when, and four random digits."""
    return f"{now:%Y%m%d-%H%M%S}-{uuid4().hex[:4]}"


def compose_request(  # noqa: PLR0913 - everything a person can ask for
    question: str,
    *,
    sources: Sequence[str | Path] = (),
    search: Sequence[str] = (),
    origins: Sequence[str] = (),
    references: Sequence[str] = (),
    model: str | None = None,
    ranking: str | None = None,
    now: datetime,
    run_id: str | None = None,
    scope: str = "standard",
    limits: Mapping[str, int | None] | None = None,
    **options: Any,
) -> ResearchRequest:
    """Return the request to answer `question`; `options` as in `ResearchRequest`.

    `sources` are local files and folders, `search` names providers of the web in the order they
    are asked, `references` are addresses to read, and `origins` the hosts that may be read:
    without any, those of the references, or every host when the web is searched. `model` is by
    default the one that the settings name; `extractive` is the built-in researcher. `ranking` is
    by default the best that is installed for the folders there are.

    Needs no desk and leaves nothing on the disk. Raises `InvalidRequest` when the question is
    empty, a source is missing or unreadable, a provider is unknown, or a limit is outside its
    scope's range.
    """
    if not question.strip():
        raise InvalidRequest("the question is empty; say in quotes what to find out")
    paths = [_source(source) for source in sources]
    if not (paths or search or references):
        raise InvalidRequest(
            "say where to research: name a folder or file with --sources, a search of the web with "
            "--search, or an address with --reference"
        )
    if search:
        _require_providers(search)
    return make_request(
        id=run_id or new_run_id(now),
        principal=options.pop("principal", None) or principal(),
        question=question,
        sources=tuple(dict.fromkeys(paths)),
        search_providers=tuple(dict.fromkeys(search)),
        reference_urls=tuple(dict.fromkeys(references)),
        allowed_origins=_origins(origins, search, references),
        model=_model(model, limits or {}),
        ranking=_ranking(ranking, paths),
        scope=scope,
        limits=limits,
        **options,
    )


def micro_usd(usd: float) -> int:
    """Return US dollars in millionths; raises `InvalidRequest` for what is no sum to spend."""
    if not (math.isfinite(usd) and 0 < usd <= _MOST_USD):
        raise InvalidRequest(
            f"a budget of {usd} US dollars is none; give more than 0, and a billion at most"
        )
    return max(1, round(usd * 1_000_000))


def _require_providers(names: Sequence[str]) -> None:
    from flows.settings import load_settings
    from flows.web import require_provider

    settings = load_settings()
    for name in names:
        require_provider(settings, name)


def _model(name: str | None, limits: Mapping[str, int | None]) -> str:
    """Return the model to ask; '' is the built-in researcher. Raises when it cannot be asked."""
    from flows.settings import load_settings

    settings = load_settings()
    chosen = settings.model if name is None else name.strip()
    if chosen in ("", BUILT_IN):
        return ""
    from flows.models import require_model

    require_model(settings, chosen, in_dollars=limits.get("max_cost_micro_usd") is not None)
    return chosen


def _ranking(name: str | None, paths: Sequence[str]) -> str:
    """Return the ranking of what is found in folders; raises when it is not to be had here."""
    if name is None:
        return best_ranking() if paths else WORDS
    open_ranking(name)
    return name


def _origins(
    origins: Sequence[str], search: Sequence[str], references: Sequence[str]
) -> Sequence[str] | Literal["any"]:
    if not (search or references):
        if origins:
            raise InvalidRequest(
                "--origin says what of the web may be read, and nothing of it is: add --search or "
                "--reference"
            )
        return ()
    if origins:
        return ANY if ANY in origins else tuple(origins)
    return ANY if search else tuple(references)


def _source(source: str | Path) -> str:
    if not str(source).strip():
        raise InvalidRequest("a source is empty; name a folder or a file, '.' for this one")
    path = Path(source)
    try:
        return str(path.expanduser().resolve(strict=True))
    except (OSError, RuntimeError, ValueError) as error:  # a NUL in a path is a ValueError
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidRequest(
            f"source {str(path)!r}: {reason}; name a folder or a file that is there"
        ) from error
