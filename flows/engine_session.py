"""The Prefect server for one command or one library call: the user's, else Assay's own.

    with engine_for(settings) as engine:  # a server that is needed starts now …
        ...                               # … while there is other work …
        engine.ready()                    # … and is waited for as late as possible
        asyncio.run(research(run_id))

The use ends with the block; the server lives on for the next command until it has been idle.
"""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from flows import engine
from flows.server import PendingServer, Server, start_server
from flows.settings import Settings
from flows.users_server import require_users_server
from state.values.errors import TransientError


class EngineSession:
    """A server that may still be starting, and Prefect's client set up for it."""

    def __init__(self, settings: Settings, pending: PendingServer | None, stack: ExitStack) -> None:
        self._settings = settings
        self._pending = pending
        self._stack = stack
        self._configured: str | None = None
        if pending is None:
            self._configure(None)
        elif (server := pending.found()) is not None:
            self._configure(server)

    def release(self) -> None:
        """Stop counting as a user of a server of our own."""
        if self._pending is not None:
            self._pending.release()

    def load(self) -> None:
        """Import Prefect and the flows, which takes a second or two, if the server is known."""
        if self._pending is None or self._configured is not None:
            import flows.research  # noqa: F401 - what is wanted is that it is there

    def ready(self) -> None:
        """Return when flows can run. Raises `TransientError` when the server does not come up."""
        if self._pending is not None:
            server = self._pending.wait(self._settings.server_start_timeout_s)
            if self._configured is None:
                self._configure(server)
            elif self._configured != server.url:
                self._override(server)
        self.load()

    def revive(self) -> bool:
        """Start a server of our own again that is gone; tell whether that was needed.

        It has its port and its secret again, so that all who knew it go on. Raises
        `TransientError` when it does not come up, or not there.
        """
        before = self._pending
        if before is None or before.alive():
            return False
        before.release()
        self._pending = before.again()
        server = self._pending.wait(self._settings.server_start_timeout_s)
        if server.url != self._configured:
            raise TransientError(f"the Prefect server came up elsewhere: at {server.url}")
        return True

    def _configure(self, server: Server | None) -> None:
        if "prefect" not in sys.modules:
            engine.configure(server, self._settings.home)
        elif server is not None:
            self._override(server)
        self._configured = server.url if server else ""

    def _override(self, server: Server) -> None:
        """Point a Prefect that was imported before at `server`, for as long as this session."""
        from prefect.settings import PREFECT_API_AUTH_STRING, PREFECT_API_URL, temporary_settings

        updates = {PREFECT_API_URL: server.url, PREFECT_API_AUTH_STRING: server.auth_string}
        self._stack.enter_context(temporary_settings(updates))
        self._configured = server.url


@contextmanager
def engine_for(settings: Settings, *, port: int | None = None) -> Iterator[EngineSession]:
    """Start or find the Prefect server, keep it for the block, and send all records at its end.

    PREFECT_API_URL wins when the user has set it; `port` is where a server of our own is to be.
    Raises `TransientError` when a server of our own cannot be started or the user's does not
    answer, and `InvalidRequest` when theirs is none or ours lives at another port.
    """
    with ExitStack() as stack:
        pending: PendingServer | None = None
        if require_users_server() is None:
            pending = start_server(
                settings.home, idle_minutes=settings.server_idle_minutes, port=port
            )
        session = EngineSession(settings, pending, stack)
        stack.callback(session.release)
        stack.callback(engine.flush)
        yield session
