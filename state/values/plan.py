"""What a run sets out to answer."""

import json
from dataclasses import asdict, dataclass

from state.values.errors import InvalidRequest, RejectedError
from state.values.ids import canonical_json, is_stable_id, sha256_hex

MAX_SUBQUESTIONS = 3
MAX_QUESTION = 400
MAX_QUERY = 100


@dataclass(frozen=True, slots=True)
class Subquestion:
    """One part of the question (≤400 characters) and the first query for it (≤100 characters)."""

    id: str
    question: str
    query: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The goal and one to three subquestions; with a `clarification` there is nothing to research.

    `clarification` is the question to put back to the person, or ''.
    """

    goal: str
    subquestions: tuple[Subquestion, ...]
    clarification: str = ""

    @property
    def hash(self) -> str:
        """Return the hash an approval is bound to."""
        return sha256_hex(canonical_json(asdict(self)))


def check_plan(plan: Plan) -> None:
    """Raise `RejectedError` saying what keeps `plan` from being carried out, if anything does."""
    problems = []
    if not plan.goal.strip():
        problems.append("it has no goal")
    if plan.clarification and plan.subquestions:
        problems.append("it asks for a clarification and has subquestions; it can have one only")
    if not plan.clarification and not 1 <= len(plan.subquestions) <= MAX_SUBQUESTIONS:
        problems.append(
            f"it has {len(plan.subquestions)} subquestions; 1 to {MAX_SUBQUESTIONS} are needed"
        )
    ids = [subquestion.id for subquestion in plan.subquestions]
    if len(set(ids)) != len(ids):
        problems.append("two subquestions have the same id")
    for subquestion in plan.subquestions:
        problems += _subquestion_problems(subquestion)
    if problems:
        raise RejectedError("the plan is not valid: " + "; ".join(problems), code="PLAN_INVALID")


def _subquestion_problems(subquestion: Subquestion) -> list[str]:
    name = f"subquestion {subquestion.id[:40]!r}"
    checks = (
        (is_stable_id(subquestion.id), f"{name}: the id has a wrong form"),
        (has_words(subquestion.question), f"{name}: the question is empty"),
        (has_words(subquestion.query), f"{name}: the query is empty"),
        (
            len(subquestion.question) <= MAX_QUESTION,
            f"{name}: the question is longer than {MAX_QUESTION} characters",
        ),
        (
            len(subquestion.query) <= MAX_QUERY,
            f"{name}: the query is longer than {MAX_QUERY} characters",
        ),
    )
    return [problem for holds, problem in checks if not holds]


def has_words(text: str) -> bool:
    """Tell whether `text` holds a letter or a digit."""
    return any(character.isalnum() for character in text)


def parse_plan(text: str) -> Plan:
    """Return the plan that JSON `text` spells: {goal, subquestions: [{id, question, query}]}.

    Raises `InvalidRequest` saying where the text is wrong. A missing id or query is filled in:
    `q1`, `q2`, … and the question's first 100 characters.
    """
    try:
        fields = json.loads(text)
        subquestions = tuple(
            Subquestion(
                str(item.get("id", f"q{number}")),
                str(item["question"]),
                str(item.get("query", item["question"][:MAX_QUERY])),
            )
            for number, item in enumerate(fields["subquestions"], start=1)
        )
        plan = Plan(str(fields["goal"]), subquestions)
        check_plan(plan)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InvalidRequest(
            f"the plan is not readable ({error!r}); it is JSON of the form "
            '{"goal": "…", "subquestions": [{"question": "…", "query": "…"}]}'
        ) from error
    except RejectedError as error:
        raise InvalidRequest(error.message) from error
    return plan
