"""The gate: nothing of a plan that needs a review is carried out before a person approved it.

One rule for every kind of run. What a kind has to say is which plan is the present one, which
steps carry it out, and what a valid replacement is.
"""

from state.code_stages import CARRYING_OUT
from state.errors import Refused
from state.run import Run
from state.run_events import EffectReserved, EffectSettled, ReviewAnswered, ReviewRequested
from state.values.code_plan_rules import read_code_plan
from state.values.errors import InvalidRequest
from state.values.ids import canonical_json
from state.values.plan import parse_plan


def require_approval(run: Run) -> None:
    """Raise `Refused` (NOT_APPROVED) unless the present plan may be carried out."""
    plan = _present_plan(run)
    if _needs_review(run) and (plan is None or not run.is_approved(plan[1])):
        raise Refused("the plan was not approved by a person", code="NOT_APPROVED")
    if run.kind == "paper2code" and plan is None:
        raise Refused("there is no plan to carry out", code="NO_PLAN")


def require_approval_of_effect(run: Run, event: EffectReserved | EffectSettled) -> None:
    """Raise `Refused` (NOT_APPROVED) when the step carries out a plan that may not be yet."""
    if run.kind == "paper2code":
        carries_out = event.stage in CARRYING_OUT
    else:
        carries_out = isinstance(event, EffectReserved) and bool(
            event.reserve.searches or event.reserve.pages
        )
    if carries_out:
        require_approval(run)


def require_present_plan(run: Run, event: ReviewRequested) -> None:
    """Raise `Refused` unless `event` asks about exactly the present plan."""
    plan = _present_plan(run)
    if plan is None:
        raise Refused("there is no plan to review", code="NO_PLAN")
    if plan != (event.version, event.plan_hash):
        raise Refused("the request is about another plan than the present one", code="PLAN_HASH")


def require_valid_replacement(run: Run, event: ReviewAnswered) -> None:
    """Raise `Refused` unless the plan that `event` brings is valid, and is the one it approves."""
    read = read_code_plan if run.kind == "paper2code" else parse_plan
    try:
        plan_hash = read(canonical_json(event.plan)).hash
    except InvalidRequest as error:
        raise Refused(error.message, code="PLAN") from error
    if plan_hash != event.plan_hash:
        raise Refused("the plan_hash is not that of the replacement", code="PLAN_HASH")


def _needs_review(run: Run) -> bool:
    if run.paper2code:
        return run.paper2code.request.options.plan_review
    return run.research is not None and run.research.started.request.plan_review


def _present_plan(run: Run) -> tuple[int, str] | None:
    """Return version and hash of the plan that can be reviewed."""
    if run.paper2code:
        plan = run.paper2code.plan
        return (plan.version, plan.plan_hash) if plan else None
    found = run.research.plan if run.research else None
    return (found.version, found.plan_hash) if found and not found.clarification else None
