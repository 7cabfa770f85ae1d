"""Where a round looks: its searches, what of their finds is read, and what is left out."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial

from adapters.search.identity import identities, merge_hits
from adapters.search.port import Hit, Search, SearchPage
from flows.at_once import in_order
from flows.knowledge import Knowledge
from flows.step import Driver, StepFailed, Turn
from flows.stopping import next_queries
from flows.unread import may_be_read
from flows.wiring import Tools
from state.errors import BudgetExceeded
from state.method_events import ResearchReadingFrozen, ResearchScheduleFrozen, ScheduledQuery
from state.values.errors import RejectedError
from state.values.money import Usage
from state.values.origins import Origins
from state.values.report import Failure
from tasks.search import SearchInput
from tasks.search import search as search_task
from tasks.survey import SurveyInput
from tasks.survey import survey as survey_task

NOTICES = {
    "retracted": "the work was retracted, so it is no evidence",
    "retraction-notice": "this is the notice of a retraction, not a work",
}


@dataclass(frozen=True, slots=True)
class Findings:
    """What the searches of a round led to.

    `locators` are to be read, `omitted` are not; `unfit` are hits that can be no evidence.
    """

    locators: tuple[str, ...]
    omitted: tuple[str, ...]
    unfit: tuple[Failure, ...] = ()


async def freeze_schedule(
    driver: Driver, turn: Turn, knowledge: Knowledge, tools: Tools
) -> tuple[ScheduledQuery, ...]:
    """Return the round's queries, recorded before the first search is made."""
    frozen = driver.research.schedules.get(turn.round)
    if frozen is None:
        budgets = driver.research.started.request.budgets
        left = budgets.max_searches - driver.run.spent.searches
        affordable = max(1, left // max(1, len(tools.searches)))
        queries = next_queries(knowledge)[: min(budgets.max_queries, affordable)]
        await driver.record(turn, ResearchScheduleFrozen(round=turn.round, queries=queries))
        frozen = driver.research.schedules[turn.round]  # as recorded, so as it is when resumed
    return frozen.queries


async def search_all(
    driver: Driver, turn: Turn, queries: Sequence[ScheduledQuery], tools: Tools
) -> tuple[list[SearchPage], list[Failure]]:
    """Ask each chain of providers every query; return what was found, and what failed.

    The first provider of each chain is asked at once; the next one only where the one before
    failed or found nothing, and then one query at a time, so that a last search goes to the same
    query whoever answers first. Meanwhile the first pages are awaited (see `_wake`).
    """
    asked = [(entry, chain) for entry in queries for chain in tools.searches if chain]
    firsts = [partial(_search, driver, turn, entry, chain[0]) for entry, chain in asked]
    calls: list[Callable[[], Awaitable[SearchPage | None]]]
    calls = [partial(_wake, driver, turn, tools), *firsts]
    _, *results = await in_order(calls, at_once=1 + driver.desk.settings.steps_at_once)
    pages: list[SearchPage] = []
    failures: list[Failure] = []
    for (entry, chain), first in zip(asked, results, strict=True):
        result, asked_at = first, chain[0]
        for provider in chain[1:]:
            if isinstance(result, SearchPage) and result.hits:
                break
            if isinstance(result, RejectedError):
                failures.append(_failure(entry, asked_at, chain, result))
            asked_at = provider
            result = await _search_next(driver, turn, entry, provider)
        if isinstance(result, RejectedError):
            failures.append(_failure(entry, asked_at, chain, result))
        elif result is not None:
            pages.append(result)
    return pages, failures


def _failure(
    entry: ScheduledQuery, provider: Search, chain: Sequence[Search], error: RejectedError
) -> Failure:
    """Return what failed where; where several are asked, the provider is named before the query."""
    target = entry.query if len(chain) == 1 else f"{provider.name}: {entry.query}"
    return Failure("search", target, error.code, error.message)


async def _wake(driver: Driver, turn: Turn, tools: Tools) -> None:
    """Have the converter's processes started when the first pages of the web come in.

    They start in half a second, in which a search is under way anyhow.
    """
    is_new = turn.round == 1 and turn.round not in driver.research.readings
    if is_new and driver.research.started.request.uses_web:
        page = partial(tools.converter.convert, b"<p>Ready.</p>", name="page.html")
        await in_order([page] * driver.desk.settings.conversions_at_once)


async def _search(
    driver: Driver, turn: Turn, entry: ScheduledQuery, provider: Search
) -> SearchPage:
    given = SearchInput(entry.query, entry.subquestion_id, provider.name)
    return await driver.step(
        turn, search_task, given, SearchPage,
        reserve=Usage(searches=1, cost_micro_usd=provider.cost_micro_usd), provider=provider,
    )  # fmt: skip


async def _search_next(
    driver: Driver, turn: Turn, entry: ScheduledQuery, provider: Search
) -> SearchPage | RejectedError:
    try:
        return await _search(driver, turn, entry, provider)
    except (StepFailed, BudgetExceeded) as failure:
        return failure


async def survey_unused(driver: Driver, turn: Turn, tools: Tools) -> tuple[Failure, ...]:
    """Return what no search finds, as it was when this run first looked."""
    if tools.unused is None:
        return ()
    given = SurveyInput(tools.searches[0][0].name)
    try:
        return await driver.step(turn, survey_task, given, tuple[Failure, ...], unused=tools.unused)
    except StepFailed as failure:
        return (Failure("search", "files that cannot be used", failure.code, failure.message),)


async def freeze_reading(
    driver: Driver, turn: Turn, knowledge: Knowledge, pages: Sequence[SearchPage]
) -> Findings:
    """Return what the round reads and what it leaves out, recorded before anything is opened."""
    request = driver.research.started.request
    found = choose_reading(
        pages,
        seen={source.reading.locator for source in knowledge.sources}
        | {failure.target for failure in knowledge.failures},
        works=knowledge.works,
        origins=request.allowed_origins,
        services=driver.desk.settings.services,
        references=() if knowledge.rounds else request.reference_urls,
    )
    frozen = driver.research.readings.get(turn.round)
    if frozen is None:
        budgets = request.budgets
        left = budgets.max_read_pages - driver.run.spent.pages
        limit = max(0, min(budgets.max_pages, left))
        event = ResearchReadingFrozen(
            round=turn.round,
            locators=found.locators[:limit],
            omitted=(*found.locators[limit:], *found.omitted),
        )
        await driver.record(turn, event)
        frozen = driver.research.readings[turn.round]
    return Findings(frozen.locators, frozen.omitted, found.unfit)


def choose_reading(
    pages: Sequence[SearchPage],
    *,
    seen: Collection[str] = (),
    works: frozenset[str] = frozenset(),
    origins: Origins = (),
    services: tuple[str, ...] = (),
    references: Sequence[str] = (),
) -> Findings:
    """Return what there is to read, best first, each work once.

    `references` come first. What was `seen`, and every address of the `works` that were read, is
    left away; hits of the web outside `origins` are omitted, and what was retracted is unfit. Where
    any origin will do, one's own `services` will, too.
    """
    given = SearchPage(tuple(Hit(url, None, "", 1.0) for url in references))
    locators: list[str] = []
    omitted: list[str] = []
    unfit: list[Failure] = []
    readable = partial(may_be_read, origins=origins, services=services)
    for hit in merge_hits([given, *pages], prefer=readable):
        if hit.locator in seen or identities(hit.locator, hit.ids) & works:
            continue
        if hit.notice:
            code = hit.notice.upper().replace("-", "_")
            unfit.append(Failure("search", hit.locator, code, NOTICES.get(hit.notice, hit.notice)))
        elif not readable(hit.locator):
            omitted.append(hit.locator)
        else:
            locators.append(hit.locator)
    return Findings(tuple(locators), tuple(omitted), tuple(unfit))


def works_read(pages: Sequence[SearchPage], locators: Sequence[str]) -> frozenset[str]:
    """Return every name of the works at `locators`, as far as the hits tell."""
    read = frozenset(locators)
    names = {name for locator in read for name in identities(locator)}
    for hit in merge_hits(pages):
        if hit.locator in read:
            names |= identities(hit.locator, hit.ids)
    return frozenset(names)
