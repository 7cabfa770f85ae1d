"""Runs with a language model over HTTP: the annex, a model's server, and what must hold of both."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from flows.runs import RunResult, execute, request_of, retry, submit
from flows.settings import Settings
from flows.wiring import Desk, make_desk
from state.projection import Run, project
from tests import annex as corpus
from tests.adapters.models.chat.openai_server import Behaviour, OpenAiServer, serving
from tests.annex import QUESTION, Annex, Mode
from tests.flows.answerer import Answerer

MODEL = "served"
NOTES = {
    "pavo.md": "# Pavo\n\nA Pavo team may have at most 25 members.\n",
    "meridian.md": "# Meridian Annex\n\nAudit logs are kept for 30 days and are then deleted.\n",
}
LIMITED = ("searches", "pages", "model_calls", "tokens", "cost_micro_usd")


@dataclass
class Place:
    """The annex and the model's server while they are served, and a data folder.

    Without a `model` the extractive researcher answers.
    """

    home: Path
    annex: Annex
    server: OpenAiServer
    answerer: Answerer
    settings: dict[str, Any] = field(default_factory=dict)
    model: str | None = MODEL

    @property
    def desk(self) -> Desk:
        """Return a desk as a new process would have it."""
        return make_desk(
            Settings(
                home=self.home,
                services=self.annex.origins,
                searxng_url=self.annex.a,
                model_url=self.server.base_url,
                **self.settings,
            )
        )

    def research(self, question: str = QUESTION, **options: Any) -> RunResult:
        """Answer the question in run `r1`, as far as it goes."""
        desk = self.desk
        given = {
            "search": ["searxng"], "origins": self.annex.origins, "model": self.model,
            "run_id": "r1",
            **options,
        }  # fmt: skip
        return execute(desk, submit(desk, request_of(desk, question, **given)).run_id)

    def read_notes(self, **options: Any) -> RunResult:
        """Answer the question from two local files, which is quicker."""
        folder = self.home.parent / f"{self.home.name}-notes"
        folder.mkdir(exist_ok=True)
        for name, text in NOTES.items():
            (folder / name).write_text(text)
        return self.research(search=[], origins=[], sources=[folder], **options)

    def resume(self) -> RunResult:
        """Carry the run on in a new process."""
        return execute(self.desk, "r1")

    def retry(self) -> RunResult:
        """Go on from the failed run, in a new one."""
        desk = self.desk
        return execute(desk, retry(desk, "r1").run_id)

    @property
    def run(self) -> Run:
        """Return the run as its events have it."""
        return self.desk.ledger.project("r1")

    @property
    def events(self) -> list[tuple[str, dict[str, Any]]]:
        """Return type and body of each event."""
        return [(e.envelope.type, dict(e.envelope.body)) for e in self.desk.ledger.read("r1")]

    @property
    def markdown(self) -> str:
        """Return the published report."""
        return (self.home / "reports" / "r1" / "report.md").read_text()

    @property
    def calls(self) -> int:
        """Return how many requests the model's server got."""
        return len(self.server.bodies)


@contextmanager
def served(
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    mode: Mode = "normal",
    *,
    answer: Callable[[dict[str, Any]], Behaviour] | None = None,
    lies: Any = None,
    **settings: Any,
) -> Iterator[Place]:
    """Serve the annex in `mode` and a model that answers sensibly, but for its `lies`."""
    answerer = Answerer(lies or {})
    with corpus.serving(mode) as annex, serving(answer=answer or answerer) as server:
        monkeypatch.setenv("ASSAY_MODEL_URL", server.base_url)
        monkeypatch.setenv("ASSAY_SEARXNG_URL", annex.a)
        yield Place(home, annex, server, answerer, settings)


def overspent(place: Place) -> list[str]:
    """Return where the run was beyond a limit; asserts that no reservation brought it there.

    Only a settled step that reports more than was reserved for it can: that it says so is the law.
    """
    lines = place.desk.ledger.read("r1")
    limits = project(lines[:1]).limits
    beyond = []
    for count in range(1, len(lines) + 1):
        spent, event = project(lines[:count]).spent, lines[count - 1].envelope
        for name in LIMITED:
            limit = getattr(limits, name)
            if limit is not None and getattr(spent, name) > limit:
                more = event.body.get("reserve", {})
                wanted = more.get("model_calls") or more.get(name)
                assert event.type != "effect_reserved" or not wanted, (name, event.position)
                beyond.append(f"{name} at {event.position}: {event.type}")
    return beyond


def hold(place: Place, result: RunResult) -> None:
    """Assert that all the report says is in the notes, and that no budget was exceeded."""
    said = " ".join(NOTES.values())
    assert all(citation["quote"] in said for citation in result.citations)
    assert all("9999" not in claim["text"] for claim in result.claims)
    numbers = {number for claim in result.claims for number in claim["citations"]}
    assert numbers == {citation["number"] for citation in result.citations}
    assert overspent(place) == []
