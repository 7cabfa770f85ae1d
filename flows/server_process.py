"""The process of Assay's own Prefect server: serves until nobody has used it for a while.

Started by `flows.server` as `python -m flows.server_process FOLDER IDLE_SECONDS PORT`. Prefect is
imported only after the port is bound and the record is written, so whoever waits knows at once
where the server will be.
"""

import gc
import math
import os
import secrets
import shutil
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.server_bodies import refuse_unreadable
from flows.server_pages import App, Message, confine
from flows.server_record import (
    Place,
    Record,
    process_start,
    read_record,
    write_record,
)
from state.errors import StorageError
from state.locks import FileLock

if TYPE_CHECKING:
    import uvicorn

STARTED, FAILED, TAKEN = 0, 1, 3
_MAX_LOG_BYTES = 4_000_000
_TICK_S = 0.5
_SHUTDOWN_GRACE_S = 10.0
_DRAIN_S = 3

_BUSY_STATUS = 503
_LOOKS = ("/api/admin/version", "/api/health")  # whoever asks these only looks for a server
_SHORTEST_WAIT_S, _LONGEST_WAIT_S = 0.1, 8.0


class Busy:
    """How long a client is to wait when SQLite was locked, which it is for milliseconds.

    Prefect answers 503 without saying, and its client then sleeps for two seconds. The time
    doubles with each such answer that follows closely, so that many clients still get through.
    """

    def __init__(self) -> None:
        self._wait_s = _SHORTEST_WAIT_S
        self._last = -math.inf

    def retry_after(self) -> tuple[bytes, bytes]:
        """Return the header (RFC 9110 §10.2.3, with the fraction that Prefect's client takes)."""
        now = time.monotonic()
        close = now - self._last < 2 * self._wait_s
        self._wait_s = min(self._wait_s * 2, _LONGEST_WAIT_S) if close else _SHORTEST_WAIT_S
        self._last = now
        return b"retry-after", f"{self._wait_s:.2f}".encode()


class Activity:
    """Remembers when the server was last used, by a client's lock or by a request."""

    def __init__(self) -> None:
        self._last = time.monotonic()
        self._busy = Busy()

    def note(self) -> None:
        """Note a use, now."""
        self._last = time.monotonic()

    @property
    def idle_s(self) -> float:
        """Return the seconds since the last use."""
        return time.monotonic() - self._last

    def watch(self, app: App) -> App:
        """Return `app` with each of its requests noted, so a person watching is a use too."""

        async def noted(scope: Message, receive: Any, send: Any) -> None:
            async def send_on(message: Message) -> None:
                if message["type"] == "http.response.start" and message["status"] == _BUSY_STATUS:
                    message["headers"] = [*message["headers"], self._busy.retry_after()]
                await send(message)

            if scope.get("path") not in _LOOKS:
                self.note()
            await app(scope, receive, send_on)

        return noted


def settings(record: Record, folder: Path) -> dict[str, str]:
    """Return Prefect's settings for the server, as environment variables."""
    origin = f"http://127.0.0.1:{record.port}"
    return {
        "PREFECT_HOME": str(folder),
        # The clients' profile lies in the same folder and is not for the server.
        "PREFECT_PROFILES_PATH": os.devnull,
        "PREFECT_API_URL": f"{origin}/api",
        "PREFECT_API_AUTH_STRING": record.auth_string,
        "PREFECT_SERVER_API_AUTH_STRING": record.auth_string,
        "PREFECT_SERVER_API_HOST": "127.0.0.1",
        "PREFECT_SERVER_API_PORT": str(record.port),
        "PREFECT_SERVER_API_CSRF_PROTECTION_ENABLED": "true",
        "PREFECT_SERVER_API_CORS_ALLOWED_ORIGINS": origin,
        "PREFECT_SERVER_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{folder}/prefect.db",
        "PREFECT_SERVER_UI_API_URL": f"{origin}/api",
        # The default is inside the installed package.
        "PREFECT_SERVER_UI_STATIC_DIRECTORY": str(folder / "ui"),
        "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
        # Assay uses no blocks, and registering those of Prefect takes 0.6 s of a first start.
        "PREFECT_SERVER_REGISTER_BLOCKS_ON_START": "false",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "100",
        "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "100",
        "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
        "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_BATCH_SIZE": "200",
        "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_READ_BATCH_SIZE": "100",
        "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
        # In memory, which is the default, slots that were held when a server ends never come back.
        "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": (
            "prefect.server.concurrency.lease_storage.filesystem"
        ),
        "PREFECT_SERVER_CONCURRENCY_MAXIMUM_CONCURRENCY_SLOT_WAIT_SECONDS": "5",
    }


def bind(port: int | None) -> socket.socket:
    """Return a socket bound on loopback to `port` when it is free, else to any free port."""
    for candidate in (port, 0) if port else (0,):
        # asyncio turns Nagle's algorithm off, 40 ms a request, only for a socket that names TCP.
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", candidate or 0))
        except OSError:
            listener.close()
            continue
        return listener
    raise OSError("no port of 127.0.0.1 can be bound")


def claim(place: Place, port: int = 0) -> tuple[socket.socket, Record]:
    """Bind the port and write the record. Only the holder of the server lock may call this.

    A record that is still there belongs to a server that crashed. When its port is free the new
    server takes its port and secret, so runs and browsers that knew it go on, unless `port` says
    another one.
    """
    before = read_record(place)
    place.record.unlink(missing_ok=True)
    listener = bind(port or (before.port if before else None))
    port = int(listener.getsockname()[1])
    record = Record(
        pid=os.getpid(),
        started=process_start(os.getpid()),
        port=port,
        version=version("prefect"),
        secret=before.secret if before and before.port == port else secrets.token_urlsafe(32),
    )
    write_record(place, record)
    return listener, record


def bound_log(place: Place) -> None:
    """Start the log anew when it has grown past its bound, with the old one kept beside it."""
    if os.fstat(sys.stderr.fileno()).st_size <= _MAX_LOG_BYTES:
        return
    with suppress(OSError):  # on a full disk there is room again once the old one goes
        shutil.copyfile(place.log, place.log.with_suffix(".log.1"))
    os.truncate(place.log, 0)


def keep_record(place: Place, record: Record) -> None:
    """Write the record again when it was deleted or damaged: by it alone this server is found."""
    if read_record(place) is None:
        with suppress(StorageError):  # the disk is full or the folder gone: the next look tries
            write_record(place, record)


def supervise(
    server: "uvicorn.Server", place: Place, record: Record, activity: Activity, idle_limit_s: float
) -> None:
    """End `server` when it has been idle for long enough, and the process when it does not end.

    A thread rather than a task of the server's loop, so that a loop that hangs ends as well.
    """
    while not server.started and not server.should_exit:
        time.sleep(_TICK_S / 10)
        activity.note()
    gc.freeze()
    gc.enable()
    use = FileLock(place.use_lock)
    while not server.should_exit:
        time.sleep(_TICK_S)
        bound_log(place)
        keep_record(place, record)
        if not use.acquire(timeout=0):
            activity.note()
        elif activity.idle_s >= idle_limit_s:
            # The lock stays ours until the process is gone: a new client waits for that.
            place.record.unlink(missing_ok=True)
            os.kill(os.getpid(), signal.SIGTERM)
            break
        else:
            use.release()
    time.sleep(_SHUTDOWN_GRACE_S)
    os._exit(FAILED)


def serve(listener: socket.socket, place: Place, record: Record, idle_limit_s: float) -> None:
    """Run Prefect's own application on `listener` until it is told to end or is idle."""
    import uvicorn
    from prefect.server.api.server import create_app

    activity = Activity()
    origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
    server = uvicorn.Server(
        uvicorn.Config(
            activity.watch(confine(refuse_unreadable(create_app(final=True)), origin)),
            lifespan="on",
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=_DRAIN_S,
        )
    )
    threading.Thread(
        target=supervise, args=(server, place, record, activity, idle_limit_s), daemon=True
    ).start()
    server.run(sockets=[listener])


def main(folder: str, idle_limit_s: str, port: str) -> None:
    """Leave the starter, become the one server of `folder` and serve.

    The starter gets `STARTED` once the record is written, `TAKEN` when another server lives.
    """
    place = Place(Path(folder))
    told, teller = os.pipe()
    if os.fork():
        # The server is nobody's child: no zombie and no warning is left to the command.
        os.close(teller)
        os._exit({b"s": STARTED, b"t": TAKEN}.get(os.read(told, 1), FAILED))
    os.close(told)
    # Collecting while modules load and migrations run costs a fifth of the start.
    gc.disable()
    if not FileLock(place.server_lock).acquire(timeout=0):
        os.write(teller, b"t")
        return
    listener, record = claim(place, int(port))
    os.environ.update(settings(record, place.folder))
    os.write(teller, b"s")
    os.close(teller)
    serve(listener, place, record, float(idle_limit_s))


if __name__ == "__main__":
    main(*sys.argv[1:])
