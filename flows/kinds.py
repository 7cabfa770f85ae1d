"""The kinds of runs: what the gate, the schedules and the faces have to know of each.

Nothing else distinguishes research from Paper2Code, or from whatever is built on the durable step
next: a new kind is one more entry here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from flows.wiring import Desk, StopAfter
from state.projection import Run
from state.values.errors import RejectedError


class ReviewedPlan(Protocol):
    """A plan that a person decides on; `hash` is what an approval is bound to."""

    @property
    def hash(self) -> str:
        """Return the hash of the plan as a person is shown it."""
        ...

    def as_json(self) -> dict[str, Any]:
        """Return the plan in the form that is recorded, shown and given back to replace it."""
        ...


class Request(Protocol):
    """What was asked for, whatever the kind."""

    @property
    def id(self) -> str:
        """Return the run's id."""
        ...

    @property
    def principal(self) -> str:
        """Return who asks."""
        ...


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of run.

    `noun` is what reports and pages call it. `request` gives what a run was asked for (None before
    it started) and `subject` that on one line. `flow` imports and returns the kind's flow of
    Prefect, which takes a run id, carries that run on from wherever it stands, and returns the
    state that Prefect shows; its `fn` does the same within a flow that runs already.
    `requeue` queues the retry of a failed run. `read_plan` reads a replacement from JSON text and
    raises `InvalidRequest`; `plan_fields` is a run's present plan in that form ({}: there is none),
    `plan_text` the same for a terminal and `plan_markdown` for a page. `stops` are the points after
    which it can be left on purpose.
    """

    name: str
    noun: str
    request: Callable[[Run], Request | None]
    subject: Callable[[Run], str]
    flow: Callable[[], Any]
    requeue: Callable[[Desk, Run, str], Run]
    read_plan: Callable[[str], ReviewedPlan]
    plan_fields: Callable[[Desk, Run], dict[str, Any]]
    plan_text: Callable[[Desk, Run], str]
    plan_markdown: Callable[[Desk, Run], str]
    stops: tuple[StopAfter, ...]


def kind_of(run: Run) -> Kind:
    """Return the kind of `run`."""
    return kind_named(run.kind)


def kind_named(name: str) -> Kind:
    """Return the kind called `name`; raises `RejectedError` (KIND) when there is none."""
    if name == "research":
        from flows.research_kind import RESEARCH

        return RESEARCH
    if name == "paper2code":
        from flows.code_kind import PAPER2CODE

        return PAPER2CODE
    raise RejectedError(f"there is no kind of run called {name!r}", code="KIND")


def request_of_run(run: Run) -> Request:
    """Return what `run` was asked for; raises `RejectedError` (NOT_STARTED) before it started."""
    request = kind_of(run).request(run)
    if request is None:
        raise RejectedError(f"run {run.run_id!r} has not started", code="NOT_STARTED")
    return request
