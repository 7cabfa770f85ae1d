"""Searches over the web: what a provider is, and the one way all of them are asked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from adapters.search.port import SearchPage
from adapters.web.port import Request


@dataclass(frozen=True, slots=True)
class Terms:
    """How a provider wants to be asked.

    `interval_s` is the least time between two requests, `max_query` the longest query in code
    points, `key` the environment variable that holds its key ('' when it takes none), and
    `cost_micro_usd` the price of one request in millionths of a US dollar.
    """

    name: str
    label: str
    url: str
    interval_s: float = 1.0
    max_query: int = 300
    key: str = ""
    needs_key: bool = False
    cost_micro_usd: int = 0


class Malformed(ValueError):
    """The provider answered something that is not its format; the message says what is missing."""


class Provider(Protocol):
    """One search service, as pure functions: what to ask it, and what its answer means."""

    @property
    def terms(self) -> Terms:
        """Return how it wants to be asked."""
        ...

    def request(self, query: str, *, cursor: str | None, limit: int, key: str) -> Request:
        """Return the request for `query`, already within `max_query`, at `cursor`."""
        ...

    def parse(self, body: bytes, headers: Mapping[str, str], *, limit: int) -> SearchPage:
        """Return the page that a successful answer holds; no hits is a success.

        Raises `Malformed` when it is not what the provider documents.
        """
        ...
