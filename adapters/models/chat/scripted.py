"""A `ChatModel` for tests: scripted answers, and every request remembered."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import anyio

from adapters.models.chat.accounts import overflow
from adapters.models.chat.errors import CONTEXT, LOOP, OUTPUT, ModelRejected
from adapters.models.chat.port import ChatAnswer, ChatRequest
from adapters.models.chat.repetition import is_looping
from adapters.models.chat.tokens import estimate, estimate_request
from state.values.errors import AssayError
from state.values.money import Usage


@dataclass(frozen=True, slots=True)
class Hang:
    """Never answer."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """Say `text` again and again, as a model in a loop does."""

    text: str


Scripted = str | ChatAnswer | AssayError | Hang | Repeat


@dataclass(slots=True)
class ScriptedModel:
    """Gives the scripted answers in turn, the last one again and again, or what a function says.

    A text is counted as the real implementation counts one without usage. A `ChatAnswer` is given
    as it is, so that a model can overspend or lie; an `AssayError` is raised. The price is
    `micro_usd_per_token` for each token, in or out.
    """

    answers: Sequence[Scripted] | Callable[[ChatRequest], Scripted] = ()
    name: str = "scripted"
    context_tokens: int = 32_768
    micro_usd_per_token: int = 0
    latency_s: float = 0.0
    requests: list[ChatRequest] = field(default_factory=list)
    is_closed: bool = False

    def price(self, request: ChatRequest) -> Usage:
        """Return the estimated prompt and the whole output limit."""
        return self._charge(estimate_request(request), request.max_output_tokens)

    async def complete(self, request: ChatRequest) -> ChatAnswer:
        """Remember `request`; give the next answer of the script."""
        if too_long := overflow(request, self.context_tokens):
            raise ModelRejected(f"{self.name}: {too_long}", code=CONTEXT)
        self.requests.append(request)
        await anyio.sleep(self.latency_s)
        match self._next(request):
            case AssayError() as error:
                raise error
            case Hang():
                await anyio.sleep_forever()
                raise AssertionError("unreachable")
            case Repeat(text=text):
                return self._answer(request, text * (1 + 20_000 // max(1, len(text))))
            case ChatAnswer() as answer:
                return answer
            case str(text):
                return self._answer(request, text)

    async def aclose(self) -> None:
        """Remember that it was closed."""
        self.is_closed = True

    def _next(self, request: ChatRequest) -> Scripted:
        if callable(self.answers):
            return self.answers(request)
        if not self.answers:
            raise ModelRejected(f"{self.name}: no answer is scripted", code=OUTPUT)
        return self.answers[min(len(self.requests), len(self.answers)) - 1]

    def _answer(self, request: ChatRequest, text: str) -> ChatAnswer:
        usage = self._charge(estimate_request(request), estimate(text))
        if is_looping(text):
            message = f"{self.name}: the answer repeated itself and was ended"
            raise ModelRejected(message, code=LOOP, usage=usage)
        if not text.strip():
            raise ModelRejected(f"{self.name}: the model gave no text", code=OUTPUT, usage=usage)
        return ChatAnswer(
            text=text,
            model=self.name,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cost_micro_usd=usage.cost_micro_usd,
            is_estimated=True,
        )

    def _charge(self, input_tokens: int, output_tokens: int) -> Usage:
        return Usage(
            model_calls=1,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            cost_micro_usd=self.micro_usd_per_token * (input_tokens + output_tokens),
        )
