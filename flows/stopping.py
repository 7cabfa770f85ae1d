"""Whether another round begins, and what it would search for."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Literal

from adapters.models.port import (
    AssessInput,
    CheckInput,
    Given,
    OutlineInput,
    SynthesisInput,
    WriteInput,
)
from flows.knowledge import Knowledge
from flows.step import Driver, Turn
from flows.wiring import Tools
from state.method_events import ResearchStopDecided, ScheduledQuery, StopReason
from state.values.evidence import Coverage
from state.values.money import Usage

LEAST_CALLS = 5  # one assessment, and a report written at once: written, checked, both again


async def decide_stop(driver: Driver, knowledge: Knowledge, tools: Tools) -> StopReason | None:
    """Return why no further round begins, or None. Decided once, and recorded when it is a stop."""
    research = driver.research
    number = knowledge.number
    if number + 1 in research.schedules:
        return None
    if research.stop is not None and research.stop.round == number:
        return research.stop.reason
    reason = stop_reason(driver, knowledge, tools, driver.desk.now())
    if reason is not None:
        event = ResearchStopDecided(round=number, reason=reason)
        await driver.record(Turn("knowledge_base", max(number, 1)), event)
    return reason


def stop_reason(
    driver: Driver, knowledge: Knowledge, tools: Tools, now: datetime
) -> StopReason | None:
    """Return the first reason to stop that holds, in the contract's order."""
    budgets = driver.research.started.request.budgets
    spent = driver.run.spent
    rows = knowledge.assessment.rows
    covered = bool(rows) and all(row.coverage is Coverage.COVERED for row in rows)
    last = knowledge.rounds[-1] if knowledge.rounds else None
    elapsed = now - _began(driver)
    calls_left = budgets.max_model_calls - spent.model_calls
    needed = 1 + calls_for_writing(driver) if knowledge.rounds else LEAST_CALLS
    money = money_stop(driver, knowledge, tools) if tools.researcher.uses_model else None
    checks: tuple[tuple[bool, StopReason], ...] = (
        (covered, "coverage-complete"),
        (knowledge.number >= budgets.max_rounds, "round-budget"),
        (last is not None and last.round > 1 and last.new_evidence == 0, "no-progress"),
        (elapsed.total_seconds() >= budgets.research_seconds, "deadline"),
        (tools.researcher.uses_model and calls_left < needed, "model-budget"),
        (money == "tokens", "token-budget"),
        (money == "cost", "cost-budget"),
        (spent.searches >= budgets.max_searches, "search-budget"),
        (spent.pages >= budgets.max_read_pages, "page-budget"),
        (not next_queries(knowledge), "no-progress"),
    )
    return next((reason for holds, reason in checks if holds), None)


def _began(driver: Driver) -> datetime:
    """Return when research began: waiting for a person before the first round is no research."""
    stages = [record for record in driver.run.stages if record.stage == "knowledge_base"]
    return datetime.fromisoformat(stages[0].started_at if stages else driver.run.started_at)


def calls_for_writing(driver: Driver) -> int:
    """Return how many model calls a report takes at most.

    At once: written, checked, repaired, checked again. In scope deep: its outline, two for each
    section, one for the whole, and one repair.
    """
    if driver.research.started.request.scope != "deep":
        return LEAST_CALLS - 1
    written = [section for section in driver.research.profile.sections if not section.computed]
    return 1 + 2 * len(written) + 1 + 1


def money_stop(
    driver: Driver, knowledge: Knowledge, tools: Tools
) -> Literal["tokens", "cost"] | None:
    """Return which budget could not pay for one more assessment and the report after it."""
    budgets = driver.research.started.request.budgets
    if budgets.max_tokens is None and budgets.max_cost_micro_usd is None:
        return None
    spent, needed = driver.run.spent, needed_to_the_end(driver, knowledge, tools)
    if budgets.max_tokens is not None and spent.tokens + needed.tokens > budgets.max_tokens:
        return "tokens"
    most = budgets.max_cost_micro_usd
    if most is not None and spent.cost_micro_usd + needed.cost_micro_usd > most:
        return "cost"
    return None


def needed_to_the_end(driver: Driver, knowledge: Knowledge, tools: Tools) -> Usage:
    """Return what has to be left for one more assessment and the report after it.

    Every call reserves its whole price, and takes less than half of it as a rule: so what is needed
    is, at its highest, the price of the calls made together and half the price of those before.
    """
    before, highest = Usage(), Usage()
    for together in calls_to_the_end(driver, knowledge):
        price = sum((tools.researcher.price(given) for given in together), start=Usage())
        reserved = before + price
        highest = max(highest, reserved, key=lambda usage: usage.tokens)
        before += _half(price)
    return highest


def _half(usage: Usage) -> Usage:
    return Usage(
        input_tokens=usage.input_tokens // 2,
        cached_tokens=usage.cached_tokens // 2,
        output_tokens=usage.output_tokens // 2,
        cost_micro_usd=usage.cost_micro_usd // 2,
    )


def calls_to_the_end(driver: Driver, knowledge: Knowledge) -> Iterator[Sequence[Given]]:
    """Yield what is asked in one more round and for the report, each time what is asked at once."""
    sections = tuple((s.key, s.title) for s in driver.research.profile.sections if not s.computed)
    plan, assessment = knowledge.plan, knowledge.assessment
    passages = tuple(passage for source in knowledge.sources for passage in source.passages)
    yield [AssessInput(plan, knowledge.number + 1, passages, assessment.selected)]
    checking = CheckInput((), assessment.selected)
    if driver.research.started.request.scope != "deep":
        yield [SynthesisInput(sections, plan, assessment)]
        yield [checking]
        return
    yield [OutlineInput(sections, plan, assessment)]
    yield [WriteInput(key, title, plan, assessment) for key, title in sections]
    yield [checking for _ in sections]


def next_queries(knowledge: Knowledge) -> tuple[ScheduledQuery, ...]:
    """Return the queries not used yet: the plan's, or those that the last assessment asks for."""
    if not knowledge.rounds:
        wanted = [(s.id, s.query) for s in knowledge.plan.subquestions]
    else:
        first = {s.id: s.query for s in knowledge.plan.subquestions}
        rows = [row for row in knowledge.assessment.rows if row.coverage is not Coverage.COVERED]
        wanted = [(row.subquestion_id, row.next_query) for row in rows]
        wanted += [(row.subquestion_id, first[row.subquestion_id]) for row in rows]
    fresh: dict[str, ScheduledQuery] = {}
    for subquestion_id, query in wanted:
        if query.strip() and query not in knowledge.used_queries and query not in fresh:
            fresh[query] = ScheduledQuery(subquestion_id=subquestion_id, query=query)
    return tuple(fresh.values())
