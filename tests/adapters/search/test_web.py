"""How any provider is asked: the query, the key, numbered pages, and what is done with answers."""

import json
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.search.general.searxng import Searxng
from adapters.search.pace import Pace
from adapters.search.port import SearchPage
from adapters.search.web import MORE, Provider, SearchUnavailable, Terms, WebSearch
from adapters.web.client import HttpClient
from adapters.web.port import Request, Response
from adapters.web.rules import Rules
from state.values.errors import AssayError, InvalidRequest, RejectedError
from tests.adapters.search.loopback import Canned, Diverted, client_for, no_sleep, serving
from tests.adapters.search.provider_cases import BRAVE, CASES, KEY, MEDIAWIKI, SEARXNG, TAVILY

pytestmark = pytest.mark.anyio


@dataclass
class Answering:
    """An `Http` that gives one answer, or raises it."""

    answer: Response | RejectedError
    asked: list[Request] = field(default_factory=list[Request])

    async def send(self, request: Request) -> Response:
        self.asked.append(request)
        if isinstance(self.answer, RejectedError):
            raise self.answer
        return self.answer

    async def aclose(self) -> None:
        """Close nothing."""


def answering(body: bytes | object, status: int = 200) -> Answering:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Answering(Response("https://example.org/", status, {}, data))


def search_of(provider: Provider, http: Answering, *, key: str = KEY) -> WebSearch:
    return WebSearch(provider, http, key=key, pace=Pace(sleep=no_sleep))


@dataclass(frozen=True)
class Counted:
    """A provider of numbered pages, five hits on each."""

    terms: Terms = Terms("counted", "Counted", "https://example.org", pages=3, max_query=20)

    def request(self, query: str, *, cursor: str | None, limit: int, key: str) -> Request:
        return Request("https://example.org/", params=(("q", query), ("page", cursor or "1")))

    def parse(self, body: bytes, headers: Mapping[str, str], *, limit: int) -> SearchPage:
        return MEDIAWIKI.provider.parse(body, headers, limit=limit)


def wiki_of(*titles: str, more: bool = False) -> dict[str, object]:
    further = {"continue": {"sroffset": 5}} if more else {}
    return {**further, "query": {"search": [{"title": title} for title in titles]}}


async def test_a_query_is_sent_on_one_line_without_what_cannot_be_seen() -> None:
    http = answering(wiki_of())

    await search_of(Counted(), http).search("  seed\n\tvault\x00 \u202e\ufeff")

    assert dict(http.asked[0].params)["q"] == "seed vault"


async def test_a_long_query_is_cut_at_the_end_of_a_word_and_a_warning_says_so() -> None:
    http = answering(wiki_of())

    page = await search_of(Counted(), http).search("seeds in the Svalbard vault")

    assert dict(http.asked[0].params)["q"] == "seeds in the"
    assert "takes queries of up to 20 characters; of the 27 characters" in page.warnings[0]


@given(st.text(max_size=60))
async def test_no_query_is_longer_than_the_provider_takes(query: str) -> None:
    http = answering(wiki_of())

    await search_of(Counted(), http).search(query)

    assert all(len(dict(request.params)["q"]) <= 20 for request in http.asked)


async def test_a_query_of_exactly_the_longest_length_is_sent_whole() -> None:
    http = answering(wiki_of())

    page = await search_of(Counted(), http).search("exactly twenty chars")

    assert dict(http.asked[0].params)["q"] == "exactly twenty chars"
    assert page.warnings == ()


async def test_a_query_is_cut_to_the_number_of_words_that_the_provider_takes() -> None:
    http = answering({"type": "search"})

    page = await search_of(BRAVE.provider, http).search("a " * 60)

    assert len(dict(http.asked[0].params)["q"].split()) == 50
    assert "400 characters and 50 words" in page.warnings[0]


async def test_what_is_left_of_a_numbered_page_comes_before_the_next_number() -> None:
    http = answering(wiki_of("A", "B", "C", more=True))
    search = search_of(Counted(), http)

    pages = [await search.search("seeds", limit=2)]
    while (cursor := pages[-1].next_cursor) is not None:
        pages.append(await search.search("seeds", cursor=cursor, limit=2))

    assert [len(page.hits) for page in pages] == [2, 1, 2, 1, 2, 1]
    assert [dict(request.params)["page"] for request in http.asked] == [
        "1",
        "1",
        "2",
        "2",
        "3",
        "3",
    ]


@pytest.mark.parametrize("cursor", ["0", "4", "1+", "+1", "1+0", "01", MORE, "1+99999", "１"])
async def test_a_page_number_that_was_never_given_is_no_cursor(cursor: str) -> None:
    http = answering(wiki_of())

    with pytest.raises(InvalidRequest, match="no cursor"):
        await search_of(Counted(), http).search("seeds", cursor=cursor)

    assert http.asked == []


async def test_hits_come_back_clean_once_and_ranked() -> None:
    body = {
        "results": [
            {"url": "https://Example.org/a#top", "title": "<b>Seed</b> &amp;\nvault\x1b[31m"},
            {"url": "https://example.org/a", "title": "again"},
            {"url": "/relative", "title": "R"},
            {"url": "javascript:alert(1)", "title": "J"},
            {"url": "https://user:pw@example.org/", "title": "P"},
            {"title": "no address"},
            {"url": 7, "title": "N"},
            {"url": "https://example.org/b", "title": None, "content": "x" * 500},
            "no object",
        ]
    }

    page = await search_of(TAVILY.provider, answering(body)).search("seeds", limit=20)

    assert [(hit.locator, hit.title, hit.score) for hit in page.hits] == [
        ("https://example.org/a", "Seed & vault[31m", 1.0),
        ("https://example.org/b", None, 0.5),
    ]
    assert len(page.hits[1].snippet) == 300
    assert "5 found without a web address" in page.warnings[0]


async def test_an_address_that_holds_the_key_is_left_out() -> None:
    body = {"results": [{"url": f"https://example.org/?k={KEY}", "title": KEY, "content": KEY}]}

    page = await search_of(TAVILY.provider, answering(body)).search("seeds")

    assert page.hits == ()


async def test_an_error_of_the_connection_is_said_without_the_key() -> None:
    http = Answering(RejectedError(f"https://x.org/?k={KEY}: no answer", code="PAGE_UNAVAILABLE"))

    with pytest.raises(SearchUnavailable) as raised:
        await search_of(TAVILY.provider, http).search("seeds")

    assert raised.value.message == "Tavily cannot be asked: https://x.org/?k=[REDACTED]: no answer"
    assert raised.value.__cause__ is None


async def test_an_error_of_the_connection_is_the_cause() -> None:
    http = Answering(RejectedError("robots", code="URL_POLICY_DENIED"))

    with pytest.raises(SearchUnavailable) as raised:
        await search_of(TAVILY.provider, http).search("seeds")

    assert raised.value.__cause__ is http.answer


@pytest.mark.parametrize("key", ["k\nX-Other: 1", "schlüssel", "k\x00"])
async def test_what_cannot_be_a_key_is_not_sent(key: str) -> None:
    http = answering({"results": []})

    with pytest.raises(SearchUnavailable, match="what TAVILY_API_KEY holds is no key"):
        await search_of(TAVILY.provider, http, key=key).search("seeds")

    assert http.asked == []


@pytest.mark.parametrize(
    ("case", "status", "body", "said"),
    [
        (TAVILY, 401, {}, "Tavily answered 401: the key in TAVILY_API_KEY is refused"),
        (TAVILY, 432, {}, "the plan's credits are used up"),
        (TAVILY, 429, b"<html>slow</html>", "Tavily answered 429: too many requests"),
        (TAVILY, 503, {}, "Tavily answered 503: it is failing"),
        (
            TAVILY,
            400,
            {"detail": {"error": "Query is too long."}},
            "it refuses the request (it says: Query is too long.)",
        ),
        (BRAVE, 422, {"error": {"code": "SUBSCRIPTION_TOKEN_INVALID"}}, "BRAVE_API_KEY is refused"),
        (BRAVE, 429, {"error": {"code": "QUOTA_LIMITED"}}, "requests of this month are used up"),
        (SEARXNG, 403, b"<!doctype html><h1>Forbidden</h1>", "`search.formats` in settings.yml"),
        (MEDIAWIKI, 403, b"use a user agent", "it refuses to answer (it says: use a user agent)"),
    ],
)
async def test_a_refusal_says_what_it_means(
    case: object, status: int, body: bytes | object, said: str
) -> None:
    provider = next(each.provider for each in CASES if each is case)

    with pytest.raises(SearchUnavailable) as raised:
        await search_of(provider, answering(body, status)).search("seeds")

    assert said in raised.value.message
    assert raised.value.status == status


async def test_what_the_service_says_is_quoted_short_and_without_secrets() -> None:
    words = "token=abcdef0123456789 <b>and</b> " + "so on " * 200
    http = answering({"error": words}, 400)

    with pytest.raises(SearchUnavailable) as raised:
        await search_of(TAVILY.provider, http).search("seeds")

    assert "abcdef0123456789" not in raised.value.message
    assert "[REDACTED] and so on" in raised.value.message
    assert len(raised.value.message) < 300


def test_the_error_survives_being_sent_to_another_process() -> None:
    error = pickle.loads(pickle.dumps(SearchUnavailable("no", provider="brave", status=429)))

    assert (error.code, error.provider, error.status) == ("SEARCH_UNAVAILABLE", "brave", 429)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                "results url title content web query search general server articlepath continue"
                " sroffset type error errors detail warnings main searchinfo suggestion snippet"
                " unresponsive_engines failed_results description altered".split()
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=25,
)


@given(JSON_VALUES, st.sampled_from(CASES), st.sampled_from([200, 200, 400, 500]))
async def test_whatever_json_is_answered_ends_in_a_page_or_an_error_of_assays(
    value: object, case: object, status: int
) -> None:
    provider = next(each.provider for each in CASES if each is case)

    try:
        page = await search_of(provider, answering(value, status)).search("seeds")
    except AssayError:
        return

    for hit in page.hits:
        assert hit.locator.startswith(("https://", "http://"))
        hit.locator.encode("ascii")
        (hit.title or "").encode()
        assert len(hit.snippet) <= 300
    json.dumps(page.warnings).encode()


@given(st.binary(max_size=200), st.sampled_from(CASES))
async def test_whatever_bytes_are_answered_end_in_a_page_or_an_error_of_assays(
    body: bytes, case: object
) -> None:
    provider = next(each.provider for each in CASES if each is case)

    with pytest.raises(SearchUnavailable):
        await search_of(provider, answering(b"\x00" + body)).search("seeds")


async def test_a_service_that_is_busy_for_a_moment_is_asked_again() -> None:
    busy = Canned(b"slow down", 429, "text/plain", headers=(("Retry-After", "1"),))
    with serving(busy, TAVILY.first) as loopback:
        http = Diverted(client_for(loopback.origin), loopback.origin)
        page = await WebSearch(TAVILY.provider, http, key=KEY, pace=Pace()).search("seeds")

    assert len(page.hits) == len(TAVILY.locators)
    assert len(loopback.asked) == 2


async def test_a_service_on_this_machine_is_asked_only_when_it_was_allowed() -> None:
    with serving(SEARXNG.first) as loopback:
        provider = Searxng(loopback.origin)
        allowed = WebSearch(provider, client_for(loopback.origin), pace=Pace(sleep=no_sleep))
        forbidden = WebSearch(provider, HttpClient(Rules()), pace=Pace(sleep=no_sleep))

        assert (await allowed.search("seeds")).hits
        with pytest.raises(SearchUnavailable, match="SearXNG cannot be asked: ") as raised:
            await forbidden.search("seeds")

    assert isinstance(raised.value.__cause__, RejectedError)
    assert raised.value.__cause__.code == "URL_POLICY_DENIED"
    assert len(loopback.asked) == 1


async def test_a_redirect_to_where_nobody_may_go_is_an_error_of_the_provider() -> None:
    away = Canned(b"", 302, "text/html", headers=(("Location", "https://www.google.com/?q=x"),))
    with serving(away) as loopback:
        http = Diverted(
            HttpClient(Rules(services=(loopback.origin,), origins=("example.org",))),
            loopback.origin,
        )
        with pytest.raises(SearchUnavailable, match="Brave Search cannot be asked"):
            await WebSearch(BRAVE.provider, http, key=KEY, pace=Pace()).search("seeds")

    assert len(loopback.asked) == 1
