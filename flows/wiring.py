"""The composition root: settings become a desk with everything a run works with."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from adapters.documents.folder import Unused
from adapters.documents.port import Converter, Reader
from adapters.models.port import Researcher
from adapters.search.port import Search
from flows.settings import Settings, load_settings
from state.artifacts import Artifacts
from state.envelope import Draft
from state.ledger import Ledger
from state.policy import Policy
from state.projection import Run
from state.request import ResearchRequest

if TYPE_CHECKING:
    from flows.code_tools import CodeTools
    from state.code_request import CodeRequest

Observer = Callable[[Run, Sequence[Draft]], None]
Ask = Callable[[Run], Awaitable[None]]
StopAfter = Literal["plan", "round", "report", "files", "tests"]


async def _nothing() -> None:
    """Prepare nothing."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What a run uses of the world: where it searches, how it reads, who judges.

    Every query goes to each chain of `searches`; within one, the next provider is asked where the
    one before failed or found nothing. `prepare` is awaited before the first use. `inventory` lists
    what there is to search, and `unused` what of it no search finds (None where that is unknown).
    """

    searches: tuple[tuple[Search, ...], ...]
    reader: Reader
    converter: Converter
    researcher: Researcher
    inventory: Callable[[], list[dict[str, object]]]
    unused: Callable[[], Awaitable[Unused]] | None = None
    prepare: Callable[[], Awaitable[None]] = _nothing
    closers: tuple[Callable[[], Awaitable[None]], ...] = ()

    async def aclose(self) -> None:
        """End child processes and close connections."""
        for close in (self.converter.aclose, *self.closers):
            await close()


def _observe_nothing(run: Run, drafts: Sequence[Draft]) -> None:
    """Ignore what was appended."""


@dataclass(slots=True)
class Desk:
    """Everything a process works with: the memory, the clock, and how to open the world.

    `observe` is called after each append; `ask` brings a request before the person at the terminal
    (None: nobody is there); `tools` opens the world that a run may see; `stop_after` ends a
    run, resumable, at one of the `stops` of its kind: after its plan, one round, its files or
    tests, or before its report is published.
    `open_code_tools` opens the world of a Paper2Code run (None: the one that settings name).
    """

    settings: Settings
    ledger: Ledger[Run]
    artifacts: Artifacts
    policy: Policy
    tools: Callable[[ResearchRequest], Tools]
    converter: Callable[[], Converter]
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    observe: Observer = _observe_nothing
    ask: Ask | None = None
    stop_after: StopAfter | None = None
    open_code_tools: "Callable[[CodeRequest], CodeTools] | None" = None

    @property
    def reports(self) -> Path:
        """Return the folder under which each run's report is published."""
        return self.settings.home / "reports"


_desk: ContextVar[Desk | None] = ContextVar("desk", default=None)


def open_desk() -> Desk:
    """Return the desk that this process works at: the one set by `at_desk`, else a new one."""
    return _desk.get() or make_desk(load_settings())


@contextmanager
def at_desk(desk: Desk) -> Iterator[Desk]:
    """Make `desk` the one that flows find."""
    token = _desk.set(desk)
    try:
        yield desk
    finally:
        _desk.reset(token)


def make_desk(settings: Settings, *, now: Callable[[], datetime] | None = None) -> Desk:
    """Return a desk on the data folder of `settings`, and on the memory they name.

    Creates the folder, and connects to nothing. Raises `InvalidRequest`.
    """
    from flows.memory import open_archive, open_ledger
    from state.durable import create_private_folder, refuse_unsuitable

    if settings.notify:
        from flows.notifying import open_notifier

        open_notifier(settings)  # a wrong address is said before a run counts on it
    clock = now or (lambda: datetime.now(UTC))
    archive, ledger = open_archive(settings), open_ledger(settings, clock)
    create_private_folder(settings.home)
    refuse_unsuitable(settings.home)
    return Desk(
        settings=settings,
        ledger=ledger,
        artifacts=archive,
        policy=Policy(settings.home / "policy.json"),
        tools=lambda request: open_world(settings, request, archive),
        converter=lambda: local_converter(settings),
        now=clock,
    )


def open_world(settings: Settings, request: ResearchRequest, archive: Artifacts) -> Tools:
    """Return what a run uses: its own folders, and of the web only what it asks for.

    A run that asks for nothing of the web loads nothing that could open a connection.
    """
    sources, ranking = request.sources, request.ranking
    local = local_tools(settings, sources, ranking) if sources else None
    if not request.uses_web:
        assert local is not None  # a request names sources, or asks for the web  # noqa: S101
        return _with_model(local, settings, request.model)
    from adapters.documents.routed import RoutedReader
    from adapters.models.extractive.researcher import ExtractiveResearcher
    from flows.web import web_reader, web_searches

    pages = web_reader(settings, origins=request.allowed_origins, archive=archive)
    chain = web_searches(settings, request.search_providers)
    web: list[dict[str, object]] = []
    web += [{"search": provider} for provider in request.search_providers]
    web += [{"reference": url} for url in request.reference_urls]
    tools = Tools(
        searches=(*(local.searches if local else ()), *((chain,) if chain else ())),
        reader=RoutedReader(local=local.reader if local else None, web=pages),
        converter=local.converter if local else local_converter(settings),
        researcher=local.researcher if local else ExtractiveResearcher(),
        inventory=lambda: [*(local.inventory() if local else []), *web],
        unused=local.unused if local else None,
    )
    return _with_model(tools, settings, request.model)


def _with_model(tools: Tools, settings: Settings, model: str) -> Tools:
    """Return `tools` with the language model `model` as researcher, where one is named."""
    if not model:
        return tools
    from flows.models import open_judges

    judges = open_judges(settings, model)
    return replace(
        tools, researcher=judges.researcher, prepare=judges.prepare, closers=(judges.aclose,)
    )


def local_tools(settings: Settings, sources: Sequence[str], ranking: str = "") -> Tools:
    """Return what a run over local `sources` uses: no network, no key, no language model.

    `ranking` names what orders the hits. Raises `InvalidRequest` when it is not to be had here.
    """
    from adapters.documents.local_reader import LocalReader
    from adapters.models.extractive.researcher import ExtractiveResearcher
    from adapters.search.fusing import open_ranking
    from adapters.search.local import LocalFolder

    order = open_ranking(ranking)
    converter = local_converter(settings)
    search = LocalFolder(
        sources, cache=settings.cache, converter=converter, own=settings.home, ranking=order
    )
    reader = LocalReader(search.reader)
    # What is quoted is read from its bytes: nobody vouches for what lies in a cache.
    return Tools(
        searches=((search,),),
        reader=reader,
        converter=converter,
        researcher=ExtractiveResearcher(),
        inventory=reader.inventory,
        unused=search.unused,
    )


def local_converter(settings: Settings) -> Converter:
    """Return the converter for whatever people have, each conversion in a limited child.

    Docling is preferred where it is installed, within its own, larger limits.
    """
    from adapters.documents.preferred import prefer_docling
    from adapters.documents.sandboxed import SandboxedConverter

    return prefer_docling(SandboxedConverter(pool=settings.conversions_at_once))
