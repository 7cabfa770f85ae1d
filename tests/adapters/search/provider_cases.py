"""What each provider's service answers, in its own format: the table the contract is tested with.

To join, add a `ProviderCase` to `CASES`. Nothing leaves the machine: whatever address a provider
asks, the tests divert its request to a server on loopback that gives these answers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from adapters.search.general.brave import Brave
from adapters.search.general.mediawiki import MediaWiki
from adapters.search.general.searxng import Searxng
from adapters.search.general.tavily import Tavily
from adapters.search.web import Provider
from tests.adapters.search.loopback import Canned, as_json

KEY = "tvly-3f9a7c21d4e8b605"


@dataclass(frozen=True)
class ProviderCase:
    """A provider and its service.

    `first` answers the first request for six hits with `locators`, and `second` the one with its
    cursor with `more_locators` (None: the service has one page only). `empty` found nothing.
    `failures` are answers, each by a name, that must end in an error, and `remarks` answers that
    must end in a page with a warning that holds the text they are named by.
    """

    name: str
    provider: Provider
    first: Canned
    locators: tuple[str, ...]
    empty: Canned
    second: Canned | None = None
    more_locators: tuple[str, ...] = ()
    key: str = ""
    failures: Mapping[str, Canned] = field(default_factory=dict[str, Canned])
    remarks: Mapping[str, Canned] = field(default_factory=dict[str, Canned])


_SITE = {
    "mainpage": "Main Page",
    "base": "https://en.wikipedia.org/wiki/Main_Page",
    "sitename": "Wikipedia",
    "generator": "MediaWiki 1.46.0-wmf.4",
    "articlepath": "/wiki/$1",
    "script": "/w/index.php",
    "server": "https://en.wikipedia.org",
    "lang": "en",
}


def _wiki(*titles: str, offset: int | None = None, **more: object) -> Canned:
    found = [
        {
            "ns": 0,
            "title": title,
            "pageid": 1000 + place,
            "snippet": f'The <span class="searchmatch">seed</span> vault &amp; {title}',
        }
        for place, title in enumerate(titles)
    ]
    answer: dict[str, object] = {"batchcomplete": True}
    if offset is not None:
        answer["continue"] = {"sroffset": offset, "continue": "-||siteinfo"}
    query = {"searchinfo": {}, "search": found, "general": _SITE}
    return as_json({**answer, "query": query, **more})


MEDIAWIKI = ProviderCase(
    "mediawiki",
    MediaWiki(),
    first=_wiki("Svalbard Global Seed Vault", "What's Up, Doc? (1972 film)", "C++", offset=3),
    locators=(
        "https://en.wikipedia.org/wiki/Svalbard_Global_Seed_Vault",
        "https://en.wikipedia.org/wiki/What%27s_Up,_Doc%3F_(1972_film)",
        "https://en.wikipedia.org/wiki/C%2B%2B",
    ),
    second=_wiki("Zürich"),
    more_locators=("https://en.wikipedia.org/wiki/Z%C3%BCrich",),
    empty=_wiki(),
    failures={
        "an error with 200": as_json(
            {
                "error": {
                    "code": "cirrussearch-too-busy-error",
                    "info": "Search is currently too busy. Please try again later.",
                    "docref": "See https://en.wikipedia.org/w/api.php for API usage.",
                }
            }
        ),
        "an error in the newer format": as_json(
            {
                "errors": [
                    {"code": "readapidenied", "text": "You need read permission.", "module": ""}
                ]
            }
        ),
        "no query": as_json({"batchcomplete": True}),
        "search of another type": as_json({"query": {"search": {"title": "x"}}}),
    },
    remarks={
        "Unrecognized parameter: siprop": _wiki(
            "Seed", warnings={"main": {"warnings": "Unrecognized parameter: siprop."}}
        ),
        "suggests to search for “seed vault”": as_json(
            {"query": {"searchinfo": {"suggestion": "seed vault"}, "search": []}}
        ),
    },
)


def _metasearch(*urls: str, silent: object = (), **more: object) -> Canned:
    return as_json(
        {
            "query": "seed vault",
            "results": [
                {
                    "url": url,
                    "title": f"Result {place}",
                    "content": "The vault holds 1,355,591 samples.",
                    "publishedDate": None,
                    "engine": "duckduckgo",
                    "engines": ["duckduckgo", "brave"],
                    "parsed_url": ["https", "example.org", f"/{place}", "", "", ""],
                    "template": "default.html",
                    "positions": [place],
                    "score": 3.5,
                    "category": "general",
                }
                for place, url in enumerate(urls, 1)
            ],
            "answers": [],
            "corrections": [],
            "infoboxes": [],
            "suggestions": ["seed vault tour"],
            "unresponsive_engines": silent,
            **more,
        }
    )


SEARXNG = ProviderCase(
    "searxng",
    Searxng("https://searx.example.org"),
    first=_metasearch(*(f"https://example.org/{place}" for place in range(1, 7))),
    locators=tuple(f"https://example.org/{place}" for place in range(1, 7)),
    second=_metasearch("https://example.org/7"),
    more_locators=("https://example.org/7",),
    empty=_metasearch(),
    failures={
        "nothing, and engines that failed": _metasearch(silent=[["google", "timeout"]]),
        "an error with 200": as_json({"error": "search error"}),
        "results of another type": as_json({"query": "x", "results": "none"}),
        "engines of another type": as_json({"results": [], "unresponsive_engines": {"a": 1}}),
    },
    remarks={
        "no answer from bing (Suspended: too many requests), google (timeout)": _metasearch(
            "https://example.org/1",
            silent=[["bing", "Suspended: too many requests"], ["google", "timeout"]],
        )
    },
)


def _brave(*urls: str, more: bool = False, **query: object) -> Canned:
    return as_json(
        {
            "type": "search",
            "query": {
                "original": "seed vault",
                "show_strict_warning": False,
                "more_results_available": more,
                **query,
            },
            "mixed": {"type": "mixed", "main": [], "top": [], "side": []},
            "web": {
                "type": "search",
                "results": [
                    {
                        "title": f"Result {place}",
                        "url": url,
                        "is_source_local": False,
                        "description": "The vault&#x27;s <strong>samples</strong>.",
                        "page_age": "2026-02-01T00:00:00",
                        "language": "en",
                        "family_friendly": True,
                        "type": "search_result",
                        "subtype": "generic",
                    }
                    for place, url in enumerate(urls, 1)
                ],
                "family_friendly": True,
            },
        }
    )


def _brave_error(code: str, detail: str, status: int) -> Canned:
    error = {"id": "5d832250", "code": code, "detail": detail, "status": status}
    return as_json({"type": "ErrorResponse", "error": error, "time": 1663072993}, status=status)


BRAVE = ProviderCase(
    "brave",
    Brave(),
    key=KEY,
    first=_brave("https://example.org/a", "https://example.org/b?x=1", more=True),
    locators=("https://example.org/a", "https://example.org/b?x=1"),
    second=_brave("https://example.org/c"),
    more_locators=("https://example.org/c",),
    empty=as_json({"type": "search", "query": {"original": "x", "more_results_available": False}}),
    failures={
        "a key that is refused": _brave_error(
            "SUBSCRIPTION_TOKEN_INVALID", "The provided subscription token is invalid.", 422
        ),
        "a quota that is used up": _brave_error(
            "QUOTA_LIMITED", "Request quota limit exceeded for plan.", 429
        ),
        "an error with 200": _brave_error("INTERNAL", "Try again.", 200),
        "another type": as_json({"type": "images", "results": []}),
        "web of another type": as_json({"type": "search", "web": []}),
        "no results": as_json({"type": "search", "web": {"type": "search"}}),
    },
    remarks={
        "searched for “seed vault” instead": _brave(
            "https://example.org/a", original="sead valt", altered="seed vault"
        ),
        "adult content": _brave("https://example.org/a", show_strict_warning=True),
    },
)


def _tavily(*urls: str, **more: object) -> Canned:
    return as_json(
        {
            "query": "seed vault",
            "follow_up_questions": None,
            "answer": None,
            "images": [],
            "results": [
                {
                    "url": url,
                    "title": f"Result {place}",
                    "content": "The vault holds 1,355,591 samples. [...] It opened in 2008.",
                    "score": 0.91 - place / 100,
                    "raw_content": None,
                }
                for place, url in enumerate(urls, 1)
            ],
            "response_time": 1.09,
            "request_id": "123e4567-e89b-12d3-a456-426614174111",
            **more,
        }
    )


TAVILY = ProviderCase(
    "tavily",
    Tavily(),
    key=KEY,
    first=_tavily("https://example.org/a", "https://example.org/b"),
    locators=("https://example.org/a", "https://example.org/b"),
    empty=_tavily(),
    failures={
        "a key that is refused": as_json(
            {"detail": {"error": "Unauthorized: missing or invalid API key."}}, status=401
        ),
        "credits that are used up": as_json(
            {"detail": {"error": "This request exceeds your plan's set usage limit."}}, status=432
        ),
        "an invalid request": as_json(
            {"detail": [{"loc": ["body", "topic"], "msg": "invalid topic", "type": "enum"}]},
            status=422,
        ),
        "an error with 200": as_json({"detail": {"error": "Search failed."}}),
        "no results": as_json({"query": "x", "answer": None}),
    },
    remarks={
        "could not read 1 of the pages": _tavily(
            "https://example.org/a", failed_results=[{"url": "https://example.org/z", "error": "x"}]
        )
    },
)

CASES: tuple[ProviderCase, ...] = (MEDIAWIKI, SEARXNG, BRAVE, TAVILY)
