"""Paper2Code as a kind of run."""

from collections.abc import Iterator
from typing import Any

from adapters.exports.plain_marks import escape
from flows.kinds import Kind
from flows.wiring import Desk
from state.code_request import CodeRequest
from state.code_state import Paper2Code
from state.projection import Run
from state.values.code_plan import CodePlan, PaperCitation
from state.values.code_plan_changes import diff_code_plans
from state.values.code_plan_form import parse_code_plan
from state.values.code_plan_rules import read_code_plan
from state.values.ids import canonical_json
from state.values.orders import gives_orders
from state.values.wording import counted


def _request(run: Run) -> CodeRequest | None:
    return run.paper2code.request if run.paper2code else None


def _subject(run: Run) -> str:
    """Return the title of the plan; before there is one, what was asked for."""
    code = run.paper2code
    if code is None:
        return ""
    return (code.plan.title if code.plan else "") or code.request.title


def _flow() -> Any:
    from flows.paper2code import paper2code

    return paper2code


def _requeue(desk: Desk, parent: Run, run_id: str) -> Run:
    from flows.code_runs import requeue_code

    return requeue_code(desk, parent, run_id)


def _fields(desk: Desk, run: Run) -> dict[str, Any]:
    from flows.code_runs import read_plan_fields

    return read_plan_fields(desk, run)


def present_plan(desk: Desk, run: Run) -> CodePlan | None:
    """Return the plan as it stands."""
    fields = _fields(desk, run)
    return parse_code_plan(canonical_json(fields)) if fields else None


def plan_text(desk: Desk, run: Run) -> str:
    """Return the run's plan for people at a terminal, and what changed since its last version."""
    plan = present_plan(desk, run)
    if plan is None or run.paper2code is None or run.paper2code.plan is None:
        return "There is no plan yet."
    made_from = run.paper2code.request.made_from
    lines = [f"Plan {run.paper2code.plan.version}: {plan.title}", ""]
    lines += _remarks(desk, run)
    language = f"{plan.environment_setup.language} {plan.environment_setup.version}".strip()
    lines.append(f"Language: {language}")
    packages = ", ".join(r.name + r.specifier for r in plan.environment_setup.requirements)
    lines += [f"Installs: {packages or 'nothing'}", "", "Files, in the order they are written:"]
    for path in plan.implementation_strategy.order:
        file = plan.file(path)
        lines.append(f"  {path} — {file.purpose if file else ''}")
    lines += ["", "Components and when each is accepted:"]
    for part in plan.implementation_components:
        lines.append(f"  {part.name}: {part.criterion}")
        lines += [f"    {_cited(citation, made_from)}" for citation in part.citations]
    if plan.quantities:
        lines += ["", "Values:"]
    for each in plan.quantities:
        value = f"{each.value} {each.unit}".strip() or "left open"
        lines.append(f"  {each.name} = {value} ({each.status.value})")
        if each.citation is not None:
            lines.append(f"    {_cited(each.citation, made_from)}")
    if plan.ambiguities:
        lines += ["", f"Left open by the {made_from}:"]
        lines += [f"  {each.question} → {each.resolution}" for each in plan.ambiguities]
    lines += ["", f"Tests: {plan.validation_approach.approach}"]
    if changes := _changes(desk, run, plan):
        lines += ["", "Changed since the last version:", *changes]
    return "\n".join(lines)


def _remarks(desk: Desk, run: Run) -> list[str]:
    """Return how well the source could be read, for whoever decides what it is worth."""
    lines: list[str] = []
    for source in run.paper2code.sources[:20] if run.paper2code else ():
        said = [f"{source.size} bytes"]
        if source.pages is not None:
            said.append(counted(source.pages, "page"))
        if source.pages_without_text:
            said.append(f"{source.pages_without_text} without text")
        if source.pages_in_doubt:
            said.append(f"{source.pages_in_doubt} in doubt")
        if source.hidden_text:
            said.append("holds hidden text")
        if source.rendition and gives_orders(desk.artifacts.read_text(source.rendition.text_hash)):
            said.append("gives orders to its reader, which are not obeyed")
        kind = run.paper2code.request.made_from.capitalize() if run.paper2code else "Source"
        lines.append(f"{kind}: {source.name} ({', '.join(said)})")
    return lines


def _cited(citation: PaperCitation, made_from: str) -> str:
    quote = " ".join(citation.quote.split())
    found = "" if citation.is_located else f" [NOT FOUND in the {made_from}]"
    place = f" ({citation.place})" if citation.place else ""
    return f"“{quote[:300]}”{place}{found}"


def _changes(desk: Desk, run: Run, plan: CodePlan) -> list[str]:
    code = run.paper2code
    if code is None or len(code.plans) < 2:
        return []
    before = parse_code_plan(desk.artifacts.read_text(code.plans[-2].body_hash))
    return diff_code_plans(before, plan).as_text().splitlines() or ["  nothing"]


def plan_markdown(desk: Desk, run: Run) -> str:
    """Return the run's plan as Markdown, and what changed since its last version."""
    plan = present_plan(desk, run)
    if plan is None or run.paper2code is None or run.paper2code.plan is None:
        return "There is no plan yet."
    return "\n".join(_markdown(desk, run, plan, run.paper2code))


def _markdown(desk: Desk, run: Run, plan: CodePlan, code: Paper2Code) -> Iterator[str]:
    version, made_from = code.plan.version if code.plan else 0, code.request.made_from
    yield f"## Plan {version}: {escape(plan.title)}"
    yield ""
    yield from (f"- {escape(remark)}" for remark in _remarks(desk, run))
    packages = ", ".join(r.name + r.specifier for r in plan.environment_setup.requirements)
    language = f"{plan.environment_setup.language} {plan.environment_setup.version}".strip()
    yield f"- {escape(language)}; installs {escape(packages) or 'nothing'}"
    yield from ("", "| File | Purpose |", "|---|---|")
    for path in plan.implementation_strategy.order:
        file = plan.file(path)
        yield f"| {escape(path)} | {escape(file.purpose if file else '')} |"
    yield from ("", "### Accepted when", "")
    for part in plan.implementation_components:
        yield f"- **{escape(part.name)}**: {escape(part.criterion)}"
        yield from (f"    - {escape(_cited(citation, made_from))}" for citation in part.citations)
    if plan.quantities:
        yield from ("", "### Values", "", "| Value | | Status | Quote |", "|---|---|---|---|")
    for each in plan.quantities:
        value = f"{each.value} {each.unit}".strip() or "left open"
        quote = escape(_cited(each.citation, made_from)) if each.citation else ""
        yield f"| {escape(each.name)} | {escape(value)} | {each.status.value} | {quote} |"
    if plan.ambiguities:
        yield from ("", f"### Left open by the {made_from}", "")
        yield from (
            f"- {escape(each.question)} → {escape(each.resolution)}" for each in plan.ambiguities
        )
    yield from ("", f"Tests: {escape(plan.validation_approach.approach)}")
    if changes := _changes(desk, run, plan):
        yield from ("", "### Changed since the last version", "")
        yield from (f"- {escape(line)}" for line in changes)


PAPER2CODE = Kind(
    name="paper2code",
    noun="code",
    request=_request,
    subject=_subject,
    flow=_flow,
    requeue=_requeue,
    read_plan=read_code_plan,
    plan_fields=_fields,
    plan_text=plan_text,
    plan_markdown=plan_markdown,
    stops=("plan", "files", "tests"),
)
