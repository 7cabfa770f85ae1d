"""What work costs: counts, tokens, and money in millionths of a US dollar."""

from state.values.swift import swift


@swift(frozen=True, slots=True)
class Usage:
    """What a step used up. Adding two gives what both used."""

    searches: int = 0
    pages: int = 0
    model_calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_micro_usd: int = 0

    @property
    def tokens(self) -> int:
        """Return all tokens: read, read from a cache, and written."""
        return self.input_tokens + self.cached_tokens + self.output_tokens

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.searches + other.searches,
            self.pages + other.pages,
            self.model_calls + other.model_calls,
            self.input_tokens + other.input_tokens,
            self.cached_tokens + other.cached_tokens,
            self.output_tokens + other.output_tokens,
            self.cost_micro_usd + other.cost_micro_usd,
        )
