"""Assess: show passages, and take from the answer only what the passages themselves say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from adapters.models.chat.packing import Piece
from adapters.models.chat.port import ChatRequest
from adapters.models.extractive.terms import stems
from adapters.models.language.asking import Asked, Choices, fitted, output_limit, request_of
from adapters.models.language.forms import AnsweredForm, AssessForm, ConflictForm
from adapters.models.language.locate import Finder
from adapters.models.language.ranking import pool, priorities
from adapters.models.language.rows import Finding, settle
from adapters.models.language.showing import (
    Shown,
    asked,
    numbered,
    packed,
    pieces_of,
    render,
    shown_evidence,
    shown_passage,
)
from adapters.models.port import AssessInput, Assessment, Selected
from state.values.plan import Plan

_USUAL_TOKENS = 1200
_MOST_EACH = 4
_CHARACTERS_PER_TOKEN = 5
_HELD_FIRST = 2.0  # a held quote is short, and what is known must not be forgotten


@dataclass(frozen=True, slots=True)
class _Names:
    """What the model calls subquestions, passages and held quotes: by index."""

    subquestions: Mapping[str, int]
    passages: Mapping[str, int]
    held: Mapping[str, int]


def _names(given: AssessInput) -> _Names:
    def indexes(letter: str, count: int) -> dict[str, int]:
        return {name: index for index, name in enumerate(numbered(letter, count))}

    return _Names(
        indexes("q", len(given.plan.subquestions)),
        indexes("p", len(given.passages)),
        indexes("h", len(given.held)),
    )


def ask_assessment(given: AssessInput, context_tokens: int) -> Asked[AssessForm]:
    """Return the request to assess the passages that fit, and one for half as many."""
    queries = tuple(given.used_queries[-3:])
    worth = priorities(given.plan, queries, given.passages)
    finder = Finder(given.passages)
    shown = [
        shown_passage(f"p{index + 1}", given.passages[index], text)
        for index in pool(given.passages, worth, _CHARACTERS_PER_TOKEN * context_tokens)
        if (text := finder.shown(index))
    ]
    held = _shown_held(given)
    pieces = pieces_of(
        [*held, *shown],
        [_HELD_FIRST] * len(held) + [worth[int(item.name[1:]) - 1] for item in shown],
    )
    output = output_limit(context_tokens, _USUAL_TOKENS)
    most = max(1, min(_MOST_EACH, given.max_evidence))
    build = partial(_request, given, (*held, *shown), output)
    whole = fitted(pieces, partial(build, most=most), context_tokens)
    return Asked(whole.request, AssessForm, lambda: build(whole.better_half, most=min(2, most)))


def _shown_held(given: AssessInput) -> list[Shown]:
    ids = {sub.id: f"q{number}" for number, sub in enumerate(given.plan.subquestions, start=1)}
    return [
        shown_evidence(f"h{number}", item, f"for {ids[item.subquestion_id]}")
        for number, item in enumerate(given.held, start=1)
        if item.subquestion_id in ids
    ]


def _request(
    given: AssessInput,
    shown: Sequence[Shown],
    output_tokens: int,
    pieces: Sequence[Piece],
    *,
    most: int,
) -> ChatRequest:
    went_in = packed(shown, pieces)
    kept = [item for item in went_in if item.name.startswith("h")]
    read = [item for item in went_in if item.name.startswith("p")]
    names = numbered("q", len(given.plan.subquestions))
    known = [item.name for item in (*read, *kept)]
    return request_of(
        "assess",
        AssessForm,
        output_tokens=output_tokens,
        choices=[
            Choices("AssessForm", "answers", least=len(names), most=len(names)),
            Choices("AnsweredForm", "subquestion", options=names),
            Choices("AnsweredForm", "quotes", most=most),
            Choices("QuotedForm", "passage", options=known),
            Choices("ConflictForm", "subquestion", options=names),
            Choices("ConflictForm", "passages", options=known),
        ],
        held=f"Quotes held from earlier rounds:\n\n{render(kept)}\n\n" if kept else "",
        passages=render(read) or "(there are no new passages)",
        questions=asked(given.plan),
        used="; ".join(given.used_queries) or "none",
        names=", ".join(names),
        most=str(most),
    )


def read_assessment(form: AssessForm, given: AssessInput) -> Assessment:
    """Return what `form` says, as far as passages and held quotes bear it out."""
    names = _names(given)
    located = _located(form.answers, given, names)
    findings = []
    for name, index in names.subquestions.items():
        id_ = given.plan.subquestions[index].id
        answers = [each for each in form.answers if each.subquestion == name]
        quotes = {key: item for key, item in located.quotes.items() if item.subquestion_id == id_}
        findings.append(
            Finding(
                subquestion=given.plan.subquestions[index],
                chosen=tuple(quotes.values()),
                coverage=answers[0].coverage if answers else "",
                gap=next((a.gap for a in answers if a.gap.strip()), ""),
                query=next((a.next_query for a in answers if a.next_query.strip()), ""),
                conflicts=tuple(
                    (sides, conflict.difference)
                    for conflict in form.conflicts
                    if conflict.subquestion == name and (sides := _sides(conflict, quotes))
                ),
                invents=name in located.invented,
            )
        )
    return settle(findings, given)


@dataclass(frozen=True, slots=True)
class _Located:
    """The quotes that were found, by the passage that was named and their place in order.

    `invented` are the names of subquestions that were answered with words that stand nowhere.
    """

    quotes: Mapping[tuple[str, int], Selected]
    invented: frozenset[str]


def _located(answers: Sequence[AnsweredForm], given: AssessInput, names: _Names) -> _Located:
    finder = Finder(given.passages)
    found: dict[tuple[str, int], Selected] = {}
    invented: set[str] = set()
    told = {" ".join(item.text.split()) for item in given.held}
    for answer in answers:
        index = names.subquestions.get(answer.subquestion)
        for quoted in answer.quotes if index is not None else ():
            id_ = given.plan.subquestions[index or 0].id
            passage = quoted.passage.strip("[] ").split(",")[0]
            made = _held(given, names, passage, id_, quoted.quote)
            if made is None:
                made = finder.find(quoted.quote, names.passages.get(passage), id_)
                made = made and replace(made, subquestion_id=_fitting(made, given.plan))
            if made is None and " ".join(quoted.quote.split()) not in told:
                invented.add(answer.subquestion)
            if made is not None and not any(_overlap(made, other) for other in found.values()):
                found[passage, len(found)] = made
    return _Located(found, frozenset(invented))


def _fitting(made: Selected, plan: Plan) -> str:
    """Return the subquestion that a quote is for: another one if it has no word of its own."""
    words = stems(made.text)
    shared = {
        sub.id: len(words & stems(f"{sub.question} {sub.query}")) for sub in plan.subquestions
    }
    best = max(shared, key=lambda id_: shared[id_])
    return best if not shared[made.subquestion_id] and shared[best] > 1 else made.subquestion_id


def _held(
    given: AssessInput, names: _Names, name: str, subquestion_id: str, quote: str
) -> Selected | None:
    """Return the held quote that is named, or that is quoted again."""
    index = names.held.get(name)
    if index is not None and given.held[index].subquestion_id == subquestion_id:
        return given.held[index]
    said = " ".join(quote.split())
    return next(
        (
            item
            for item in given.held
            if item.subquestion_id == subquestion_id
            and said
            and said == " ".join(item.text.split())
        ),
        None,
    )


def _overlap(one: Selected, other: Selected) -> bool:
    same = one.source_id == other.source_id and one.subquestion_id == other.subquestion_id
    return same and one.start < other.end and other.start < one.end


def _sides(
    conflict: ConflictForm, quotes: Mapping[tuple[str, int], Selected]
) -> tuple[Selected, ...]:
    sides = tuple(item for (name, _), item in quotes.items() if name in conflict.passages)
    return sides if len({side.source_id for side in sides}) > 1 else ()
