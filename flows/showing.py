"""What can be shown of a run, as plain values, from its projection and the archive alone."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flows.code_showing import code_facts, code_so_far
from flows.kinds import kind_of
from flows.runs import RunResult, read_result
from flows.unread import unread
from flows.wiring import Desk
from state.projection import Run
from state.research_events import ArtifactRole
from state.research_projection import Research
from state.values.statements import form
from state.working_time import seconds_between

Facts = dict[str, Any]


def run_line(run: Run) -> Facts:
    """Return a run in a few values, for a list of runs."""
    research = run.research
    return {
        "run_id": run.run_id,
        "status": run.status,
        "answer_status": run.answer_status,
        "coverage": round(research.coverage, 4) if research else 0.0,
        "stop_reason": run.stop_reason,
        "kind": run.kind,
        "so_far": _so_far(run),
        "question": kind_of(run).subject(run) if run.kind else "",
        "queued_at": run.queued_at,
        "updated_at": run.updated_at,
    }


def _so_far(run: Run) -> str:
    """Return what there is already, as one short phrase for a list."""
    if run.paper2code is not None:
        return code_so_far(run, run.paper2code)
    return f"{run.research.coverage:.0%} covered" if run.research else ""


def describe(desk: Desk, run: Run) -> Facts:
    """Return all there is to show of `run`."""
    result = read_result(desk, run.run_id)
    holder = desk.ledger.holder(run.run_id)
    facts: Facts = {
        **run_line(run),
        "code": run.code,
        "reason": result.reason,
        "attempt": run.attempt,
        "retry_of": run.retry_of.run_id if run.retry_of else None,
        "requested_by": run.requested_by,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "duration_s": result.duration_s,
        "worked_s": result.worked_s,
        "waited_s": result.waited_s,
        "executed_by": {"pid": holder.pid, "host": holder.host} if holder else None,
        "usage": result.usage,
        "limits": run.limits.model_dump(exclude_none=True),
        "steps": _steps(run),
        "stages": _stages(run),
        "reviews": _reviews(run),
        "withheld": dict(run.withheld),
        "position": run.position,
        "head_hash": run.head_hash,
        "report": {name: path for name, path in result.report.items() if Path(path).exists()},
    }
    if run.research is not None:
        facts |= _research(desk, run, run.research, result)
    if run.paper2code is not None:
        facts |= code_facts(run, run.paper2code)
    return facts


def _steps(run: Run) -> dict[str, int]:
    counts = dict.fromkeys(("settled", "failed", "reserved"), 0)
    for effect in run.effects.values():
        counts[effect.state] += 1
    return counts


def _stages(run: Run) -> list[Facts]:
    return [
        {
            "stage": stage.stage,
            "started_at": stage.started_at,
            "completed_at": stage.completed_at,
            "duration_s": round(seconds_between(stage.started_at, stage.completed_at), 3)
            if stage.completed_at
            else None,
        }
        for stage in run.stages
    ]


def _reviews(run: Run) -> list[Facts]:
    return [
        {
            "interaction_id": review.interaction_id,
            "plan_version": review.version,
            "requested_at": review.requested_at,
            "answered_at": review.answered_at,
            "action": review.answer.action if review.answer else None,
            "by": review.answer.by if review.answer else None,
        }
        for review in run.reviews
    ]


def _research(desk: Desk, run: Run, research: Research, result: RunResult) -> Facts:
    request = research.started.request
    return {
        "scope": request.scope,
        "profile": request.profile,
        "sources_asked": list(request.sources),
        "stage": research.stage,
        "rounds": len(research.schedules),
        "plan": _plan(research),
        "subquestions": _rows(research),
        "conflicts": [conflict.difference for conflict in research.conflicts],
        "blockers": dict(research.blockers),
        "sources": _sources(research, run.withheld, desk.settings.services),
        "claims": _distinct(result.claims),
        "citations": len(result.citations),
    }


def _distinct(claims: list[Facts]) -> list[Facts]:
    """Return each claim once, with all `sections` that make it and the quotes of all."""
    made: dict[str, Facts] = {}
    for claim in claims:
        said = form(claim["text"])
        first = made.setdefault(said, {**claim, "sections": [], "citations": []})
        first["sections"].append(claim["section"])
        first["citations"] = sorted({*first["citations"], *claim["citations"]})
    return list(made.values())


def _plan(research: Research) -> Facts | None:
    plan = research.plan
    if plan is None:
        return None
    return {"version": plan.version, "goal": plan.goal, "clarification": plan.clarification}


def _rows(research: Research) -> list[Facts]:
    rows = {row.subquestion_id: row for row in research.rows}
    planned = research.plan.subquestions if research.plan else ()
    return [
        {
            "id": part.id,
            "question": part.question,
            "coverage": str(rows[part.id].coverage) if part.id in rows else "open",
            "quotes": len(rows[part.id].evidence_ids) if part.id in rows else 0,
            "gap": rows[part.id].gap if part.id in rows else "",
        }
        for part in planned
    ]


def _sources(
    research: Research, withheld: Mapping[str, str], services: tuple[str, ...]
) -> list[Facts]:
    """Return what became of everything that was found: cited, quoted, read, skipped or left out."""
    cited = {
        research.evidence[id_].quote.source_id
        for claim in research.claims.values()
        for id_ in claim.evidence_ids
    }
    quoted = {event.quote.source_id for event in research.evidence.values()}
    shown = [
        {
            "locator": source.locator,
            "disposition": "cited"
            if source.artifact_id in cited
            else "quoted"
            if source.artifact_id in quoted
            else "read",
            "artifact_id": source.artifact_id,
            "content_hash": source.content_hash,
            "size": source.size,
            "reason": withheld.get(source.content_hash, ""),
            "code": "WITHHELD" if source.content_hash in withheld else "",
        }
        for source in research.of_role(ArtifactRole.SOURCE)
    ]
    shown += [
        {
            "locator": skipped.locator,
            "disposition": "skipped",
            "stage": skipped.stage,
            "code": skipped.code,
            "reason": skipped.reason,
        }
        for skipped in research.skipped
    ]
    return shown + [
        {
            "locator": each.target,
            "disposition": "not read",
            "code": each.code,
            "reason": each.reason,
        }
        for each in unread(research, services)
    ]
