"""The command with which a person decides on a plan, from any process."""

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from flows.commands.shared import Json, RunId, run_at_desk

if TYPE_CHECKING:
    from flows.wiring import Desk
    from state.projection import Run

Action = Literal["approve", "revise", "replace", "cancel"]


def review(
    run_id: RunId,
    action: Annotated[
        Action | None,
        typer.Argument(metavar="ACTION", help="approve, revise, replace or cancel."),
    ] = None,
    *,
    feedback: Annotated[str, typer.Option(metavar="TEXT", help="revise: what should change.")] = "",
    plan: Annotated[
        Path | None, typer.Option(metavar="FILE", help="replace: the new plan, as JSON.")
    ] = None,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="cancel: why.")] = "",
    interaction: Annotated[
        str | None, typer.Option(metavar="ID", help="Answer this request, or none.")
    ] = None,
    json: Json = False,
) -> None:
    """Show the plan of RUN, or decide on it.

    The first answer to the live request counts; a later one is refused and told why.

    Example: assay review my-run revise --feedback "only since 2020"
    """
    from flows.prompting import plan_in

    opened, run_id = run_at_desk(run_id)
    if action is None:
        _show(opened, opened.ledger.project(run_id), json=json)
        return
    _check(action, {"--feedback": feedback, "--plan": plan, "--reason": reason})
    replacement = plan_in(plan, opened.ledger.project(run_id)) if plan else None
    fields = {"feedback": feedback, "reason": reason, "plan": replacement}
    _answer(opened, run_id, action, {**fields, "interaction_id": interaction}, json=json)


def _check(action: Action, given: dict[str, str | Path | None]) -> None:
    """Raise `InvalidRequest` when something was given that belongs to another answer."""
    from state.values.errors import InvalidRequest

    belongs = {"--feedback": "revise", "--plan": "replace", "--reason": "cancel"}
    for option, value in given.items():
        if value and belongs[option] != action:
            raise InvalidRequest(
                f"{option} belongs to {belongs[option]}, and the answer is {action}"
            )


def _answer(
    opened: "Desk", run_id: str, action: Action, fields: dict[str, Any], *, json: bool
) -> None:
    from flows.answering import answer_review
    from flows.runs import cancel
    from flows.serving_record import knock
    from flows.terminal import out, out_json

    answered = answer_review(opened, run_id, action, **fields).reviews[-1]
    executed = opened.ledger.holder(run_id) is not None
    if action == "cancel" and not executed:
        cancel(opened, run_id, fields["reason"])
    run = opened.ledger.project(run_id)
    served = knock(opened.settings.home)
    if json:
        facts = {"run_id": run_id, "interaction_id": answered.interaction_id, "action": action}
        out_json({**facts, "status": run.status, "executed": executed})
    else:
        out(f"{answered.interaction_id}: {action}, recorded")
        if run.is_terminal:
            out(f"run {run_id} is {run.status}")
        elif served and not executed:
            out(f"'assay serve' goes on with it; follow it with: assay watch {run_id}")
        elif not executed:
            out(f"go on with: assay resume {run_id}")


def _show(opened: "Desk", run: "Run", *, json: bool) -> None:
    from flows.kinds import kind_of
    from flows.terminal import out, out_json

    kind, live = kind_of(run), run.live_review
    fields = kind.plan_fields(opened, run)
    if json:
        facts: dict[str, Any] = {"run_id": run.run_id, "status": run.status}
        facts["interaction_id"] = live.interaction_id if live else None
        facts["plan_hash"] = live.plan_hash if live else None
        out_json({**facts, "plan": fields or None})
        return
    out(kind.plan_text(opened, run))
    if live is None:
        out(f"\nNothing is asked: run {run.run_id} is {run.status}.")
        return
    shown = dumps(fields, ensure_ascii=False, indent=2)
    out(f"\nAs JSON, to change and give back with replace --plan FILE:\n\n{shown}\n")
    command = f"assay review {run.run_id}"
    out(f"Request {live.interaction_id} waits for one of:")
    for answer in ("approve", "revise --feedback TEXT", "replace --plan FILE", "cancel"):
        # Named, so that no other plan is decided on that came meanwhile.
        out(f"  {command} {answer} --interaction {live.interaction_id}")
