"""Quotes over real documents: a true one is found however it is spelt, a false one never is."""

import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from adapters.documents.sandboxed import SandboxedConverter
from state.values.blocks import Document
from state.values.normal_form import Span
from state.values.quotes import MAX_QUOTE, MIN_QUOTE, NormalisedText
from tests.adapters.documents.quote_makers import DAMAGE, FALSE, sentences

SEED = 20
SHARE = 0.25
"""Of all sentences, how many each kind of damage is tried on."""


@dataclass(frozen=True, slots=True)
class Source:
    """A document that could be read, made ready for looking up quotes."""

    name: str
    document: Document
    text: NormalisedText

    def found(self, quote: str, *, near: int = 0) -> str | None:
        """Return what stands in the text where `quote` is found."""
        span = self.text.find(quote, start_hint=near)
        return None if span is None else self.document.text[span.start : span.end]


@pytest.fixture(scope="module")
def sources(shared_data: Path) -> list[Source]:
    folder = shared_data / "files"
    kinds = ("pdf", "docx", "html", "papers")
    paths = [path for kind in kinds for path in sorted((folder / kind).glob("*.*"))]
    if not paths:
        pytest.skip(f"no real documents in {folder}")
    return anyio.run(_read_all, paths)


async def _read_all(paths: list[Path]) -> list[Source]:
    converter, found = SandboxedConverter(pool=2), dict[Path, Source]()

    async def read(path: Path) -> None:
        data = await anyio.Path(path).read_bytes()
        conversion = await converter.convert(data, name=path.name)
        if conversion.document is not None and conversion.outcome.is_readable:
            document = conversion.document
            found[path] = Source(path.name, document, NormalisedText(document.text))

    async with anyio.create_task_group() as group:
        for path in paths:
            group.start_soon(read, path)
    await converter.aclose()
    return [found[path] for path in paths if path in found]


def every_sentence(sources: list[Source]) -> Iterator[tuple[Source, Span, str]]:
    """Yield each sentence with its source and place, as the engine stores a quote."""
    for source in sources:
        for span in sentences(source.document):
            yield source, span, source.document.text[span.start : span.end]


def test_every_sentence_is_found_again_at_its_offsets(sources: list[Source]) -> None:
    quotes = list(every_sentence(sources))

    lost = [
        (source.name, span, quote)
        for source, span, quote in quotes
        if source.text.find(quote, start_hint=span.start) != span
    ]

    assert len(sources) > 55
    assert len(quotes) > 4_500
    assert lost == []


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_quote_that_is_only_spelt_differently_is_found(kind: str, sources: list[Source]) -> None:
    chance, tried = random.Random(SEED), 0
    lost = []
    for source, span, quote in every_sentence(sources):
        if chance.random() > SHARE:
            continue
        spelt = DAMAGE[kind](quote, chance)
        if spelt == quote or len(spelt) > MAX_QUOTE:
            continue
        tried += 1
        found = source.text.find(spelt, start_hint=max(0, span.start - 3))
        # Marks around the sentence may be taken for part of it or not.
        if found is None or abs(found.start - span.start) > 3 or abs(found.end - span.end) > 3:
            lost.append((source.name, quote, spelt, found))

    assert len(lost) <= tried / 100, lost[:5]


def test_a_quote_spelt_differently_in_three_ways_is_found(sources: list[Source]) -> None:
    chance, tried = random.Random(SEED), 0
    lost = []
    for source, span, quote in every_sentence(sources):
        kinds = chance.sample(sorted(DAMAGE), 3)
        spelt = quote
        for kind in kinds:
            spelt = DAMAGE[kind](spelt, chance)
        if len(spelt) <= MAX_QUOTE:
            tried += 1
            if source.found(spelt, near=span.start) is None:
                lost.append((kinds, quote, spelt))

    assert tried > 4_500
    assert len(lost) <= tried / 100, lost[:5]


def said(text: str, statement: str) -> bool:
    """Tell, by simpler means than those under test, whether `text` really has `statement`.

    Both are in small letters and on one line. Marks around it say nothing; a digit does.
    """
    bare = statement.strip("-*#>_`• ")
    before = r"(?<![\d.,+−-])" if bare[:1].isdigit() else ""
    after = r"(?!\d|[.,]\d)" if bare[-1:].isdigit() else ""
    return re.search(before + re.escape(bare) + after, text) is not None


def test_no_falsified_quote_is_accepted(sources: list[Source]) -> None:
    chance, tried = random.Random(SEED), Counter[str]()
    accepted = []
    for source in sources:
        words = source.document.main_text.split()
        text = plain(source.document.text)
        for span in sentences(source.document):
            quote = source.document.text[span.start : span.end]
            for kind, falsify in FALSE.items():
                false = falsify(quote, chance, words)
                if plain(false) == plain(quote) or not MIN_QUOTE <= len(false) <= MAX_QUOTE:
                    continue
                if chance.random() > SHARE or said(text, plain(false)):
                    continue
                tried[kind] += 1
                if found := source.found(false):
                    accepted.append((source.name, kind, false, found))

    assert accepted == []
    assert set(tried) == set(FALSE)
    assert tried.total() > 5_000
    assert min(tried.values()) >= 3, tried


def plain(text: str) -> str:
    return " ".join(text.split()).lower()


def test_a_thousand_quotes_are_looked_up_in_the_longest_text_at_once(sources: list[Source]) -> None:
    chance = random.Random(SEED)
    longest = max(sources, key=lambda source: len(source.document.text))
    text, words = longest.document.text, longest.document.main_text.split()
    quotes = [text[s.start : s.end] for s in sentences(longest.document)]
    asked = [chance.choice(quotes) for _ in range(500)]
    asked += [FALSE["a word replaced"](quote, chance, words) for quote in asked]

    began = time.process_time()
    ready = NormalisedText(text)
    found = sum(ready.find(quote) is not None for quote in asked)

    assert time.process_time() - began < 2
    assert found >= 500


def test_a_document_of_near_misses_takes_bounded_time(sources: list[Source]) -> None:
    longest = max(sources, key=lambda source: len(source.document.text))
    quote = max(longest.document.main_text.split("\n\n"), key=len)[:MAX_QUOTE]
    texts = {
        "cut numbers": "15 mg " * 200_000,
        "all but the last letter": (quote[:-1] + "\N{BULLET}") * 500,
        "all but the first letter": ("\N{BULLET}" + quote[1:]) * 500,
        "a hyphen too many": quote.replace("e", "-e") * 300,
    }
    for name, text in texts.items():
        began = time.process_time()
        ready = NormalisedText(text)
        for asked in ("5 mg", quote, quote[1:-1] + "x", quote.replace("e", "-e", 3)):
            ready.find(asked)
        assert time.process_time() - began < 6, name
