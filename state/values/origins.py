"""Which origins of the web a run may read, spelled in one form so that they can be compared."""

import re
from ipaddress import ip_address
from typing import Literal
from urllib.parse import SplitResult, urlsplit

ANY: Literal["any"] = "any"
Origins = tuple[str, ...] | Literal["any"]
"""What may be read: hosts over https (`*.` before one: those below it), exact origins, or any."""

_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)\Z")
_PORTS = {"https": 443, "http": 80}


def normal_origin(text: str) -> str:
    """Return an origin in the form that is compared.

    That is the ASCII name of a host, `*.` and such a name, or, for what is not https on its own
    port, `scheme://host:port`. Raises `ValueError` when `text` is none of these.
    """
    text = text.strip()
    if "://" in text:
        return _origin(text, urlsplit(text))
    below = "*." if text.startswith("*.") else ""
    name = _host_name(text.removeprefix("*."))
    if "." not in name:
        raise ValueError(
            f"{text!r} is a name of the local network; give the whole origin of a service of your "
            f"own, such as http://{name}:8888, and set it in ASSAY_SERVICES, too"
        )
    return below + name


def covers(origins: Origins, url: str) -> bool:
    """Tell whether `origins` has that of `url`; "any" has every host by name, over https."""
    try:
        origin = normal_origin("{0.scheme}://{0.netloc}".format(urlsplit(url)))
    except ValueError:
        return False
    if origins == ANY:
        return "://" not in origin
    return any(
        origin.endswith(allowed[1:]) and "://" not in origin
        if allowed.startswith("*.")
        else origin == allowed
        for allowed in origins
    )


def _origin(text: str, parts: SplitResult) -> str:
    port = parts.port or _PORTS.get(parts.scheme)
    host = parts.hostname or ""
    if port is None or "@" in parts.netloc or not host:
        raise ValueError(f"{text!r} is not an origin, such as https://example.org")
    try:
        address = ip_address(host)
    except ValueError:
        name = _host_name(host)
        is_public = "." in name and (parts.scheme, port) == ("https", 443)
        return name if is_public else f"{parts.scheme}://{name}:{port}"
    shown = f"[{address}]" if address.version == 6 else str(address)
    return f"{parts.scheme}://{shown}:{port}"


def _host_name(text: str) -> str:
    try:
        name = text.rstrip(".").encode("idna").decode("ascii").lower()
    except UnicodeError as error:
        raise ValueError(f"{text!r} is not the name of a host") from error
    labels = name.split(".")
    if (name != "localhost" and len(labels) < 2) or not all(map(_LABEL.match, labels)):
        raise ValueError(f"{text!r} is not the name of a host, such as example.org")
    if labels[-1].isdigit() or labels[-1].startswith("0x"):
        raise ValueError(
            f"{text!r} is an address; name the host, or give the whole origin of a service of your "
            f"own, such as http://{text}:8888, and set it in ASSAY_SERVICES, too"
        )
    return name
