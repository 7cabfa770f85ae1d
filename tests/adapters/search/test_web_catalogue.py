"""Providers by name."""

import pytest

from adapters.search import catalogue
from adapters.search.general.mediawiki import MediaWiki
from adapters.search.general.searxng import Searxng
from state.values.errors import InvalidRequest

GENERAL = ("mediawiki", "searxng", "brave", "tavily")


@pytest.mark.parametrize("name", GENERAL)
def test_a_provider_has_the_name_it_is_found_by(name: str) -> None:
    assert name in catalogue.names()
    assert catalogue.terms_of(name).name == name


def test_a_name_that_is_none_is_answered_with_those_there_are() -> None:
    with pytest.raises(InvalidRequest, match="'google' is no search provider; there are mediawiki"):
        catalogue.make("google")


def test_a_provider_can_be_asked_at_another_address() -> None:
    assert catalogue.make("searxng", url="http://127.0.0.1:8888/") == Searxng(
        "http://127.0.0.1:8888"
    )
    assert catalogue.make("mediawiki", url="https://de.wikipedia.org/w/api.php") == MediaWiki(
        "https://de.wikipedia.org/w/api.php"
    )


def test_searxng_has_no_address_of_its_own() -> None:
    assert catalogue.terms_of("searxng").url == ""
    with pytest.raises(InvalidRequest, match="give that of your instance"):
        catalogue.make("searxng")


@pytest.mark.parametrize(
    "url", ["", "searx.example.org", "ftp://x.org", "https://u:p@x.org", "https://x.org/?a=b"]
)
def test_an_address_that_cannot_be_asked_is_refused(url: str) -> None:
    with pytest.raises(InvalidRequest, match="The address given for searxng"):
        catalogue.make("searxng", url=url)


def test_the_origin_of_a_service_of_ones_own_is_what_must_be_allowed() -> None:
    provider = catalogue.make("searxng", url="http://127.0.0.1:8888/searx/")

    assert catalogue.service_origin(provider) == "http://127.0.0.1:8888"


def test_what_needs_a_key_says_which_variable_holds_it() -> None:
    for name in GENERAL:
        terms = catalogue.terms_of(name)
        assert bool(terms.key) or not terms.needs_key
