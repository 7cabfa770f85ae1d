"""URLs as Assay reads them: one parser, one spelling, and no guessing.

What two parsers could read differently (controls, spaces, backslashes, user info, percent signs in
hosts, other spellings of IP addresses) is refused, so the host that is checked is the host asked.
"""

import re
import unicodedata
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import quote, urlencode, urljoin

import idna

from adapters.web.errors import UrlDenied
from adapters.web.port import Request
from state.values.redaction import redact

IpAddress = IPv4Address | IPv6Address

DEFAULT_PORTS = {"http": 80, "https": 443}
_LONGEST = 8_192
_SHOWN = 200
_FORM = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)"
    r"(?P<path>[^?#]*)(?P<query>\?[^#]*)?(?:#.*)?",
    re.DOTALL,
)
# Browsers and libraries read these as different hosts.
_AMBIGUOUS = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?///|https?:(?!//)", re.IGNORECASE)
_AUTHORITY = re.compile(r"(?P<host>\[[^\[\]]*\]|[^\[\]:]*)(?::(?P<port>[0-9]{0,5}))?")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
# RFC 3986 §3.3 and §3.4, and the percent sign: what is encoded already stays as it is.
_SAFE = "%/?:@!$&'()*+,;=-._~[]"
_DOTS = {".": ".", "%2e": ".", "..": "..", ".%2e": "..", "%2e.": "..", "%2e%2e": ".."}


@dataclass(frozen=True, slots=True)
class Url:
    """A URL in its one spelling: lower-case ASCII host, explicit port, no fragment.

    `address` is the IP address that the host is, or None for a name; `target` is path and query.
    """

    scheme: str
    host: str
    port: int
    target: str
    address: IpAddress | None = None

    @property
    def authority(self) -> str:
        """Return host and, unless it is the scheme's own, port: what `Host` says."""
        host = f"[{self.host}]" if isinstance(self.address, IPv6Address) else self.host
        return host if self.port == DEFAULT_PORTS.get(self.scheme) else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Return scheme, host and port."""
        return f"{self.scheme}://{self.authority}"

    @property
    def path(self) -> str:
        """Return the target without its query."""
        return self.target.partition("?")[0]

    def __str__(self) -> str:
        return self.origin + self.target


def parse_url(text: str) -> Url:
    """Return the URL that `text` spells; raises `UrlDenied` when there is doubt about it."""
    _refuse_odd_characters(text)
    parts = _FORM.fullmatch(text)
    if parts is None:
        raise _denied(text, "it is not a URL with a scheme and a host; give https://host/path")
    scheme = parts["scheme"].lower()
    if scheme not in DEFAULT_PORTS:
        raise _denied(text, f"its scheme is {scheme!r}; only https is read")
    if "@" in parts["authority"]:
        raise UrlDenied(
            f"A URL of {shown(parts['authority'].rpartition('@')[2])} holds a user name or a "
            "password; leave them out."
        )
    authority = _AUTHORITY.fullmatch(parts["authority"])
    if authority is None or authority["port"] == "":
        raise _denied(text, f"its host {parts['authority'][:100]!r} cannot be read")
    port = int(authority["port"] or DEFAULT_PORTS[scheme])
    if not 0 < port < 65_536:
        raise _denied(text, f"there is no port {port}")
    host, address = _read_host(text, authority["host"])
    target = (_without_dots(parts["path"]) or "/") + (parts["query"] or "")
    return Url(scheme, host, port, quote(target, safe=_SAFE), address)


def join_url(base: Url, location: str) -> Url:
    """Return where `location` leads from `base`; raises as `parse_url`."""
    _refuse_odd_characters(location)
    if _AMBIGUOUS.match(location):
        raise _denied(location, "its slashes can be read in two ways")
    try:
        joined = urljoin(str(base), location)
    except ValueError as error:
        raise _denied(location, str(error)) from error
    return parse_url(joined)


def request_url(request: Request) -> str:
    """Return the URL of `request`, its `params` added to the query."""
    if not request.params:
        return request.url
    bare, _, _ = request.url.partition("#")
    between = "" if bare.endswith(("?", "&")) else "&" if "?" in bare else "?"
    return bare + between + urlencode(request.params)


def shown(text: object) -> str:
    """Return a URL as messages show it: one line, no secrets, not too long."""
    line = "".join(
        char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in str(text)
    )
    line = redact(line[: 2 * _LONGEST])
    return line if len(line) <= _SHOWN else line[:_SHOWN] + "…"


def read_host(text: str) -> str:
    """Return the one spelling of a host name; raises `UrlDenied` for what is none."""
    return _read_host(text, text)[0]


def _refuse_odd_characters(text: str) -> None:
    if len(text) > _LONGEST:
        raise _denied(text, f"it has {len(text):,} characters; {_LONGEST:,} are read")
    for char in text:
        if char in " \\" or unicodedata.category(char) in ("Cc", "Cs", "Zs", "Zl", "Zp"):
            raise _denied(
                text, f"it holds the character U+{ord(char):04X}; write it percent-encoded"
            )


def _read_host(url: str, text: str) -> tuple[str, IpAddress | None]:
    if text.startswith("["):
        try:
            address = IPv6Address(text[1:-1])
        except ValueError as error:
            raise _denied(url, f"{text!r} is no IPv6 address") from error
        if address.scope_id:
            raise _denied(url, "its address has a zone, which means something on one machine only")
        return address.compressed, address
    host = _ascii_host(url, text).removesuffix(".")
    labels = host.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return _dotted_quad(url, host)
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise _denied(url, f"{text[:100]!r} is no host name")
    return host, None


def _ascii_host(url: str, text: str) -> str:
    if text.isascii():
        return text.lower()
    try:
        return idna.encode(text, uts46=True, std3_rules=True).decode()
    except UnicodeError as error:
        raise _denied(url, f"{text[:100]!r} is no host name ({error})") from error


def _dotted_quad(url: str, host: str) -> tuple[str, IpAddress]:
    try:
        return host, ip_address(host)
    except ValueError as error:
        # Decimal, octal, hexadecimal and short forms: resolvers read them, each in its own way.
        raise _denied(url, f"{host!r} is another spelling of an IP address, or none") from error


def _without_dots(path: str) -> str:
    """Return `path` without `.` and `..` (RFC 3986 §5.2.4), percent-encoded ones included."""
    kept: list[str] = []
    segments = path.split("/")
    for place, segment in enumerate(segments):
        dots = _DOTS.get(segment.lower())
        if dots is None:
            kept.append(segment)
            continue
        if dots == ".." and len(kept) > 1:
            kept.pop()
        if place == len(segments) - 1:
            kept.append("")
    return "/".join(kept)


def _denied(url: str, why: str) -> UrlDenied:
    return UrlDenied(f"{shown(url)} is not asked: {why}.")
