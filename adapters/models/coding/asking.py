"""How files are asked for: as text, gone on with where they are cut off, mended once."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from adapters.models.chat.errors import LOOP, OUTPUT, ModelRejected, ModelUnavailable
from adapters.models.chat.kept import KeptAnswers
from adapters.models.chat.packing import cut_to
from adapters.models.chat.port import ChatAnswer, ChatModel, ChatRequest, Message
from adapters.models.chat.prompts import load
from adapters.models.chat.tokens import estimate, estimate_request
from adapters.models.coding.fenced import Unusable
from state.values.money import Usage

T = TypeVar("T")

_ATTEMPTS = 2
_CONTINUATIONS = 2
_SHOWN_TOKENS = 700
SMALL_CONTEXT = 16_384  # of models that are asked for less at once, and shown less
_MENDING_TEMPERATURE = 0.4
_PROBLEM_CHARACTERS = 1200
_LONGEST_ANSWER = 12_288
_OVERLAP_CHARACTERS = 400


class Flawed(Unusable, Generic[T]):
    """What was read is whole and not good enough; if nothing better comes, it is `value`."""

    def __init__(self, message: str, value: T) -> None:
        super().__init__(message)
        self.value = value


@dataclass(frozen=True, slots=True)
class AskedText(Generic[T]):
    """A request for files, and how its answer is read; `read` raises `Unusable`."""

    request: ChatRequest
    read: Callable[[str], T]


def file_limit(context_tokens: int) -> int:
    """Return how many tokens an answer with a file may have."""
    return min(context_tokens * 2 // 5, _LONGEST_ANSWER)


async def put_text(
    model: ChatModel, asked: AskedText[T], kept: KeptAnswers | None = None
) -> tuple[T, Usage]:
    """Return what is read from the answer of `model`, and what that took as one call.

    An answer that is cut off is gone on with, twice at most. One that cannot be used is told why
    and asked for once more; then `ModelRejected` MODEL_OUTPUT is raised, unless one of them was
    only `Flawed`: its value is returned, for others to say what they want otherwise. Every error
    carries the whole usage. What was read without a flaw is read again from `kept` at no cost.
    """
    if kept is not None and (known := kept.get(model.name, asked.request)) is not None:
        try:
            return asked.read(known.text), Usage()
        except Unusable:
            pass  # kept by a version that read it otherwise: it is asked for again
    account = _Account(model)
    try:
        value, answer = await _ask(account, asked)
    except (ModelRejected, ModelUnavailable) as error:
        error.usage = replace(account.usage, model_calls=min(1, account.usage.model_calls))
        raise
    if kept is not None and answer is not None:
        kept.put(model.name, asked.request, answer)
    return value, replace(account.usage, model_calls=1)


def price_of_text(model: ChatModel, request: ChatRequest) -> Usage:
    """Return the most that `put_text` is expected to take: all attempts, one gone on with."""
    longest = "word " * _SHOWN_TOKENS
    mended = _mended(request, longest, "x" * _PROBLEM_CHARACTERS)
    total = model.price(request) + model.price(mended) + model.price(mended)
    return replace(total, model_calls=1)


class _Account:
    """A model, and what all calls of it took."""

    def __init__(self, model: ChatModel) -> None:
        self.model = model
        self.usage = Usage()

    async def complete(self, request: ChatRequest) -> ChatAnswer:
        try:
            answer = await self.model.complete(request)
        except (ModelRejected, ModelUnavailable) as error:
            self.usage += error.usage
            raise
        self.usage += answer.usage
        return answer


async def _ask(account: _Account, asked: AskedText[T]) -> tuple[T, ChatAnswer | None]:
    request, problem = asked.request, ""
    flawed: list[T] = []
    for left in range(_ATTEMPTS - 1, -1, -1):
        said = ""
        try:
            answer = await _whole(account, request)
            said = answer.text
            return asked.read(said), answer
        except Unusable as unusable:
            problem = str(unusable)[:_PROBLEM_CHARACTERS]
            if isinstance(unusable, Flawed):
                flawed.append(unusable.value)
        except ModelRejected as error:
            if error.code not in (OUTPUT, LOOP) or not (left or flawed):
                raise
            problem = error.message[:_PROBLEM_CHARACTERS]
        # A small model that is shown its answer copies it, with what was wrong in it.
        shown = said if account.model.context_tokens > SMALL_CONTEXT else ""
        request = _mended(asked.request, shown, problem)
        if not _has_room(account.model, request):
            break
    if flawed:
        return flawed[-1], None
    raise ModelRejected(
        f"{account.model.name}: no usable file in its answer, nor when asked again: {problem}",
        code=OUTPUT,
    )


async def _whole(account: _Account, request: ChatRequest) -> ChatAnswer:
    """Return the answer with what it goes on with; raises `Unusable` if it does not come to an end.

    A file that lacks its end must never pass for a whole one.
    """
    answer = await account.complete(request)
    for _ in range(_CONTINUATIONS):
        if answer.finish != "length":
            return answer
        more = _continued(account.model, request, answer.text)
        if more is None:
            break
        added = await account.complete(more)
        answer = replace(added, text=join(answer.text, added.text))
    if answer.finish == "length":
        raise Unusable("it was cut off before its end; write the file shorter")
    return answer


def _continued(model: ChatModel, request: ChatRequest, said: str) -> ChatRequest | None:
    more = replace(request, messages=(*request.messages, Message("assistant", said))).saying_more(
        load("continue-file").text
    )
    room = model.context_tokens - estimate_request(more)
    needed = min(request.max_output_tokens, max(256, estimate(said) // 2))
    if room < needed:
        return None
    return replace(more, max_output_tokens=min(request.max_output_tokens, room))


def join(said: str, more: str) -> str:
    """Return an answer and what it went on with as one, what was said twice only once."""
    lines = more.split("\n", 1)
    if lines[0].strip().startswith("```") and len(lines) == 2 and lines[0].strip() != "```":
        more = lines[1]
    for length in range(min(len(said), len(more), _OVERLAP_CHARACTERS), 7, -1):
        if said.endswith(more[:length]):
            return said + more[length:]
    last = said[said.rfind("\n") + 1 :]
    if last.strip() and more.startswith(last):
        return said + more[len(last) :]
    return said + more


def _mended(request: ChatRequest, said: str, problem: str) -> ChatRequest:
    shown = cut_to(said.strip(), _SHOWN_TOKENS)
    before = (Message("assistant", shown),) if shown else ()
    mend = load("repair-file").render(problem=problem)
    # A small model that is asked at no temperature says the same again.
    warmer = replace(request, temperature=max(request.temperature, _MENDING_TEMPERATURE), seed=1)
    return replace(warmer, messages=(*request.messages, *before)).saying_more(mend)


def _has_room(model: ChatModel, request: ChatRequest) -> bool:
    return estimate_request(request) + request.max_output_tokens <= model.context_tokens
