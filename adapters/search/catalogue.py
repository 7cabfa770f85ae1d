"""The providers by name: which there are, what is known of them, and how one is made."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import cast
from urllib.parse import urlsplit

from adapters.search.web import Provider, Terms
from adapters.web.errors import UrlDenied
from adapters.web.urls import parse_url
from state.values.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class _Place:
    module: str
    kind: str
    needs_url: bool = False
    contact: str = ""  # the field that takes an e-mail address


_GENERAL = "adapters.search.general"
_SCHOLARLY = "adapters.search.scholarly"
# Without keys first: in this order they are offered.
_PLACES = {
    "mediawiki": _Place(f"{_GENERAL}.mediawiki", "MediaWiki"),
    "searxng": _Place(f"{_GENERAL}.searxng", "Searxng", needs_url=True),
    "arxiv": _Place(f"{_SCHOLARLY}.arxiv", "Arxiv"),
    "openalex": _Place(f"{_SCHOLARLY}.openalex", "OpenAlex"),
    "crossref": _Place(f"{_SCHOLARLY}.crossref", "Crossref", contact="mailto"),
    "semanticscholar": _Place(f"{_SCHOLARLY}.semantic_scholar", "SemanticScholar"),
    "pubmed": _Place(f"{_SCHOLARLY}.pubmed", "PubMed", contact="email"),
    "brave": _Place(f"{_GENERAL}.brave", "Brave"),
    "tavily": _Place(f"{_GENERAL}.tavily", "Tavily"),
}


def names() -> tuple[str, ...]:
    """Return the names of all providers, those that need no key first."""
    return tuple(_PLACES)


def terms_of(name: str) -> Terms:
    """Return the terms of the provider `name` at its usual address ('' when it has none).

    Raises `InvalidRequest` for a name that is none.
    """
    return _make(_place(name), {}).terms


def make(name: str, *, url: str | None = None, contact: str = "") -> Provider:
    """Return the provider `name`, at `url` in place of its usual address.

    `url` is an instance's or a wiki's address, as a person would give it, and `contact` an e-mail
    address, which some are told. Raises `InvalidRequest` for a name that is none, an address that
    cannot be asked, and for SearXNG without one.
    """
    place = _place(name)
    if url is None and place.needs_url:
        raise InvalidRequest(
            f"{name} has no common address; give that of your instance, "
            "such as http://127.0.0.1:8888."
        )
    fields = {} if url is None else {"url": _base(name, url)}
    if contact and place.contact:
        fields[place.contact] = contact
    return _make(place, fields)


def service_origin(provider: Provider) -> str:
    """Return the origin that `provider` is asked at: a service to allow, when it is one's own."""
    return parse_url(provider.terms.url).origin


def _place(name: str) -> _Place:
    if name not in _PLACES:
        raise InvalidRequest(f"{name!r} is no search provider; there are {', '.join(names())}.")
    return _PLACES[name]


def _make(place: _Place, fields: Mapping[str, str]) -> Provider:
    made = getattr(import_module(place.module), place.kind)
    try:
        return cast("Provider", made(**fields))
    except TypeError as error:
        raise InvalidRequest(f"{place.kind} can be asked at its own address only.") from error


def _base(name: str, url: str) -> str:
    try:
        parse_url(url.strip())
    except UrlDenied as error:
        raise InvalidRequest(f"The address given for {name} cannot be asked. {error}") from error
    parts = urlsplit(url.strip())
    if parts.query or parts.fragment:
        raise InvalidRequest(
            f"The address given for {name} has a query or a fragment; give what comes before."
        )
    return url.strip().rstrip("/")
