"""The gate: a plan is carried out only when a person said so about exactly this plan.

The request is recorded before anybody is asked. Whoever answers the live request first, from any
process, decides; nothing else moves it: no time-out, no limit, no default.
"""

from flows.answering import WaitingForPerson, find_review
from flows.kinds import ReviewedPlan
from flows.step import CancelRequested, Driver, Turn
from state.errors import NotFound
from state.run_events import ReviewAnswered, ReviewRequested, RunResumed, RunWaiting


async def ask_person(
    driver: Driver, plan: ReviewedPlan, *, version: int, asked: int
) -> ReviewAnswered:
    """Return the answer to question number `asked` (from 1), about `plan`.

    Records the request first. With somebody at the terminal, waits for an answer from there or
    from anywhere else; without, raises `WaitingForPerson`.
    """
    turn = Turn("plan_review", asked)
    interaction = f"review-{asked}"
    review = find_review(driver.run, interaction)
    if review is None or review.answer is None:
        await driver.record(
            turn,
            ReviewRequested(interaction_id=interaction, version=version, plan_hash=plan.hash),
            RunWaiting(interaction_id=interaction),
        )
    while (review := find_review(driver.run, interaction)) and review.answer is None:
        if driver.desk.ask is None:
            raise WaitingForPerson(
                f"run {driver.run.run_id!r} waits for a review of its plan ({interaction})"
            )
        await driver.desk.ask(driver.run)
        await driver.look()
    if driver.run.status == "waiting" and driver.run.live_review is None:
        await driver.record(turn, RunResumed())
    if review is None or review.answer is None:
        raise NotFound(f"there is no request {interaction!r}")
    if review.answer.action == "cancel":
        raise CancelRequested(review.answer.reason or "cancelled at the plan review")
    return review.answer
