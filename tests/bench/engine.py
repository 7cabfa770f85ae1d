"""The Prefect server that measurements share, started when first needed."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flows.engine_session import engine_for
from flows.server import stop_server
from flows.settings import Settings


def home_of(folder: Path) -> Path:
    """Return the data folder whose server it is."""
    return folder / "engine"


@contextmanager
def engine(folder: Path) -> Iterator[Settings]:
    """Have flows of this process run on the server for the block."""
    settings = Settings(home=home_of(folder))
    with engine_for(settings) as session:
        session.ready()
        yield settings


def stop(folder: Path) -> None:
    """End the server, if there is one."""
    if home_of(folder).exists():
        stop_server(home_of(folder))
