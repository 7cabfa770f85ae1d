"""How an operation asks: a request that fits the model, a smaller one in reserve, and the price."""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Generic, TypeVar

from adapters.models.chat.errors import CONTEXT, LOOP, OUTPUT, ModelRejected, ModelUnavailable
from adapters.models.chat.kept import KeptAnswers
from adapters.models.chat.packing import Piece, pack
from adapters.models.chat.port import ChatAnswer, ChatModel, ChatRequest, Message
from adapters.models.chat.prompts import Prompt, load
from adapters.models.chat.structured import ask, price_of_asking
from adapters.models.chat.tokens import estimate_request
from adapters.models.language.forms import Form
from state.values.money import Usage

F = TypeVar("F", bound=Form)

_LONGEST_ANSWER = 8192
_SLACK_TOKENS = 96  # what a server may put around, such as the schema in words
_MOST_OPTIONS = 60
_BREAK = "\n---\n"


@dataclass(frozen=True, slots=True)
class Asked(Generic[F]):
    """A request and the form of its answer; `smaller` makes the one for when that was cut off."""

    request: ChatRequest
    form: type[F]
    smaller: Callable[[], ChatRequest] | None = None


@dataclass(frozen=True, slots=True)
class Choices:
    """What a field may hold this time: the options of a text, or the most entries of a list."""

    form: str
    field: str
    options: Sequence[str] = ()
    least: int = 0
    most: int = 0


async def put(
    model: ChatModel, asked: Asked[F], kept: KeptAnswers | None = None
) -> tuple[F, Usage]:
    """Return what `model` answers, and what that took as one call.

    An answer of a wrong form is repaired once; one that was cut off is asked for once more, with
    less to say. Errors are those of `ask`, with the whole usage.
    """
    watched = _Watched(model, asked.smaller)
    try:
        try:
            value, usage = await ask(watched, asked.request, asked.form, kept=kept)
        except ModelRejected as error:
            again = asked.smaller if watched.calls == 1 and error.code in (OUTPUT, LOOP) else None
            if again is None:
                raise
            value, usage = await _once_more(model, again(), asked.form, error.usage)
    except (ModelRejected, ModelUnavailable) as error:
        error.usage = _as_one(error.usage)
        raise
    return value, _as_one(usage)


async def _once_more(
    model: ChatModel, request: ChatRequest, form: type[F], spent: Usage
) -> tuple[F, Usage]:
    try:
        value, usage = await ask(model, request, form, repairs=0)
    except (ModelRejected, ModelUnavailable) as error:
        error.usage += spent
        raise
    return value, usage + spent


def price_of(model: ChatModel, asked: Asked[F]) -> Usage:
    """Return the most that `put` is expected to take, as one call."""
    return replace(price_of_asking(model, asked.request, asked.form), model_calls=1)


def _as_one(usage: Usage) -> Usage:
    """Return `usage` as one call: mending an answer is no call of its own to a budget."""
    return replace(usage, model_calls=min(1, usage.model_calls))


class _Watched:
    """`model`, which is asked for less after an answer that did not come to its end."""

    def __init__(self, model: ChatModel, smaller: Callable[[], ChatRequest] | None) -> None:
        self._model = model
        self._smaller = smaller
        self._was_cut = False
        self.calls = 0

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def context_tokens(self) -> int:
        return self._model.context_tokens

    def price(self, request: ChatRequest) -> Usage:
        return self._model.price(request)

    async def complete(self, request: ChatRequest) -> ChatAnswer:
        self.calls += 1
        if self._was_cut and self._smaller is not None:
            request = self._smaller()
        try:
            answer = await self._model.complete(request)
        except (ModelRejected, ModelUnavailable) as error:
            self._was_cut = error.code in (OUTPUT, LOOP)
            raise
        self._was_cut = answer.finish == "length"
        return answer

    async def aclose(self) -> None:
        await self._model.aclose()


def output_limit(context_tokens: int, usual: int) -> int:
    """Return how many tokens an answer may have: more where a model has room to think aloud."""
    return min(context_tokens // 4, max(usual, min(context_tokens // 16, _LONGEST_ANSWER)))


def request_of(
    name: str,
    form: type[Form],
    *,
    output_tokens: int,
    choices: Sequence[Choices] = (),
    **fields: str,
) -> ChatRequest:
    """Return the request that the prompt `name` makes with `fields`.

    The part of the prompt above the line `---` is the system's, the rest the user's. `choices`
    narrow the schema that the model is given, never how its answer is read.
    """
    prompt = load(name)
    messages = []
    for role, part in zip(("system", "user"), prompt.text.split(_BREAK, 1), strict=True):
        half = replace(prompt, text=part)
        own = {key: value for key, value in fields.items() if key in half.fields}
        messages.append(_message(role, half, own))
    return ChatRequest(
        messages=tuple(messages),
        max_output_tokens=output_tokens,
        schema=_schema(form, choices),
        schema_name=form.__name__,
        prompt=prompt.id,
    )


def _message(role: str, half: Prompt, fields: Mapping[str, str]) -> Message:
    text = half.render(**fields).strip()
    return Message("system", text) if role == "system" else Message("user", text)


@cache
def _schema_of(form: type[Form]) -> dict[str, Any]:
    return form.model_json_schema()


def _schema(form: type[Form], choices: Sequence[Choices]) -> dict[str, Any]:
    schema = copy.deepcopy(_schema_of(form))
    for choice in choices:
        owner = schema if choice.form == form.__name__ else schema["$defs"][choice.form]
        field = owner["properties"][choice.field]
        if 0 < len(choice.options) <= _MOST_OPTIONS:
            target = field["items"] if field.get("type") == "array" else field
            target["enum"] = list(choice.options)
        if choice.least:
            field["minItems"] = choice.least
        if choice.most:
            field["maxItems"] = choice.most
    return schema


@dataclass(frozen=True, slots=True)
class Fitted:
    """A request, and the pieces that went into it."""

    request: ChatRequest
    pieces: tuple[Piece, ...]

    @property
    def better_half(self) -> tuple[Piece, ...]:
        """Return half of the pieces, those of higher priority, at least one if there is one."""
        ranked = sorted(self.pieces, key=lambda piece: -piece.priority)
        kept = ranked[: (len(ranked) + 1) // 2]
        return tuple(piece for piece in self.pieces if piece in kept)


def fitted(
    pieces: Sequence[Piece],
    build: Callable[[Sequence[Piece]], ChatRequest],
    context_tokens: int,
) -> Fitted:
    """Return the request that `build` makes of as many of `pieces` as fit, by their priority.

    Raises `ModelRejected` MODEL_CONTEXT when there is no room for a single one.
    """
    whole = build(pieces)
    excess = _size(whole) - context_tokens
    if excess <= 0:
        return Fitted(whole, tuple(pieces))
    wanted = context_tokens - _size(build(()))
    while pieces and wanted > 0:
        taken = pack(pieces, room_tokens=wanted).pieces
        request = build(taken)
        excess = _size(request) - context_tokens
        if taken and excess <= 0:
            return Fitted(request, taken)
        wanted -= max(excess, 16)
    raise ModelRejected(
        f"the prompt {whole.prompt} and its answer have no room in {context_tokens} tokens; "
        "use a model with a longer context",
        code=CONTEXT,
    )


def _size(request: ChatRequest) -> int:
    return estimate_request(request) + request.max_output_tokens + _SLACK_TOKENS
