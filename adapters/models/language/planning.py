"""Plan: ask for subquestions with their queries, and fall back on the question's own structure."""

import re
from collections.abc import Iterable

from adapters.models.chat.port import ChatRequest
from adapters.models.extractive.decompose import make_plan, make_query
from adapters.models.extractive.revise import revise
from adapters.models.extractive.terms import stems
from adapters.models.language.asking import Asked, output_limit, request_of
from adapters.models.language.forms import PlanForm
from adapters.models.port import PlanInput
from state.values.plan import (
    MAX_GOAL,
    MAX_QUERY,
    MAX_QUESTION,
    MAX_SUBQUESTIONS,
    Plan,
    Subquestion,
    has_words,
)
from state.values.redaction import redact

_USUAL_TOKENS = 500
_LABEL = re.compile(
    r"\A\W*(?:(?:sub|search|next)[ _-]?)?(?:query|queries|question|frage|suchanfrage)\W?\d*\s*:\s*",
    re.IGNORECASE,
)
_LIST = re.compile(r"\A\s*(?:[-*•]|\d{1,2}[.)])\s+")
_MARKS = " \t\"'“”„«»`"


def ask_plan(given: PlanInput, context_tokens: int) -> Asked[PlanForm]:
    """Return the request for a plan, or for a new version of the previous one."""
    return Asked(_request(given, output_limit(context_tokens, _USUAL_TOKENS)), PlanForm)


def _request(given: PlanInput, output_tokens: int) -> ChatRequest:
    about = [
        f"{label}: {' '.join(text.split())}\n"
        for label, text in (
            ("Kind of research", given.research_type),
            ("Readers", given.audience),
            ("Boundaries", given.boundaries),
        )
        if text.strip()
    ]
    return request_of(
        "plan",
        PlanForm,
        output_tokens=output_tokens,
        about="".join(about),
        question=redact(given.question.strip()),
        revision=_revision(given),
    )


def _revision(given: PlanInput) -> str:
    if given.previous is None or not given.feedback.strip():
        return ""
    lines = ["", "", "Your last plan was:"]
    lines += [f"- {sub.question} (query: {sub.query})" for sub in given.previous.subquestions]
    if given.previous.clarification:
        lines.append(f"You asked back: {given.previous.clarification}")
    lines += ["", f"Change it as this says: {redact(given.feedback.strip())}"]
    return "\n".join(lines)


def read_plan(form: PlanForm, given: PlanInput) -> Plan:
    """Return the plan that `form` spells, as far as it is about what was asked.

    Without a usable subquestion or a clarification, and where the question names nothing to search
    for, it is the plan that the question's structure gives.
    """
    subquestions = tuple(_subquestions(form, given))[:MAX_SUBQUESTIONS]
    numbered = tuple(
        Subquestion(f"q{number}", question, query)
        for number, (question, query) in enumerate(subquestions, start=1)
    )
    goal = _short(given.question, MAX_GOAL)
    clarification = _short(form.clarification, MAX_GOAL)
    asked = any(each.question.strip() or each.query.strip() for each in form.subquestions)
    names_something = bool(_topic(given))
    if numbered and names_something:
        return Plan(goal, numbered)
    if has_words(clarification) and not (asked and names_something):
        return Plan(goal, (), clarification)
    return fallback_plan(given)


def fallback_plan(given: PlanInput) -> Plan:
    """Return the plan that needs no model."""
    plan = given.previous or make_plan(given.question)
    return revise(plan, given.feedback) if given.feedback.strip() else plan


def _subquestions(form: PlanForm, given: PlanInput) -> Iterable[tuple[str, str]]:
    """Yield question and query of those that have to do with what was asked, each once."""
    topic = _topic(given)
    seen: set[str] = set()
    for each in form.subquestions:
        question, query = _tidy(each.question), _tidy(each.query)
        question, query = question or query, query or make_query(question) or question
        question, query = _short(question, MAX_QUESTION), _short(query, MAX_QUERY)
        key = question.casefold()
        strange = not topic & (stems(question) | stems(query))
        if has_words(question) and has_words(query) and key not in seen and not strange:
            seen.add(key)
            yield question, query


def _topic(given: PlanInput) -> frozenset[str]:
    """Return the words that what is asked could be searched by."""
    before = given.previous.subquestions if given.previous else ()
    asked = [given.question, given.feedback, given.boundaries, *(sub.question for sub in before)]
    return stems(" ".join(asked))


def _tidy(text: str) -> str:
    plain = " ".join(text.split())
    for pattern in (_LIST, _LABEL):
        plain = pattern.sub("", plain.strip(_MARKS))
    return plain.strip(_MARKS)


def _short(text: str, limit: int) -> str:
    """Return `text` on one line, so short that it is within `limit` when redacted, too."""
    text = " ".join(text.split())
    room = limit
    while len(text) > limit or len(redact(text)) > limit:
        cut = text[:room].rstrip()
        text = cut[: cut.rfind(" ")] if " " in cut[room // 2 :] else cut
        room -= 10
    return text
