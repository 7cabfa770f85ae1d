"""How many steps of all workers may ask one place at once: the limits, by their names in Prefect.

A limit is called `assay:model:<provider>`, `assay:host:<host>` or `assay:search:<provider>`. Only
those in `limited` hold, so that a run without limits asks the server for nothing. Imports no
Prefect, since models are looked at before that may be.
"""

from contextvars import ContextVar
from typing import Literal
from urllib.parse import urlsplit

PREFIX = "assay:"
Kind = Literal["model", "host", "search"]

limited: ContextVar[frozenset[str]] = ContextVar("limited", default=frozenset())


def limits_at(kind: Kind, *places: str) -> list[str]:
    """Return the names of the limits that hold for `places`, such as a host; '' is no place."""
    names = {f"{PREFIX}{kind}:{place.lower()}" for place in places if place}
    return sorted(names & limited.get())


def host_of(locator: str) -> str:
    """Return the host of an address, with a port that is not the usual one; '' for a path."""
    if "://" not in locator:
        return ""
    try:
        parts = urlsplit(locator)
        port = parts.port
    except ValueError:
        return ""  # it will be refused where it is opened
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    host = (parts.hostname or "").lower()
    return host if port in (None, usual) else f"{host}:{port}"
