"""How a person's words change a plan: what they add, focus on, drop or replace."""

import re
from dataclasses import replace

from adapters.models.extractive.decompose import (
    MAX_QUERY,
    Part,
    clean,
    decompose,
    make_query,
    number,
    shorten,
)
from adapters.models.extractive.terms import question_terms, stems
from state.values.plan import MAX_SUBQUESTIONS, Plan, Subquestion

_PIECE = re.compile(r"(?<=[?!.;。！？；])\s+|\n+")
_REPLACE = (
    re.compile(r"replace\s+(?P<old>.+?)\s+(?:with|by)\s+(?P<new>.+)", re.IGNORECASE),
    re.compile(r"(?P<new>.+?)\s+instead of\s+(?P<old>.+)", re.IGNORECASE),
    re.compile(r"not\s+(?P<old>.+?),?\s+but\s+(?P<new>.+)", re.IGNORECASE),
    re.compile(r"ersetze\s+(?P<old>.+?)\s+durch\s+(?P<new>.+)", re.IGNORECASE),
)
_DROP = re.compile(
    r"(?:please\s+)?(?:drop|remove|skip|ignore|omit|leave out|exclude|without|forget|do not cover|"
    r"don't cover|lass|ohne|streiche)\s+(?P<what>.+)", re.IGNORECASE
)  # fmt: skip
_FOCUS = re.compile(
    r"(?:please\s+)?(?:focus(?:\s+only)?\s+on|concentrate\s+on|restrict\s+(?:it\s+)?to|"
    r"limit\s+(?:it\s+)?"
    r"to|only|emphasi[sz]e|schwerpunkt(?:\s+auf)?|nur|"
    r"konzentriere?\s+dich\s+auf)\s+(?P<what>.+)", re.IGNORECASE
)  # fmt: skip
_ADD = re.compile(
    r"(?:please\s+|and\s+)?(?:(?:also|auch|additionally|zusätzlich)\s+(?:cover|include|ask|"
    r"look\s+at|"
    r"look\s+into|consider|check|mention|add|find\s+out|say|report)?|add|include|cover|"
    r"what\s+about|"
    r"look\s+at|consider|mention)\s*(?:(?:a\s+)?(?:sub)?questions?\s+(?:about|"
    r"on)\s+)?(?P<what>.+)", re.IGNORECASE
)  # fmt: skip


def revise(plan: Plan, feedback: str) -> Plan:
    """Return `plan` changed as `feedback` asks; what it does not speak of stays as it was.

    Each sentence of the feedback is read by its opening: "replace A with B" (or "B instead of A")
    rewrites; "drop X" removes the subquestions about X, never the last one; "focus on X" adds X to
    every query; "also cover X", or a question, adds a subquestion (with three already, it joins the
    last). Any other words are added to the queries as they fit.
    """
    for piece in _PIECE.split(feedback.strip()):
        said = clean(piece)
        if said and question_terms(said):
            plan = _heed(plan, said)
    return plan


def _heed(plan: Plan, said: str) -> Plan:
    told = said.rstrip(" .!;")
    for pattern in _REPLACE:
        if match := pattern.match(told):
            return _substituted(plan, match["old"], match["new"])
    if match := _DROP.match(told):
        return _dropped(plan, match["what"])
    if match := _FOCUS.match(told):
        return _searched(plan, match["what"])
    if match := _ADD.match(told):
        return _added(plan, _as_question(match["what"]))
    if said.endswith(("?", "？")):
        return _added(plan, said)
    return _searched(plan, told)


def _as_question(what: str) -> str:
    asks = re.match(
        r"(?:who|what|when|where|why|how|which|whether|is|are|do|does|wer|wie|wann|wo)\b",
        what,
        re.IGNORECASE,
    )
    return what if asks or what.endswith(("?", "？")) else f"What about {what}?"


def _substituted(plan: Plan, old: str, new: str) -> Plan:
    pattern = re.compile(re.escape(old.strip(" '\"“”")), re.IGNORECASE)
    new = new.strip(" '\"“”")
    changed = []
    for sub in plan.subquestions:
        text = pattern.sub(lambda _: new, sub.question)
        query = pattern.sub(lambda _: new, sub.query)
        changed.append(replace(sub, question=shorten(text), query=make_query(query)))
    if tuple(changed) == plan.subquestions:
        return _searched(plan, new)
    return replace(plan, subquestions=tuple(changed))


def _dropped(plan: Plan, what: str) -> Plan:
    unwanted = stems(what)
    kept = [sub for sub in plan.subquestions if not unwanted <= stems(sub.question)]
    if not kept:
        return plan
    return replace(plan, subquestions=tuple(kept))


def _searched(plan: Plan, what: str) -> Plan:
    def widened(sub: Subquestion) -> Subquestion:
        wanted = make_query(what)
        own = [w for w in sub.query.split() if not stems(w) <= stems(wanted)]
        query = wanted
        for word in own:
            if len(query) + 1 + len(word) <= MAX_QUERY:
                query += " " + word
        return replace(sub, query=query)

    if not plan.subquestions:
        return replace(plan, subquestions=number([Part(what)]), clarification="")
    return replace(plan, subquestions=tuple(widened(sub) for sub in plan.subquestions))


def _added(plan: Plan, what: str) -> Plan:
    subs = list(plan.subquestions)
    subject = tuple(
        term.surface for sub in subs[:1] for term in question_terms(sub.question) if term.is_name
    )
    for part in decompose(what) or (Part(what),):
        if len(subs) < MAX_SUBQUESTIONS:
            query = make_query(part.text, (*part.shared, *subject))
            subs.append(Subquestion(_free_id(subs), shorten(part.text), query))
        else:
            last = subs[-1]
            query = make_query(part.text, (last.query,))
            text = shorten(f"{shorten(last.question, 250)} {part.text}")
            subs[-1] = replace(last, question=text, query=query)
    return replace(plan, subquestions=tuple(subs), clarification="")


def _free_id(subs: list[Subquestion]) -> str:
    taken = {sub.id for sub in subs}
    return next(f"q{n}" for n in range(1, len(taken) + 2) if f"q{n}" not in taken)
