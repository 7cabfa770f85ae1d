"""The settings of the Prefect client: quiet, private, lossless, set before Prefect is imported."""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.server_record import Place
from state.durable import replace_file
from state.values.errors import InvalidRequest

if TYPE_CHECKING:
    from flows.server import Server

# Set beside a PREFECT_API_URL that Assay chose, so that a child does not take it for the user's.
_OWN = "ASSAY_OWN_PREFECT_API_URL"
_MAX_LOG_BYTES = 1_000_000
_LINE = "%(asctime)s %(process)d %(levelname)s %(name)s %(message)s"
_QUIET = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_CLI_PROMPT": "false",
    # The ephemeral server loses records: without a server Prefect shall fail, loudly.
    "PREFECT_SERVER_EPHEMERAL_ENABLED": "false",
    "PREFECT_RESULTS_PERSIST_BY_DEFAULT": "false",
    "PREFECT_LOGGING_LEVEL": "INFO",
    "PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW": "ignore",
}


def user_api_url() -> str | None:
    """Return the API that the user chose by PREFECT_API_URL, or None for Assay's own."""
    url = os.environ.get("PREFECT_API_URL") or None
    return None if url == os.environ.get(_OWN) else url


def configure(server: "Server | None", home: Path) -> None:
    """Set the environment that Prefect's client reads when it is imported.

    With `server`, Assay's own: Prefect's folder, profile and log are those under `home`, and
    nothing of the user's is read. The secret goes into a profile that only the owner can read
    and never into the environment, which children inherit. Without `server` the user's
    PREFECT_API_URL and every setting they made stand; only what they left open is set.

    Raises `InvalidRequest` when there is neither, and `RuntimeError` when Prefect was imported
    before, for then nothing of this would be heeded.
    """
    if "prefect" in sys.modules:
        raise RuntimeError("engine.configure must run before Prefect is imported")
    place = Place.of(home)
    quiet = _QUIET | {"PREFECT_LOGGING_CONFIG_PATH": str(_write_logging(place))}
    if server is None:
        if user_api_url() is None:
            raise InvalidRequest("no Prefect server: set PREFECT_API_URL or start Assay's own")
        for name, value in quiet.items():
            os.environ.setdefault(name, value)
        return
    _write_profile(place, server)
    for name in ("PREFECT_API_KEY", "PREFECT_API_AUTH_STRING"):
        os.environ.pop(name, None)
    os.environ.update(
        quiet
        | {
            _OWN: server.url,
            "PREFECT_API_URL": server.url,
            # Where links lead: in the older pages a form does not show what it asks about.
            "PREFECT_UI_URL": server.url.removesuffix("/api") + "/v2",
            "PREFECT_HOME": str(place.folder),
            "PREFECT_PROFILES_PATH": str(place.folder / "profiles.toml"),
            "PREFECT_PROFILE": "assay",
            "PREFECT_CLIENT_CSRF_SUPPORT_ENABLED": "true",
            # `PendingServer.wait` has compared the versions already.
            "PREFECT_CLIENT_SERVER_VERSION_CHECK_ENABLED": "false",
        }
    )


def flush(timeout_s: float = 30.0) -> bool:
    """Send what Prefect's client still holds back; return whether all of it went in time.

    Prefect does the same when the interpreter ends normally: this is for a process that ends
    otherwise, or that wants to read its records. Call it outside of any event loop.
    """
    if "prefect" not in sys.modules:
        return True
    from prefect.events.worker import EventsWorker
    from prefect.logging.handlers import APILogWorker

    # Worker classes keep one registry between them, so draining one drains both.
    left: set[Any] = set()
    for worker in (EventsWorker, APILogWorker):
        _, late = worker.drain_all(timeout=timeout_s)  # type: ignore[misc]  # no loop: never a coroutine
        left |= late
    return not left


def _write_profile(place: Place, server: "Server") -> None:
    profile = (
        'active = "assay"\n\n[profiles.assay]\n'
        f"PREFECT_API_URL = {json.dumps(server.url)}\n"
        f"PREFECT_API_AUTH_STRING = {json.dumps(server.auth_string)}\n"
    )
    replace_file(place.folder / "profiles.toml", profile.encode())


def _write_logging(place: Place) -> Path:
    """Write Prefect's logging: runs' logs to the API, warnings to a file, the terminal nothing."""
    log = place.folder / "client.log"
    if log.exists() and log.stat().st_size > _MAX_LOG_BYTES:
        log.replace(log.with_suffix(".log.1"))
    # Not `logging.yml`, which the server, whose folder this is as well, would take for its own.
    path = place.folder / "client-logging.yml"
    # Prefect reads YAML, of which JSON is a part, after it has replaced `$NAME`.
    replace_file(path, json.dumps(_logging(log)).replace("$", "$$").encode())
    return path


def _logging(log: Path) -> dict[str, object]:
    to_file = {"class": "flows.logs.LogFile", "filename": str(log), "delay": True}
    to_api = {"class": "prefect.logging.handlers.APILogHandler", "level": "INFO"}
    runs = {"level": "INFO", "handlers": ["api"]}
    quiet = {"level": "WARNING", "handlers": ["file"], "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {"format": "%(asctime)s %(process)d %(levelname)s %(name)s %(message)s"}
        },
        "handlers": {
            "file": to_file | {"formatter": "line", "level": "WARNING", "encoding": "utf-8"},
            "api": to_api,
        },
        "loggers": {
            "prefect": quiet | {"level": "INFO"},
            # They log under their own names that records are still being sent.
            "EventsWorker": quiet,
            "APILogWorker": quiet,
            "prefect.flow_runs": runs,
            "prefect.task_runs": runs,
            "prefect.extra": runs | {"propagate": False},
        },
    }
