"""Research as a kind of run."""

from typing import Any

from adapters.exports.plain_marks import escape
from flows.kinds import Kind
from flows.wiring import Desk
from state.projection import Run
from state.request import ResearchRequest
from state.values.errors import InvalidRequest
from state.values.plan import Plan, parse_plan


def _request(run: Run) -> ResearchRequest | None:
    return run.research.started.request if run.research else None


def _subject(run: Run) -> str:
    return run.research.started.objective if run.research else ""


def _flow() -> Any:
    from flows.research import research

    return research


def _requeue(desk: Desk, parent: Run, run_id: str) -> Run:
    from flows.runs import requeue_research

    return requeue_research(desk, parent, run_id)


def _read_plan(text: str) -> Plan:
    plan = parse_plan(text)
    if plan.clarification:
        raise InvalidRequest("a replacement has subquestions to research, not a clarification")
    return plan


def plan_text(_desk: Desk, run: Run) -> str:
    """Return the run's plan for people: its goal and its subquestions with their queries."""
    plan = run.research.plan if run.research else None
    if plan is None:
        return "There is no plan yet."
    lines = [f"Plan {plan.version}: {plan.goal}"]
    for number, part in enumerate(plan.subquestions, start=1):
        lines += [f"  {number}. {part.question}", f"     first query: {part.query}"]
    return "\n".join(lines)


def plan_markdown(_desk: Desk, run: Run) -> str:
    """Return the run's plan as Markdown."""
    plan = run.research.plan if run.research else None
    if plan is None:
        return "There is no plan yet."
    lines = [f"## Plan {plan.version}", "", f"**Goal:** {escape(plan.goal)}", ""]
    lines += ["| | Subquestion | First query |", "|---|---|---|"]
    for number, part in enumerate(plan.subquestions, start=1):
        lines.append(f"| {number} | {escape(part.question)} | {escape(part.query)} |")
    return "\n".join(lines)


def plan_fields(_desk: Desk, run: Run) -> dict[str, Any]:
    """Return the run's plan in the form that `replace` takes."""
    plan = run.research.plan if run.research else None
    if plan is None:
        return {}
    parts = [{"id": s.id, "question": s.question, "query": s.query} for s in plan.subquestions]
    return {"goal": plan.goal, "subquestions": parts}


RESEARCH = Kind(
    name="research",
    noun="research",
    request=_request,
    subject=_subject,
    flow=_flow,
    requeue=_requeue,
    read_plan=_read_plan,
    plan_fields=plan_fields,
    plan_text=plan_text,
    plan_markdown=plan_markdown,
    stops=("plan", "round", "report"),
)
