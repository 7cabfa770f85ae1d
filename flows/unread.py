"""Why what was found was not read, from the events of the run alone."""

from collections.abc import Sequence

from state.method_events import ResearchReadingFrozen
from state.request import ResearchRequest
from state.research_events import ArtifactRole
from state.research_projection import Research
from state.values.origins import ANY, Origins, covers
from state.values.report import Failure
from state.values.wording import counted


def unread(research: Research, services: Sequence[str] = ()) -> tuple[Failure, ...]:
    """Return what was found and never opened, each with the reason of the last round that met it.

    What was opened and gave nothing is recorded with its own reason, and is none of these.
    `services` are origins of one's own that may be read where any may.
    """
    request = research.started.request
    met = {source.locator for source in research.of_role(ArtifactRole.SOURCE)}
    met |= {skipped.locator for skipped in research.skipped}
    found: dict[str, Failure] = {}
    for number in sorted(research.readings):
        reading = research.readings[number]
        for locator in reading.omitted:
            if locator not in met:
                code, reason = _why(locator, reading, request, tuple(services))
                found[locator] = Failure("search", locator, code, reason)
    return tuple(found.values())


def may_be_read(locator: str, origins: Origins, services: tuple[str, ...]) -> bool:
    """Tell whether `locator` is a file or of one of `origins`.

    Where any origin will do, one's own `services` will, too.
    """
    allowed = (origins, services if origins == ANY else ())
    return "://" not in locator or any(covers(each, locator) for each in allowed)


def _why(
    locator: str,
    reading: ResearchReadingFrozen,
    request: ResearchRequest,
    services: tuple[str, ...],
) -> tuple[str, str]:
    budgets, read = request.budgets, len(reading.locators)
    if not may_be_read(locator, request.allowed_origins, services):
        return "ORIGIN", "it lies outside the origins that may be read"
    if read < budgets.max_pages:
        most = counted(budgets.max_read_pages, "source")
        return "BUDGET", f"the run may read {most} in all, which round {reading.round} used up"
    better = "the one that was" if read == 1 else f"the {read} that were"
    return "RANK", f"it ranked below {better} read in round {reading.round}, the most of a round"
