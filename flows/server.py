"""Assay's own Prefect server in the background: start, find, use and stop it. Imports no Prefect.

One server serves all commands of one home. It is found through its record and is alive exactly
as long as it holds its lock (`flows.server_record`); it ends when nobody has used it for a while.
"""

import base64
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from flows.server_process import STARTED, TAKEN
from flows.server_record import (
    Place,
    Record,
    is_locked,
    looking,
    process_start,
    read_record,
)
from state.locks import FileLock, holding
from state.values.errors import InvalidRequest, RejectedError, TransientError

_POLL_S = 0.05
_GLANCE_S = 0.2
_ASK_TIMEOUT_S = 5.0
_SPAWN_TIMEOUT_S = 60.0
_KILL_S = 10.0
_MAX_SPAWNS = 2
_LOG_LINES = 15
_KEPT_VARIABLES = (
    *("PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR"),
    *("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME"),
    *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
)


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answers. `auth_string` is a secret: it is for the client's settings only."""

    url: str
    auth_string: str = field(repr=False)
    pid: int
    port: int
    version: str
    started_here: bool


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """What a look found: `server` is set when one lives, `used` when it has clients."""

    state: Literal["down", "starting", "up"]
    server: Server | None
    used: bool


class PendingServer:
    """A server that may still be starting, in use until `release` or the end of the process."""

    def __init__(self, place: Place, *, idle_limit_s: float, port: int | None = None) -> None:
        self._place = place
        self._idle_limit_s = idle_limit_s
        self._port = port
        self._use = FileLock(place.use_lock)
        self._in_use = False
        self._spawns = 0
        self._started_here = False

    def look(self) -> Record | None:
        """Return the record of the server; start one when none lives. Does not wait for it."""
        if not self._in_use:
            self._in_use = self._use.acquire(shared=True, timeout=_GLANCE_S)
        if not self._in_use:  # the last server is just ending; its lock goes with it
            return None
        with looking(self._place):
            alive = is_locked(self._place.server_lock)
            record = read_record(self._place)
            if alive and record and record.version != version("prefect"):
                alive = not self._end_other_version(record)
            if not alive and self._spawns < _MAX_SPAWNS:
                self._spawn()
                record = read_record(self._place)
            return record if alive or self._started_here else None

    def found(self) -> Server | None:
        """Return the server as its record describes it, whether or not it answers yet."""
        record = self.look()
        return _server(record, started_here=self._started_here) if record else None

    def wait(self, timeout_s: float = 120.0) -> Server:
        """Return the server when it answers.

        Raises `TransientError` with the end of the server's log when it ends early or does not
        answer within `timeout_s`.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            record = self.look()
            if record and answers(record):
                return _server(record, started_here=self._started_here)
            if self._spawns >= _MAX_SPAWNS and not self.alive():
                raise TransientError(f"the Prefect server ended while starting; {self._why()}")
            if time.monotonic() > deadline:
                raise TransientError(
                    f"the Prefect server did not answer within {timeout_s:.0f} s (try again, or"
                    f" stop it first with `assay down`); {self._why()}"
                )
            time.sleep(_POLL_S)

    def release(self) -> None:
        """Stop counting as a user of the server. May be called again."""
        self._use.close()
        self._in_use = False

    def again(self) -> "PendingServer":
        """Return another start of the same server."""
        return PendingServer(self._place, idle_limit_s=self._idle_limit_s, port=self._port)

    def alive(self) -> bool:
        """Tell whether a server lives, whether or not it answers."""
        with looking(self._place):
            return is_locked(self._place.server_lock)

    def _end_other_version(self, record: Record) -> bool:
        """Stop the server of another Prefect unless others use it: then it serves us as well."""
        try:
            alone = self._use.acquire(timeout=_GLANCE_S)
            return alone and _end(self._place, record, grace_s=10.0)
        finally:
            self._in_use = self._use.acquire(shared=True, timeout=_GLANCE_S)

    def _spawn(self) -> None:
        self._spawns += 1
        log = os.open(self._place.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            ended = subprocess.run(
                _command(self._place.folder, self._idle_limit_s, self._port),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=_environment(os.environ),
                cwd=self._place.folder,
                start_new_session=True,
                umask=0o077,
                timeout=_SPAWN_TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise TransientError(f"cannot start the Prefect server: {error}") from error
        finally:
            os.close(log)
        self._started_here = ended.returncode == STARTED
        if ended.returncode == TAKEN:
            self._spawns -= 1

    def _why(self) -> str:
        try:
            lines = self._place.log.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError as error:
            return f"its log {self._place.log} cannot be read: {error.strerror or error}"
        tail = "\n".join(lines[-_LOG_LINES:]) or "(nothing logged)"
        return f"the end of its log {self._place.log}:\n{tail}"


def start_server(
    home: Path, *, idle_minutes: float = 30.0, port: int | None = None
) -> PendingServer:
    """Start the server of `home` unless it lives, and return without waiting until it answers.

    Raises `InvalidRequest` when it lives at another port than `port`, or `port` is taken.
    When the variable CI is set the server ends with its last user instead of `idle_minutes` later.
    """
    idle_limit_s = 0.0 if os.environ.get("CI") else idle_minutes * 60
    pending = PendingServer(Place.of(home), idle_limit_s=idle_limit_s, port=port)
    if port and not pending.alive():
        require_free(port)
    record = pending.look()
    if port and record and record.port != port:
        pending.release()
        raise InvalidRequest(
            f"the Prefect server of {home} is at port {record.port}; stop it first with "
            f"'assay down', or leave out --port"
        )
    return pending


def require_free(port: int) -> None:
    """Raise `InvalidRequest` when something else listens on `port` of 127.0.0.1."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise InvalidRequest(
                f"port {port} of 127.0.0.1 cannot be had ({error.strerror}); name another one"
            ) from error


def stop_server(home: Path, *, unless_used: bool = False, grace_s: float = 10.0) -> bool:
    """End the server of `home`; return whether there was one to end.

    With `unless_used` a server that still has clients is left alone, and the answer is False.
    Its secret is forgotten, so the next server has another.
    """
    place = Place.of(home)
    with looking(place):
        if not is_locked(place.server_lock):
            place.record.unlink(missing_ok=True)
            return False
        if unless_used and _has_clients(place):
            return False
        deadline = time.monotonic() + grace_s + _KILL_S
        while (record := read_record(place)) is None:
            # It has its lock and is about to write, or it is just ending by itself.
            if not is_locked(place.server_lock, patience_s=_POLL_S):
                return True
            if time.monotonic() > deadline:
                raise TransientError(f"a Prefect server lives but {place.record} is missing")
        return _end(place, record, grace_s=grace_s)


def server_status(home: Path) -> ServerStatus:
    """Look at the server of `home`; starts and stops nothing."""
    place = Place.of(home)
    with looking(place):
        record = read_record(place) if is_locked(place.server_lock) else None
        used = _has_clients(place)
    if record is None:
        return ServerStatus("down", None, used)
    state: Literal["starting", "up"] = "up" if answers(record) else "starting"
    return ServerStatus(state, _server(record, started_here=False), used)


@contextmanager
def in_use(home: Path) -> Iterator[None]:
    """Keep the server of `home` from ending for idleness, for as long as the block runs.

    The kernel ends the use with the process, however that dies. Enter it before the server is
    started or found; a server that is just ending is waited for.
    """
    with holding(Place.of(home).use_lock, "the Prefect server", shared=True, timeout=30.0):
        yield


def answers(record: Record) -> bool:
    """Tell whether the server of `record` answers to its secret, with its version."""
    token = base64.b64encode(record.auth_string.encode()).decode()
    connection = http.client.HTTPConnection("127.0.0.1", record.port, timeout=_ASK_TIMEOUT_S)
    try:
        connection.request("GET", "/api/admin/version", headers={"Authorization": f"Basic {token}"})
        response = connection.getresponse()
        return response.status == 200 and json.loads(response.read(1000)) == record.version
    except (OSError, http.client.HTTPException, ValueError):
        return False
    finally:
        connection.close()


def _server(record: Record, *, started_here: bool) -> Server:
    return Server(
        url=f"http://127.0.0.1:{record.port}/api",
        auth_string=record.auth_string,
        pid=record.pid,
        port=record.port,
        version=record.version,
        started_here=started_here,
    )


def _has_clients(place: Place) -> bool:
    # With patience, since the server itself takes the lock for an instant twice a second.
    return is_locked(place.use_lock, patience_s=_GLANCE_S)


def _end(place: Place, record: Record, *, grace_s: float) -> bool:
    """End the process of `record` and wait until its lock is free. The start lock is held."""
    if process_start(record.pid) != record.started:
        raise RejectedError(
            f"process {record.pid} in {place.record} is not the server; nothing was stopped"
        )
    for sign, patience_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, _KILL_S)):
        try:
            os.kill(record.pid, sign)
        except ProcessLookupError:
            pass  # it ended by itself; its lock tells
        except PermissionError as error:
            raise RejectedError(f"process {record.pid} belongs to another user") from error
        if not is_locked(place.server_lock, patience_s=patience_s):
            place.record.unlink(missing_ok=True)
            return True
    raise TransientError(f"the Prefect server, process {record.pid}, does not end; try again")


def _command(folder: Path, idle_limit_s: float, port: int | None) -> list[str]:
    # -P: neither the current folder nor this one may shadow a module of the server.
    program = [sys.executable, "-P", "-m", "flows.server_process"]
    return [*program, str(folder), str(idle_limit_s), str(port or 0)]


def _environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the few variables a server needs; whatever else is there may be a secret."""
    kept = {
        name: value
        for name, value in inherited.items()
        if name in _KEPT_VARIABLES or name.startswith("LC_")
    }
    root = str(Path(__file__).resolve().parents[1])
    if not root.endswith("site-packages"):  # run from a source tree
        kept["PYTHONPATH"] = os.pathsep.join(filter(None, (root, kept.get("PYTHONPATH"))))
    return kept
