"""Which run a person means: its id, or the beginning of one, as git takes commits."""

from flows.wiring import Desk
from state.errors import NotFound
from state.values.errors import InvalidRequest
from state.values.ids import is_stable_id

_MOST_SHOWN = 10


def run_id_of(desk: Desk, given: str) -> str:
    """Return the id of the run that `given` names: the id itself, or the only one that begins so.

    Raises `InvalidRequest` when several begin so, which are listed, or when `given` cannot be a
    run's id, and `NotFound` when there is no such run.
    """
    require_id(given)
    if desk.ledger.exists(given):
        return given
    found = sorted(run_id for run_id in desk.ledger.runs() if run_id.startswith(given))
    if not found:
        raise NotFound(f"there is no run {given!r}; 'assay runs' lists them")
    if len(found) > 1:
        more = f" and {len(found) - _MOST_SHOWN:,} more" if len(found) > _MOST_SHOWN else ""
        raise InvalidRequest(
            f"{len(found):,} runs begin with {given!r}: {', '.join(found[:_MOST_SHOWN])}{more}; "
            "give more of the id"
        )
    return found[0]


def require_id(given: str) -> None:
    """Raise `InvalidRequest` for what is neither a run's id nor the beginning of one."""
    if not is_stable_id(given):
        raise InvalidRequest(f"{given!r} is no run id; 'assay runs' lists them")
