"""What every converter promises, and what only the sandboxed one can."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from adapters.documents.cached import CachedConverter
from adapters.documents.convert import FORMATS, Format
from adapters.documents.direct import DirectConverter
from adapters.documents.port import Converter
from adapters.documents.reading import Reading
from adapters.documents.sandboxed import Limits, SandboxedConverter
from adapters.documents.sniff import MARKDOWN
from state.values.blocks import Outcome

pytestmark = pytest.mark.anyio

HERE = Path(__file__).parent
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module", params=["direct", "sandboxed"])
async def converter(request: pytest.FixtureRequest) -> AsyncIterator[Converter]:
    made: Converter = DirectConverter() if request.param == "direct" else SandboxedConverter()
    yield made
    await made.aclose()


async def test_markdown_is_read(converter: Converter) -> None:
    conversion = await converter.convert(b"# Title\n\nSome *text*.\n", name="a.md")

    document = conversion.document
    assert conversion.outcome is Outcome.OK
    assert document is not None
    assert document.title == "Title"
    assert [document.text[b.start : b.end] for b in document.blocks] == ["Title", "Some *text*."]


@pytest.mark.parametrize(
    ("data", "name", "outcome", "words"),
    [
        (b"", "a.md", Outcome.EMPTY, "empty"),
        (b" \n\n ", "a.txt", Outcome.EMPTY, "no text"),
        (b"<html><script>x()</script></html>", "a.html", Outcome.EMPTY, "JavaScript"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a.md", Outcome.UNSUPPORTED, "picture"),
        (bytes(range(256)) * 40, "a.md", Outcome.UNSUPPORTED, "not text"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "a.doc", Outcome.UNSUPPORTED, ".doc"),
        (b"PK\x03\x04" + bytes(60), "a.zip", Outcome.UNSUPPORTED, "archive"),
        (b"a" * 20_000_001, "a.txt", Outcome.LIMIT, "20,000,000"),
        (b"<p>" * 2_000_000, "a.html", Outcome.LIMIT, "5,000,000"),
        (b"<div>" * 900_000 + b"deep", "a.html", Outcome.LIMIT, "256 levels"),
    ],
)
async def test_what_cannot_be_read_is_named_and_explained(
    converter: Converter, data: bytes, name: str, outcome: Outcome, words: str
) -> None:
    conversion = await converter.convert(data, name=name)

    assert conversion.outcome is outcome
    assert words in conversion.reason
    assert conversion.document is None


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"> " * 50_000 + b"deep", "quotes.md"),
        (b"[" * 50_000 + b"a" + b"]" * 50_000, "brackets.md"),
        (b"- " * 20_000 + b"item", "lists.md"),
        (b"*a **b " * 30_000, "stars.md"),
        (b"<b>" * 100_000 + b"bold", "inline.html"),
        (b"<table><tr><td>" * 200 + b"cell", "tables.html"),
        (b"<p " + b"a=1 " * 200_000 + b">text</p>", "attributes.html"),
        (b"&#xD800;&#0;text<p>" * 1_000, "references.html"),
        (b"caf\xe9 " * 100 + "日本語".encode() * 10, "mixed.txt"),
        (b"one\0two", "nul.txt"),
        (b"\xff\xfe" + "\ud800x".encode("utf-16-le", "surrogatepass"), "surrogate.txt"),
        (b"text", 'odd \n name\udcff".md'),
        (b"\r\r\n\n# a\r\rb", "ends.md"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isprintable() else "",
)
async def test_hostile_text_ends_in_a_named_outcome_with_sound_blocks(
    converter: Converter, data: bytes, name: str
) -> None:
    conversion = await converter.convert(data, name=name)

    assert conversion.outcome is not Outcome.CRASHED
    assert conversion.document is not None or conversion.reason
    if conversion.document is not None:
        text, reached = conversion.document.text, 0
        text.encode()
        for block in conversion.document.blocks:
            assert reached <= block.start < block.end <= len(text)
            assert block.end - block.start <= 1_800
            reached = block.end


async def test_entities_that_multiply_are_not_expanded(converter: Converter) -> None:
    """Cases: measured, entities that multiply."""
    entities = "".join(
        f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' if n else '<!ENTITY e0 "laugh">' for n in range(9)
    )
    page = f"<!DOCTYPE html [{entities}]><html><body><p>before &e8; after</p></body></html>"

    conversion = await converter.convert(page.encode(), name="a.html")

    assert conversion.document is not None
    assert len(conversion.document.text) < 2_000


@contextmanager
def misbehaving(limits: Limits) -> Iterator[SandboxedConverter]:
    yield SandboxedConverter(
        pool=1, limits=limits, function="readers_for_tests:misbehave", roots=(str(HERE),)
    )


async def ask(data: bytes, limits: Limits | None = None) -> tuple[Outcome, str]:
    """Return how converting `data` ended, after checking that the next file reads normally."""
    with misbehaving(limits or Limits()) as converter:
        conversion = await converter.convert(data, name="a.txt")
        following = await converter.convert(b"fine text", name="b.txt")
        await converter.aclose()
    assert following.outcome is Outcome.OK
    return conversion.outcome, conversion.reason


async def test_a_reader_that_is_killed_is_named_and_replaced() -> None:
    assert await ask(b"die") == (
        Outcome.CRASHED,
        "The reader of this file stopped unexpectedly (signal 9).",
    )


async def test_a_reader_that_exits_is_named_and_replaced() -> None:
    outcome, reason = await ask(b"exit")

    assert outcome is Outcome.CRASHED
    assert "exit status 3" in reason


async def test_a_reader_that_spins_is_stopped_by_its_processor_time() -> None:
    outcome, reason = await ask(b"spin", Limits(cpu_s=1))

    assert outcome is Outcome.LIMIT
    assert "processor time" in reason


async def test_a_reader_that_waits_is_stopped_by_the_clock() -> None:
    outcome, reason = await ask(b"sleep", Limits(wall_s=0.8))

    assert outcome is Outcome.LIMIT
    assert "longer than 0.8 seconds" in reason


async def test_a_reader_that_eats_memory_is_stopped() -> None:
    outcome, reason = await ask(b"eat", Limits(memory_bytes=400 * 1024 * 1024))

    assert outcome is Outcome.LIMIT
    assert "memory" in reason


async def test_an_answer_that_is_too_long_is_refused() -> None:
    assert await ask(b"babble", Limits(output_bytes=1_000_000)) == (
        Outcome.LIMIT,
        "The text of the file is too long.",
    )


async def test_bytes_beyond_every_limit_never_reach_a_reader() -> None:
    before = children()

    outcome, reason = await ask(b"die " * 10, Limits(input_bytes=20))

    assert outcome is Outcome.LIMIT
    assert "at most 20" in reason
    assert children() == before


async def test_a_reader_cannot_write_files() -> None:
    assert (await ask(b"write"))[1] in ("Permission denied", "File too large")


async def test_what_a_reader_prints_disturbs_nothing() -> None:
    assert (await ask(b"print"))[0] is Outcome.OK


async def test_a_reader_sees_no_secret_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")

    assert await ask(b"environment") == (Outcome.EMPTY, "['LC_ALL', 'PATH']")


async def test_a_reader_inherits_no_descriptor(tmp_path: Path) -> None:
    with (tmp_path / "journal").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        _, reason = await ask(b"descriptors")

    assert "journal" not in reason
    assert reason.count("pipe:") == 2


async def test_a_cancelled_conversion_kills_its_worker_and_leaves_no_zombie() -> None:
    before = children()
    with misbehaving(Limits()) as converter:
        with anyio.move_on_after(0.7):
            await converter.convert(b"sleep", name="a.txt")
        left = children() - before
        following = await converter.convert(b"fine text", name="b.txt")
        await converter.aclose()

    assert left == set()
    assert following.outcome is Outcome.OK
    assert children() - before == set()


async def test_the_memory_of_the_parent_does_not_tire_a_worker() -> None:
    before = children()
    ballast = b"x" * (450 * 1024 * 1024)
    converter = SandboxedConverter(pool=1)

    first = await converter.convert(b"text", name="a.txt")
    workers = children() - before
    second = await converter.convert(b"text", name="b.txt")
    still = children() - before
    await converter.aclose()

    assert ballast
    assert first.outcome is second.outcome is Outcome.OK
    assert workers == still != set()


async def test_a_worker_that_died_between_files_is_replaced() -> None:
    before = children()
    with misbehaving(Limits()) as converter:
        await converter.convert(b"text", name="a.txt")
        for pid in children() - before:
            os.kill(pid, signal.SIGKILL)
        await anyio.sleep(0.1)
        conversion = await converter.convert(b"text", name="a.txt")
        await converter.aclose()

    assert conversion.outcome is Outcome.OK


async def test_many_files_share_a_few_workers() -> None:
    before = children()
    converter = SandboxedConverter(pool=2)
    outcomes: list[Outcome] = []

    async def convert(number: int) -> None:
        conversion = await converter.convert(f"text {number}".encode(), name="a.txt")
        assert conversion.document is not None
        assert conversion.document.text == f"text {number}"
        outcomes.append(conversion.outcome)

    async with anyio.create_task_group() as group:
        for number in range(40):
            group.start_soon(convert, number)
    workers = len(children() - before)
    await converter.aclose()

    assert outcomes == [Outcome.OK] * 40
    assert workers <= 2


def test_a_worker_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    program = f"""
import anyio, sys
sys.path[:0] = [{str(ROOT)!r}]
from adapters.documents.sandboxed import SandboxedConverter

async def main():
    converter = SandboxedConverter(function="readers_for_tests:misbehave", roots=({str(HERE)!r},))
    await converter.convert(b"text", name="a.txt")
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: converter.convert(b"sleep", name="a.txt"))
        await anyio.sleep(0.3)
        print("working", flush=True)

anyio.run(main)
"""
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    assert parent.stdout.readline() == "working\n"
    workers = children(parent.pid)
    parent.kill()
    parent.wait()
    parent.stdout.close()

    deadline = time.monotonic() + 2.0
    while any(map(is_running, workers)) and time.monotonic() < deadline:
        time.sleep(0.02)

    assert workers
    assert not any(map(is_running, workers))


def children(parent: int | None = None) -> set[int]:
    """Return the child processes of `parent` (this one), zombies too."""
    wanted = str(parent or os.getpid())
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[1] == wanted:
            found.add(int(path.parent.name))
    return found


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _lacks_a_package(data: bytes, *, charset: str) -> Reading:
    raise ModuleNotFoundError("No module named 'linkify_it'", name="linkify_it.main")


def _cannot_be_loaded(data: bytes, *, charset: str) -> Reading:
    raise ImportError("libxml2.so.2: cannot open shared object file")


@pytest.mark.parametrize(
    ("reader", "packages", "words"),
    [
        ("_lacks_a_package", (), "pip install linkify_it"),
        ("_lacks_a_package", ("a-package-that-is-absent",), "pip install a-package-that-is-absent"),
        ("_cannot_be_loaded", (), "libxml2.so.2"),
    ],
)
async def test_a_missing_package_is_named_and_held_against_no_file(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    reader: str,
    packages: tuple[str, ...],
    words: str,
) -> None:
    converter = CachedConverter(DirectConverter(), tmp_path)
    with monkeypatch.context() as patch:
        broken = Format("Markdown", f"{__name__}:{reader}", 1000, packages)
        patch.setitem(FORMATS, MARKDOWN, broken)
        conversion = await converter.convert(b"# Title", name="a.md")

    assert conversion.outcome is Outcome.CRASHED
    assert words in conversion.reason
    assert not any(tmp_path.rglob("*.json"))  # noqa: ASYNC240 - a look at an empty folder
    assert (await converter.convert(b"# Title", name="a.md")).outcome is Outcome.OK
