"""What one attempt at a call heard so far, or why it heard nothing."""

from dataclasses import dataclass

from adapters.models.chat.port import Finish
from adapters.models.chat.repetition import is_looping
from adapters.models.chat.tokens import at_least

_LOOK_EVERY = 400


@dataclass(frozen=True, slots=True)
class Counts:
    """The usage that a provider reported; any of it may be wrong."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an attempt failed. `wait_s` is how long the provider wants to be left alone.

    `is_busy` concerns everybody who asks it; with `gives_up` it asks not to be tried at once.
    `is_form` is True when it may have been the schema that was refused, `is_stream` when the
    server did not answer as a stream.
    """

    code: str
    message: str
    is_transient: bool = False
    wait_s: float | None = None
    is_busy: bool = False
    gives_up: bool = False
    is_form: bool = False
    is_stream: bool = False


@dataclass(slots=True)
class Heard:
    """Text as it comes in, watched: reading stops when it loops or outgrows `max_tokens`."""

    max_tokens: int
    text: str = ""
    thought: str = ""
    model: str = ""
    finish: Finish = "other"
    refusal: str = ""
    counts: Counts | None = None
    is_looping: bool = False
    is_too_long: bool = False
    _unseen: str = ""
    _tokens: int = 0

    @property
    def is_enough(self) -> bool:
        """Tell whether reading on is of no use."""
        return self.is_looping or self.is_too_long

    @property
    def output(self) -> str:
        """Return all that the model put out."""
        return self.thought + self.text

    def add(self, text: str, *, is_thought: bool = False) -> None:
        """Take in the next piece."""
        if is_thought:
            self.thought += text
        else:
            self.text += text
        self._unseen += text
        if len(self._unseen) >= _LOOK_EVERY:
            self.look(is_thought=is_thought)

    def look(self, *, is_thought: bool = False) -> None:
        """Look at what came in since the last look."""
        self._tokens += at_least(self._unseen)
        self._unseen = ""
        # A count from below, so a model within its limit is never stopped.
        self.is_too_long = self._tokens > self.max_tokens + 64
        self.is_looping = is_looping(self.thought if is_thought else self.text)
