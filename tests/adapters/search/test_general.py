"""What is sent to each general provider, and what its answers are read as."""

import json

import pytest

from adapters.search.answers import Malformed
from adapters.search.general.brave import Brave
from adapters.search.general.mediawiki import MediaWiki
from adapters.search.general.searxng import Searxng
from adapters.search.general.tavily import Tavily
from adapters.search.pace import Pace
from adapters.search.web import MORE, Provider, WebSearch
from adapters.web.port import Request
from state.values.errors import InvalidRequest
from tests.adapters.search.loopback import client_for, serving
from tests.adapters.search.provider_cases import BRAVE, KEY, MEDIAWIKI, SEARXNG, TAVILY


def request_of(
    provider: Provider, query: str = "seed vault", *, cursor: str | None = None, limit: int = 6
) -> Request:
    return provider.request(query, cursor=cursor, limit=limit, key=KEY)


def locators(provider: Provider, value: object, *, limit: int = 6) -> list[str]:
    page = provider.parse(json.dumps(value).encode(), {}, limit=limit)
    return [hit.locator for hit in page.hits]


class TestMediaWiki:
    def test_it_is_asked_through_the_action_api(self) -> None:
        request = request_of(MediaWiki(), cursor="12")

        assert request.url == "https://en.wikipedia.org/w/api.php"
        assert dict(request.params) == {
            "action": "query",
            "format": "json",
            "formatversion": "2",
            "list": "search",
            "srsearch": "seed vault",
            "srlimit": "6",
            "sroffset": "12",
            "srprop": "snippet",
            "srinfo": "suggestion|rewrittenquery",
            "meta": "siteinfo",
            "siprop": "general",
        }

    @pytest.mark.parametrize(
        ("url", "api"),
        [
            ("https://de.wikipedia.org", "https://de.wikipedia.org/w/api.php"),
            ("https://de.wikipedia.org/w/api.php", "https://de.wikipedia.org/w/api.php"),
            ("https://wiki.example.org/mw/", "https://wiki.example.org/mw/api.php"),
        ],
    )
    def test_a_wiki_is_known_by_its_address_or_by_its_api(self, url: str, api: str) -> None:
        assert request_of(MediaWiki(url)).url == MediaWiki(url).terms.url == api

    @pytest.mark.parametrize(
        ("general", "address"),
        [
            ({"server": "//w.org", "articlepath": "/wiki/$1"}, "https://w.org/wiki/A_b%26c"),
            (
                {"server": "http://w.org", "articlepath": "/index.php?title=$1"},
                "http://w.org/index.php?title=A_b%26c",
            ),
            ({"server": "https://w.org"}, "https://x.org/wiki/A_b%26c"),
            (None, "https://x.org/wiki/A_b%26c"),
        ],
    )
    def test_pages_have_the_addresses_that_the_wiki_gives_them(
        self, general: object, address: str
    ) -> None:
        answer = {"query": {"search": [{"title": "A b&c"}], "general": general}}

        assert locators(MediaWiki("https://x.org"), answer) == [address]

    def test_a_wiki_elsewhere_that_does_not_say_is_read_through_its_index(self) -> None:
        answer = {"query": {"search": [{"title": "A b"}]}}

        found = locators(MediaWiki("https://x.org/mw/api.php"), answer)

        assert found == ["https://x.org/mw/index.php?title=A_b"]

    def test_no_more_than_the_service_gives_is_asked_for(self) -> None:
        assert dict(request_of(MediaWiki(), limit=1_000).params)["srlimit"] == "50"

    @pytest.mark.parametrize("cursor", ["", "-1", "10000", "1e3", "٣", "1 "])
    def test_only_an_offset_is_a_cursor(self, cursor: str) -> None:
        with pytest.raises(InvalidRequest, match="no cursor"):
            request_of(MediaWiki(), cursor=cursor)

    def test_warnings_of_the_older_format_are_read_too(self) -> None:
        answer = {"query": {"search": []}, "warnings": {"search": {"*": "old"}}}

        page = MediaWiki().parse(json.dumps(answer).encode(), {}, limit=6)

        assert page.warnings == ("MediaWiki warns: old",)


class TestSearxng:
    def test_it_is_asked_for_json_and_its_settings_are_left_alone(self) -> None:
        request = request_of(Searxng("http://127.0.0.1:8888"), cursor="3")

        assert request.url == "http://127.0.0.1:8888/search"
        assert dict(request.params) == {"q": "seed vault", "format": "json", "pageno": "3"}

    @pytest.mark.parametrize("url", ["https://s.org/searx", "https://s.org/searx/search"])
    def test_an_instance_below_a_path_is_asked_there(self, url: str) -> None:
        assert request_of(Searxng(url)).url == "https://s.org/searx/search"

    def test_a_query_cannot_steer_the_instance(self) -> None:
        request = request_of(Searxng("https://s.org"), "!!g !images :de <9 seed ! vault!")

        assert dict(request.params)["q"] == "g images de 9 seed vault!"

    def test_without_an_address_nothing_can_be_asked(self) -> None:
        with pytest.raises(InvalidRequest, match="no common address"):
            request_of(Searxng())

    def test_there_is_a_next_page_as_long_as_something_is_found(self) -> None:
        provider = Searxng("https://s.org")

        assert provider.parse(SEARXNG.first.body, {}, limit=6).next_cursor == MORE
        assert provider.parse(SEARXNG.empty.body, {}, limit=6).next_cursor is None


class TestBrave:
    def test_it_is_asked_with_the_token_in_a_header(self) -> None:
        request = request_of(Brave(), cursor="10", limit=50)

        assert request.url == "https://api.search.brave.com/res/v1/web/search"
        assert dict(request.params) == {
            "q": "seed vault",
            "count": "20",
            "offset": "9",
            "result_filter": "web",
            "text_decorations": "false",
        }
        assert ("X-Subscription-Token", KEY) in request.headers

    def test_a_spelling_that_was_kept_is_no_warning(self) -> None:
        answer = {"type": "search", "query": {"original": "a", "altered": "a"}}

        assert Brave().parse(json.dumps(answer).encode(), {}, limit=6).warnings == ()


class TestTavily:
    def test_it_is_asked_with_a_bearer_key_for_a_basic_search(self) -> None:
        request = request_of(Tavily(), limit=50)

        assert request.url == "https://api.tavily.com/search"
        assert ("Authorization", f"Bearer {KEY}") in request.headers
        assert request.json == {
            "query": "seed vault",
            "search_depth": "basic",
            "max_results": 20,
            "include_answer": False,
            "include_raw_content": False,
        }

    def test_there_is_no_second_page(self) -> None:
        with pytest.raises(InvalidRequest, match="no cursor"):
            request_of(Tavily(), cursor="2")


def test_a_web_page_in_place_of_json_is_called_that() -> None:
    with pytest.raises(Malformed, match="a web page instead of JSON"):
        Tavily().parse(b"\xef\xbb\xbf \n<!DOCTYPE html>", {}, limit=6)


@pytest.mark.anyio
async def test_what_arrives_at_the_service_is_what_was_meant() -> None:
    with serving(TAVILY.first, BRAVE.first, MEDIAWIKI.first) as loopback:
        for provider in (
            Tavily(loopback.origin),
            Brave(loopback.origin),
            MediaWiki(loopback.origin),
        ):
            await WebSearch(provider, client_for(loopback.origin), key=KEY, pace=Pace()).search(
                "C++ & “seeds” 100%"
            )
    tavily, brave, wiki = loopback.asked

    assert (tavily.method, tavily.path) == ("POST", "/search")
    assert tavily.headers["authorization"] == f"Bearer {KEY}"
    assert json.loads(tavily.body)["query"] == "C++ & “seeds” 100%"
    assert (brave.method, brave.path) == ("GET", "/res/v1/web/search")
    assert brave.headers["x-subscription-token"] == KEY
    assert brave.params["q"] == wiki.params["srsearch"] == "C++ & “seeds” 100%"
    assert wiki.path == "/w/api.php"
