"""Publishes a deployed run as it goes: artifacts, progress and log lines of its flow run.

They are for looking at. Prefect may lose them, nothing is ever read back from them, and none that
cannot be made or sent disturbs the run.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from uuid import UUID

import anyio
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.actions import ArtifactCreate, ArtifactUpdate
from prefect.client.schemas.filters import ArtifactFilter
from prefect.logging.loggers import flow_run_logger

from flows.pages import Page, coverage_page, key_of, plan_page, progress, report_page, within_bounds
from flows.progress import tell
from flows.terminal import clean
from flows.wiring import Desk
from state.envelope import Draft
from state.projection import Run

_PATIENCE_S = 15.0
_STEPS_ON = frozenset({
    "research_plan_recorded", "code_plan_recorded", "research_coverage_assessed",
    "code_file_recorded", "code_verified", "stage_started", "research_completed", "run_completed",
})  # fmt: skip

_NO_ERRORS = ("Finished in state Suspended", "Finished in state Cancelled")

Made = Page | float | None
Make = Callable[[], Made]


class Publisher:
    """Publishes what is appended to one run, under the flow run that executes it."""

    def __init__(self, desk: Desk, flow_run_id: UUID) -> None:
        self._desk = desk
        self.flow_run_id = flow_run_id
        self._log = flow_run_logger(flow_run_id=flow_run_id)
        self._waiting: asyncio.Queue[Make | None] = asyncio.Queue()
        self._progress: UUID | None = None

    def observe(self, run: Run, drafts: Sequence[Draft]) -> None:
        """Take in what was appended to `run`; returns at once."""
        for draft in drafts:
            if activity := tell(run, draft):
                self._log.info(clean(activity))
            match draft.type:
                case "research_plan_recorded" | "code_plan_recorded":
                    self.show_plan(run)
                case "research_coverage_assessed":
                    self._waiting.put_nowait(partial(coverage_page, run))
                case "run_completed":
                    self.show_report(run)
        if any(draft.type in _STEPS_ON for draft in drafts):
            self._waiting.put_nowait(partial(progress, run))

    def show_plan(self, run: Run) -> None:
        """Publish the present plan of `run`, if there is one."""
        self._waiting.put_nowait(partial(plan_page, self._desk, run))

    def show_report(self, run: Run) -> None:
        """Publish the report of `run`, if it came to one."""
        self._waiting.put_nowait(partial(report_page, self._desk, run))

    def remark(self, run: Run, title: str, text: str) -> None:
        """Publish a remark on `run` that whoever looks at it has to see."""
        self._log.warning(clean(text))
        page = Page(key_of("remark", run), f"# {title}\n\n{text}\n", title)
        self._waiting.put_nowait(lambda: page)

    async def publish(self) -> None:
        """Publish in order until `end`; what cannot be published is logged and left out."""
        async with get_client() as client:
            while (make := await self._waiting.get()) is not None:
                try:
                    await self._send(client, await anyio.to_thread.run_sync(make))
                except Exception as error:  # noqa: BLE001 - no page is worth a run
                    self._log.warning("an artifact could not be published: %s", error)

    def end(self) -> None:
        """Let `publish` return when everything is published."""
        self._waiting.put_nowait(None)

    async def _send(self, client: PrefectClient, made: Made) -> None:
        if isinstance(made, Page):
            await client.create_artifact(
                ArtifactCreate(
                    key=made.key,
                    type="markdown",
                    description=made.description or None,
                    data=within_bounds(made.markdown),
                    flow_run_id=self.flow_run_id,
                )
            )
        elif made is not None:
            await self._show_progress(client, made)

    async def _show_progress(self, client: PrefectClient, percent: float) -> None:
        self._progress = self._progress or await self._shown_progress(client)
        if self._progress is not None:
            await client.update_artifact(self._progress, ArtifactUpdate(data=percent))
            return
        made = ArtifactCreate(
            type="progress",
            description="How far the run is",
            data=percent,
            flow_run_id=self.flow_run_id,
        )
        self._progress = (await client.create_artifact(made)).id

    async def _shown_progress(self, client: PrefectClient) -> UUID | None:
        """Return the artifact that this flow run made before it was suspended, if it was."""
        wanted = {"flow_run_id": {"any_": [self.flow_run_id]}, "type": {"any_": ["progress"]}}
        shown = await client.read_artifacts(artifact_filter=ArtifactFilter.model_validate(wanted))
        return shown[0].id if shown else None


def _calmly(record: logging.LogRecord) -> bool:
    """Lower what Prefect calls an error: every end of a flow run that is no completion."""
    if record.levelno == logging.ERROR and record.getMessage().startswith(_NO_ERRORS):
        record.levelno, record.levelname = logging.INFO, logging.getLevelName(logging.INFO)
    return True


@asynccontextmanager
async def publishing(desk: Desk, flow_run_id: UUID) -> AsyncIterator[Publisher]:
    """Publish what the block shows, and wait for the last of it for some seconds."""
    logging.getLogger("prefect.flow_runs").addFilter(_calmly)  # the same one twice is one
    publisher = Publisher(desk, flow_run_id)
    work = asyncio.create_task(publisher.publish(), name="publisher")
    try:
        yield publisher
    finally:
        publisher.end()
        with suppress(TimeoutError):
            await asyncio.wait_for(work, _PATIENCE_S)
