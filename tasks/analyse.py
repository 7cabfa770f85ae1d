"""Analyse: what a part of a paper says that an implementation needs."""

from prefect import task

from adapters.models.coder import AnalyseInput, Analysis, Coder
from adapters.models.port import Answer
from tasks.policy import POLICY


@task(name="analyse", task_run_name="analyse {given.segments[0].id}", **POLICY)
async def analyse(given: AnalyseInput, *, coder: Coder) -> Answer[Analysis]:
    """Read some segments."""
    return await coder.analyse(given)
