"""A reader for everything a run may read: files by their paths, pages by their addresses."""

from adapters.documents.port import Opened, Reader
from state.values.errors import RejectedError


class RoutedReader:
    """Opens paths with `local` and addresses with `web`; what was not given is refused."""

    def __init__(self, *, local: Reader | None = None, web: Reader | None = None) -> None:
        self._local = local
        self._web = web

    async def open(self, locator: str) -> Opened:
        """Return the source at `locator`; raises as the reader in charge does."""
        is_web = "://" in locator
        reader = self._web if is_web else self._local
        if reader is None:
            what = "the web" if is_web else "local files"
            raise RejectedError(
                f"{locator} is not read: this run has no access to {what}.",
                code="URL_POLICY_DENIED" if is_web else "OUTSIDE_ROOTS",
            )
        return await reader.open(locator)
