"""The report of a Paper2Code run as Markdown and as JSON, the same bytes for the same run."""

import json
from collections.abc import Iterator, Sequence

from adapters.exports.plain_marks import escape, within
from state.values.code_plan import PaperCitation, QuantityKind, Status
from state.values.code_report import CodeReport, ReportedComponent, ReportedRepair, Standing
from state.values.wording import counted

_LONGEST_QUOTE = 400
_STANDING: dict[Standing, str] = {
    "shown": "shown to hold",
    "failed": "failed",
    "not shown": "not shown to hold",
}


def code_report_json(report: CodeReport) -> str:
    """Return the report as JSON text."""
    return json.dumps(report.as_json(), indent=2, ensure_ascii=False) + "\n"


def code_report_markdown(report: CodeReport) -> str:
    """Return the report as Markdown."""
    return "\n".join(_lines(report)).rstrip("\n") + "\n"


def _lines(report: CodeReport) -> Iterator[str]:
    yield f"# {_safe(report.title)}"
    yield ""
    yield f"**{_outcome(report)}**"
    yield ""
    for reason in report.reasons:
        yield f"- {_safe(reason)}"
    yield from _source(report)
    yield from _components(report)
    yield from _quantities(report)
    yield from _files(report)
    yield from _verifications(report)
    if report.ambiguities:
        yield from ("", f"## What the {report.made_from} leaves open", "")
        for each in report.ambiguities:
            yield f"- {_safe(each.question)} — {_safe(each.resolution)}"
    if report.references:
        yield from ("", "## References", "")
        yield from (f"- {_safe(each)}" for each in report.references)


def _outcome(report: CodeReport) -> str:
    if report.outcome == "incomplete":
        return "Incomplete: this code is not verified."
    last = report.verifications[-1]
    ran = "the test" if last.executed == 1 else f"all {last.executed} tests"
    shown = sum(part.standing == "shown" for part in report.components)
    criteria = counted(len(report.components), "criterion", "criteria")
    return (
        f"Complete: every planned file is there, and {ran} that ran passed. "
        f"Tests show {shown} of {criteria} to hold."
    )


def _source(report: CodeReport) -> Iterator[str]:
    yield from ("", "## Made from", "")
    if report.made_from == "requirement":
        yield f"- A requirement (`{report.source_hash}`)"
    else:
        yield f"- {report.made_from.capitalize()}: {_safe(report.source)} (`{report.source_hash}`)"
    if report.licence:
        yield f"- Its licence: {_safe(report.licence)}"
    yield from (f"- Of the {report.made_from}: {_safe(remark)}" for remark in report.source_remarks)
    if report.requirement:
        yield f"- Wanted: {_safe(report.requirement)}"
    yield f"- Plan: version {report.plan_version} (`{report.plan_hash}`), {_safe(report.review)}"
    yield f"- Coder: {_safe(report.coder)}"


def _components(report: CodeReport) -> Iterator[str]:
    yield from ("", "## Criterion by criterion", "")
    for part in report.components:
        yield f"### {_safe(part.name)}: {_STANDING[part.standing]}"
        yield ""
        yield f"Criterion: {_safe(part.criterion)}"
        yield ""
        yield f"{_safe(part.why)}"
        yield ""
        yield from _where(part)
        yield from (_citation(citation, report.made_from) for citation in part.citations)
        yield ""


def _where(part: ReportedComponent) -> Iterator[str]:
    yield f"- Files: {_paths(part.files) or 'none'}"
    yield f"- Tests: {_paths(part.tests) or 'none'}"


def _citation(citation: PaperCitation, made_from: str) -> str:
    quote = " ".join(citation.quote.split())
    if len(quote) > _LONGEST_QUOTE:
        quote = quote[:_LONGEST_QUOTE] + "…"
    place = citation.place or f"the {made_from}"
    page = f", page {citation.page}" if citation.page is not None else ""
    found = "" if citation.is_located else f" — NOT FOUND in the {made_from}"
    return f"- “{_safe(quote)}” ({_safe(place)}{page}){found}"


def _quantities(report: CodeReport) -> Iterator[str]:
    if not report.quantities:
        return
    yield from ("", "## Values", "")
    yield f"| Value | | Unit | Kind | In the {report.made_from} | Quote |"
    yield "|---|---|---|---|---|---|"
    for each in report.quantities:
        quote = ""
        if each.citation is not None:
            quote = f"“{_cell(each.citation.quote)}”"
            if not each.citation.is_located:
                quote += f" NOT FOUND in the {report.made_from}"
        stated = "open" if each.status is Status.UNSPECIFIED else each.status.value
        yield (
            f"| {_cell(each.name)} | {_cell(each.value)} | {_cell(each.unit)} "
            f"| {_kind(each.kind, report.made_from)} | {stated} | {quote} |"
        )


def _kind(kind: QuantityKind, made_from: str) -> str:
    """Return what a value is; only experiments of a paper have parameters above others."""
    is_plain = made_from == "requirement" and kind is QuantityKind.HYPERPARAMETER
    return "parameter" if is_plain else kind.value


def _files(report: CodeReport) -> Iterator[str]:
    yield from ("", "## Files", "", "| File | | Purpose |", "|---|---|---|")
    for file in report.files:
        status: str = file.status
        if file.status == "missing":
            status = f"MISSING: {_cell(file.reason)}" if file.reason else "MISSING"
        elif file.repairs:
            status = f"repaired ({file.repairs}×)"
        yield f"| `{file.path}` | {status} | {_cell(file.purpose)} |"
    if report.dropped:
        paths = _paths(report.dropped)
        yield from (
            "",
            f"No more part of the plan, and removed unless somebody changed it: {paths}",
        )


def _verifications(report: CodeReport) -> Iterator[str]:
    yield from ("", "## Verification", "")
    yield f"- Language: {_safe(report.language)}"
    yield f"- Dependencies: {_safe(', '.join(report.requirements)) or 'none'}"
    if report.installation:
        yield f"- Installation: {_safe(report.installation)}"
    repairs = {repair.attempt: repair for repair in report.repairs}
    for each in report.verifications:
        if (repair := repairs.pop(each.attempt, None)) is not None:
            yield from _repair(repair)
        commands = ", ".join(f"`{command}`" for command in each.commands) or "no command"
        yield (
            f"- Attempt {each.attempt}: {each.verdict} — {each.executed} tests executed, "
            f"{each.passed} passed, {each.failed} failed, {each.skipped} skipped "
            f"({commands}; isolation: {each.level})"
        )
        if each.reason:
            yield f"  - {_safe(each.reason)}"
    for repair in repairs.values():  # after one that changed nothing, nothing is run
        yield from _repair(repair)
    if not report.verifications:
        yield "- Nothing was run."
    if report.ended:
        yield f"- It ended there: {_safe(report.ended)}"


def _repair(repair: ReportedRepair) -> Iterator[str]:
    yield f"- Repair {repair.attempt}: {_safe(repair.diagnosis) or 'no diagnosis'}"
    yield f"  - changed: {_paths(repair.changed) or 'nothing'}"
    yield from (f"  - not allowed: {_safe(each)}" for each in repair.refused)


def _paths(paths: Sequence[str]) -> str:
    return ", ".join(f"`{path}`" for path in paths)


def _safe(text: str) -> str:
    """Return `text` on one line as what it says, whatever marks it holds."""
    return escape(" ".join(text.split()))


def _cell(text: str) -> str:
    return within(text)
