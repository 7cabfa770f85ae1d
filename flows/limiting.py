"""Which limits hold for a run: those of the settings, and in deployed runs those of the server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from prefect.client.orchestration import get_client
from prefect.context import FlowRunContext

from flows.settings import Settings
from tasks.limits import PREFIX, limited

_PAGE = 200


async def create_limits(settings: Settings) -> frozenset[str]:
    """Create the limits of the settings on the Prefect server, or set them; return their names.

    Doing it again changes nothing.
    """
    names = {f"{PREFIX}{name}": most for name, most in settings.limits.items()}
    if names:
        async with get_client() as client:
            for name, most in sorted(names.items()):
                await client.upsert_global_concurrency_limit_by_name(name, most)
    return frozenset(names)


@asynccontextmanager
async def limiting(settings: Settings) -> AsyncIterator[None]:
    """Let the limits hold that there are; without any set, only a deployed run asks the server."""
    token = limited.set(await create_limits(settings) | await _found())
    try:
        yield
    finally:
        limited.reset(token)


async def _found() -> frozenset[str]:
    context = FlowRunContext.get()
    flow_run = context.flow_run if context else None
    if flow_run is None or flow_run.deployment_id is None:
        return frozenset()
    names: set[str] = set()
    offset = 0
    async with get_client() as client:
        while True:
            page = await client.read_global_concurrency_limits(limit=_PAGE, offset=offset)
            names |= {each.name for each in page if each.active and each.name.startswith(PREFIX)}
            if len(page) < _PAGE:
                return frozenset(names)
            offset += _PAGE
