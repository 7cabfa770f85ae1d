"""What a run sets out to answer."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from state.values.errors import InvalidRequest, RejectedError
from state.values.ids import canonical_json, is_stable_id, sha256_hex
from state.values.redaction import has_secret, redact, redact_value

MAX_SUBQUESTIONS = 3
MAX_GOAL = 2000
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
        """Return the hash an approval is bound to: that of the plan as a person is shown it."""
        return sha256_hex(canonical_json(redact_value(asdict(self))))

    def as_json(self) -> dict[str, Any]:
        """Return the plan in the form that is recorded, shown and given back to replace it."""
        fields = asdict(self)
        fields["subquestions"] = list(fields["subquestions"])
        if not self.clarification:
            del fields["clarification"]
        return fields


def check_plan(plan: Plan) -> None:
    """Raise `RejectedError` saying what keeps `plan` from being carried out, if anything does."""
    problems = []
    if not plan.goal.strip():
        problems.append("it has no goal")
    if plan.clarification and not has_words(plan.clarification):
        problems.append("its clarification asks nothing")
    if not _is_text(plan):
        problems.append("it holds half a character (a lone surrogate)")
    if max(len(redact(plan.goal)), len(redact(plan.clarification))) > MAX_GOAL:
        problems.append(f"its goal or clarification is longer than {MAX_GOAL} characters")
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
        (not has_secret(subquestion.id), f"{name}: the id looks like a secret"),
        (has_words(subquestion.question), f"{name}: the question is empty"),
        (has_words(subquestion.query), f"{name}: the query is empty"),
        (
            len(redact(subquestion.question)) <= MAX_QUESTION,
            f"{name}: the question is longer than {MAX_QUESTION} characters",
        ),
        (
            len(redact(subquestion.query)) <= MAX_QUERY,
            f"{name}: the query is longer than {MAX_QUERY} characters",
        ),
    )
    return [problem for holds, problem in checks if not holds]


def _is_text(plan: Plan) -> bool:
    try:
        canonical_json(asdict(plan)).encode()
    except UnicodeEncodeError:
        return False
    return True


def has_words(text: str) -> bool:
    """Tell whether `text` holds a letter or a digit."""
    return any(character.isalnum() for character in text)


def parse_plan(text: str) -> Plan:
    """Return the plan that JSON `text` spells: {goal, subquestions: [{id, question, query}]}.

    The same under the key `plan` of a larger object, as `assay review RUN --json` writes it, is a
    plan as well. Raises `InvalidRequest` saying where the text is wrong. A missing id or query is
    filled in: `q1`, `q2`, … and the question's first 100 characters.
    """
    try:
        plan = _plan_of(_unwrapped(json.loads(text)))
        check_plan(plan)
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidRequest(
            f"the plan is not readable ({error}); it is JSON of the form "
            '{"goal": "…", "subquestions": [{"question": "…", "query": "…"}]}'
        ) from error
    except RejectedError as error:
        raise InvalidRequest(error.message) from error
    return plan


def _unwrapped(value: object) -> object:
    wrapped = isinstance(value, dict) and "plan" in value and "goal" not in value
    return value["plan"] if wrapped else value  # type: ignore[index]  # wrapped: it is a dict


def _plan_of(value: object) -> Plan:
    fields = _object(value, "the plan", {"goal", "subquestions", "clarification"})
    entries = fields.get("subquestions")
    if not isinstance(entries, list):
        raise TypeError("'subquestions' is not a list")
    return Plan(
        _text(fields, "the plan", "goal"),
        tuple(_subquestion_of(entry, number) for number, entry in enumerate(entries, start=1)),
        _text(fields, "the plan", "clarification", ""),
    )


def _subquestion_of(value: object, number: int) -> Subquestion:
    name = f"subquestion {number}"
    fields = _object(value, name, {"id", "question", "query"})
    question = _text(fields, name, "question")
    return Subquestion(
        _text(fields, name, "id", f"q{number}"),
        question,
        _text(fields, name, "query", question[:MAX_QUERY]),
    )


def _object(value: object, name: str, keys: set[str]) -> dict[str, object]:
    if not isinstance(value, dict):
        raise TypeError(f"{name} is not an object")
    if unknown := sorted(set(value) - keys):
        raise ValueError(f"{name} has unknown keys: {', '.join(unknown)}")
    return value


def _text(fields: dict[str, object], name: str, key: str, default: str | None = None) -> str:
    text = fields.get(key, default)
    if not isinstance(text, str):
        raise TypeError(f"{name} needs {key!r} as text")
    return text
