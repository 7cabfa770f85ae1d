"""Search: ask one provider one query."""

from dataclasses import dataclass, replace

from prefect import task

from adapters.models.port import Answer
from adapters.search.port import Search, SearchPage
from state.values.money import Usage
from tasks.policy import POLICY
from tasks.slots import slots

HITS_PER_QUERY = 6


@dataclass(frozen=True, slots=True)
class SearchInput:
    """One search, and which subquestion it is for."""

    query: str
    subquestion_id: str
    provider: str


async def search_sources(given: SearchInput, provider: Search) -> Answer[SearchPage]:
    """Return the provider's first page, at most six hits, none twice."""
    page = await provider.search(given.query, limit=HITS_PER_QUERY)
    hits = {hit.locator: hit for hit in reversed(page.hits)}
    unique = tuple(hit for hit in page.hits if hits[hit.locator] is hit)[:HITS_PER_QUERY]
    return Answer(replace(page, hits=unique), Usage(searches=1, cost_micro_usd=page.cost_micro_usd))


@task(name="search", task_run_name="search {given.query}", **POLICY)
async def search(given: SearchInput, *, provider: Search) -> Answer[SearchPage]:
    """Search for sources."""
    async with slots("search", provider.name):
        return await search_sources(given, provider)
