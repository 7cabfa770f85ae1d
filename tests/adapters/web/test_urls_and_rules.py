"""URLs have one spelling or none, and rules say which may be asked."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.web.errors import UrlDenied
from adapters.web.places import reading_place
from adapters.web.port import Request
from adapters.web.rules import Rules
from adapters.web.urls import join_url, parse_url, request_url, shown
from state.values.errors import InvalidRequest

# Every way that is known to say "127.0.0.1", "169.254.169.254" or worse.
DENIED = (
    *("http://example.org/", "ftp://example.org/", "file:///etc/passwd", "gopher://example.org/"),
    *(
        "data:text/html,hello",
        "javascript:alert(1)",
        "//example.org/",
        "example.org",
        "",
        "https://",
    ),
    *("https:///etc/passwd", "https:example.org", "https:/example.org", "jar:https://x.org!/"),
    *("https://127.0.0.1/", "https://8.8.8.8/", "https://2130706433/", "https://0x7f000001/"),
    *("https://017700000001/", "https://127.1/", "https://127.0.1/", "https://0177.0.0.1/"),
    *("https://0x7f.0.0.1/", "https://127.0.0.1./", "https://0/", "https://1.1.1.1.1/"),
    *("https://256.1.1.1/", "https://example.0x7f/", "https://example.1/", "https://0x/"),
    *("https://[::1]/", "https://[::]/", "https://[::ffff:127.0.0.1]/", "https://[fe80::1%eth0]/"),
    *("https://[fe80::1%25eth0]/", "https://[2606:4700::1111]/", "https://[64:ff9b::7f00:1]/"),
    *("https://[v1.example]/", "https://[::1", "https://::1]/", "https://[[::1]]/", "https://[]/"),
    *("https://127。0。0。1/", "https://①②⑦.0.0.1/", "https://１２７.０.０.１/", "https://0x7F｡1/"),
    *("https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/", "https://localhost/", "https://localhost./", "https://LOCALHOST/"),
    *("https://intranet/", "https://user@example.org/", "https://user:pw@example.org/"),
    *("https://@example.org/", "https://example.org@127.0.0.1/", "https://a:b@c@example.org/"),
    *(
        "https://example.org\\@127.0.0.1/",
        "https://example.org\\.evil.org/",
        "https:\\\\example.org",
    ),
    *("https://example.org /", " https://example.org/", "https://example.org/a b"),
    *("https://exam\tple.org/", "https://example.org/\r\nHost: x", "https://example.org/\0"),
    *("https://example.org/\x7f", "https://example.org/\u2028", "https://example.org/\u00a0"),
    *("https://example.org:8080/", "https://example.org:22/", "https://example.org:0/"),
    *("https://example.org:65536/", "https://example.org:/", "https://example.org:4４3/"),
    *("https://example.org:443:80/", "https://example.org:-1/", "https://%31%32%37.0.0.1/"),
    *("https://example%2eorg/", "https://exam%00ple.org/", "https://.example.org/"),
    *("https://example..org/", "https://-.org/", "https://" + "a" * 64 + ".org/"),
    *("https://" + "a." * 130 + "org/", "https://example.org/" + "a" * 9000, "https://a,b.org/"),
    *("https://*.example.org/", "https://exa$mple.org/", "https://ex\u200bample.o\u202erg/"),
)


@pytest.mark.parametrize("url", DENIED)
def test_a_doubtful_or_inner_url_is_denied(url: str) -> None:
    with pytest.raises(UrlDenied) as caught:
        Rules().admit(url)

    assert caught.value.code == "URL_POLICY_DENIED"
    assert ":pw" not in caught.value.message
    assert caught.value.message.isprintable()


@pytest.mark.parametrize(
    ("url", "spelling"),
    [
        ("https://example.org", "https://example.org/"),
        ("HTTPS://EXAMPLE.ORG./a#part", "https://example.org/a"),
        ("https://example.org:443/?q=1#x", "https://example.org/?q=1"),
        ("https://example.org:80/", "https://example.org:80/"),
        ("https://bücher.example/ä?ö=ü", "https://xn--bcher-kva.example/%C3%A4?%C3%B6=%C3%BC"),
        ("https://XN--BCHER-KVA.example/", "https://xn--bcher-kva.example/"),
        ("https://ｅｘａｍｐｌｅ。org/", "https://example.org/"),
        ("https://faß.de/", "https://xn--fa-hia.de/"),
        ("https://a.org/x/../y/./%2e%2E/z", "https://a.org/z"),
        ("https://a.org/../../etc/passwd", "https://a.org/etc/passwd"),
        ("https://a.org/x/..", "https://a.org/"),
        ("https://a.org/%7Ex%2Fy", "https://a.org/%7Ex%2Fy"),
        ("https://a.org/<b>'\"|", "https://a.org/%3Cb%3E'%22%7C"),
        ("https://a_b.example.org/@user", "https://a_b.example.org/@user"),
        ("https://r3---sn.example.org/", "https://r3---sn.example.org/"),
        ("https://a.org/?u=https://b.org/", "https://a.org/?u=https://b.org/"),
    ],
)
def test_a_url_has_one_spelling(url: str, spelling: str) -> None:
    assert str(Rules().admit(url)) == spelling


@given(st.text(max_size=40), st.text(max_size=40))
def test_what_is_admitted_is_admitted_again_as_itself(host: str, rest: str) -> None:
    try:
        url = Rules().admit(f"https://{host}/{rest}")
    except UrlDenied:
        return

    assert str(Rules().admit(str(url))) == str(url)
    assert str(url).isascii()


@pytest.mark.parametrize(
    ("origins", "url", "allowed"),
    [
        (("example.org",), "https://example.org/a", True),
        (("example.org",), "https://EXAMPLE.org./a", True),
        (("example.org",), "https://www.example.org/", False),
        (("example.org",), "https://example.org.evil.net/", False),
        (("example.org",), "https://notexample.org/", False),
        (("*.example.org",), "https://a.b.example.org/", True),
        (("*.example.org",), "https://example.org/", False),
        ((".example.org",), "https://a.example.org/", True),
        (("*.example.org",), "https://evilexample.org/", False),
        (("https://example.org",), "https://example.org/", True),
        (("https://example.org:443/",), "https://example.org/", True),
        (("https://example.org",), "https://example.org:80/", False),
        (("bücher.example",), "https://xn--bcher-kva.example/", True),
        ((), "https://example.org/", False),
    ],
)
def test_an_origin_covers_itself_and_nothing_that_looks_like_it(
    origins: tuple[str, ...], url: str, allowed: bool
) -> None:
    rules = Rules(origins)

    if allowed:
        rules.admit(url)
    else:
        with pytest.raises(UrlDenied, match="allowed origins"):
            rules.admit(url)


@pytest.mark.parametrize(
    "origin",
    [
        *(
            "",
            "*",
            "*.org",
            "org",
            "https://",
            "127.0.0.1",
            "https://127.0.0.1",
            "[::1]",
            "a b.org",
        ),
        *("https://example.org/path", "https://u:p@example.org", "ftp://example.org", "*.1.2"),
    ],
)
def test_an_origin_that_is_none_is_refused_when_rules_are_made(origin: str) -> None:
    with pytest.raises(InvalidRequest):
        Rules((origin,))


@pytest.mark.parametrize("service", ["127.0.0.1:80", "http://127.0.0.1:8888/path", "http://x y"])
def test_a_service_is_an_origin_and_nothing_else(service: str) -> None:
    with pytest.raises(InvalidRequest):
        Rules(services=(service,))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Rules(max_bytes=0),
        lambda: Rules(wall_s=0.0),
        lambda: Rules(deadline_s=-1.0),
        lambda: Rules(max_retries=-1),
    ],
)
def test_limits_are_positive(make: Callable[[], Rules]) -> None:
    with pytest.raises(InvalidRequest):
        make()


def test_a_service_is_admitted_at_its_very_origin_only() -> None:
    rules = Rules(services=("http://127.0.0.1:8888", "http://[::1]:9999", "http://searx:80"))

    assert str(rules.admit("http://127.0.0.1:8888/search?q=x")).startswith("http://127.0.0.1:8888/")
    assert str(rules.admit("http://[0:0::1]:9999/")) == "http://[::1]:9999/"
    assert str(rules.admit("http://SEARX/")) == "http://searx/"
    for other in ("http://127.0.0.1:8889/", "https://127.0.0.1:8888/", "http://127.0.0.2:8888/"):
        with pytest.raises(UrlDenied):
            rules.admit(other)


def test_http_is_read_only_where_it_is_allowed() -> None:
    assert str(Rules(allow_http=True).admit("http://example.org/")) == "http://example.org/"
    with pytest.raises(UrlDenied, match="only https"):
        Rules().admit("http://example.org/")


@pytest.mark.parametrize(
    "location",
    [
        *("http://127.0.0.1:8888/", "http://example.org/", "file:///etc/passwd", "ftp://a.org/"),
        *(
            "data:text/html,x",
            "gopher://x.org/",
            "https://127.0.0.1/",
            "//10.0.0.1/",
            "//localhost/",
        ),
        *("https://user:pw@example.org/", "/\\evil.org", "https://example.org:22/", "/a b", "//["),
        *("https:////127.0.0.1/", "///127.0.0.1/", "javascript:1", "https:127.0.0.1"),
    ],
)
def test_a_redirect_does_not_lead_where_a_request_would_not(location: str) -> None:
    rules = Rules(services=("http://127.0.0.1:8888",), allow_http=True)

    with pytest.raises(UrlDenied):
        rules.follow(parse_url("https://example.org/a"), location)


def test_a_redirect_may_be_relative_or_lead_out_of_a_service() -> None:
    rules = Rules(services=("http://127.0.0.1:8888",))
    service = parse_url("http://127.0.0.1:8888/x/y")

    assert str(rules.follow(service, "../z?q#f")) == "http://127.0.0.1:8888/z?q"
    assert str(rules.follow(service, "https://example.org/ä")) == "https://example.org/%C3%A4"


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://arxiv.org/abs/2401.01234", "https://arxiv.org/pdf/2401.01234"),
        ("https://www.arxiv.org/abs/2401.01234v2/", "https://www.arxiv.org/pdf/2401.01234v2"),
        ("https://arxiv.org/abs/hep-th/9901001?x=1", "https://arxiv.org/pdf/hep-th/9901001"),
        ("https://arxiv.org/abs/math.GT/0309136v1", "https://arxiv.org/pdf/math.GT/0309136v1"),
        ("https://arxiv.org/list/cs.AI", "https://arxiv.org/list/cs.AI"),
        ("https://arxiv.org.evil.net/abs/2401.01234", "https://arxiv.org.evil.net/abs/2401.01234"),
    ],
)
def test_an_arxiv_abstract_is_read_as_its_paper(url: str, place: str) -> None:
    assert str(reading_place(parse_url(url))) == place


def test_parameters_are_added_to_the_query() -> None:
    params = (("q", "a b&c"), ("n", "1"))

    assert request_url(Request("https://a.org/s", params)) == "https://a.org/s?q=a+b%26c&n=1"
    assert request_url(Request("https://a.org/s?x=1#f", params)).endswith("s?x=1&q=a+b%26c&n=1")
    assert request_url(Request("https://a.org/s?x=1")) == "https://a.org/s?x=1"


def test_secrets_of_a_query_are_not_shown() -> None:
    url = "https://a.org/s?api_key=abcdef0123456789abcdef&q=1"

    assert "abcdef0123456789" not in shown(url)
    assert len(shown("https://a.org/" + "x" * 500)) < 250


def test_joining_keeps_to_the_base() -> None:
    assert str(join_url(parse_url("https://a.org/x/y?z"), "w")) == "https://a.org/x/w"
