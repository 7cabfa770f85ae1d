"""The web as a run may see it: providers with their keys, and readers that keep to the rules."""

import os
from collections.abc import Sequence
from dataclasses import replace

from adapters.search import catalogue
from adapters.search.pace import Pace as SearchPace
from adapters.search.port import Search
from adapters.search.web import Terms, WebSearch
from adapters.web.acquire import ACQUISITION
from adapters.web.client import HttpClient
from adapters.web.memory import Archive, PageMemory
from adapters.web.pages import WebReader
from adapters.web.robots import Robots
from adapters.web.rules import Rules
from adapters.web.waiting import Pace
from flows.settings import Settings
from state.values.errors import InvalidRequest
from state.values.origins import ANY, Origins

_OWN_ADDRESS = {"searxng": "ASSAY_SEARXNG_URL", "mediawiki": "ASSAY_MEDIAWIKI_URL"}
_PAGE_INTERVAL_S = 0.5


def require_provider(settings: Settings, name: str) -> None:
    """Raise `InvalidRequest` unless the provider `name` is known and has what it needs."""
    if name in _OWN_ADDRESS and not (_address(settings, name) or catalogue.terms_of(name).url):
        raise InvalidRequest(f"{name} has no common address; set {_OWN_ADDRESS[name]} to yours")
    terms = catalogue.make(name, url=_address(settings, name)).terms
    if terms.needs_key and not _key(terms):
        raise InvalidRequest(f"{terms.label} needs a key; set {terms.key} to yours")


def provider_states(settings: Settings) -> dict[str, str]:
    """Return for each provider whether it can be asked, or what it lacks; asks none of them."""
    return {name: _state(settings, name) for name in catalogue.names()}


def _state(settings: Settings, name: str) -> str:
    terms = catalogue.terms_of(name)
    if not (_address(settings, name) or terms.url):
        return f"needs {_OWN_ADDRESS[name]}"
    if terms.needs_key and not _key(terms):
        return f"needs {terms.key}"
    if terms.key and not terms.needs_key:
        return f"ready ({'with' if _key(terms) else 'without'} {terms.key})"
    return "ready"


def web_searches(settings: Settings, names: Sequence[str]) -> tuple[Search, ...]:
    """Return the searches at the providers `names`, in their order.

    Raises `InvalidRequest` for one that is unknown or has no address.
    """
    pace = SearchPace(settings.cache / "pace")
    return tuple(_search(settings, name, pace) for name in names)


def _search(settings: Settings, name: str, pace: SearchPace) -> Search:
    own = _address(settings, name)
    provider = catalogue.make(name, url=own, contact=settings.contact)
    origin = catalogue.service_origin(provider)
    rules = Rules(origins=(), services=(origin,)) if own else Rules(origins=(origin,))
    return WebSearch(provider, HttpClient(rules), key=_key(provider.terms), pace=pace)


def web_reader(
    settings: Settings, *, origins: Origins, archive: Archive | None = None
) -> WebReader:
    """Return a reader of pages within `origins`; with an `archive`, unchanged ones are not sent.

    Origins that are no plain host names are services of one's own, and must be set as such.
    """
    if origins == ANY:
        return _reader(settings, Rules(services=settings.services), archive)
    names = tuple(o for o in origins if "://" not in o)
    services = tuple(o for o in origins if "://" in o)
    for service in services:
        if service not in settings.services:
            raise InvalidRequest(
                f"{service} is no public host over https; if it is a service of your own, add it "
                "to ASSAY_SERVICES"
            )
    return _reader(settings, Rules(origins=names, services=services), archive)


def open_reader(settings: Settings, *, archive: Archive | None = None) -> WebReader:
    """Return a reader of whatever address a person names: public hosts, and their own services."""
    return _reader(settings, Rules(services=settings.services), archive)


def open_acquisition(settings: Settings) -> HttpClient:
    """Return the client for downloading one document to make code from."""
    return HttpClient(replace(ACQUISITION, services=settings.services))


def _reader(settings: Settings, rules: Rules, archive: Archive | None) -> WebReader:
    client = HttpClient(rules)
    memory = PageMemory(settings.cache / "pages", archive) if archive is not None else None
    return WebReader(client, robots=Robots(client), pace=Pace(_PAGE_INTERVAL_S), memory=memory)


def _address(settings: Settings, name: str) -> str | None:
    """Return the address of the person's own instance, which may be private, or None."""
    own = {"searxng": settings.searxng_url, "mediawiki": settings.mediawiki_url}
    return own.get(name) or None


def _key(terms: Terms) -> str:
    return os.environ.get(terms.key, "") if terms.key else ""
