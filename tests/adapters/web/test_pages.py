"""Pages and documents are opened as sources, or it is said why not."""

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path

import docx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.documents.sealed import seal
from adapters.documents.sniff import DOCX
from adapters.web.errors import NoAnswer, PageBlocked, RobotsDenied, TypeDenied
from adapters.web.memory import PageMemory
from adapters.web.pages import WebReader
from adapters.web.robots import Robots
from adapters.web.urls import parse_url
from adapters.web.waiting import Pace
from state.artifacts import MemoryArtifacts
from state.values.errors import ObstructedError, RejectedError
from tests.adapters.web.loopback import Server, Sleeps, answer, client_for, serving
from tests.adapters.web.test_blocked import CLOUDFLARE_CHALLENGE

pytestmark = pytest.mark.anyio

HTML = b"<html><title>Pavo</title><p>Pavo lets 25 members work in one team.</p></html>"
PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n" + b"\0\x01\x02" * 100
_PAGE = "text/html; charset=utf-8"


def _docx() -> bytes:
    file = io.BytesIO()
    docx.Document().save(file)
    return file.getvalue()


def reader_for(
    server: Server,
    *others: Server,
    memory: PageMemory | None = None,
    monotonic: Callable[[], float] = lambda: 0.0,
    sleep: Sleeps | None = None,
) -> WebReader:
    client = client_for(server, *others)
    pace = Pace(1.0, monotonic=monotonic, sleep=Sleeps() if sleep is None else sleep)
    return WebReader(client, robots=Robots(client, monotonic=monotonic), pace=pace, memory=memory)


async def test_a_page_is_opened_with_its_date_and_final_address() -> None:
    async with serving(
        {
            "/old": answer(b"", status="301 Moved", headers=("Location: /new#part",)),
            "/new": answer(
                HTML,
                media_type=_PAGE,
                headers=("Last-Modified: Wed, 21 Oct 2015 07:28:00 GMT",),
            ),
        }
    ) as server:
        opened = await reader_for(server).open(f"{server.origin}/old")

    assert opened.data == HTML
    assert opened.display == f"{server.origin}/new"
    assert opened.media_type == _PAGE
    assert opened.modified_at == "2015-10-21T07:28:00Z"
    assert "text/html" in (server.header("accept") or "")


@pytest.mark.parametrize(
    ("path", "said", "body", "media_type"),
    [
        ("/a.pdf", "application/pdf", PDF, "application/pdf"),
        ("/a", "text/html", PDF, "application/pdf"),
        ("/a", "application/octet-stream", PDF, "application/pdf"),
        ("/a", "application/x-pdf", PDF, "application/pdf"),
        ("/d", "application/octet-stream", _docx(), DOCX),
        ("/README.md", "text/html", HTML, "text/html"),
        ("/index.php", "text/html;charset=x", HTML, "text/html;charset=x"),
        ("/notes.md", "text/plain", b"# Notes\n", "text/plain"),
        ("/notes.md", "application/octet-stream", b"# Notes\n", "text/markdown"),
        ("/api", "application/json", b'{"a": 1}', "application/json"),
        ("/feed", "application/atom+xml", b"<?xml version='1.0'?><feed/>", "application/atom+xml"),
        ("/t", "text/plain; charset=latin-1", b"na\xefve", "text/plain; charset=latin-1"),
    ],
)
async def test_what_can_be_read_is_opened_whatever_it_is_called(
    path: str, said: str, body: bytes, media_type: str
) -> None:
    async with serving({path: answer(body, media_type=said)}) as server:
        opened = await reader_for(server).open(server.origin + path)

    assert (opened.data, opened.media_type) == (body, media_type)


@pytest.mark.parametrize(
    ("said", "body"),
    [
        *(("image/png", b"\x89PNG\r\n\x1a\n"), ("video/mp4", b"x"), ("image/svg+xml", b"<svg/>")),
        *(("application/zip", b"PK\x05\x06"), ("text/html", b"\x89PNG\r\n\x1a\n\0\0\0\0")),
        *(
            ("text/plain", b"\x7fELF\0\0\0\0\0\0\0"),
            ("application/octet-stream", b"PK\x05\x06\0\0"),
        ),
        *(("multipart/x-mixed-replace", b"x"), ("application/wasm", b"\0asm")),
    ],
)
async def test_what_cannot_be_read_is_refused(said: str, body: bytes) -> None:
    async with serving({"/x": answer(body, media_type=said)}) as server:
        with pytest.raises(TypeDenied) as caught:
            await reader_for(server).open(f"{server.origin}/x")

    assert caught.value.code == "CONTENT_TYPE_DENIED"


async def test_a_status_is_told_by_its_number() -> None:
    async with serving(
        {"/x": answer(b"<p>gone</p>", status="410 Gone", media_type=_PAGE)}
    ) as server:
        with pytest.raises(RejectedError, match="410") as caught:
            await reader_for(server).open(f"{server.origin}/x")

    assert caught.value.code == "HTTP_410"


@pytest.mark.parametrize(
    ("status", "body"),
    [
        ("403 Forbidden", "<title>403 Forbidden</title><h1>403 Forbidden</h1><hr>nginx"),
        ("404 Not Found", "<title>App</title><script src=a.js></script><div id=app></div>"),
        ("500 Broken", "<title>Error</title><p>Something went wrong.</p>"),
    ],
)
async def test_a_plain_refusal_keeps_its_number(status: str, body: str) -> None:
    page = answer(body.encode(), status=status, media_type=_PAGE)
    async with serving({"/x": page}) as server:
        with pytest.raises(RejectedError) as caught:
            await reader_for(server).open(f"{server.origin}/x")

    assert caught.value.code == f"HTTP_{status[:3]}"


@pytest.mark.parametrize("status", ["200 OK", "403 Forbidden", "503 Unavailable"])
async def test_a_wall_is_not_the_page(status: str) -> None:
    body = CLOUDFLARE_CHALLENGE.encode()
    async with serving({"/x": answer(body, status=status, media_type=_PAGE)}) as server:
        with pytest.raises(PageBlocked, match="bot check") as caught:
            await reader_for(server).open(f"{server.origin}/x")

    assert caught.value.code == "PAGE_BLOCKED"


@pytest.mark.parametrize("status", ["200 OK", "204 No Content"])
async def test_an_empty_page_is_none(status: str) -> None:
    async with serving({"/x": answer(b"", status=status)}) as server:
        with pytest.raises(NoAnswer):
            await reader_for(server).open(f"{server.origin}/x")


async def test_text_ends_at_five_mebibytes_and_documents_do_not() -> None:
    filler = b"x" * (6 * 1024 * 1024)
    pages: dict[str, bytes | list[bytes]] = {
        "/page": answer(gzip.compress(filler), headers=("Content-Encoding: gzip",)),
        "/paper": answer(PDF + filler, media_type="application/pdf"),
    }
    async with serving(pages) as server:
        reader = reader_for(server)
        assert len((await reader.open(f"{server.origin}/paper")).data) > len(filler)
        with pytest.raises(RejectedError) as caught:
            await reader.open(f"{server.origin}/page")

    assert caught.value.code == "BODY_LIMIT"


@pytest.mark.parametrize("date", ["soon", "", "Wed, 99 Oct 2015 07:28:00 GMT", "1"])
async def test_a_date_that_is_none_is_left_out(date: str) -> None:
    async with serving({"/x": answer(b"x", headers=(f"Last-Modified: {date}",))}) as server:
        assert (await reader_for(server).open(f"{server.origin}/x")).modified_at == ""


@pytest.mark.parametrize(
    "body",
    [
        b"HTTP/1.1 404 Gone\r\nContent-Length: 99\r\n\r\nhalf",
        answer(b"x", status="404 Gone", headers=("Content-Encoding: br",)),
        answer(b"x" * 600_000, status="404 Gone"),
    ],
)
async def test_a_broken_refusal_is_still_a_refusal(body: bytes) -> None:
    async with serving({"/x": body}) as server:
        with pytest.raises(RejectedError) as caught:
            await reader_for(server).open(f"{server.origin}/x")

    assert caught.value.code == "HTTP_404"


# robots.txt


async def test_robots_txt_is_read_once_and_obeyed_at_every_hop() -> None:
    pages: dict[str, bytes | list[bytes]] = {
        "/robots.txt": answer(b"User-agent: *\nDisallow: /private/\nAllow: /private/open\n"),
        "/a": answer(b"open"),
        "/hop": answer(b"", status="302 Found", headers=("Location: /private/b",)),
        "/private/b": answer(b"closed"),
        "/private/open": answer(b"open too"),
    }
    async with serving(pages) as server:
        reader = reader_for(server)
        assert (await reader.open(f"{server.origin}/a")).data == b"open"
        assert (await reader.open(f"{server.origin}/private/open")).data == b"open too"
        for path in ("/private/b", "/hop", "/x/../private/b"):
            with pytest.raises(RobotsDenied, match=r"robots\.txt") as caught:
                await reader.open(server.origin + path)

    assert caught.value.code == "ROBOTS_DENIED"
    assert server.paths().count("/robots.txt") == 1
    assert "/private/b" not in server.paths()


@pytest.mark.parametrize(
    ("robots", "allowed"),
    [
        (b"User-agent: Assay\nDisallow: /\n\nUser-agent: *\nDisallow:\n", False),
        (b"User-agent: Assay\nDisallow:\n\nUser-agent: *\nDisallow: /\n", True),
        (b"User-agent: assay/9.9 # us\nDisallow: /\n", False),
        (b"User-agent: AssayTool\nDisallow: /\n", True),
        (b"User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n", True),
        (b"\xef\xbb\xbfUser-agent: *\r\nDisallow: /\r\n", False),
        (b"User-agent: *\rDisallow: /\r", False),
        (b"user-agent : *\ndisallow : /*?\n", True),
        (b"<html>not found</html>", True),
        (b"\xff\xfe\0garbage\0", True),
        (b"", True),
    ],
)
async def test_rules_for_others_are_not_ours(robots: bytes, allowed: bool) -> None:
    async with serving({"/robots.txt": answer(robots), "/a": answer(b"x")}) as server:
        reader = reader_for(server)
        if allowed:
            assert (await reader.open(f"{server.origin}/a")).data == b"x"
        else:
            with pytest.raises(RobotsDenied):
                await reader.open(f"{server.origin}/a")


@pytest.mark.parametrize(
    ("robots", "allowed"),
    [
        (answer(b"", status="404 Not Found"), True),
        (answer(b"", status="403 Forbidden"), True),
        (answer(b"", status="302 Found", headers=("Location: http://127.0.0.1:1/",)), True),
        (answer(b"", status="302 Found", headers=("Location: /robots.txt",)), True),
        (answer(b"", status="500 Broken"), False),
        (answer(b"", status="503 Busy"), False),
    ],
)
async def test_a_robots_txt_that_cannot_be_had_counts_as_rfc_9309_says(
    robots: bytes, allowed: bool
) -> None:
    async with serving({"/robots.txt": robots, "/a": answer(b"x")}) as server:
        reader = reader_for(server)
        if allowed:
            assert (await reader.open(f"{server.origin}/a")).data == b"x"
        else:
            with pytest.raises(RobotsDenied, match="nobody knows"):
                await reader.open(f"{server.origin}/a")


async def test_a_server_that_is_not_there_is_unavailable_not_forbidden() -> None:
    async with serving(answer()) as server:
        gone = server

    with pytest.raises(NoAnswer, match=r"127\.0\.0\.1"):
        await reader_for(gone).open(f"{gone.origin}/a")


@pytest.mark.parametrize(
    "robots",
    [
        "".join(f"User-agent: bot{n}\n" for n in range(15_000)) + "Disallow: /x\n" * 15_000,
        "User-agent: *\n" + "Disallow: /" + "*a" * 200_000,
        "User-agent: *\n" + "Disallow: /*a*b*c$\n" * 20_000,
        "User-agent: *\nDisallow: /x\n" * 15_000,
    ],
)
async def test_a_hostile_robots_txt_costs_little(robots: str) -> None:
    async with serving({"/robots.txt": answer(robots.encode()), "/a": answer(b"x")}) as server:
        assert (await reader_for(server).open(f"{server.origin}/a")).data == b"x"


async def test_only_the_first_500_kib_of_a_robots_txt_count() -> None:
    late = b"#" * 600_000 + b"\nUser-agent: *\nDisallow: /\n"
    async with serving({"/robots.txt": answer(late), "/a": answer(b"x")}) as server:
        assert (await reader_for(server).open(f"{server.origin}/a")).data == b"x"


@pytest.mark.parametrize(("asked", "kept"), [("5", 5.0), ("0.2", 1.0), ("86400", 20.0), ("x", 1.0)])
async def test_a_crawl_delay_is_kept_within_reason(asked: str, kept: float) -> None:
    robots = answer(f"User-agent: *\nCrawl-delay: {asked}\n".encode())
    sleeps = Sleeps()
    async with serving({"/robots.txt": robots, "/a": answer(b"x")}) as server:
        reader = reader_for(server, sleep=sleeps)
        for _ in range(3):
            await reader.open(f"{server.origin}/a")

    assert sleeps == [kept, 2 * kept]


# Memory


def _memory(folder: Path, archive: MemoryArtifacts) -> PageMemory:
    return PageMemory(folder / "pages", archive)


async def test_an_unchanged_page_comes_from_the_archive(tmp_path: Path) -> None:
    archive = MemoryArtifacts()
    dated = "Last-Modified: Wed, 21 Oct 2015 07:28:00 GMT"
    pages: dict[str, bytes | list[bytes]] = {
        "/a": [
            answer(HTML, media_type=_PAGE, headers=('ETag: "v1"', dated)),
            answer(b"", status="304 Not Modified"),
        ]
    }
    async with serving(pages) as server:
        reader = reader_for(server, memory=_memory(tmp_path, archive))
        first = await reader.open(f"{server.origin}/a")
        archive.put(first.data)
        again = await reader_for(server, memory=_memory(tmp_path, archive)).open(
            f"{server.origin}/a#part"
        )

    assert again == first
    assert server.header("if-none-match") == '"v1"'


async def test_a_date_alone_is_a_condition_too(tmp_path: Path) -> None:
    archive = MemoryArtifacts()
    date = "Wed, 21 Oct 2015 07:28:00 GMT"
    changed = answer(b"new words", headers=("ETag: x",))
    pages: dict[str, bytes | list[bytes]] = {
        "/a": [answer(b"old words", headers=(f"Last-Modified: {date}",)), changed]
    }
    async with serving(pages) as server:
        reader = reader_for(server, memory=_memory(tmp_path, archive))
        archive.put((await reader.open(f"{server.origin}/a")).data)
        again = await reader.open(f"{server.origin}/a")

    assert server.header("if-modified-since") == date
    assert again.data == b"new words"


@pytest.mark.parametrize("fate", ["never archived", "damaged", "emptied", "of another page"])
async def test_a_memory_that_cannot_be_trusted_is_none(tmp_path: Path, fate: str) -> None:
    archive = MemoryArtifacts()
    page = answer(HTML, media_type=_PAGE, headers=('ETag: "v1"',))
    async with serving({"/a": page, "/b": page}) as server:
        reader = reader_for(server, memory=_memory(tmp_path, archive))
        await reader.open(f"{server.origin}/a")
        if fate != "never archived":
            archive.put(HTML)
        (kept,) = (tmp_path / "pages").rglob("*.json")
        whole = kept.read_bytes()
        if fate == "damaged":
            kept.write_bytes(whole.replace(b"v1", b"v2"))
        if fate == "emptied":
            kept.write_bytes(b"")
        if fate == "of another page":
            await reader.open(f"{server.origin}/b")
            for path in (tmp_path / "pages").rglob("*.json"):
                path.write_bytes(whole)
            assert (await reader.open(f"{server.origin}/b")).data == HTML
        else:
            assert (await reader.open(f"{server.origin}/a")).data == HTML

    assert server.header("if-none-match") is None


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(_JSON)
async def test_a_sealed_file_of_another_form_is_no_memory(tmp_path: Path, value: object) -> None:
    memory, url = _memory(tmp_path, MemoryArtifacts()), parse_url("https://a.org/")
    path = memory._path(url)
    path.parent.mkdir(parents=True, exist_ok=True)

    for facts in (value, {"format": 1, "url": str(url), "hash": value}):
        path.write_bytes(seal(json.dumps(facts).encode()))
        assert await memory.recall(url) is None


async def test_a_memory_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "pages").write_text("a file in the way")
    async with serving({"/a": answer(b"words", headers=("ETag: x",))}) as server:
        with pytest.raises(ObstructedError, match="cannot be written") as caught:
            await reader_for(server, memory=_memory(tmp_path, MemoryArtifacts())).open(
                f"{server.origin}/a"
            )

    assert caught.value.code == "CACHE_UNWRITABLE"


@pytest.mark.parametrize("header", ["Cache-Control: private, no-store", "Vary: *", "X-None: 1"])
async def test_what_is_not_to_be_kept_is_not(tmp_path: Path, header: str) -> None:
    validators = () if header.startswith("X-None") else ("ETag: x",)
    async with serving({"/a": answer(b"words", headers=(header, *validators))}) as server:
        memory = _memory(tmp_path, MemoryArtifacts())
        await reader_for(server, memory=memory).open(f"{server.origin}/a")
        assert await memory.recall(parse_url(f"{server.origin}/a")) is None


async def test_a_304_for_another_address_is_asked_again(tmp_path: Path) -> None:
    archive = MemoryArtifacts()
    pages: dict[str, bytes | list[bytes]] = {
        "/a": [
            answer(b"", status="302 Found", headers=("Location: /b",)),
            answer(b"", status="304 Not Modified"),
            answer(b"a of its own"),
        ],
        "/b": answer(b"b", headers=('ETag: "1"',)),
    }
    async with serving(pages) as server:
        reader = reader_for(server, memory=_memory(tmp_path, archive))
        archive.put((await reader.open(f"{server.origin}/a")).data)
        again = await reader.open(f"{server.origin}/a")

    assert again.data == b"a of its own"


async def test_an_unchanged_page_behind_a_redirect_comes_from_the_archive_too(
    tmp_path: Path,
) -> None:
    """What an origin said of a version is told to that very address, and to no other."""
    archive = MemoryArtifacts()
    page = [answer(b"b", headers=('ETag: "1"',)), answer(b"", status="304 Not Modified")]
    async with serving({"/b": [*page]}) as other:
        moved = answer(b"", status="302 Found", headers=(f"Location: {other.origin}/b",))
        async with serving({"/a": moved}) as server:
            for _ in range(2):
                memory = _memory(tmp_path, archive)
                reader = reader_for(server, other, memory=memory)
                opened = await reader.open(f"{server.origin}/a")
                archive.put(opened.data)

    assert (opened.data, opened.display) == (b"b", f"{other.origin}/b")
    heads = [head for head in other.heads if head.startswith("GET /b")]
    assert ["if-none-match" in head.lower() for head in heads] == [False, True]
    assert all("if-none-match" not in head.lower() for head in server.heads)


async def test_a_redirect_that_leads_elsewhere_by_now_is_asked_without_conditions(
    tmp_path: Path,
) -> None:
    archive = MemoryArtifacts()
    ways = [answer(b"", status="302 Found", headers=(f"Location: /{to}",)) for to in "bc"]
    pages: dict[str, bytes | list[bytes]] = {
        "/a": ways,
        "/b": answer(b"b", headers=('ETag: "1"',)),
        "/c": answer(b"c"),
    }
    async with serving(pages) as server:
        reader = reader_for(server, memory=_memory(tmp_path, archive))
        archive.put((await reader.open(f"{server.origin}/a")).data)
        again = await reader.open(f"{server.origin}/a")

    assert again.data == b"c"
    assert all("if-none-match" not in head.lower() for head in server.heads)


async def test_a_304_that_nobody_asked_for_is_no_page() -> None:
    async with serving({"/a": answer(b"", status="304 Not Modified")}) as server:
        with pytest.raises(RejectedError) as caught:
            await reader_for(server).open(f"{server.origin}/a")

    assert caught.value.code == "HTTP_304"
