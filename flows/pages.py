"""What Prefect's pages show of a deployed run: artifacts made of its events, and of nothing else.

They are for looking at. Prefect may lose them, and nothing is ever read back from them.
"""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import ArtifactCreate, ArtifactUpdate
from prefect.client.schemas.filters import ArtifactFilter

from flows.kinds import kind_of
from flows.progress import standing
from flows.showing import describe
from flows.wiring import Desk
from state.envelope import Draft
from state.projection import Run
from state.research_events import ArtifactRole
from state.values.ids import sha256_hex

_LOG = logging.getLogger("prefect.flow_runs")  # so that it is in the run's own log
_MAX_BYTES = 900_000  # Prefect's pages grow slow beyond a megabyte
_PATIENCE_S = 15.0
_PLANS = ("research_plan_recorded", "code_plan_recorded")


@dataclass(frozen=True, slots=True)
class Page:
    """A Markdown artifact: its key says what it is of which run, and one key has many versions."""

    key: str
    markdown: str
    description: str = ""


class Pages:
    """Publishes what is appended to one run as artifacts of the flow run that executes it."""

    def __init__(self, desk: Desk, flow_run_id: UUID) -> None:
        self._desk = desk
        self.flow_run_id = flow_run_id
        self._waiting: asyncio.Queue[Page | float | None] = asyncio.Queue()
        self._progress: UUID | None = None

    def observe(self, run: Run, drafts: Sequence[Draft]) -> None:
        """Take in what was appended to `run`; returns at once."""
        for draft in drafts:
            if draft.type in _PLANS:
                self.show_plan(run)
            elif draft.type == "research_coverage_assessed":
                self._waiting.put_nowait(coverage_page(run))
            elif draft.type == "run_completed":
                self.show_report(run)
        if any(draft.type in _STEPS_ON for draft in drafts):
            self._waiting.put_nowait(progress(run))

    def show_plan(self, run: Run) -> None:
        """Publish the present plan of `run`."""
        kind = kind_of(run)
        fields = kind.plan_fields(self._desk, run)
        if fields:
            text = f"# {kind.subject(run)}\n\n{kind.plan_markdown(self._desk, run)}"
            self._waiting.put_nowait(Page(key_of("plan", run), text, f"The plan of {run.run_id}"))

    def show_report(self, run: Run) -> None:
        """Publish the report of `run`, if it came to one."""
        if page := report_page(self._desk, run):
            self._waiting.put_nowait(page)

    def remark(self, run: Run, title: str, text: str) -> None:
        """Publish a remark on `run` that whoever looks at it has to see."""
        page = Page(key_of("remark", run), f"# {title}\n\n{text}\n", title)
        self._waiting.put_nowait(page)

    async def publish(self) -> None:
        """Publish in order until `end`; what cannot be published is logged and left out."""
        async with get_client() as client:
            while (made := await self._waiting.get()) is not None:
                try:
                    if isinstance(made, Page):
                        await client.create_artifact(self._artifact(made))
                    else:
                        await self._show_progress(client, made)
                except Exception as error:  # noqa: BLE001 - no page is worth a run
                    _LOG.warning("an artifact could not be published: %s", error)

    def end(self) -> None:
        """Let `publish` return when everything is published."""
        self._waiting.put_nowait(None)

    async def _show_progress(self, client: Any, percent: float) -> None:
        if self._progress is None:
            wanted = {"flow_run_id": {"any_": [self.flow_run_id]}, "type": {"any_": ["progress"]}}
            shown = await client.read_artifacts(
                artifact_filter=ArtifactFilter.model_validate(wanted)
            )
            self._progress = shown[0].id if shown else None
        if self._progress is None:
            made = ArtifactCreate(
                type="progress",
                description="How far the run is",
                data=percent,
                flow_run_id=self.flow_run_id,
            )
            self._progress = (await client.create_artifact(made)).id
        else:
            await client.update_artifact(self._progress, ArtifactUpdate(data=percent))

    def _artifact(self, page: Page) -> ArtifactCreate:
        return ArtifactCreate(
            key=page.key,
            type="markdown",
            description=page.description or None,
            data=within_bounds(page.markdown),
            flow_run_id=self.flow_run_id,
        )


@asynccontextmanager
async def publishing(desk: Desk, flow_run_id: UUID) -> AsyncIterator[Pages]:
    """Publish what the block shows, and wait for the last of it for some seconds."""
    pages = Pages(desk, flow_run_id)
    work = asyncio.create_task(pages.publish(), name="pages")
    try:
        yield pages
    finally:
        pages.end()
        with suppress(TimeoutError):
            await asyncio.wait_for(work, _PATIENCE_S)


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


_SIGNS = {"covered": "✅ covered", "gap": "⬜ gap", "conflict": "⚠️ conflict", "open": "… open"}


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
        lines.append(f"| {number} | {cell(part.question)} | {sign} | {quotes} | {cell(gap)} |")
    if research.conflicts:
        lines += ["", "**Conflicts**", ""]
        lines += [f"- {cell(conflict.difference)}" for conflict in research.conflicts]
    title = f"Coverage after round {research.assessed_round}"
    return Page(key_of("coverage", run), "\n".join(lines) + "\n", title)


def report_page(desk: Desk, run: Run) -> Page | None:
    """Return the report of a completed research run, with where its files are."""
    research = run.research
    if research is None or run.status != "completed":
        return None
    for artifact in research.of_role(ArtifactRole.REPORT):
        if artifact.name == "report.md" and artifact.content_hash not in run.withheld:
            text = desk.artifacts.read_text(artifact.content_hash)
            report = describe(desk, run)["report"]
            files = "".join(f"- `{path}`\n" for path in report.values())
            where = f"\n\n---\n\nFiles of this report:\n\n{files}" if files else ""
            check = f"\nCheck every citation with `assay verify {run.run_id}`.\n"
            return Page(key_of("report", run), text + where + check, f"The report of {run.run_id}")
    return None


def cell(text: str) -> str:
    """Return `text` so that it stays what it is within a table's cell."""
    for sign in "\\`*_[]<>|#":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("\n", " ")


_STEPS_ON = (*_PLANS, "research_coverage_assessed", "stage_started", "research_completed",
             "run_completed")  # fmt: skip


def progress(run: Run) -> float:
    """Return how far the run is, in percent: by its events, as far as they tell."""
    research = run.research
    if run.status == "completed":
        return 100.0
    if research is None or research.plan is None:
        return 2.0
    if research.completed:
        return 95.0
    rounds = research.started.request.budgets.max_rounds
    searched = max(research.coverage, research.assessed_round / rounds)
    is_writing = any(stage.stage == "report_writing" for stage in run.stages)
    return 85.0 if is_writing else round(10 + 70 * min(searched, 1.0), 1)
