"""What the rounds of a research run found out: values only, grown by one entry a round."""

from dataclasses import dataclass, field, replace

from adapters.models.port import Assessment
from state.method_events import StopReason
from state.values.evidence import Coverage, CoverageRow, Passage
from state.values.plan import Plan
from state.values.report import Failure, RoundEntry
from tasks.read import Reading


@dataclass(frozen=True, slots=True)
class Archived:
    """A source in the archive: its artifact id, how it was read, and what can be quoted from it."""

    source_id: str
    reading: Reading
    text: str
    passages: tuple[Passage, ...]


def nothing_known(plan: Plan) -> Assessment:
    """Return the assessment before the first round: every subquestion is open."""
    reason = "nothing was researched"
    rows = [CoverageRow(s.id, Coverage.GAP, gap=reason) for s in plan.subquestions]
    return Assessment((), tuple(rows))


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What the rounds so far found out; grows by one `RoundEntry` a round.

    `works` are the names of what was read (`adapters.search.identity`).
    """

    plan: Plan
    sources: tuple[Archived, ...] = ()
    assessment: Assessment = field(default_factory=lambda: Assessment((), ()))
    used_queries: tuple[str, ...] = ()
    rounds: tuple[RoundEntry, ...] = ()
    failures: tuple[Failure, ...] = ()
    notes: tuple[str, ...] = ()
    stop: StopReason | None = None
    inventory: str | None = None
    works: frozenset[str] = frozenset()

    @property
    def number(self) -> int:
        """Return how many rounds are closed."""
        return len(self.rounds)

    @property
    def source_ids(self) -> tuple[str, ...]:
        """Return what a derived artifact may cite: the sources, or else the inventory."""
        ids = tuple(source.source_id for source in self.sources)
        return ids or ((self.inventory,) if self.inventory else ())

    @property
    def cited_ids(self) -> tuple[str, ...]:
        """Return the ids of the sources that accepted evidence quotes, in archive order."""
        quoted = {choice.source_id for choice in self.assessment.selected}
        return tuple(id_ for id_ in self.source_ids if id_ in quoted)

    def stopped(self, reason: StopReason) -> "Knowledge":
        """Return this knowledge with the reason why no further round is begun."""
        return replace(self, stop=reason)
