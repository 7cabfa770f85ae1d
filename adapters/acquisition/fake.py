"""An `Acquirer` for tests: gives what it is told to, and counts."""

from dataclasses import dataclass, field

from adapters.acquisition.port import Source
from state.values.errors import AssayError, RejectedError


@dataclass(slots=True)
class FakeAcquirer:
    """Gives `sources` by name; an error that stands there is raised."""

    sources: dict[str, Source | AssayError]
    asked: list[str] = field(default_factory=list)

    async def acquire(self, source: str) -> Source:
        """Return what is set for `source`."""
        self.asked.append(source)
        found = self.sources.get(source)
        if found is None:
            raise RejectedError(f"there is no {source!r}", code="SOURCE_MISSING")
        if isinstance(found, AssayError):
            raise found
        return found
