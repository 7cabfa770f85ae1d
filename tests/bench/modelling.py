"""A deep run with a slow model and a slow web: its wall time against the method's critical path.

On loopback a model takes 2 s for an answer, a search and a page 0.5 s each. The critical path is
the longest chain of what has to wait for one another: the plan; in each round a search, a page and
an assessment; the outline, a section, a check, and the look at the whole. What is independent costs
nothing more if it overlaps. Beside it stands what politeness adds: one search a second of a service
of one's own, and a host's robots.txt before its first page.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from json import dumps
from pathlib import Path
from threading import Thread
from typing import Any

from flows.runs import RunResult, execute, request_of, submit
from flows.settings import Settings
from flows.wiring import make_desk
from tests.adapters.models.chat.openai_server import Say, serving
from tests.bench.engine import engine
from tests.bench.measuring import Row
from tests.flows.answerer import Answerer

MODEL_S, SEARCH_S, PAGE_S = 2.0, 0.5, 0.5
SITES = 4
QUESTION = "How many members may a Pavo team have, and how long are audit logs kept?"
ROUND_S = SEARCH_S + PAGE_S + MODEL_S
CRITICAL_S = MODEL_S + 2 * ROUND_S + 4 * MODEL_S
# The second search of the first round begins a second after the first; then robots.txt.
POLITE_S = 1.0 + PAGE_S
PAGES = {
    "pavo": "A Pavo team may have at most 25 members, says site {site}. The retention of audit "
    "logs is in the separately indexed Meridian Annex.",
    "meridian": "Audit logs are kept for 30 days and are then deleted, says site {site}.",
}


def measure(folder: Path) -> Iterator[Row]:
    """Yield the wall time of a deep run against its critical path, and what it is without waits."""
    with engine(folder), _environment(), ExitStack() as stack:
        sites = [stack.enter_context(_site(number)) for number in range(SITES)]
        quick, _ = _run(folder / "quick", sites, wait=False)
        slow, result = _run(folder / "slow", sites, wait=True)
    usage = result.usage
    tokens = usage["input_tokens"] + usage["cached_tokens"] + usage["output_tokens"]
    sys.stderr.write(
        f"modelling: {usage['model_calls']} model calls, {tokens} tokens, {usage['searches']} "
        f"searches, {usage['pages']} pages in one deep run\n"
    )
    yield Row("deep run with a model, wall", slow, CRITICAL_S, "critical path", most_ratio=1.15)
    named = "critical path and politeness"
    yield Row("the same", slow, CRITICAL_S + POLITE_S, named, most_ratio=1.15)
    yield Row("the same run without latencies", quick, CRITICAL_S, "critical path")


def _run(home: Path, sites: list["_Site"], *, wait: bool) -> tuple[float, RunResult]:
    model = Answerer()
    model.shape = lambda text: Say(text, truth=True, piece=1 << 20, pause_s=wait * MODEL_S)
    with serving(answer=model) as server:
        for site in sites:
            site.wait = wait
        os.environ |= {"ASSAY_MODEL_URL": server.base_url, "ASSAY_SEARXNG_URL": sites[0].origin}
        origins = tuple(site.origin for site in sites)
        desk = make_desk(
            Settings(
                home=home, services=origins, searxng_url=sites[0].origin,
                model_url=server.base_url,
            )
        )  # fmt: skip
        request = request_of(
            desk, QUESTION, search=["searxng"], origins=origins, model="served", run_id="bench",
            scope="deep",
        )  # fmt: skip
        submit(desk, request)
        began = time.monotonic()
        result = execute(desk, request.id)
        wall = time.monotonic() - began
    if result.answer_status != "answered":
        raise RuntimeError(f"the run came to {result.answer_status or result.reason}")
    return wall, result


@contextmanager
def _environment() -> Iterator[None]:
    """Put the environment back as it was when the block ends."""
    before = dict(os.environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


_ALL: list["_Site"] = []


class _Site:
    """One of the sites; the first one searches over all of them."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.origin = ""
        self.wait = True

    def answer(self, path: str) -> tuple[int, str, bytes]:
        """Return status, media type and body, after the latency."""
        time.sleep(self.wait * (SEARCH_S if path.startswith("/search") else PAGE_S))
        if path.startswith("/search"):
            name = "meridian" if "meridian" in path.casefold() else "pavo"
            hits = [{"url": f"{site.origin}/{name}", "title": name, "content": ""} for site in _ALL]
            return 200, "application/json", dumps({"query": "", "results": hits}).encode()
        text = PAGES.get(path.strip("/"))
        if text is None:
            return 404, "text/plain", b"no such page"
        said = text.format(site="ABCDEFGH"[self.number])
        head = f"<html><head><title>{path}</title></head>"
        body = f"<!doctype html>{head}<body><main><p>{said}</p></main></body></html>"
        return 200, "text/html; charset=utf-8", body.encode()


@contextmanager
def _site(number: int) -> Iterator[_Site]:
    """Serve a site at a loopback address of its own, as hosts are paced, for the block."""
    site = _Site(number)
    server = ThreadingHTTPServer((f"127.0.0.{number + 1}", 0), _handler(site.answer))
    server.daemon_threads = True
    site.origin = f"http://127.0.0.{number + 1}:{server.server_port}"
    _ALL.append(site)
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield site
    finally:
        _ALL.remove(site)
        server.shutdown()
        server.server_close()


def _handler(answer: Callable[[str], tuple[int, str, bytes]]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, media_type, body = answer(self.path)
            self.send_response(status)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    return Handler
