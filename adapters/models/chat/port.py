"""The `ChatModel` port: messages in, one text out, and what that took."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from state.values.money import Usage

Role = Literal["system", "user", "assistant"]
Finish = Literal["stop", "length", "filter", "other"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of the conversation."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What to ask. With a `schema` (JSON Schema of an object) the answer is to be such JSON.

    `max_output_tokens` bounds the answer, thinking included. `prompt` says which prompt the
    messages were made from (`Prompt.id`), so that a kept answer is not given to another one.
    """

    messages: tuple[Message, ...]
    max_output_tokens: int
    schema: Mapping[str, object] | None = None
    schema_name: str = "answer"
    temperature: float = 0.0
    seed: int | None = None
    prompt: str = ""

    def saying_more(self, text: str) -> "ChatRequest":
        """Return it with `text` as the end of what the user says last.

        Some chat templates refuse two messages of the user in a row.
        """
        *before, last = self.messages
        if last.role != "user":
            return replace(self, messages=(*self.messages, Message("user", text)))
        return replace(self, messages=(*before, Message("user", f"{last.text}\n\n{text}")))


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """What a model said, and what the call took.

    `model` is who answered, as the provider names it. Of the `input_tokens`, `cached_tokens` were
    cheaper. `is_estimated` is True when the provider gave no usage, or one that cannot be.
    """

    text: str
    model: str
    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    cost_micro_usd: int = 0
    is_estimated: bool = False
    finish: Finish = "stop"

    @property
    def usage(self) -> Usage:
        """Return what to charge: one call, its tokens, each counted once, and their cost."""
        return Usage(
            model_calls=1,
            input_tokens=self.input_tokens - self.cached_tokens,
            cached_tokens=self.cached_tokens,
            output_tokens=self.output_tokens,
            cost_micro_usd=self.cost_micro_usd,
        )


class ChatModel(Protocol):
    """Answers one request at a time, or several at once.

    Errors are `ModelRejected` with one of the codes of `errors`, when asking again does not help,
    and `ModelUnavailable` when it may. Both carry the `usage` to charge.
    """

    @property
    def name(self) -> str:
        """Return what the model is called in reports and in the keys of kept answers."""
        ...

    @property
    def context_tokens(self) -> int:
        """Return how many tokens prompt and answer may have together."""
        ...

    def price(self, request: ChatRequest) -> Usage:
        """Return the most that a call with `request` is expected to take, to be reserved for it."""
        ...

    async def complete(self, request: ChatRequest) -> ChatAnswer:
        """Return the answer: a text that is not blank, cut off when its finish is `length`."""
        ...

    async def aclose(self) -> None:
        """Close the connections that are kept open."""
        ...
