"""Origins of the web: one spelling each, and what they cover."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.values.origins import ANY, covers, normal_origin


@pytest.mark.parametrize(
    ("given_", "normal"),
    [
        ("Example.ORG", "example.org"),
        ("example.org.", "example.org"),
        ("https://example.org", "example.org"),
        ("https://example.org:443/a?b", "example.org"),
        ("*.example.org", "*.example.org"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("http://example.org", "http://example.org:80"),
        ("https://example.org:8443", "https://example.org:8443"),
        ("http://127.0.0.1:8888", "http://127.0.0.1:8888"),
        ("http://[::1]:8888/search", "http://[::1]:8888"),
    ],
)
def test_an_origin_has_one_spelling(given_: str, normal: str) -> None:
    assert normal_origin(given_) == normal
    assert normal_origin(normal) == normal


@pytest.mark.parametrize(
    "text",
    [
        *("", "org", "*.", "exa mple.org", "-a.org", "a..org", "10.0.0.1", "0x7f.1", "127.1"),
        *("https://user@example.org", "ftp://example.org", "https://", "a" * 64 + ".org"),
        *("http://example.org:99999", "http://[::1", "file:///etc/passwd", "any"),
    ],
)
def test_what_is_no_origin_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        normal_origin(text)


@pytest.mark.parametrize(
    ("origins", "url", "is_covered"),
    [
        (("example.org",), "https://example.org/a", True),
        (("example.org",), "https://EXAMPLE.org:443/a", True),
        (("example.org",), "https://www.example.org/a", False),
        (("example.org",), "https://badexample.org/", False),
        (("example.org",), "https://example.org.evil.com/", False),
        (("example.org",), "https://example.org@evil.com/", False),
        (("example.org",), "http://example.org/", False),
        (("*.example.org",), "https://a.b.example.org/", True),
        (("*.example.org",), "https://example.org/", False),
        (("*.example.org",), "http://a.example.org/", False),
        (("http://127.0.0.1:81",), "http://127.0.0.1:81/x", True),
        (("http://127.0.0.1:81",), "http://127.0.0.1:82/x", False),
        (ANY, "https://anything.example/x", True),
        (ANY, "http://anything.example/x", False),
        (ANY, "https://127.0.0.1/x", False),
        (ANY, "https://2130706433/x", False),
        (ANY, "/a/path", False),
        ((), "https://example.org/", False),
    ],
)
def test_an_origin_covers_itself_and_nothing_else(
    origins: tuple[str, ...], url: str, is_covered: bool
) -> None:
    assert covers(origins, url) is is_covered


@given(st.text(max_size=40))
def test_any_text_is_an_origin_or_a_value_error(text: str) -> None:
    try:
        normal = normal_origin(text)
    except ValueError:
        return
    assert normal_origin(normal) == normal
