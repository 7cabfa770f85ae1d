"""The `Reader` port over local folders."""

from datetime import UTC, datetime
from pathlib import Path

import anyio

from adapters.documents.folder import FolderReader
from adapters.documents.port import Opened


class LocalReader:
    """Opens files below a `FolderReader`'s roots, and nothing else."""

    def __init__(self, folder: FolderReader) -> None:
        self._folder = folder

    async def open(self, locator: str) -> Opened:
        """Return the file at `locator`; raises `RejectedError` as `FolderReader.open` does."""
        data = await anyio.to_thread.run_sync(self._folder.open, locator)
        return Opened(
            data=data,
            display=self._folder.display_path(locator),
            modified_at=await anyio.to_thread.run_sync(_modified_at, locator),
        )

    def inventory(self) -> list[dict[str, object]]:
        """Return the files there are now: where each is for people, and its size in bytes."""
        return [
            {"path": self._folder.display_path(file.locator), "size": file.size}
            for file in self._folder.inventory().files
        ]


def _modified_at(locator: str) -> str:
    try:
        seconds = Path(locator).stat().st_mtime
    except OSError:
        return ""
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
