"""A run: everything its events say about it, and the questions that are answered from that."""

from dataclasses import dataclass
from typing import Literal

from immutables import Map

from state.code_stages import percent_begun
from state.code_state import Paper2Code
from state.effects import Effect
from state.envelope import NO_HASH
from state.events import Ancestor, Event, Holder, Limits
from state.notices import Notice
from state.research_state import Research
from state.reviews import Review
from state.run_events import NoticeKind
from state.values.money import Usage
from state.working_time import WorkingTime

Status = Literal[
    "absent", "queued", "running", "waiting", "interrupted", "completed", "failed", "cancelled"
]
TERMINAL: frozenset[Status] = frozenset({"completed", "failed", "cancelled"})


@dataclass(frozen=True, slots=True)
class StageRecord:
    """When a stage began, and when it ended (None: not yet)."""

    stage: str
    started_at: str
    completed_at: str | None = None


@dataclass(frozen=True)  # no slots: see `state.copying`
class Run:
    """A run as its events describe it; times are the ledger's (UTC, ISO 8601)."""

    run_id: str = ""
    kind: str = ""
    task_id: str = ""
    attempt: int = 1
    fingerprint: str = ""
    requested_by: str = ""
    limits: Limits = Limits()
    retry_of: Ancestor | None = None
    position: int = 0
    head_hash: str = NO_HASH
    status: Status = "absent"
    epoch: int = 0
    holder: Holder | None = None
    queued_at: str = ""
    started_at: str = ""
    updated_at: str = ""
    ended_at: str = ""
    time: WorkingTime = WorkingTime()
    spent: Usage = Usage()
    effects: Map[str, Effect] = Map()
    reviews: tuple[Review, ...] = ()
    cancel_reason: str | None = None
    code: str = ""
    reason: str = ""
    answer_status: str = ""
    stop_reason: str = ""
    stages: tuple[StageRecord, ...] = ()
    withheld: Map[str, str] = Map()
    notify: tuple[NoticeKind, ...] = ()
    notices: tuple[Notice, ...] = ()
    research: Research | None = None
    paper2code: Paper2Code | None = None
    calls: Map[str, Event] = Map()  # but for effects

    @property
    def is_terminal(self) -> bool:
        """Tell whether the run has ended for good."""
        return self.status in TERMINAL

    @property
    def stage(self) -> str:
        """Return the stage that was begun last, or ''."""
        return self.stages[-1].stage if self.stages else ""

    @property
    def progress(self) -> int:
        """Return how far a Paper2Code run is by the stage it has reached, 0 to 100.

        It never falls, and is 100 for a completed run only.
        """
        if self.status == "completed":
            return 100
        return min(percent_begun(record.stage for record in self.stages), 99)

    @property
    def live_review(self) -> Review | None:
        """Return the request a person has not answered yet, if any."""
        last = self.reviews[-1] if self.reviews else None
        return last if last and last.answer is None else None

    def is_current(self, notice: Notice) -> bool:
        """Tell whether what `notice` tells is still so: nobody has answered, or gone on, since."""
        live = self.live_review.interaction_id if self.live_review else ""
        asked = live if self.status == "waiting" else ""
        return (notice.what, notice.interaction_id) == (self.status, asked)

    def is_approved(self, plan_hash: str) -> bool:
        """Tell whether a person's last word was to carry out exactly the plan with this hash."""
        return bool(self.reviews) and self.reviews[-1].approves(plan_hash)
