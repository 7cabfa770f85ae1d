"""A receiver of webhooks on loopback: remembers what it took, and answers as it is told."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "t0ken-t0ken-t0ken"  # stands in the address, as it often does
Answering = Callable[[int], int]


@dataclass(slots=True)
class Receiver:
    """What came: every request, and the bodies that were taken, by their ids.

    `answers` gives the status for the request with that number, from 1; a 3xx leads to
    /elsewhere. `before` is called before an answer is given.
    """

    answers: Answering = lambda _: 204
    before: Callable[[], None] = lambda: None
    pause_s: float = 0.0
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    taken: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    origin: str = ""
    guard: threading.Lock = field(default_factory=threading.Lock)

    @property
    def address(self) -> str:
        """Return the address to tell, with its secret."""
        return f"{self.origin}/hooks/{TOKEN}"

    @property
    def told(self) -> list[str]:
        """Return run and type of what was taken, in order."""
        return [f"{body['data']['run_id']} {body['type']}" for _, body in self.taken]

    @property
    def ids(self) -> Counter[str]:
        """Return how often each message was taken."""
        return Counter(name for name, _ in self.taken)

    def take(self, path: str, headers: dict[str, str], body: bytes) -> int:
        """Remember a request; return the status to answer."""
        with self.guard:
            self.requests.append((path, headers, body))
            number = len(self.requests)
        time.sleep(self.pause_s)
        self.before()
        status = self.answers(number)
        if 200 <= status < 300:
            with self.guard:
                self.taken.append((headers["webhook-id"], json.loads(body)))
        return status


@contextmanager
def receiving(port: int = 0, **how: Any) -> Iterator[Receiver]:
    """Receive on 127.0.0.1 while the block runs."""
    receiver = Receiver(**how)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): text for name, text in self.headers.items()}
            status = receiver.take(self.path, headers, body)
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", f"{receiver.origin}/elsewhere")
            if status == 429:
                self.send_header("Retry-After", "1")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as http:
        http.daemon_threads = True
        http.block_on_close = False
        receiver.origin = f"http://127.0.0.1:{http.server_address[1]}"
        threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield receiver
        finally:
            http.shutdown()
