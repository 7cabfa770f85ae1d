"""The `Http` port: one guarded exchange with a server of the outside world."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Request:
    """What to ask for. `params` are added to the query of `url`.

    `json` makes it a POST, and so does `content`, bytes that are sent to the letter: JSON unless a
    header says otherwise.

    `headers` may hold a key: they are sent to the origin of `url` alone, not after a redirect to
    another origin, and appear in no error. `conditions` are headers about a version of the page at
    `conditions_for`, and are sent to that very address alone, be it `url` or where redirects lead.
    """

    url: str
    params: tuple[tuple[str, str], ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    json: object = None
    content: bytes = b""
    conditions: tuple[tuple[str, str], ...] = ()
    conditions_for: str = ""


@dataclass(frozen=True, slots=True)
class Response:
    """A whole answer: `url` is where it came from after redirects, `headers` in lower case.

    `body` is decoded (gzip, deflate) and within the limit.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def media_type(self) -> str:
        """Return the Content-Type as it was sent, or ''."""
        return self.headers.get("content-type", "")


class Http(Protocol):
    """Asks servers over HTTP, and never one that the rules forbid."""

    async def send(self, request: Request) -> Response:
        """Return the answer, whatever its status.

        429, 502, 503 and 504 were asked again (at most twice, Retry-After honoured up to 60 s)
        before they are returned. Raises `RejectedError` with one of the codes
        URL_POLICY_DENIED, PRIVATE_ADDRESS_DENIED, BODY_LIMIT, REDIRECT_LIMIT,
        RETRY_AFTER_EXCEEDS_BUDGET, and PAGE_UNAVAILABLE when there is no whole answer in time.
        """
        ...

    async def aclose(self) -> None:
        """Close the connections that are kept open."""
        ...
