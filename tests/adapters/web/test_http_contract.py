"""What every `Http` does: the real one against a loopback server, and the fake."""

from collections.abc import AsyncIterator

import pytest

from adapters.web.errors import BodyLimit, NoAnswer
from adapters.web.fake import FakeHttp
from adapters.web.port import Http, Request, Response
from state.values.errors import RejectedError
from tests.adapters.web.loopback import answer, client_for, serving

pytestmark = pytest.mark.anyio

_JSON = "application/json; charset=utf-8"


@pytest.fixture(params=["real", "fake"])
async def made(request: pytest.FixtureRequest) -> AsyncIterator[tuple[Http, str]]:
    """Return an `Http` and the origin that it serves."""
    if request.param == "fake":
        origin = "https://a.org"
        found = Response("", 200, {"Content-Type": _JSON, "X-Total": "3"}, b'{"a": 1}')
        yield (
            FakeHttp(
                {
                    f"{origin}/found?q=a+b": found,
                    f"{origin}/moved": Response(f"{origin}/new", 200, {}, b"new"),
                    f"{origin}/missing": Response("", 404, {}, b"gone"),
                    f"{origin}/large": BodyLimit("too large"),
                }
            ),
            origin,
        )
        return
    pages: dict[str, bytes | list[bytes]] = {
        "/found?q=a+b": answer(b'{"a": 1}', media_type=_JSON, headers=("X-Total: 3",)),
        "/moved": answer(b"", status="301 Moved", headers=("Location: /new",)),
        "/new": answer(b"new"),
        "/missing": answer(b"gone", status="404 Not Found"),
        "/large": answer(b"x" * 2_000),
    }
    async with serving(pages) as server:
        client = client_for(server, max_bytes=1_000)
        yield client, server.origin
        await client.aclose()


async def test_an_answer_has_its_parts(made: tuple[Http, str]) -> None:
    http, origin = made
    response = await http.send(Request(f"{origin}/found", (("q", "a b"),)))

    assert response.url == f"{origin}/found?q=a+b"
    assert (response.status, response.body, response.media_type) == (200, b'{"a": 1}', _JSON)
    assert response.headers["x-total"] == "3"


async def test_the_url_is_where_redirects_ended(made: tuple[Http, str]) -> None:
    http, origin = made

    assert (await http.send(Request(f"{origin}/moved"))).url == f"{origin}/new"


async def test_an_unhappy_status_is_an_answer(made: tuple[Http, str]) -> None:
    http, origin = made
    response = await http.send(Request(f"{origin}/missing"))

    assert (response.status, response.body) == (404, b"gone")


async def test_an_error_is_raised(made: tuple[Http, str]) -> None:
    http, origin = made

    with pytest.raises(RejectedError) as caught:
        await http.send(Request(f"{origin}/large"))
    assert caught.value.code == "BODY_LIMIT"


@pytest.mark.parametrize("url", ["ftp://a.org/", "https://a.org/a b", "nonsense"])
async def test_what_is_no_url_is_denied(made: tuple[Http, str], url: str) -> None:
    with pytest.raises(RejectedError) as caught:
        await made[0].send(Request(url))
    assert caught.value.code == "URL_POLICY_DENIED"


async def test_the_fake_remembers_what_it_was_asked() -> None:
    http = FakeHttp({})
    request = Request("https://a.org/", (("q", "x"),))

    with pytest.raises(NoAnswer, match="not among"):
        await http.send(request)
    assert http.asked == [request]
