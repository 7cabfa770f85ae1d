"""From segments to a plan: what they say with quotes, then files, criteria and quantities."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import anyio

from adapters.models.chat.tokens import estimate
from adapters.models.coder import AnalyseInput, Analysis, DesignInput
from adapters.models.coding.selecting import select
from flows.at_once import in_order
from flows.code_tools import CodeTools
from flows.sourcing import Material, spell_plan
from flows.step import Driver, StepFailed, Turn
from state.code_events import CodePlanRecorded
from state.errors import BudgetExceeded
from state.values.code_plan import CodePlan, PaperCitation
from state.values.code_plan_form import parse_code_plan
from state.values.errors import RejectedError
from state.values.ids import canonical_json
from state.values.segments import Segment, SegmentKind
from tasks.analyse import analyse as analyse_task
from tasks.design import Designed
from tasks.design import design as design_task

MOST_TRIES = 3
_SHARE_ANALYSING = 4  # at most a quarter of the run's model calls
_SHARE_SHOWN = 4  # and a quarter of the context for the source in one call
_METHOD = (
    "method algorithm model equation training hyperparameters experiment results evaluation "
    "implementation parameters dataset metric table definition update step"
)


@dataclass(frozen=True, slots=True)
class Agreed:
    """The plan that is carried out, what it was made from, and what else may help."""

    plan: CodePlan
    material: Material
    references: tuple[Segment, ...] = ()


async def draft_code_plan(
    driver: Driver,
    material: Material,
    tools: CodeTools,
    *,
    version: int,
    feedback: str = "",
    previous: CodePlan | None = None,
) -> CodePlan:
    """Return version `version` of the plan, valid and recorded.

    What makes a plan invalid is told to the coder, who tries again twice; in a retry, after the
    tries of the attempts before, which cost nothing. Raises `RejectedError` (PLAN_INVALID) when
    there is no valid one.
    """
    analyses = await analyse_all(driver, material, tools)
    turn = Turn("planning", version)
    room = tools.coder.context_tokens // _SHARE_SHOWN
    words = (material.requirement, material.title, feedback, _METHOD)
    shown = select(material.segments, words, room_tokens=room)
    given = DesignInput(
        requirement=material.requirement,
        title=material.title,
        analyses=analyses,
        segments=shown,
        feedback=feedback,
        previous=previous,
        max_files=driver.paper2code.request.budgets.max_files,
    )
    for attempt in range(1, driver.run.attempt + 1):
        for _ in range(MOST_TRIES):
            designed = await driver.step(
                turn, design_task, given, Designed,
                reserve=tools.coder.price(given), text_hash=material.text_hash,
                coder=tools.coder, artifacts=driver.desk.artifacts,
            )  # fmt: skip
            if designed.plan is not None:
                plan = parse_code_plan(canonical_json(designed.plan))
                await record_code_plan(driver, plan, version, "revised" if feedback else "planned")
                return plan
            given = replace(given, notes=still(designed.problem, attempt))
        given = replace(given, notes=still(designed.problem, attempt + 1))
    raise RejectedError(
        f"no valid plan was made in {MOST_TRIES} tries; the last one: {designed.problem}",
        code="PLAN_INVALID",
    )


async def first_plan(driver: Driver, material: Material, tools: CodeTools) -> CodePlan:
    """Return the plan to begin with, recorded: that of the run that this is a retry of, or a new.

    So what a person revised or replaced there is not to be said again.
    """
    for ancestor in driver.ancestors[:1]:
        inherited = ancestor.paper2code.plan if ancestor.paper2code else None
        if inherited is not None:
            get = driver.desk.artifacts.read_text
            plan = parse_code_plan(await anyio.to_thread.run_sync(get, inherited.body_hash))
            await record_code_plan(driver, plan, 1, inherited.origin)
            return plan
    return await draft_code_plan(driver, material, tools, version=1)


def still(problem: str, attempt: int) -> str:
    """Return what a coder is told of a problem: in a retry, that it was there before."""
    return problem if attempt == 1 else f"{problem} (still so in attempt {attempt} of this task)"


async def record_code_plan(
    driver: Driver,
    plan: CodePlan,
    version: int,
    origin: Literal["planned", "revised", "replaced"],
) -> None:
    """Record version `version` of the plan; its JSON is archived before."""
    body = await anyio.to_thread.run_sync(driver.archive, spell_plan(plan.as_json()))
    cited = citations_of(plan)
    event = CodePlanRecorded(
        version=version,
        origin=origin,
        title=plan.title[:400],
        plan_hash=plan.hash,
        body_hash=body,
        paths_planned=plan.implementation_strategy.order,
        citations=len(cited),
        located=sum(citation.is_located for citation in cited),
        ambiguities=len(plan.ambiguities),
    )
    await driver.record(Turn("planning", version), event)


def citations_of(plan: CodePlan) -> tuple[PaperCitation, ...]:
    """Return every citation of the plan, those of components first."""
    of_components = [c for part in plan.implementation_components for c in part.citations]
    return (*of_components, *(q.citation for q in plan.quantities if q.citation is not None))


async def analyse_all(driver: Driver, material: Material, tools: CodeTools) -> tuple[Analysis, ...]:
    """Return what the source says, group of segments by group, in reading order.

    A group that could not be analysed is left out, unless none could: then its failure is raised.
    """
    budgets = driver.paper2code.request.budgets
    room = tools.coder.context_tokens // _SHARE_SHOWN
    most = max(1, budgets.max_model_calls // _SHARE_ANALYSING)
    groups = grouped(_worth_reading(material, room * most), room)[:most]
    turn = Turn("planning")
    calls = [
        partial(
            driver.step, turn, analyse_task, given, Analysis,
            reserve=tools.coder.price(given), coder=tools.coder,
        )
        for given in (AnalyseInput(material.requirement, group) for group in groups)
    ]  # fmt: skip
    results = await in_order(calls, at_once=driver.desk.settings.steps_at_once)
    found = tuple(each for each in results if isinstance(each, Analysis))
    failures = [each for each in results if isinstance(each, (StepFailed, BudgetExceeded))]
    if failures and not found:
        raise failures[0]
    return found


def _worth_reading(material: Material, room_tokens: int) -> Sequence[Segment]:
    """Return the segments to analyse; of a source too long for that, those about its method."""
    own = [each for each in material.segments if each.kind is not SegmentKind.REFERENCES]
    if sum(estimate(each.text) for each in own) <= room_tokens:
        return own
    return select(own, (material.requirement, material.title, _METHOD), room_tokens=room_tokens)


def grouped(segments: Sequence[Segment], room_tokens: int) -> list[tuple[Segment, ...]]:
    """Return `segments` in groups of at most `room_tokens`, a longer one alone."""
    groups: list[list[Segment]] = []
    size = 0
    for each in segments:
        tokens = estimate(each.text)
        if not groups or size + tokens > room_tokens:
            groups.append([])
            size = 0
        groups[-1].append(each)
        size += tokens
    return [tuple(group) for group in groups]
