"""How a flow ends for Prefect, and how a stage of it passes on that the run was to be left."""

from typing import TypeVar, cast

from prefect.client.schemas.objects import State
from prefect.states import Cancelled, Completed

from flows.execution import Ending
from flows.step import StopAsked
from state.projection import Run

T = TypeVar("T")


def left_as_asked(stopped: StopAsked) -> State[StopAsked]:
    """Return the state of a flow that was left where somebody wanted it: nothing went wrong."""
    return Completed(name="Stopped", message=stopped.message, data=stopped)


def going_on(came_to: T | State[StopAsked]) -> T:
    """Return what a stage came to; raises `StopAsked` when the run was to be left within it."""
    # Prefect gives a state's data for the state.
    if isinstance(came_to, StopAsked):
        raise came_to
    return cast(T, came_to)


def shown_to_prefect(run: Run, ending: Ending) -> State[str]:
    """Return the state that shows in Prefect how this execution of the run ended."""
    if ending.status == "waiting":
        return Completed(name="Waiting", message="waits for a person to review its plan")
    if ending.status == "stopped":
        return Completed(name="Stopped", message=f"{run.reason}; it can be resumed")
    if ending.status == "cancelled":
        return Cancelled(message=run.reason)
    return Completed(message=f"{run.answer_status}: {run.stop_reason}")
