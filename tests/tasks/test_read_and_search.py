"""Reading archives bytes before anything else; searching gives each hit once."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.documents.direct import DirectConverter
from adapters.documents.port import Converter, Opened
from adapters.models.port import Answer
from adapters.search.fake import FakeSearch
from adapters.search.port import Hit
from state.artifacts import MemoryArtifacts
from state.values.blocks import Block, BlockKind, Conversion, Document, Outcome
from state.values.errors import RejectedError, TransientError
from state.values.ids import content_hash
from state.values.money import Usage
from tasks.read import Reading, ReadInput, parse_blocks, read_source, spell_blocks
from tasks.search import SearchInput, search_sources

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass
class Shelf:
    data: bytes | Exception
    name: str = "notes.md"

    async def open(self, locator: str) -> Opened:
        if isinstance(self.data, Exception):
            raise self.data
        return Opened(self.data, display=self.name, modified_at="2026-01-01T00:00:00Z")


@dataclass
class Watching:
    """A converter that remembers what was archived when it was asked."""

    artifacts: MemoryArtifacts
    result: Conversion
    held: list[str] = field(default_factory=list)

    async def convert(self, data: bytes, *, name: str, media_type: str = "") -> Conversion:
        self.held += [stored.hash for stored in self.artifacts.entries()]
        return self.result

    async def aclose(self) -> None:
        pass


def read(shelf: Shelf, artifacts: MemoryArtifacts, converter: Converter) -> Answer[Reading]:
    given = ReadInput("/world/notes.md")
    return asyncio.run(read_source(given, shelf, converter, artifacts, lambda: NOON))


def test_a_source_is_archived_as_bytes_as_text_and_as_blocks() -> None:
    artifacts = MemoryArtifacts()
    data = "# Pavo\r\n\r\nAt most 25 members — “today”.\n".encode()

    answer = read(Shelf(data), artifacts, DirectConverter())

    made = answer.value
    assert answer.usage == Usage(pages=1)
    assert artifacts.get(made.content_hash) == data
    text = artifacts.read_text(made.text_hash)
    blocks = parse_blocks(artifacts.read_text(made.blocks_hash))
    assert "At most 25 members — “today”." in [text[b.start : b.end] for b in blocks]
    assert (made.title, made.characters, made.size) == ("Pavo", len(text), len(data))
    assert made.fetched_at == "2026-03-01T12:00:00.000Z"
    assert made.modified_at == "2026-01-01T00:00:00Z"


def test_the_bytes_are_archived_before_they_are_converted() -> None:
    artifacts = MemoryArtifacts()
    converter = Watching(artifacts, Conversion(Outcome.OK, "", Document("t", (), "x/y", "e", "1")))

    read(Shelf(b"raw"), artifacts, converter)

    assert converter.held == [content_hash(b"raw")]


@pytest.mark.parametrize("outcome", [o for o in Outcome if not o.is_readable])
def test_the_bytes_are_archived_also_when_there_is_no_text(outcome: Outcome) -> None:
    artifacts = MemoryArtifacts()

    with pytest.raises(RejectedError, match=r"notes\.md") as raised:
        read(Shelf(b"raw"), artifacts, Watching(artifacts, Conversion(outcome, "why")))

    assert raised.value.code == outcome.upper()
    assert [stored.hash for stored in artifacts.entries()] == [content_hash(b"raw")]


def test_a_document_without_a_title_has_none() -> None:
    """Cases: B1 7."""
    answer = read(Shelf(b"just a line", "notes.txt"), MemoryArtifacts(), DirectConverter())

    assert answer.value.title is None


def test_what_the_reader_raises_is_passed_on_and_nothing_is_archived() -> None:
    artifacts = MemoryArtifacts()

    with pytest.raises(TransientError):
        read(Shelf(TransientError("busy")), artifacts, DirectConverter())

    assert list(artifacts.entries()) == []


BLOCKS = st.builds(
    Block,
    st.sampled_from(BlockKind),
    st.integers(0, 9),
    st.integers(10, 99),
    st.integers(1, 9),
    st.none() | st.integers(1, 9),
    st.text(),
    st.booleans(),
)


@given(st.lists(BLOCKS))
def test_blocks_are_read_back_as_they_were_spelled(blocks: list[Block]) -> None:
    document = Document("x" * 99, tuple(blocks), "text/plain", "e", "1")

    assert parse_blocks(spell_blocks(document)) == tuple(blocks)


def search(hits: list[Hit]) -> tuple[Hit, ...]:
    given = SearchInput("q", "q1", "fake")
    answer = asyncio.run(search_sources(given, FakeSearch({"q": hits})))
    assert answer.usage == Usage(searches=1)
    return answer.value.hits


def test_a_locator_found_twice_is_one_hit_and_six_are_the_most() -> None:
    twice = [Hit("/a", None, "", 2.0), Hit("/a", None, "again", 1.0), Hit("/b", None, "", 0.5)]

    assert [hit.score for hit in search(twice)] == [2.0, 0.5]
    assert len(search([Hit(f"/{n}", None, "", 1.0) for n in range(20)])) == 6


def test_nothing_found_is_a_success() -> None:
    assert search([]) == ()
