"""Research: from a question to a report whose every claim is tied to a verified quote.

1. Plan: one to three subquestions. When asked for, a person approves, revises, replaces or cancels
   the plan before anything is searched.
2. Knowledge base, in rounds until every subquestion is covered or a limit is reached:
   a. search what is still open, by queries frozen before the first is made;
   b. read what was found: bytes are archived first, then their text;
   c. assess: accept exact quotes as evidence, fill the coverage matrix, name conflicts and gaps;
   d. check the round itself, write down what is open, and record a checkpoint.
3. Report writing, from the archive only: an outline, one section at a time (a model writes a
   report that is not deep at once), every claim checked against its quotes, one repair of what did
   not hold; then the report and the handoff, sealed together.
4. Publish once: identical bytes pass, different bytes are refused.

Each step is durable (`flows.step`): run again, the flow takes what had settled from the ledger.
"""

import json
from dataclasses import replace

from prefect import flow
from prefect.client.schemas.objects import State

from adapters.models.port import PlanInput
from flows.archive import archive_inventory
from flows.endings import going_on, left_as_asked, shown_to_prefect
from flows.execution import open_tools, take_up
from flows.knowledge import Knowledge, nothing_known
from flows.review import ask_person
from flows.rounds import research_round
from flows.sealing import publish_report, seal_report
from flows.step import Driver, Held, StopAsked, Turn, executing
from flows.stopping import decide_stop
from flows.wiring import Tools, open_desk
from flows.writing import write_report
from state.method_events import PlannedSubquestion, ResearchPlanRecorded, ResearchStopDecided
from state.run_events import RunCompleted
from state.values.claims import AnswerStatus
from state.values.plan import Plan, parse_plan
from tasks.plan import plan as plan_task


@flow(name="research", flow_run_name="research {run_id}", persist_result=False)
async def research(run_id: str) -> State[str]:
    """Carry the recorded run `run_id` on from wherever it stands; return how that ended.

    What the state says is for Prefect's UI; the truth about the run is in the ledger.
    """
    async with take_up(run_id, open_desk()) as (driver, ending):
        tools = open_tools(driver)
        try:
            await tools.prepare()
            plan = await agree_on_plan(driver, tools)
            if plan.clarification:
                await ask_back(driver)
            else:
                knowledge = going_on(await knowledge_base(run_id, Held((plan, tools))))
                going_on(await report_writing(run_id, Held((knowledge, tools))))
        finally:
            await tools.aclose()
    return shown_to_prefect(driver.run, ending)


async def agree_on_plan(driver: Driver, tools: Tools) -> Plan:
    """Return the plan to carry out; with a review, the one that a person approved."""
    request = driver.research.started.request
    asking = PlanInput(
        request.question, request.audience, request.boundaries, request.research_type
    )
    async with driver.stage("planning"):
        plan = await draft_plan(driver, tools, asking, version=1)
    version = asked = 1
    while request.plan_review and not plan.clarification:
        answer = await ask_person(driver, plan, version=version, asked=asked)
        if answer.action == "approve":
            break
        version, asked = version + 1, asked + 1
        if answer.action == "replace":
            plan = parse_plan(json.dumps(answer.plan))
            await record_plan(driver, plan, version, "replaced")
            break
        asking = PlanInput(
            request.question,
            request.audience,
            request.boundaries,
            request.research_type,
            feedback=answer.feedback,
            previous=plan,
        )
        plan = await draft_plan(driver, tools, asking, version=version)
    driver.stop_here("plan")
    return plan


async def draft_plan(driver: Driver, tools: Tools, asking: PlanInput, *, version: int) -> Plan:
    """Return version `version` of the plan, recorded."""
    researcher = tools.researcher
    turn = Turn("planning", version)
    cost = researcher.price(asking)
    plan = await driver.step(turn, plan_task, asking, Plan, reserve=cost, researcher=researcher)
    await record_plan(driver, plan, version, "revised" if asking.feedback else "planned")
    return plan


async def record_plan(driver: Driver, plan: Plan, version: int, origin: str) -> None:
    """Record version `version` of the plan."""
    event = ResearchPlanRecorded.model_validate(
        {
            "version": version,
            "origin": origin,
            "goal": plan.goal,
            "subquestions": [
                PlannedSubquestion(id=s.id, question=s.question, query=s.query)
                for s in plan.subquestions
            ],
            "clarification": plan.clarification,
            "plan_hash": plan.hash,
        }
    )
    await driver.record(Turn("planning", version), event)


async def ask_back(driver: Driver) -> None:
    """End the run with the question that has to be put back; nothing was searched."""
    await driver.record(
        Turn("planning"),
        ResearchStopDecided(round=0, reason="clarification"),
        RunCompleted(answer_status=AnswerStatus.CLARIFICATION, stop_reason="clarification"),
    )


@flow(
    name="knowledge base",
    flow_run_name="knowledge base of {run_id}",
    persist_result=False,
    validate_parameters=False,
)
async def knowledge_base(
    run_id: str, held: Held[tuple[Plan, Tools]]
) -> Knowledge | State[StopAsked]:
    """Research in rounds until the subquestions are covered or a limit is reached."""
    driver, (plan, tools) = executing(run_id), held.value
    try:
        async with driver.stage("knowledge_base"):
            knowledge = Knowledge(plan, assessment=nothing_known(plan))
            while (stop := await decide_stop(driver, knowledge, tools)) is None:
                knowledge = await research_round(driver, knowledge, tools)
                driver.stop_here("round")
            if not knowledge.source_ids:  # not one round was possible: say so, in a whole report
                inventory = await archive_inventory(driver, Turn("knowledge_base"), tools)
                knowledge = replace(knowledge, inventory=inventory)
    except StopAsked as stopped:
        return left_as_asked(stopped)
    return knowledge.stopped(stop)


@flow(
    name="report writing",
    flow_run_name="report of {run_id}",
    persist_result=False,
    validate_parameters=False,
)
async def report_writing(
    run_id: str, held: Held[tuple[Knowledge, Tools]]
) -> State[StopAsked] | None:
    """Write, check, seal and publish the report, from the archive only."""
    driver, (knowledge, tools) = executing(run_id), held.value
    async with driver.stage("report_writing"):
        written = await write_report(driver, knowledge, tools)
        report = await seal_report(driver, knowledge, written, tools)
    try:
        driver.stop_here("report")
    except StopAsked as stopped:
        return left_as_asked(stopped)
    await publish_report(driver, report)
    return None
