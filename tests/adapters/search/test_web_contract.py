"""The contract of the `Search` port: what every search promises, the fake one included."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from adapters.search.fake import FakeSearch
from adapters.search.pace import Pace
from adapters.search.port import Hit, Search, SearchPage
from adapters.search.web import SearchUnavailable, WebSearch
from state.values.errors import AssayError, InvalidRequest, RejectedError
from tests.adapters.search import provider_cases, scholarly_cases
from tests.adapters.search.loopback import (
    ERROR_PAGE,
    HTML,
    Canned,
    Diverted,
    Loopback,
    as_json,
    client_for,
    no_sleep,
    serving,
)
from tests.adapters.search.provider_cases import ProviderCase

pytestmark = pytest.mark.anyio

CASES = (*provider_cases.CASES, *scholarly_cases.CASES)

by_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


def web_search(case: ProviderCase, loopback: Loopback, *, key: str | None = None) -> WebSearch:
    return WebSearch(
        case.provider,
        Diverted(client_for(loopback.origin, wall_s=0.5), loopback.origin),
        key=case.key if key is None else key,
        pace=Pace(sleep=no_sleep),
    )


@dataclass(frozen=True)
class Subject:
    """A search, and what its first page and the one after it hold."""

    search: Search
    first: tuple[str, ...]
    second: tuple[str, ...]
    limit: int = 6


Make = Callable[..., Subject]


def fake_subject(*, empty: bool = False) -> Subject:
    hits = [Hit(f"https://example.org/{place}", "T", "s", 1 / place) for place in (1, 2, 3)]
    locators = tuple(hit.locator for hit in hits)
    return Subject(FakeSearch({"seed vault": [] if empty else hits}), locators[:2], locators[2:], 2)


@pytest.fixture(params=["fake", *CASES], ids=lambda case: getattr(case, "name", case))
def make(request: pytest.FixtureRequest) -> Iterator[Make]:
    """Return what makes the search under test, found to hold something or nothing."""
    case = request.param
    if not isinstance(case, ProviderCase):
        yield fake_subject
        return
    with ExitStack() as open_servers:

        def of_case(*, empty: bool = False, pages: bool = False) -> Subject:
            answers = [case.empty] if empty else [case.first]
            if pages and case.second:
                answers.append(case.second)
            search = web_search(case, open_servers.enter_context(serving(*answers)))
            return Subject(search, case.locators, case.more_locators)

        yield of_case


def locators(page: SearchPage) -> tuple[str, ...]:
    return tuple(hit.locator for hit in page.hits)


async def test_a_page_holds_what_was_found_best_first(make: Make) -> None:
    subject = make()

    page = await subject.search.search("seed vault", limit=subject.limit)

    assert locators(page) == subject.first
    assert [hit.score for hit in page.hits] == sorted((h.score for h in page.hits), reverse=True)
    assert page.raw_hash.startswith("sha256:")


async def test_the_same_query_gives_the_same_page(make: Make) -> None:
    search = make().search

    assert await search.search("seed vault") == await search.search("seed vault")


async def test_no_more_hits_than_asked_for_come_back(make: Make) -> None:
    subject = make()

    page = await subject.search.search("seed vault", limit=1)

    assert locators(page) == subject.first[:1]


async def test_nothing_found_is_a_success(make: Make) -> None:
    page = await make(empty=True).search.search("seed vault")

    assert page.hits == ()
    assert page.next_cursor is None


@by_case
async def test_the_cursor_leads_to_the_next_page_and_the_last_page_has_none(
    case: ProviderCase,
) -> None:
    with serving(case.first, case.second or case.empty) as loopback:
        search = web_search(case, loopback)
        first = await search.search("seed vault")
        assert (first.next_cursor is None) == (case.second is None)
        if first.next_cursor is None:
            return
        second = await search.search("seed vault", cursor=first.next_cursor)

    assert locators(second) == case.more_locators
    assert loopback.asked[0].params != loopback.asked[1].params


async def test_the_fakes_cursor_leads_to_the_next_page() -> None:
    subject = fake_subject()
    first = await subject.search.search("seed vault", limit=subject.limit)

    second = await subject.search.search("seed vault", cursor=first.next_cursor, limit=2)

    assert locators(second) == subject.second


async def test_less_than_one_hit_cannot_be_asked_for(make: Make) -> None:
    with pytest.raises(InvalidRequest, match="at least one"):
        await make().search.search("seed vault", limit=0)


@by_case
@pytest.mark.parametrize("cursor", ["-1", "1 OR 1=1", "\r\nX: y", "9" * 400, "٣", "11", "1+0", ""])
async def test_a_forged_cursor_is_an_invalid_request_or_harmless(
    case: ProviderCase, cursor: str
) -> None:
    with serving(case.first) as loopback:
        refused = ""
        try:
            await web_search(case, loopback).search("seed vault", cursor=cursor)
        except InvalidRequest as error:
            refused = error.message

    assert bool(refused) == (loopback.asked == [])
    assert not refused or "no cursor of this search" in refused


BROKEN = {
    "401": as_json({"message": "no"}, status=401),
    "403 with a page": Canned(ERROR_PAGE.body, 403, HTML),
    "404": as_json({"error": "no such thing"}, status=404),
    "414": Canned(b"too long", 414, "text/plain"),
    "429": Canned(b"slow down", 429, "text/plain", headers=(("Retry-After", "1"),)),
    "500": Canned(ERROR_PAGE.body, 500, HTML),
    "a page with 200": ERROR_PAGE,
    "JSON that breaks off": Canned(b'{"query": {"search": [{"title": "Sval'),
    "an empty body": Canned(b""),
    "a list": Canned(b"[]"),
    "a number": Canned(b"7"),
    "null": Canned(b"null"),
    "NaN": Canned(b'{"results": [], "score": NaN}'),
    "deep": Canned(b'{"results":' + b"[" * 100_000),
    "no text": Canned(b"\xff\xfe\xfa\x00\x01"),
    "a closed connection": Canned(b'{"results": []}' * 10, breaks_off=True),
    "no answer in time": Canned(b"{}", after_s=0.8),
}


@by_case
@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
async def test_a_broken_answer_is_an_error_that_names_the_provider(
    case: ProviderCase, broken: Canned
) -> None:
    with serving(broken) as loopback, pytest.raises(SearchUnavailable) as raised:
        await web_search(case, loopback).search("seed vault")

    error = raised.value
    assert error.code == "SEARCH_UNAVAILABLE"
    assert error.provider == case.name
    assert error.message.startswith(case.provider.terms.label)
    assert "<" not in error.message
    assert len(error.message) < 500
    assert error.status in (None, broken.status)


@pytest.mark.parametrize(
    ("case", "failure"),
    [(case, failure) for case in CASES for failure in case.failures.values()],
    ids=[f"{case.name}: {name}" for case in CASES for name in case.failures],
)
async def test_a_failure_of_the_service_is_an_error(case: ProviderCase, failure: Canned) -> None:
    with serving(failure) as loopback, pytest.raises(SearchUnavailable):
        await web_search(case, loopback).search("seed vault")


@pytest.mark.parametrize(
    ("case", "remark"),
    [(case, remark) for case in CASES for remark in case.remarks],
    ids=[f"{case.name}: {remark}" for case in CASES for remark in case.remarks],
)
async def test_what_the_service_remarks_is_a_warning(case: ProviderCase, remark: str) -> None:
    with serving(case.remarks[remark]) as loopback:
        page = await web_search(case, loopback).search("seed vault")

    assert any(remark in warning for warning in page.warnings)


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.provider.terms.needs_key],
    ids=[case.name for case in CASES if case.provider.terms.needs_key],
)
async def test_a_needed_key_that_is_missing_is_named_before_anything_is_asked(
    case: ProviderCase,
) -> None:
    with serving(case.first) as loopback, pytest.raises(RejectedError) as raised:
        await web_search(case, loopback, key=" ").search("seed vault")

    assert raised.value.code == "KEY_MISSING"
    assert case.provider.terms.key in raised.value.message
    assert loopback.asked == []


@by_case
@pytest.mark.parametrize("status", [200, 400, 403, 422, 500])
async def test_the_key_is_in_nothing_that_comes_back(case: ProviderCase, status: int) -> None:
    key = case.key or "k3y+with/odd=signs"
    echo = case.first.body.replace(b"Result 1", f"Result {key}".encode())
    if status != 200:
        echo = json.dumps({"error": f"bad key {key}", "detail": f"key={key}"}).encode()
    with serving(Canned(echo, status)) as loopback:
        try:
            told = repr(await web_search(case, loopback, key=key).search("seed vault"))
        except AssayError as error:
            chain: list[BaseException] = [error]
            while (cause := chain[-1].__cause__ or chain[-1].__context__) is not None:
                chain.append(cause)
            told = "".join(map(repr, chain))

    assert key not in told


@by_case
async def test_the_hash_is_that_of_the_answer_whatever_the_key(case: ProviderCase) -> None:
    hashes = set()
    with serving(case.first) as loopback:
        for key in (case.key or "one-key", "another-key"):
            page = await web_search(case, loopback, key=key).search("seed vault")
            hashes.add(page.raw_hash)

    assert len(hashes) == 1


@by_case
@pytest.mark.parametrize("query", ["", " \t\n", "\x00\u202e", "?!... —"])
async def test_a_query_without_a_word_asks_nothing_and_says_so(
    case: ProviderCase, query: str
) -> None:
    with serving(case.first) as loopback:
        page = await web_search(case, loopback).search(query)

    assert page.hits == ()
    assert "no word" in page.warnings[0]
    assert loopback.asked == []


@by_case
@pytest.mark.parametrize(
    "query", ["Saatgut-Tresor auf Spitzbergen?", "スヴァールバル", "a\ud800b\x00c"]
)
async def test_any_text_with_a_word_can_be_asked(case: ProviderCase, query: str) -> None:
    with serving(case.first) as loopback:
        page = await web_search(case, loopback).search(query)

    assert locators(page) == case.locators


@by_case
async def test_a_page_costs_what_the_terms_say(case: ProviderCase) -> None:
    with serving(case.first) as loopback:
        search = web_search(case, loopback)
        page = await search.search("seed vault")

    assert page.cost_micro_usd == search.cost_micro_usd == case.provider.terms.cost_micro_usd
