"""What a call took and what that costs: the provider's count where it can be true, else ours."""

import math
from dataclasses import dataclass

from adapters.models.chat.heard import Counts, Heard
from adapters.models.chat.port import ChatRequest
from adapters.models.chat.tokens import at_least, estimate, estimate_request

# The bound from below knows words, and a few tokenizers join what it takes for two.
_CERTAIN = 0.9
# No server cuts a prompt to this; one that says so counts wrongly.
_ABSURD = 0.05
_SHORT_TOKENS = 200


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens, or, which is the same, millionths of a dollar for one."""

    input_usd: float
    output_usd: float
    cached_usd: float | None = None

    def micro_usd(self, counts: Counts) -> int:
        """Return the price of `counts`, rounded up."""
        cached_usd = self.input_usd if self.cached_usd is None else self.cached_usd
        full = counts.input_tokens - counts.cached_tokens
        return math.ceil(
            full * self.input_usd
            + counts.cached_tokens * cached_usd
            + counts.output_tokens * self.output_usd
        )


@dataclass(frozen=True, slots=True)
class Account:
    """The tokens of a call, and whether any of them is our own estimate."""

    counts: Counts
    is_estimated: bool


def overflow(request: ChatRequest, context_tokens: int) -> str:
    """Say by how much the prompt is surely too long for the context, or ''."""
    least = int(_CERTAIN * _least_input(request))
    if least <= context_tokens:
        return ""
    return f"the prompt has at least {least} tokens, and the model's context {context_tokens}"


def estimated(request: ChatRequest, heard: Heard) -> Account:
    """Return by our own count what a call took of which the provider told nothing."""
    return Account(Counts(estimate_request(request), estimate(heard.output)), is_estimated=True)


def settle(request: ChatRequest, heard: Heard) -> Account:
    """Return what a whole answer took, by the provider's counts where they can be true.

    A count larger than ours is believed, one below what the text must have is not.
    """
    reported = heard.counts or Counts(0, 0)
    given, put_out = reported.input_tokens, reported.output_tokens
    believes_input = given >= max(1, _CERTAIN * _least_input(request))
    believes_output = put_out >= max(1, _CERTAIN * at_least(heard.output))
    tokens = given if believes_input else estimate_request(request)
    return Account(
        Counts(
            input_tokens=tokens,
            output_tokens=put_out if believes_output else estimate(heard.output),
            cached_tokens=min(max(reported.cached_tokens, 0), tokens) if believes_input else 0,
        ),
        is_estimated=not (believes_input and believes_output),
    )


def truncation(request: ChatRequest, heard: Heard) -> str:
    """Say how much of the prompt was lost, when the provider's count shows that it was; else ''."""
    least = int(_CERTAIN * _least_input(request))
    given = heard.counts.input_tokens if heard.counts else 0
    if least < _SHORT_TOKENS or given >= least or given <= _ABSURD * least:
        return ""
    return f"was given {given} tokens of a prompt that has at least {least}"


def _least_input(request: ChatRequest) -> int:
    return sum(at_least(message.text) for message in request.messages)
