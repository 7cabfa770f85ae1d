"""What may be asked: schemes, hosts, ports and limits, as the user set them."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from adapters.web.errors import UrlDenied
from adapters.web.urls import DEFAULT_PORTS, Url, join_url, parse_url, read_host, shown
from state.values.errors import InvalidRequest

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one client.

    `origins` are the hosts that may be asked (`example.org` covers exactly itself, `*.example.org`
    its sub-domains, `https://example.org` that scheme only), or "any" public host. `services` are
    exact origins such as `http://127.0.0.1:8888` that the user named: they alone may be plain HTTP,
    IP addresses, private, or on other ports. A redirect leads into one from another of them, never
    from outside. A client that opens pages somebody else chose must have none but those whose
    pages are meant.

    `wall_s` is for one attempt, `deadline_s` for a whole request with its redirects and retries.
    """

    origins: tuple[str, ...] | Literal["any"] = "any"
    services: tuple[str, ...] = ()
    allow_http: bool = False
    max_bytes: int = 20 * MIB
    wall_s: float = 20.0
    deadline_s: float = 120.0
    max_redirects: int = 3
    max_retries: int = 2

    def __post_init__(self) -> None:
        """Read every origin once, so that a mistake in one is told at once."""
        if isinstance(self.origins, tuple):
            for origin in self.origins:
                _read_pattern(origin)
        for service in self.services:
            _read_service(service)
        if self.max_bytes < 1 or min(self.wall_s, self.deadline_s) <= 0:
            raise InvalidRequest("max_bytes, wall_s and deadline_s must be more than 0.")
        if min(self.max_redirects, self.max_retries) < 0:
            raise InvalidRequest("max_redirects and max_retries must be 0 or more.")

    def admit(self, text: str) -> Url:
        """Return the URL that may be asked; raises `UrlDenied` when it may not."""
        return self._admit(parse_url(text))

    def follow(self, url: Url, location: str) -> Url:
        """Return where a redirect from `url` to `location` leads; raises as `admit`."""
        target = join_url(url, location)
        if url.scheme == "https" and target.scheme == "http":
            raise UrlDenied(f"{shown(url)} redirects to plain http, {shown(target)}: not followed.")
        if self.is_service(target) and not self.is_service(url):
            raise UrlDenied(
                f"{url.origin} redirects into the service {target.origin}: not followed."
            )
        return self._admit(target)

    def is_service(self, url: Url) -> bool:
        """Tell whether the user named the origin of `url` as a service."""
        return any(_read_service(service) == url.origin for service in self.services)

    def _admit(self, url: Url) -> Url:
        if self.is_service(url):
            return url
        if url.scheme == "http" and not self.allow_http:
            raise _denied(url, "only https is read, except from services of your own that you name")
        if url.address is not None:
            raise _denied(url, "hosts are asked by name, not by IP address")
        if url.port not in DEFAULT_PORTS.values():
            raise _denied(url, f"port {url.port} is not asked, only 443 and 80")
        if "." not in url.host:
            raise _denied(url, f"{url.host!r} is a name of the local network")
        if self.origins != "any" and not any(_covers(origin, url) for origin in self.origins):
            raise _denied(url, f"{url.host} is not among the allowed origins")
        return url


@dataclass(frozen=True, slots=True)
class _Pattern:
    """An allowed origin: `scheme` and `port` are None where any of the usual will do."""

    scheme: str | None
    host: str
    port: int | None
    below: bool


@lru_cache(maxsize=256)
def _read_pattern(text: str) -> _Pattern:
    scheme, separator, rest = text.rpartition("://")
    below = rest.startswith(("*.", "."))
    bare = rest.removeprefix("*").removeprefix(".")
    try:
        if separator:
            url = parse_url(f"{scheme}://{bare}")
            pattern = _Pattern(url.scheme, url.host, url.port, below)
            plain = url.target == "/" and url.address is None
        else:
            pattern = _Pattern(None, read_host(bare), None, below)
            plain = not bare.replace(".", "").isdecimal() and not bare.startswith("[")
    except UrlDenied as error:
        raise InvalidRequest(f"Allowed origin {shown(text)!r} cannot be read. {error}") from error
    if not plain or "." not in pattern.host:
        raise InvalidRequest(
            f"Allowed origin {shown(text)!r} is not the name of a host; give `example.org`, "
            "`https://example.org` or `*.example.org`."
        )
    return pattern


@lru_cache(maxsize=256)
def _read_service(text: str) -> str:
    try:
        url = parse_url(text)
    except UrlDenied as error:
        raise InvalidRequest(f"Service {shown(text)!r} cannot be read. {error}") from error
    if url.target != "/":
        raise InvalidRequest(
            f"Service {shown(text)!r} has a path; give its origin alone, such as {url.origin}."
        )
    return url.origin


def _covers(origin: str, url: Url) -> bool:
    allowed = _read_pattern(origin)
    if allowed.scheme not in (None, url.scheme) or allowed.port not in (None, url.port):
        return False
    return url.host.endswith("." + allowed.host) if allowed.below else url.host == allowed.host


def _denied(url: Url, why: str) -> UrlDenied:
    return UrlDenied(f"{shown(url)} is not asked: {why}.")
