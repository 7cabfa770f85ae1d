"""A person's decision on a plan: one live request at a time, answered once, bound to a hash."""

from dataclasses import dataclass, replace

from state.errors import Refused
from state.run_events import ReviewAnswered, ReviewRequested

MAX_REVISIONS = 3
MAX_INTERACTIONS = 7


@dataclass(frozen=True, slots=True)
class Review:
    """One request, and its answer if there is one."""

    interaction_id: str
    version: int
    plan_hash: str
    requested_at: str
    answer: ReviewAnswered | None = None
    answered_at: str = ""

    def approves(self, plan_hash: str) -> bool:
        """Tell whether this review lets exactly the plan with `plan_hash` be carried out."""
        answer = self.answer
        return (
            answer is not None
            and answer.action in ("approve", "replace")
            and answer.plan_hash == plan_hash
        )


def request(reviews: tuple[Review, ...], event: ReviewRequested, at: str) -> tuple[Review, ...]:
    """Return the reviews with a new live request."""
    if reviews and reviews[-1].answer is None:
        raise Refused(f"{reviews[-1].interaction_id!r} is not answered yet", code="REVIEW_OPEN")
    if len(reviews) >= MAX_INTERACTIONS:
        raise Refused(f"a plan is asked about at most {MAX_INTERACTIONS} times", code="LIMIT")
    if any(review.interaction_id == event.interaction_id for review in reviews):
        raise Refused(f"{event.interaction_id!r} was asked before", code="DUPLICATE_REVIEW")
    return (*reviews, Review(event.interaction_id, event.version, event.plan_hash, at))


def answer(
    reviews: tuple[Review, ...], event: ReviewAnswered, at: str, *, cancelling: bool
) -> tuple[Review, ...]:
    """Return the reviews with the live request answered.

    Raises `Refused` whose code is `stale`, `already_resolved`, `cancel_requested`, or a rule of
    the answer itself (`FEEDBACK`, `PLAN`, `PLAN_HASH`, `LIMIT`): then the request stays open.
    Whether a replacement is a valid plan is for the run's kind to say.
    """
    live = _live(reviews, event.interaction_id)
    if cancelling and event.action != "cancel":
        raise Refused("the run is being cancelled", code="cancel_requested")
    if event.action == "revise":
        if not event.feedback.strip():
            raise Refused("a revision needs feedback: say what should change", code="FEEDBACK")
        revisions = sum(r.answer is not None and r.answer.action == "revise" for r in reviews)
        if revisions >= MAX_REVISIONS:
            raise Refused(
                f"a plan is revised at most {MAX_REVISIONS} times: approve, replace or cancel it",
                code="LIMIT",
            )
    if (event.action == "replace") != (event.plan is not None):
        raise Refused("a plan comes with a replacement, and only with one", code="PLAN")
    if event.action in ("approve", "revise") and event.plan_hash != live.plan_hash:
        raise Refused("the answer is about another plan than the one shown", code="PLAN_HASH")
    return (*reviews[:-1], replace(live, answer=event, answered_at=at))


def _live(reviews: tuple[Review, ...], interaction_id: str) -> Review:
    known = {review.interaction_id: review for review in reviews}
    if interaction_id not in known:
        raise Refused(f"there is no request {interaction_id!r}", code="stale")
    review = known[interaction_id]
    if review.answer is not None:
        if review is reviews[-1]:
            raise Refused(
                f"{interaction_id!r} was already answered: {review.answer.action}",
                code="already_resolved",
            )
        raise Refused(f"{interaction_id!r} is about an earlier plan", code="stale")
    return review
