"""Paper2Code: from a paper to code whose tests truly ran.

1. Source: its bytes are archived, then made into text whose quality is said before any model is
   asked; then it is cut into segments by its own structure.
2. Plan: what the segments say is collected, each with a quote; then files, components, quantities
   and criteria are planned. Every quote is looked up in the source. A person approves, revises,
   replaces or cancels the plan before anything of it is carried out.
3. Implementation, from the plan alone: file by file in the order of their dependencies; a file is
   done when it is whole and parses.
4. Verification: the tests are frozen, the dependencies installed, and the tests run in a sandbox on
   a copy. What fails is repaired at most three times, and never by changing a test.
5. Delivery: the code with its history, and a report that holds plan and result against each other.
   Complete only if every planned file is there and tests were executed and passed.

Each step is durable (`flows.step`): run again, the flow takes what had settled from the ledger.
"""

import json

from prefect import flow
from prefect.client.schemas.objects import State

from flows.code_references import collect_references
from flows.code_tools import CodeTools, open_code_tools
from flows.delivering import Result, deliver_code
from flows.designing import Agreed, draft_code_plan, first_plan, record_code_plan
from flows.endings import going_on, left_as_asked, shown_to_prefect
from flows.execution import take_up
from flows.implementing import NotWritten, write_all
from flows.review import ask_person
from flows.sourcing import Material, acquire_material
from flows.step import Driver, Held, StopAsked, executing
from flows.verifying import Verified, install_and_verify
from flows.wiring import open_desk
from state.code_stages import CodeStage
from state.values.code_plan_form import parse_code_plan


@flow(name="paper2code", flow_run_name="paper2code {run_id}", persist_result=False)
async def paper2code(run_id: str) -> State[str]:
    """Carry the recorded run `run_id` on from wherever it stands; return how that ended.

    What the state says is for Prefect's UI; the truth about the run is in the ledger.
    """
    async with take_up(run_id, open_desk()) as (driver, ending):
        tools = open_code_tools(driver)
        try:
            await tools.prepare()
            material = await acquire_material(driver, tools)
            agreed = await agree_on_plan(driver, material, tools)
            missing = going_on(await implementation(run_id, Held((agreed, tools))))
            verified = going_on(await verification(run_id, Held((agreed, tools))))
            await deliver_code(driver, Result(agreed, missing, verified), tools)
        finally:
            await tools.aclose()
    return shown_to_prefect(driver.run, ending)


async def agree_on_plan(driver: Driver, material: Material, tools: CodeTools) -> Agreed:
    """Return the plan to carry out; with a review, the one that a person approved."""
    request = driver.paper2code.request
    async with driver.stage(CodeStage.PLANNING):
        plan = await first_plan(driver, material, tools)
    version = asked = 1
    if request.options.plan_review:
        async with driver.stage(CodeStage.PLAN_REVIEW):
            while True:
                answer = await ask_person(driver, plan, version=version, asked=asked)
                if answer.action == "approve":
                    break
                version, asked = version + 1, asked + 1
                if answer.action == "replace":
                    plan = parse_code_plan(json.dumps(answer.plan))
                    await record_code_plan(driver, plan, version, "replaced")
                    break
                plan = await draft_code_plan(
                    driver, material, tools,
                    version=version, feedback=answer.feedback, previous=plan,
                )  # fmt: skip
    driver.stop_here("plan")
    return Agreed(plan, material)


@flow(
    name="implementation",
    flow_run_name="code of {run_id}",
    persist_result=False,
    validate_parameters=False,
)
async def implementation(
    run_id: str, held: Held[tuple[Agreed, CodeTools]]
) -> tuple[NotWritten, ...] | State[StopAsked]:
    """Write every planned file, those that others depend on first; return what is missing."""
    driver, (agreed, tools) = executing(run_id), held.value
    if driver.paper2code.request.options.enable_indexing:
        agreed = await collect_references(driver, agreed, tools)
    try:
        async with driver.stage(CodeStage.IMPLEMENTING):
            missing = await write_all(driver, agreed, tools)
        driver.stop_here("files")
    except StopAsked as stopped:
        return left_as_asked(stopped)
    return missing


@flow(
    name="verification",
    flow_run_name="tests of {run_id}",
    persist_result=False,
    validate_parameters=False,
)
async def verification(
    run_id: str, held: Held[tuple[Agreed, CodeTools]]
) -> Verified | State[StopAsked]:
    """Run the frozen tests in the sandbox; repair what fails; say what was seen each time."""
    driver, (agreed, tools) = executing(run_id), held.value
    try:
        async with driver.stage(CodeStage.VERIFYING):
            verified = await install_and_verify(driver, agreed, tools)
        driver.stop_here("tests")
    except StopAsked as stopped:
        return left_as_asked(stopped)
    return verified
