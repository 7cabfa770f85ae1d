"""A PostgreSQL of the tests' own: a server on loopback with its data in a temporary folder."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

import psutil

_FOLDERS = ("/usr/lib/postgresql", "/usr/local/lib/postgresql")
_NEEDED = ("initdb", "postgres")
_START_S = 60.0
ROLE, PASSWORD = "ann", "p@ss:word/1%"
_QUOTED = "p%40ss%3Aword%2F1%25"


class Absent(Exception):
    """There is no PostgreSQL to start here; the text says what to install."""


def find_programs() -> Path:
    """Return the folder of the server's programs, of the newest version; raises `Absent`."""
    found = [path.parent for folder in _FOLDERS for path in Path(folder).glob("*/bin/postgres")]
    found.sort(key=lambda path: int(path.parent.name) if path.parent.name.isdigit() else 0)
    if named := shutil.which("postgres"):
        found.append(Path(named).resolve().parent)
    for folder in reversed(found):
        if all((folder / name).exists() for name in _NEEDED):
            return folder
    raise Absent("no PostgreSQL server is installed; install Debian's package `postgresql`")


class PostgresServer:
    """A running server. The role `ann` owns the databases, and is no superuser.

    Unless it is `durable` nothing waits for the disk: it survives a kill, but not a power failure.
    """

    def __init__(self, folder: Path, *, durable: bool = False) -> None:
        self._sync = "on" if durable else "off"
        self._programs = find_programs()
        self._folder = folder
        self._data = folder / "data"
        self._user = _unprivileged_user()
        self._process: subprocess.Popen[bytes] | None = None
        self.port = _free_port()
        self._make()

    def url(self, database: str = "assay", *, port: int | None = None) -> str:
        """Return the address of a database for the role `ann`; `port` is that of a proxy."""
        return f"postgresql://{ROLE}:{_QUOTED}@127.0.0.1:{port or self.port}/{database}"

    def start(self) -> None:
        """Start the server and return once it answers."""
        command = [
            str(self._programs / "postgres"), "-D", str(self._data), "-p", str(self.port),
            "-h", "127.0.0.1", "-k", str(self._folder), "-c", f"fsync={self._sync}",
            "-c", f"full_page_writes={self._sync}", "-c", "max_connections=120",
            "-c", "shared_buffers=32MB", "-c", "log_min_messages=warning",
        ]  # fmt: skip
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=log, user=self._user, group=self._group, cwd="/"
            )
        deadline = time.monotonic() + _START_S
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((self._folder / "log").read_text()[-2000:])
            time.sleep(0.02)

    def stop(self, how: Literal["fast", "immediate", "kill"] = "fast") -> None:
        """End the server: cleanly, without a word to its clients, or as if the power had failed."""
        if self._process is None:
            return
        signals = {"fast": signal.SIGINT, "immediate": signal.SIGQUIT, "kill": signal.SIGKILL}
        backends = psutil.Process(self._process.pid).children() if how == "kill" else []
        self._process.send_signal(signals[how])
        for backend in backends:
            with suppress(psutil.NoSuchProcess):
                backend.kill()
        self._process.wait(_START_S)
        psutil.wait_procs(backends, _START_S)
        self._process = None

    def restart(self, how: Literal["fast", "immediate", "kill"] = "immediate") -> None:
        """End the server and start it again on the same data and port."""
        self.stop(how)
        self.start()

    def create(self, database: str) -> str:
        """Make an empty database and return its address for the role `ann`."""
        self.admin(f"CREATE DATABASE {database} OWNER {ROLE} ENCODING 'UTF8' TEMPLATE template0")
        return self.url(database)

    def admin(self, sql: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Carry out a statement as the superuser and return its rows."""
        import psycopg

        with psycopg.connect(
            host=str(self._folder), port=self.port, user="postgres", dbname=database,
            autocommit=True,
        ) as connection:  # fmt: skip
            cursor = connection.execute(sql)
            return cursor.fetchall() if cursor.description else []

    @property
    def socket_folder(self) -> Path:
        """Return the folder of its Unix socket, by which the superuser comes in."""
        return self._folder

    @property
    def _group(self) -> str | None:
        return self._user

    def _make(self) -> None:
        if self._user is not None:
            shutil.chown(self._folder, self._user, self._group)
        initdb = [
            str(self._programs / "initdb"), "-D", str(self._data), "-U", "postgres", "--no-sync",
            "--encoding=UTF8", "--locale=C.UTF-8", "--auth-local=trust",
            "--auth-host=scram-sha-256",
        ]  # fmt: skip
        made = subprocess.run(
            initdb, capture_output=True, text=True, user=self._user, group=self._group, cwd="/",
            check=False,
        )  # fmt: skip
        if made.returncode:
            raise RuntimeError(made.stderr)

    def _answers(self) -> bool:
        import psycopg

        with suppress(psycopg.Error):
            return bool(self.admin("SELECT 1"))
        return False


def _unprivileged_user() -> str | None:
    """Return the user to run as, since the server refuses root; None for this one."""
    return "postgres" if os.geteuid() == 0 else None


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def postgres_server(*, durable: bool = False) -> Iterator[PostgresServer]:
    """Run a server for the block; raises `Absent` where there is none to run."""
    find_programs()
    # Not under pytest's folder, into which another user may not look.
    folder = Path(tempfile.mkdtemp(prefix=f"assay-pg-{secrets.token_hex(2)}-", dir="/tmp"))
    try:
        server = PostgresServer(folder, durable=durable)
        server.start()
        server.admin(f"CREATE ROLE {ROLE} LOGIN PASSWORD '{PASSWORD}'")
        server.create("assay")
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
