"""How far a run is, on stderr while it works: a live line for people, plain lines for logs.

Everything shown comes from the projection, never from a model's words.
"""

import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from flows.code_showing import code_standing, tell_code
from flows.in_flight import InFlight
from flows.terminal import clean, console, is_terminal, talk
from state.envelope import Draft
from state.projection import Run
from state.values.evidence import Coverage
from state.values.wording import counted

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live
    from rich.spinner import Spinner


_BEAT_S = 10.0
_BEAT_OF_LOGS_S = 60.0


class Progress(Protocol):
    """Is told what happens; shows it or not."""

    def note(self, activity: str) -> None:
        """Show what is being done outside of the run's events."""
        ...

    def observe(self, run: Run, drafts: Sequence[Draft]) -> None:
        """Take in what was appended to `run`."""
        ...

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Leave the terminal to somebody else for the block."""
        ...


class Silent:
    """Shows nothing."""

    def note(self, activity: str) -> None:
        """Show nothing."""

    def observe(self, run: Run, drafts: Sequence[Draft]) -> None:
        """Show nothing."""

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Leave the terminal alone, as always."""
        yield


class Lines(Silent):
    """Writes one line for each thing worth telling, with the seconds since the command began.

    With `beat_s`, it says so often that a model is still being waited for.
    """

    def __init__(self, *, beat_s: float | None = None) -> None:
        self._began = time.monotonic()
        self._last = ""
        self._in_flight = InFlight()
        self._beat_s = beat_s
        self._ended = threading.Event()

    def note(self, activity: str) -> None:
        """Write `activity` unless it is what was written last."""
        if activity != self._last:
            self._last = activity
            talk(f"[{time.monotonic() - self._began:6.1f} s] {activity}")

    def observe(self, run: Run, drafts: Sequence[Draft]) -> None:
        """Write what of `drafts` is worth telling."""
        self._in_flight.observe(run, drafts)
        for draft in drafts:
            if activity := tell(run, draft):
                self.note(activity)

    def start(self) -> None:
        """Begin to say that a model is still being waited for."""
        if self._beat_s is not None:
            threading.Thread(target=self._beat, args=(self._beat_s,), daemon=True).start()

    def stop(self) -> None:
        """Say nothing of models any more."""
        self._ended.set()

    def _beat(self, beat_s: float) -> None:
        while not self._ended.wait(beat_s):
            if said := self._in_flight.told(beat_s / 2):
                self.note(said)


class LiveLine(Silent):
    """Keeps a line about the present and one about the whole at the bottom of the terminal.

    With `beat`, a third one says for how long models are being waited for, after ten seconds.
    """

    def __init__(self, *, beat: bool = False, in_flight: InFlight | None = None) -> None:
        self._in_flight = in_flight or InFlight()
        self._beat = beat
        self._live: Live | None = None
        self._spinner: Spinner | None = None
        self._began = time.monotonic()
        self._activity = "starting"
        self._standing = ""

    def __rich__(self) -> "RenderableType":
        """Draw the lines; the elapsed time goes on between events."""
        from rich.spinner import Spinner
        from rich.table import Table
        from rich.text import Text

        self._spinner = self._spinner or Spinner("dots", style="cyan")

        lines = Table.grid(padding=(0, 1))
        elapsed = f"{time.monotonic() - self._began:5.1f} s"
        head = Text.assemble((clean(self._activity), "bold"), "  ", (elapsed, "dim"))
        lines.add_row(self._spinner, head)
        if self._standing:
            lines.add_row("", Text(self._standing, style="dim"))
        if self._beat and (waiting := self._in_flight.told(_BEAT_S)):
            lines.add_row("", Text(waiting, style="dim"))
        return lines

    def note(self, activity: str) -> None:
        """Show `activity` as what is being done now."""
        self._activity = activity

    def observe(self, run: Run, drafts: Sequence[Draft]) -> None:
        """Show what was appended and where the run stands."""
        self._in_flight.observe(run, drafts)
        for draft in drafts:
            self._activity = tell(run, draft) or self._activity
        self._standing = standing(run)

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Stop drawing for the block."""
        self.stop()
        try:
            yield
        finally:
            self.start()

    def start(self) -> None:
        """Begin to draw, below whatever is on the terminal."""
        from rich.live import Live

        # A new one each time: it would move up over what was written since.
        self._live = Live(self, console=console(sys.stderr), transient=True, refresh_per_second=8)
        self._live.start()

    def stop(self) -> None:
        """Stop drawing and leave no trace."""
        if self._live is not None:
            self._live.stop()


@contextmanager
def shown_progress(*, quiet: bool, beat: bool = True) -> Iterator[Progress]:
    """Show progress on stderr for the block, in the way that suits what stderr is.

    With `beat`, also that a model is still being waited for: every ten seconds on a terminal, every
    minute elsewhere.
    """
    if quiet:
        yield Silent()
        return
    if is_terminal(sys.stderr):
        shown: Lines | LiveLine = LiveLine(beat=beat)
    else:
        shown = Lines(beat_s=_BEAT_OF_LOGS_S if beat else None)
    shown.start()
    try:
        yield shown
    finally:
        shown.stop()


# ---- what is told


@dataclass(frozen=True, slots=True)
class _Counts:
    covered: int
    subquestions: int
    sources: int
    quotes: int


def _counts(run: Run) -> _Counts:
    research = run.research
    if research is None:
        return _Counts(0, 0, 0, 0)
    covered = sum(row.coverage is Coverage.COVERED for row in research.rows)
    planned = len(research.plan.subquestions) if research.plan else 0
    return _Counts(covered, planned, len(research.sources), len(research.evidence_order))


def standing(run: Run) -> str:
    """Return where the run stands as one line: what was found and what was spent."""
    if run.paper2code is not None:
        return code_standing(run, run.paper2code)
    found = _counts(run)
    parts = [f"{found.covered}/{found.subquestions} covered"] if found.subquestions else []
    parts += [counted(found.sources, "source"), counted(found.quotes, "quote")]
    parts += [
        f"{label} {used}" + (f"/{limit}" if limit is not None else "")
        for label, used, limit in (
            ("searches", run.spent.searches, run.limits.searches),
            ("pages", run.spent.pages, run.limits.pages),
            ("model calls", run.spent.model_calls, run.limits.model_calls),
        )
        if used
    ]
    if run.spent.cost_micro_usd:
        parts.append(f"US$ {run.spent.cost_micro_usd / 1e6:.4f}")
    return " · ".join(parts)


_STAGES = {
    "planning": "planning",
    "knowledge_base": "building the knowledge base",
    "report_writing": "writing the report",
}


def tell(run: Run, draft: Draft) -> str:
    """Return what `draft` means for a person who waits, or '' when nothing."""
    if run.kind == "paper2code" and (told := tell_code(draft)):
        return told
    body = draft.body
    found = _counts(run)
    match draft.type:
        case "run_leased" if body["epoch"] > 1:
            return f"taken up again (lease {body['epoch']})"
        case "stage_started":
            return _STAGES.get(body["stage"], str(body["stage"]))
        case "research_plan_recorded":
            return f"plan {body['version']}: {counted(len(body['subquestions']), 'subquestion')}"
        case "review_requested":
            return "waiting for a person to review the plan"
        case "research_schedule_frozen":
            queries = counted(len(body["queries"]), "query", "queries")
            return f"round {body['round']}: searching {queries}"
        case "research_reading_frozen":
            return f"round {body['round']}: reading {counted(len(body['locators']), 'source')}"
        case "research_coverage_assessed":
            return (
                f"round {body['round']}: {found.covered} of "
                f"{counted(found.subquestions, 'subquestion')} covered, "
                f"{counted(found.quotes, 'quote')} from {counted(found.sources, 'source')}"
            )
        case "research_stop_decided":
            return f"no further round: {body['reason']}"
        case "research_completed":
            return "report sealed"
        case _:
            return ""
