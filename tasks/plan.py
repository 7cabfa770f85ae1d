"""Plan: turn the question into subquestions, and refuse what is no plan."""

from prefect import task

from adapters.models.port import Answer, PlanInput, Researcher
from state.values.plan import Plan, check_plan
from tasks.policy import POLICY


async def make_plan(given: PlanInput, researcher: Researcher) -> Answer[Plan]:
    """Return the researcher's plan; raises `RejectedError` when it is none."""
    answer = await researcher.plan(given)
    check_plan(answer.value)
    return answer


@task(name="plan", task_run_name="plan", **POLICY)
async def plan(given: PlanInput, *, researcher: Researcher) -> Answer[Plan]:
    """Plan the research."""
    return await make_plan(given, researcher)
