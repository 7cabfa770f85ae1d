"""Limits by their names, and slots that nobody is asked for where there is no limit."""

import sys

import anyio
import pytest

from adapters.documents.port import Opened
from flows.settings import Settings, load_settings
from state.values.errors import InvalidRequest
from tasks.limits import host_of, limited, limits_at
from tasks.slots import SlottedReader, slots


@pytest.mark.parametrize(
    ("locator", "host"),
    [
        ("https://Example.org/a?b=c", "example.org"),
        ("https://example.org:443/", "example.org"),
        ("http://127.0.0.1:8080/x", "127.0.0.1:8080"),
        ("https://[2001:db8::1]:8443/", "2001:db8::1:8443"),
        ("/home/ann/notes.md", ""),
        ("https://example.org:none/", ""),
    ],
)
def test_an_address_has_a_host(locator: str, host: str) -> None:
    assert host_of(locator) == host


def test_only_limits_that_there_are_hold() -> None:
    token = limited.set(frozenset({"assay:host:example.org", "assay:model:openai"}))
    try:
        assert limits_at("host", "Example.org") == ["assay:host:example.org"]
        assert limits_at("host", "example.com", "") == []
        assert limits_at("model", "api.openai.com", "openai") == ["assay:model:openai"]
        assert limits_at("search", "example.org") == []
    finally:
        limited.reset(token)


def test_without_a_limit_no_server_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*_: object, **__: object) -> None:
        raise AssertionError("a server was asked")

    monkeypatch.setattr(sys.modules["tasks.slots"], "concurrency", asked)

    class Reader:
        async def open(self, locator: str) -> Opened:
            return Opened(b"x", locator)

    async def work() -> bytes:
        async with slots("model", "openai"):
            return (await SlottedReader(Reader()).open("https://example.org/")).data

    assert anyio.run(work) == b"x"


def test_limits_are_set_by_kind_and_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_LIMITS", "model:OpenAI=4, host:127.0.0.1:8080=1 search:arxiv=2")

    assert load_settings().limits == {
        "model:openai": 4, "host:127.0.0.1:8080": 1, "search:arxiv": 2,
    }  # fmt: skip
    monkeypatch.delenv("ASSAY_LIMITS")
    assert Settings().limits == {}


@pytest.mark.parametrize(
    "text",
    ["openai=4", "model:openai", "model:openai=0", "model:openai=many", "page:x=1",
     "host:a/b=1", "host:a=1,host:A=2", "model:=1"],
)  # fmt: skip
def test_what_is_no_limit_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("ASSAY_LIMITS", text)

    with pytest.raises(InvalidRequest, match="ASSAY_LIMITS"):
        load_settings()
