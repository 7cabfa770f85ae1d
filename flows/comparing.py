"""Comparing completed runs: what changed since the question was last answered."""

import json
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from flows.runs import existing_run
from flows.wiring import Desk
from state.errors import IntegrityError, NotFound, Withheld
from state.projection import Run
from state.research_events import ArtifactRole
from state.values.changes import compare
from state.values.errors import InvalidRequest
from state.values.report import Report
from state.values.statements import form

if TYPE_CHECKING:
    from adapters.exports.changes import ComparedRun, Comparison

_COMPLETED = """
    SELECT run_id, question FROM runs WHERE status = 'completed' AND scope = $1 AND run_id <> $2
    ORDER BY ended_at DESC, run_id DESC
"""


def compare_runs(desk: Desk, run_id: str, later_id: str | None = None) -> "Comparison":
    """Return what changed from `run_id` to `later_id`.

    Without `later_id`, `run_id` is the later one, compared with the last run before it that
    answered the same question in the same scope. Raises `NotFound` when there is no such run, or
    none before it; `InvalidRequest` when one of the two is not completed or made no report; and
    `Withheld` when a report was forgotten on purpose.
    """
    from adapters.exports.changes import Comparison

    later = existing_run(desk, later_id or run_id)
    after = read_report(desk, later)
    if later_id is None:
        earlier, remarks = _last_before(desk, later)
    else:
        earlier, remarks = existing_run(desk, run_id), ()
    before = read_report(desk, earlier)
    return Comparison(
        before=_compared(earlier),
        after=_compared(later),
        changes=compare(before, after),
        remarks=(*remarks, *_differences(earlier, later)),
    )


def read_report(desk: Desk, run: Run) -> Report:
    """Return the report that a completed run sealed; raises as `compare_runs` does."""
    if run.status != "completed":
        raise InvalidRequest(
            f"run {run.run_id!r} is {run.status}; only completed runs are compared"
        )
    if run.paper2code is not None:
        raise InvalidRequest(
            f"run {run.run_id!r} made code; compare two exports of code with a tool for that "
            f"('assay export {run.run_id} --to DIR'), and reports of research here"
        )
    made = run.research.of_role(ArtifactRole.REPORT) if run.research else ()
    for artifact in made:
        if artifact.name != "report.json":
            continue
        if reason := run.withheld.get(artifact.content_hash):
            raise Withheld(f"the report of run {run.run_id!r} is withheld: {reason}")
        body = desk.artifacts.get(artifact.content_hash)
        try:
            return TypeAdapter(Report).validate_python(_upcast(json.loads(body)["content"]))
        except (ValidationError, ValueError, KeyError, TypeError) as error:
            raise IntegrityError(
                f"the report of run {run.run_id!r} has a form that is not known; it was made by "
                "another version of Assay"
            ) from error
    raise InvalidRequest(f"run {run.run_id!r} made no report: it ended as {run.answer_status}")


def _upcast(content: dict[str, Any]) -> dict[str, Any]:
    """Return `content` as it is spelled now: once, what was not read was named without a reason."""
    omitted = [
        {"stage": "search", "target": each, "code": "OMITTED", "reason": "not recorded"}
        if isinstance(each, str)
        else each
        for each in content["omitted"]
    ]
    return {**content, "omitted": omitted}


def last_before(desk: Desk, run: Run) -> Run | None:
    """Return the last run before `run` with a report on its question, in its scope, if any."""
    try:
        return _last_before(desk, run)[0]
    except NotFound:
        return None


def _last_before(desk: Desk, run: Run) -> tuple[Run, tuple[str, ...]]:
    assert run.research is not None  # it made a report  # noqa: S101
    request = run.research.started.request
    asked = form(request.question)
    passed_over: list[str] = []
    for run_id, question in desk.ledger.query(_COMPLETED, [request.scope, run.run_id]).rows:
        if form(question) != asked:
            continue
        earlier = existing_run(desk, run_id)
        if earlier.ended_at > run.ended_at:
            continue
        try:
            read_report(desk, earlier)
        except (InvalidRequest, Withheld) as error:
            passed_over.append(f"Passed over: {error.message}.")
            continue
        return earlier, tuple(passed_over)
    why = " ".join(["", *passed_over])
    raise NotFound(
        f"no completed run before {run.run_id!r} answers the same question in the same scope "
        f"({request.scope}); name two runs: assay diff EARLIER LATER.{why}".rstrip(".")
    )


def _compared(run: Run) -> "ComparedRun":
    from adapters.exports.changes import ComparedRun

    assert run.research is not None  # it made a report  # noqa: S101
    request = run.research.started.request
    return ComparedRun(run.run_id, request.question, request.scope, run.ended_at)


def _differences(earlier: Run, later: Run) -> tuple[str, ...]:
    """Return what to bear in mind: where the two runs were not asked the same."""
    assert earlier.research is not None  # both made a report  # noqa: S101
    assert later.research is not None  # noqa: S101
    one, two = earlier.research.started.request, later.research.started.request
    remarks = []
    if form(one.question) != form(two.question):
        remarks.append(f"The two runs asked different questions; the other is: {one.question}")
    if one.scope != two.scope:
        remarks.append(f"Their scopes differ: {one.scope}, then {two.scope}.")
    if (one.sources, one.search_providers, one.reference_urls) != (
        two.sources,
        two.search_providers,
        two.reference_urls,
    ):
        remarks.append("They were not asked over the same sources.")
    if one.model != two.model:
        made = [request.model or "extractive" for request in (one, two)]
        remarks.append(f"Another researcher wrote them: {made[0]}, then {made[1]}.")
    if one.ranking != two.ranking:
        order = [request.ranking or "words alone" for request in (one, two)]
        remarks.append(f"What was found was ranked by {order[0]}, then by {order[1]}.")
    if earlier.run_id == later.run_id:
        remarks.append("Both are one run.")
    elif earlier.ended_at > later.ended_at:
        remarks.append(f"{earlier.run_id} was completed after {later.run_id}.")
    return tuple(remarks)
