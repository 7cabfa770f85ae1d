"""How every task of the method behaves under Prefect: what is retried, and that nothing is cached.

The ledger remembers outcomes; a second memory could disagree with it.
"""

from typing import Any

from prefect import Task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.tasks import exponential_backoff

from adapters.models.chat.errors import ModelUnavailable
from state.values.errors import ObstructedError, TransientError

RETRIES = 2


def is_transient(_task: "Task[..., Any]", _run: TaskRun, state: "State[Any]") -> bool:
    """Tell whether a failed attempt may be repeated: only for errors that say so.

    A full disk stays full for the next seconds: an `ObstructedError` ends the run, resumable. So
    does a model that its client has asked again in vain: it is not asked three times three.
    """
    error = state.data
    if isinstance(error, ModelUnavailable) and error.was_repeated:
        return False
    return isinstance(error, TransientError) and not isinstance(error, ObstructedError)


POLICY: dict[str, Any] = {
    "cache_policy": NO_CACHE,
    "persist_result": False,
    "retries": RETRIES,
    "retry_delay_seconds": exponential_backoff(backoff_factor=1),
    "retry_jitter_factor": 0.5,
    "retry_condition_fn": is_transient,
}
