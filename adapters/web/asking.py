"""What is sent, and what becomes of it when the answer is a redirect."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Self

from adapters.web.decoding import ACCEPT_ENCODING
from adapters.web.errors import RedirectLimit, UrlDenied
from adapters.web.port import Request
from adapters.web.rules import Rules
from adapters.web.urls import Url, shown
from state.values.errors import InvalidRequest

AGENT = "Assay"
# What the client itself decides; and what would tell a server more than the question.
_RESERVED = frozenset(
    "accept-encoding connection content-length cookie expect host keep-alive proxy-authorization "
    "proxy-connection range referer te trailer transfer-encoding upgrade".split()
)
# Headers that are no secret, and go along when a redirect leads to another origin.
_PUBLIC = frozenset({"accept", "accept-encoding", "accept-language", "user-agent"})


def user_agent() -> str:
    """Return how Assay introduces itself."""
    try:
        number = version("assay-research")
    except PackageNotFoundError:
        number = "0"
    return f"{AGENT}/{number} (+research reader)"


@dataclass(frozen=True, slots=True)
class Question:
    """What is sent. Header names are in lower case."""

    url: Url
    method: str
    headers: Mapping[str, str]
    content: bytes = b""


@dataclass(slots=True)
class Asking:
    """Where a request stands among its redirects and retries."""

    first: Url
    question: Question
    conditions: Mapping[str, str] = field(default_factory=dict)
    conditions_for: str = ""
    hops: int = 0
    retries: int = 0

    @classmethod
    def begin(cls, request: Request, url: Url) -> Self:
        """Return what to send for `request` at `url`, which the rules have let through."""
        headers = {"user-agent": user_agent(), "accept": "*/*", "accept-encoding": ACCEPT_ENCODING}
        for name, text in request.headers:
            if name.lower() in _RESERVED:
                raise InvalidRequest(f"The header {name!r} is the client's own; leave it out.")
            headers[name.lower()] = text
        asking = cls(
            url, _question(request, url, headers), dict(request.conditions), request.conditions_for
        )
        asking.question = asking._conditioned(asking.question)
        return asking

    def _conditioned(self, question: Question) -> Question:
        """Return `question` with the conditions if they are about its address, else without."""
        headers = {k: v for k, v in question.headers.items() if k not in self.conditions}
        if str(question.url) == self.conditions_for:
            headers |= self.conditions
        return replace(question, headers=headers)

    @property
    def host(self) -> str:
        """Return the host that is asked now."""
        return self.question.url.host

    def follow(self, rules: Rules, location: str, status: int) -> None:
        """Go where the answer sent us; keys stay with the origin that they were meant for."""
        was = self.question
        url = rules.follow(was.url, _as_text(location))
        self.hops += 1
        if self.hops > rules.max_redirects:
            raise RedirectLimit(
                f"{shown(self.first)} redirects more than {rules.max_redirects} times; "
                f"the last was to {shown(url)}."
            )
        question = replace(was, url=url)
        if status in (301, 302, 303):
            question = replace(question, method="GET", content=b"")
        if url.origin != was.url.origin:
            if question.content:
                raise UrlDenied(
                    f"{was.url.origin} redirects what it was sent to {url.origin}: not sent on."
                )
            question = replace(question, headers=_only(_PUBLIC, question.headers))
        if not question.content:
            question = replace(question, headers=_without("content-type", question.headers))
        self.question = self._conditioned(question)


def _question(request: Request, url: Url, headers: dict[str, str]) -> Question:
    if request.content:
        headers.setdefault("content-type", "application/json")
        return Question(url, "POST", headers, request.content)
    if request.json is None:
        return Question(url, "GET", headers)
    try:
        content = json.dumps(request.json, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise InvalidRequest(f"What is to be sent to {url.host} is not JSON: {error}.") from error
    headers["content-type"] = "application/json"
    return Question(url, "POST", headers, content)


def _as_text(header: str) -> str:
    """Return a Location's characters: servers send UTF-8, the header was read as Latin-1."""
    try:
        return header.encode("latin-1").decode()
    except UnicodeDecodeError:
        return header


def _only(names: frozenset[str], headers: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in headers.items() if name in names}


def _without(name: str, headers: Mapping[str, str]) -> dict[str, str]:
    return {kept: text for kept, text in headers.items() if kept != name}
