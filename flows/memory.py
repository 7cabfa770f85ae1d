"""Opens the memory that the settings name: ledger and archive, of one machine or of several.

On one machine both are folders of the data folder. For several, the ledger is a PostgreSQL database
and the archive an object store; what either needs is imported only then.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from flows.settings import Settings
from state.artifacts import Artifacts
from state.follow import Fold, S
from state.ledger import Ledger
from state.projection import Run, RunFold
from state.schedule import Schedule, ScheduleFold
from state.values.errors import InvalidRequest

if TYPE_CHECKING:
    from state.postgres.ledger import PostgresLedger

_COPY = "ledger-copy"
_SCHEDULES = "schedules"


def open_ledger(settings: Settings, clock: Callable[[], datetime]) -> Ledger[Run]:
    """Return the ledger; `clock` gives the times of events. Raises `InvalidRequest`."""
    if settings.is_shared:
        return _shared_ledger(settings, clock, fold=RunFold())
    return _local_ledger(settings, settings.home, RunFold(), clock)


def open_schedules(settings: Settings, clock: Callable[[], datetime]) -> Ledger[Schedule]:
    """Return the ledger of the schedules, one stream of events each; it lies beside that of runs.

    So a decision about a slot is as durable as one about a run, is made once however many machines
    look at the schedule, and no reader of runs has to know of it. Raises `InvalidRequest`.
    """
    if settings.is_shared:
        return _shared_ledger(settings, clock, fold=ScheduleFold(), suffix=f"_{_SCHEDULES}")
    return _local_ledger(settings, settings.home / _SCHEDULES, ScheduleFold(), clock)


def has_schedules(settings: Settings) -> bool:
    """Tell whether there was ever a schedule; makes nothing. Raises as `is_begun`."""
    if not settings.is_shared:
        return (settings.home / _SCHEDULES / "runs").is_dir()
    ledger = _shared_ledger(settings, datetime.now, fold=ScheduleFold(), suffix=f"_{_SCHEDULES}")
    try:
        return ledger.is_made()
    finally:
        ledger.close()


def open_archive(settings: Settings) -> Artifacts:
    """Return the archive. Raises `InvalidRequest`, also for one that is shared without a ledger."""
    if not settings.artifacts_url:
        from state.artifacts import LocalArtifacts

        return LocalArtifacts(settings.home / "artifacts")
    if not settings.is_shared:
        raise InvalidRequest(
            "ASSAY_ARTIFACTS_URL is set and ASSAY_LEDGER_URL is not: machines that share an "
            "archive without a ledger would delete what others need; set both, or neither"
        )
    with _explained("ASSAY_ARTIFACTS_URL", "ASSAY_ARTIFACTS_ENDPOINT", extra="s3"):
        from state.s3_artifacts import S3Artifacts

        return S3Artifacts(settings.artifacts_url, endpoint=settings.artifacts_endpoint)


def is_begun(settings: Settings) -> bool:
    """Tell whether anything was ever recorded; makes nothing.

    Raises `InvalidRequest`, and `StorageError` for a database that cannot be reached.
    """
    if has_schedules(settings):
        return True
    if not settings.is_shared:
        return (settings.home / "runs").is_dir()
    ledger = _shared_ledger(settings, datetime.now, fold=RunFold())
    try:
        return ledger.is_made()
    finally:
        ledger.close()


def memory_place(settings: Settings) -> str:
    """Return where the ledger is, for people, and without a password. Raises `InvalidRequest`."""
    if not settings.is_shared:
        return str(settings.home)
    return f"PostgreSQL at {_shared_ledger(settings, datetime.now, fold=RunFold()).place}"


def _local_ledger(
    settings: Settings, home: Path, fold: Fold[S], clock: Callable[[], datetime]
) -> Ledger[S]:
    from state.append import Hooks
    from state.local_ledger import LocalLedger
    from state.query import Bounds

    return LocalLedger(
        home, fold, hooks=Hooks(clock=clock), bounds=Bounds(time_s=settings.sql_timeout_s)
    )


def _shared_ledger(
    settings: Settings, clock: Callable[[], datetime], *, fold: Fold[S], suffix: str = ""
) -> "PostgresLedger[S]":
    with _explained("ASSAY_LEDGER_URL", "ASSAY_LEDGER_SCHEMA", extra="postgres"):
        from state.append import Hooks
        from state.postgres.ledger import PostgresLedger, Waits
        from state.query import Bounds

        return PostgresLedger(
            settings.ledger_url.get_secret_value(),
            fold,
            schema=settings.ledger_schema + suffix,
            hooks=Hooks(clock=clock),
            bounds=Bounds(time_s=settings.sql_timeout_s),
            waits=Waits(lease_s=settings.ledger_lease_s, outage_s=settings.ledger_outage_s),
            copies=settings.home / f"{_COPY}{suffix}",
        )


@contextmanager
def _explained(url: str, other: str, *, extra: str) -> Iterator[None]:
    """Say which of the variables `url` and `other` to check, or which extra `url` needs."""
    try:
        yield
    except ImportError as error:
        raise InvalidRequest(
            f"{url} needs an extra that is not installed: pip install "
            f"'assay-research[{extra}]' ({error})"
        ) from error
    except InvalidRequest as error:
        raise InvalidRequest(f"check the settings {url} and {other}: {error.message}") from error
