"""Answers of a form: asked for by schema, read with patience, validated, and repaired once."""

from dataclasses import replace
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from adapters.models.chat.errors import LOOP, OUTPUT, ModelRejected, ModelUnavailable
from adapters.models.chat.fitting import fit
from adapters.models.chat.kept import KeptAnswers
from adapters.models.chat.lenient import CutOff, NoJson, read_json
from adapters.models.chat.packing import cut_to
from adapters.models.chat.port import ChatAnswer, ChatModel, ChatRequest, Message
from adapters.models.chat.prompts import load
from adapters.models.chat.tokens import estimate_request
from adapters.models.chat.wording import in_words
from state.values.money import Usage
from state.values.wording import plain_problem

T = TypeVar("T", bound=BaseModel)

_MOST_PROBLEMS = 8
_PROBLEM_CHARACTERS = 200
_SHOWN_ANSWER_TOKENS = 800
_MOST_CANDIDATES = 6


class Unreadable(ValueError):
    """The answer has not the form that was asked for; the message says why, for the model."""


async def ask(
    model: ChatModel,
    request: ChatRequest,
    kind: type[T],
    *,
    repairs: int = 1,
    kept: KeptAnswers | None = None,
) -> tuple[T, Usage]:
    """Return the answer to `request` as a `kind`, and what all the calls for it took.

    An answer that does not fit is shown to the model with what is wrong and the schema, `repairs`
    times; then `ModelRejected` MODEL_OUTPUT is raised. Every error carries the whole `usage`. With
    `kept`, an answer that was validated before is read again at no cost, and one that is validated
    now is kept.
    """
    request = with_schema(request, kind)
    if kept is not None and (value := _read_kept(kept, model, request, kind)) is not None:
        return value, Usage()
    usage, current, problem = Usage(), request, ""
    for left in range(repairs, -1, -1):
        answer: ChatAnswer | None = None
        try:
            answer = await model.complete(current)
            usage += answer.usage
            value = read_answer(answer, kind)
        except Unreadable as unreadable:
            problem = str(unreadable)
        except (ModelRejected, ModelUnavailable) as error:
            usage += error.usage
            if error.code not in (OUTPUT, LOOP) or not left:
                error.usage = usage
                raise
            problem = error.message
        else:
            if kept is not None and answer is not None:
                kept.put(model.name, request, answer)
            return value, usage
        repair = _repair(request, answer.text if answer else "", problem)
        if not _has_room(model, repair):
            break
        current = repair
    raise ModelRejected(
        f"{model.name}: no usable {kind.__name__} in its answer, nor when asked again: {problem}",
        code=OUTPUT,
        usage=usage,
    )


def price_of_asking(
    model: ChatModel, request: ChatRequest, kind: type[BaseModel], *, repairs: int = 1
) -> Usage:
    """Return the most that `ask` is expected to take with all its repairs."""
    request = with_schema(request, kind)
    longest = "word " * _SHOWN_ANSWER_TOKENS
    worst = _repair(request, longest, "x" * _PROBLEM_CHARACTERS * _MOST_PROBLEMS)
    total = model.price(request)
    for _ in range(repairs):
        total += model.price(worst)
    return total


def with_schema(request: ChatRequest, kind: type[BaseModel]) -> ChatRequest:
    """Return `request` with the schema of `kind`, unless it has one."""
    if request.schema is not None:
        return request
    return replace(request, schema=kind.model_json_schema(), schema_name=kind.__name__)


def read_answer(answer: ChatAnswer, kind: type[T]) -> T:
    """Return the first JSON in `answer` that is a `kind`; raises `Unreadable`."""
    problem = ""
    schema = kind.model_json_schema()
    try:
        for number, value in enumerate(read_json(answer.text)):
            try:
                return kind.model_validate(fit(value, schema))
            except ValidationError as error:
                problem = problem or _explain(error)
            if number + 1 == _MOST_CANDIDATES:
                break
    except CutOff as error:
        raise Unreadable(
            f"{error}: it ended after about {answer.output_tokens} tokens; answer more briefly"
        ) from None
    except NoJson as error:
        raise Unreadable(f"{error} in it") from None
    raise Unreadable(problem)


def _explain(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    lines = [
        f"- {'.'.join(map(str, problem['loc'])) or 'the whole'}: {plain_problem(problem['msg'])}"
        for problem in problems[:_MOST_PROBLEMS]
    ]
    if len(problems) > _MOST_PROBLEMS:
        lines.append(f"- and {len(problems) - _MOST_PROBLEMS} more")
    return "\n".join(line[:_PROBLEM_CHARACTERS] for line in lines)


def _repair(request: ChatRequest, answer: str, problem: str) -> ChatRequest:
    schema = in_words(request.schema or {})
    mend = load("repair-json").render(problems=problem, schema=schema)
    shown = cut_to(answer.strip(), _SHOWN_ANSWER_TOKENS)
    said = (Message("assistant", shown),) if shown else ()
    return replace(request, messages=(*request.messages, *said)).saying_more(mend)


def _has_room(model: ChatModel, request: ChatRequest) -> bool:
    return estimate_request(request) + request.max_output_tokens <= model.context_tokens


def _read_kept(
    kept: KeptAnswers, model: ChatModel, request: ChatRequest, kind: type[T]
) -> T | None:
    answer = kept.get(model.name, request)
    if answer is None:
        return None
    try:
        return read_answer(answer, kind)
    except Unreadable:
        return None
