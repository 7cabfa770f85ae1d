"""Asks a person in Prefect's pages: the flow run is suspended until somebody has answered.

The ledger is asked first and has the last word. A request that was answered elsewhere suspends
nothing, an answer that comes too late is refused and shown, and one that cannot be taken is asked
for again, under a new key. Nothing approves by itself: neither time nor a restart.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from itertools import count

import anyio
from prefect.client.schemas.objects import FlowRun
from prefect.flow_runs import asuspend_flow_run
from prefect.input.actions import read_flow_run_input
from prefect.utilities.urls import url_for
from pydantic import ValidationError

from flows.answering import InteractionInvalid, answer_review
from flows.forms import ReviewForm, in_words_of, review_text
from flows.kinds import kind_of
from flows.pages import plan_to_decide
from flows.publishing import Publisher
from flows.terminal import talk
from flows.wiring import Desk
from state.projection import Run
from state.request import explain
from state.reviews import Review
from state.values.errors import InvalidRequest

CHANNEL = "prefect"
SOMEBODY = "somebody in Prefect"


async def decide_in_prefect(
    desk: Desk, run_id: str, flow_run: FlowRun, publisher: Publisher
) -> None:
    """Return when no request of the run is open; suspends the flow run while one is.

    Takes what was answered in Prefect's pages since into the ledger, each answer once.
    """
    fired = set(flow_run.empirical_policy.pause_keys or ())
    for review in (await _project(desk, run_id)).reviews:
        problem = ""
        for key in keys_of(review):
            if key not in fired:
                run = await _project(desk, run_id)
                if run.live_review is None or run.cancel_reason is not None:
                    break
                await _suspend(desk, run, key, problem, publisher)
            problem = await _take(desk, run_id, review, key, publisher)
            if not problem:
                break


def keys_of(review: Review) -> Iterator[str]:
    """Return the keys under which `review` is asked about: the first, and one each time again."""
    yield review.interaction_id
    for number in count(2):
        yield f"{review.interaction_id}-again-{number}"


def interaction_of(key: str) -> str:
    """Return the request that is asked about under `key`."""
    return key.partition("-again-")[0]


async def _project(desk: Desk, run_id: str) -> Run:
    return await anyio.to_thread.run_sync(desk.ledger.project, run_id)


async def _suspend(desk: Desk, run: Run, key: str, problem: str, publisher: Publisher) -> None:
    """Suspend the flow run, which ends this process; returns only if `key` was used before."""
    fields = json.dumps(kind_of(run).plan_fields(desk, run), ensure_ascii=False, indent=2)
    text = review_text(plan_to_decide(desk, run), fields, problem)
    # Only a description: a default for the decision would let a resume without input approve.
    form = ReviewForm.with_initial_data(description=text)
    page = url_for("flow-run", obj_id=publisher.flow_run_id)
    talk(f"assay: run {run.run_id} waits for a decision on its plan: {page}")
    with suppress(ValidationError):  # it was resumed without an answer; `_take` says so
        await asuspend_flow_run(wait_for_input=form, key=key, timeout=None)


async def _take(desk: Desk, run_id: str, review: Review, key: str, publisher: Publisher) -> str:
    """Record what was answered under `key`; return why that has to be asked again, or ''."""
    flow_run_id = publisher.flow_run_id
    given = await read_flow_run_input(f"suspended-{key}-response", flow_run_id=flow_run_id)
    try:
        form = ReviewForm.model_validate(given or {})
    except ValidationError as error:
        if review.answer is not None:
            return ""
        return in_words_of(ReviewForm, explain(error)) if given else "there was no decision"
    if review.answer is not None and form == ReviewForm.of(review.answer):
        return ""  # it is how this flow run was told of an answer given elsewhere
    run = await _project(desk, run_id)
    try:
        plan = kind_of(run).read_plan(form.plan) if form.plan.strip() else None
        answer_review(
            desk,
            run_id,
            form.decision,
            feedback=form.feedback,
            reason=form.reason,
            plan=plan,
            interaction_id=review.interaction_id,
            by=form.your_name.strip() or SOMEBODY,
            channel=CHANNEL,
            call_id=f"prefect/{key}/{flow_run_id}",
        )
    except InteractionInvalid as error:
        publisher.remark(
            run,
            "An answer came too late",
            f"“{form.decision}” for {review.interaction_id} was not taken: {error.message}",
        )
    except InvalidRequest as error:
        return in_words_of(ReviewForm, error.message)
    return ""
