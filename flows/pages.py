"""The pages that Prefect shows of a deployed run, as Markdown: made of its projection alone."""

import re
from dataclasses import dataclass

from adapters.exports.plain_marks import escape
from flows.asked import asked_for
from flows.kinds import kind_of
from flows.progress import standing
from flows.showing import describe
from flows.wiring import Desk
from state.code_state import Paper2Code
from state.projection import Run
from state.research_events import ArtifactRole
from state.values.ids import sha256_hex
from state.values.redaction import redact

_MAX_BYTES = 900_000  # Prefect's pages grow slow beyond a megabyte
_SIGNS = {"covered": "covered", "gap": "**gap**", "conflict": "**conflict**", "open": "open"}


@dataclass(frozen=True, slots=True)
class Page:
    """A Markdown artifact: its key says what it is of which run, and one key has many versions."""

    key: str
    markdown: str
    description: str = ""


def plan_page(desk: Desk, run: Run) -> Page | None:
    """Return the present plan of `run`, if there is one."""
    if not kind_of(run).plan_fields(desk, run):
        return None
    return Page(key_of("plan", run), plan_to_decide(desk, run), f"The plan of {run.run_id}")


def plan_to_decide(desk: Desk, run: Run) -> str:
    """Return the present plan of `run` and what was asked for, as Markdown."""
    asked = [f"- **{name}:** {escape(redact(said))}" for name, said in asked_for(run).items()]
    plan = kind_of(run).plan_markdown(desk, run)
    return "\n".join([plan, "", "### What was asked for", "", *asked, ""])


def key_of(what: str, run: Run) -> str:
    """Return the key of an artifact: small letters, digits and dashes (and one for each run)."""
    spelled = re.sub(r"[^a-z0-9]+", "-", run.run_id.lower()).strip("-")
    marked = spelled if spelled == run.run_id else f"{spelled}-{sha256_hex(run.run_id)[:6]}"
    return f"{what}-{marked}"


def within_bounds(markdown: str) -> str:
    """Return `markdown`, cut at the end of a line where it is too long for a page."""
    encoded = markdown.encode()
    if len(encoded) <= _MAX_BYTES:
        return markdown
    kept = encoded[:_MAX_BYTES].decode(errors="ignore").rpartition("\n")[0]
    return f"{kept}\n\n*The rest is only in the file itself.*\n"


def coverage_page(run: Run) -> Page:
    """Return the coverage of a research run after its last round, a row a subquestion."""
    research = run.research
    assert research is not None  # only a research run assesses coverage  # noqa: S101
    rows = {row.subquestion_id: row for row in research.rows}
    lines = [f"# Coverage after round {research.assessed_round}", "", f"{standing(run)}", ""]
    lines += ["| | Subquestion | Coverage | Quotes | What is missing |", "|---|---|---|---:|---|"]
    for number, part in enumerate(research.plan.subquestions if research.plan else (), start=1):
        row = rows.get(part.id)
        sign = _SIGNS[str(row.coverage) if row else "open"]
        quotes, gap = (len(row.evidence_ids), row.gap) if row else (0, "")
        lines.append(f"| {number} | {escape(part.question)} | {sign} | {quotes} | {escape(gap)} |")
    if research.conflicts:
        lines += ["", "**Conflicts**", ""]
        lines += [f"- {escape(conflict.difference)}" for conflict in research.conflicts]
    title = f"Coverage after round {research.assessed_round}"
    return Page(key_of("coverage", run), "\n".join(lines) + "\n", title)


def report_page(desk: Desk, run: Run) -> Page | None:
    """Return the report of a completed run, with where its files are."""
    body_hash = _report_hash(run)
    if body_hash is None or run.status != "completed" or body_hash in run.withheld:
        return None
    files = "".join(f"- `{path}`\n" for path in describe(desk, run)["report"].values())
    where = f"\n\n---\n\nFiles of this report:\n\n{files}" if files else ""
    check = f"\nCheck it with `assay verify {run.run_id}`.\n"
    text = desk.artifacts.read_text(body_hash) + where + check
    return Page(key_of("report", run), text, f"The report of {run.run_id}")


def _report_hash(run: Run) -> str | None:
    if run.paper2code is not None:
        return run.paper2code.sealed.report_hash if run.paper2code.sealed else None
    reports = run.research.of_role(ArtifactRole.REPORT) if run.research else ()
    return next((each.content_hash for each in reports if each.name == "report.md"), None)


def progress(run: Run) -> float:
    """Return how far the run is, in percent: by its events, as far as they tell."""
    if run.status == "completed":
        return 100.0
    if run.paper2code is not None:
        return _progress_of_code(run.paper2code)
    research = run.research
    if research is None or research.plan is None:
        return 2.0
    if research.completed:
        return 95.0
    rounds = research.started.request.budgets.max_rounds
    searched = max(research.coverage, research.assessed_round / rounds)
    is_writing = any(stage.stage == "report_writing" for stage in run.stages)
    return 85.0 if is_writing else round(10 + 70 * min(searched, 1.0), 1)


def _progress_of_code(code: Paper2Code) -> float:
    if code.plan is None:
        return 5.0
    if code.sealed is not None:
        return 95.0
    written = len(code.files) / max(1, len(code.plan.paths_planned))
    return round(15 + 60 * min(written, 1.0) + 15 * code.is_verified, 1)
