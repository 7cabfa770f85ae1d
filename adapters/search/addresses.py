"""Spells the address of a page in one way, so that two spellings of it are seen to be the same."""

import re
from urllib.parse import SplitResult, unquote, urlsplit

_MAX_LENGTH = 4096
_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?\Z|\[[0-9a-f:.]+\]\Z")
_VARIANT = re.compile(r"(?:www|m|amp)\.(?=[^.]+\.[^.])")
_MOBILE_WIKI = re.compile(r"\.m\.(?=(?:wiki[a-z]+|mediawiki)\.org\Z)")
_AMP_VIEWER = re.compile(
    r"google(?:\.[a-z]{2,3}){1,2}/amp/(?P<viewed>.+)"
    r"|[a-z0-9-]+\.cdn\.ampproject\.org/[cv]/(?P<cached>.+)",
    re.DOTALL,
)
# Only behind a slug of three words or more: elsewhere, `amp` is as likely what the page is about.
_AMP_TAIL = re.compile(r"(?<=-)[^/-]+-[^/-]+/amp\Z")
_SESSION = re.compile(r";jsessionid=[^/;]*", re.IGNORECASE)
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})|(.)", re.DOTALL)
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_IN_PATH = _UNRESERVED | frozenset("!$&'()*+,;=:@/")
_IN_QUERY = _IN_PATH | frozenset("?")
_TRACKING = frozenset(
    "gclid gclsrc dclid gbraid wbraid fbclid msclkid yclid twclid ttclid igshid igsh li_fat_id "
    "mc_cid mc_eid mkt_tok _hsenc _hsmi vero_id _ga _gl ref ref_src ref_url pk_campaign pk_kwd "
    "cmpid ncid s_cid spm __twitter_impression".split()
)
_TRACKING_PREFIXES = ("utm_", "mtm_", "hsa_", "oly_")
_AMP_FLAGS = frozenset({"amp", "amp=1", "amp=true", "outputtype=amp"})
# There, `ref` names a branch.
_FORGES = ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "gitea.com")


def is_web(locator: str) -> bool:
    """Tell whether `locator` is the URL of a web page, and not a path."""
    return locator[:8].lower().startswith(("http://", "https://"))


def canonical_url(url: str) -> str:
    """Return the one spelling of `url` (RFC 3986 §6.2); pages are compared by it, never fetched.

    Scheme, host, port, dots, escapes, order of the query and trailing slash are normal; left out
    are fragment, credentials, session, tracking parameters, and what makes a page a mobile, AMP or
    `www` variant; http and https are one. What is no web address is only stripped of white space.
    """
    url = url.strip()
    if len(url) > _MAX_LENGTH:
        return url
    while (normal := _normal(url)) is not None and normal != url:
        url = normal
    return url


def _normal(url: str) -> str | None:
    """Return one round of normalising `url`, or None when it is no web address."""
    try:
        split = urlsplit(url)
        scheme, port = split.scheme.lower(), split.port
        host = _host(split)
    except ValueError:  # a port or an IPv6 address that is none
        return None
    if scheme not in _PORTS or host is None:
        return None
    path, query = _path(split.path), _query(split.query, host)
    viewer = _AMP_VIEWER.match(host + path) if port is None else None
    if viewer:
        viewed = viewer["viewed"] or viewer["cached"]
        return "https://" + viewed.removeprefix("s/") + query
    if port is None or port == _PORTS[scheme]:
        return f"https://{host}{path}{query}"
    return f"{scheme}://{host}:{port}{path}{query}"


def _host(split: SplitResult) -> str | None:
    host = unquote(split.hostname or "").rstrip(".").lower()
    if ":" in host:
        host = f"[{host}]"
    elif not host.isascii():
        host = host.encode("idna").decode("ascii")
    if not _HOST.match(host):
        return None
    while variant := _VARIANT.match(host):
        host = host[variant.end() :]
    return _MOBILE_WIKI.sub(".", host)


def _path(path: str) -> str:
    path = _without_dots(_SESSION.sub("", _escaped(path, _IN_PATH)))
    if tail := _AMP_TAIL.search(path):
        path = path[: tail.end() - len("/amp")]
    return path or "/"


def _query(query: str, host: str) -> str:
    pieces = (_escaped(piece, _IN_QUERY) for piece in query.split("&") if piece)
    kept = [piece for piece in pieces if not _is_tracking(piece, host)]
    kept.sort(key=lambda piece: piece.partition("=")[0])
    return "?" + "&".join(kept) if kept else ""


def _is_tracking(piece: str, host: str) -> bool:
    name = unquote(piece.partition("=")[0]).lower()
    if name == "ref" and host.endswith(_FORGES):
        return False
    return name in _TRACKING or name.startswith(_TRACKING_PREFIXES) or piece.lower() in _AMP_FLAGS


def _escaped(text: str, allowed: frozenset[str]) -> str:
    """Return `text` with what needs no escape spelled out and all else escaped in upper case."""

    def spelled(match: re.Match[str]) -> str:
        digits, character = match.groups()
        if digits is None:
            encoded = character.encode("utf-8", "surrogatepass")
            return character if character in allowed else "".join(f"%{b:02X}" for b in encoded)
        decoded = chr(int(digits, 16))
        return decoded if decoded in _UNRESERVED else f"%{digits.upper()}"

    return _ESCAPE.sub(spelled, text)


def _without_dots(path: str) -> str:
    """Return `path` without its segments `.` and `..` (RFC 3986 §5.2.4), and with no last slash."""
    kept: list[str] = []
    for segment in path.split("/")[1:]:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    return "".join(f"/{segment}" for segment in kept).rstrip("/")
