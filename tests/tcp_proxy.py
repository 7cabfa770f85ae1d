"""A proxy on loopback that breaks connections at a chosen moment, as networks do."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal

Moment = Literal["before", "after", "half-open"]


@dataclass
class Proxy:
    """Passes bytes on between clients and `server`, a port on loopback.

    `cut_at` breaks the connection once, at so many messages of a client from now: before that one
    is passed on, after it was (its answer is lost), or for the client alone, so that the server
    waits for more.
    """

    server: int
    port: int = 0
    delay_s: float = 0.0  # of each answer
    is_closed: bool = False
    _cut: tuple[int, Moment] | None = None
    _mutex: threading.Lock = field(default_factory=threading.Lock)
    _sockets: list[socket.socket] = field(default_factory=list[socket.socket])
    _stop: threading.Event = field(default_factory=threading.Event)
    cuts: int = 0
    passed: int = 0  # bytes of clients

    def cut_at(self, message: int, moment: Moment) -> None:
        """Break the connection at message number `message` from now, counted from 0."""
        with self._mutex:
            self._cut = (message, moment)

    def close_all(self) -> None:
        """Refuse new connections until `reopen`, and break those there are."""
        self.is_closed = True
        with self._mutex:
            sockets, self._sockets = self._sockets, []
        for each in sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def reopen(self) -> None:
        """Take connections again."""
        self.is_closed = False

    def serve(self, listener: socket.socket) -> None:
        """Accept connections until the listener is closed."""
        while not self._stop.is_set():
            try:
                client, _ = listener.accept()
            except OSError:
                return
            if self.is_closed:
                client.close()
                continue
            server = socket.create_connection(("127.0.0.1", self.server))
            for each in (client, server):
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._mutex:
                self._sockets += [client, server]
            for work in (self._requests, self._answers):
                threading.Thread(target=work, args=[client, server], daemon=True).start()

    def end(self) -> None:
        """Stop accepting and close everything."""
        self._stop.set()
        self.close_all()

    def _requests(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(1 << 20):
                self.passed += len(data)
                moment = self._moment()
                if moment != "before":
                    server.sendall(data)
                if moment == "after":
                    # Let the server act on it, so that only its answer is lost.
                    self._close(client)
                    self._stop.wait(0.15)
                if moment == "half-open":
                    self._close(client)
                    return
                if moment is not None:
                    break
        self._close(client)
        self._close(server)

    def _answers(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(1 << 20):
                if self.delay_s:
                    self._stop.wait(self.delay_s)
                with suppress(OSError):  # also read what a client that is gone is told
                    client.sendall(data)
        self._close(client)
        self._close(server)

    def _moment(self) -> Moment | None:
        with self._mutex:
            if self._cut is None:
                return None
            left, moment = self._cut
            if left > 0:
                self._cut = (left - 1, moment)
                return None
            self._cut = None
            self.cuts += 1
            return moment

    def _close(self, each: socket.socket) -> None:
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
        each.close()


@contextmanager
def tcp_proxy(server: int) -> Iterator[Proxy]:
    """Run a proxy before the port `server` for the block."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy = Proxy(server, listener.getsockname()[1])
        thread = threading.Thread(target=proxy.serve, args=[listener], daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            proxy.end()
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            thread.join(5)
