"""Searching: an index of 20,000 passages in local files, its renewal, and queries, beside bm25s.

bm25s is no dependency: set ASSAY_BM25S_PYTHON to a Python that has it and PyStemmer. Without one
the rows stand alone.
"""

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import anyio

from adapters.documents.sandboxed import SandboxedConverter
from adapters.search.index import FolderIndex, build_index, understand
from adapters.search.local import LocalFolder
from state.values.blocks import Block, BlockKind, Document
from tests.bench.measuring import Row, Samples

FILES, PASSAGES, WORDS, QUERIES = 1_000, 20, 60, 200
VOCABULARY, BUILDS = 30_000, 3
SCRIPT = Path(__file__).with_name("bm25s_baseline.py")


def measure(folder: Path) -> Iterator[Row]:
    """Yield the times of reading and indexing, of renewing, and of queries."""
    documents, queries = corpus(random.Random(1))
    passages = [passage for document in documents for passage in document]
    baseline = bm25s(folder, passages, queries)
    version = baseline["version"] if baseline else ""
    named = f"bm25s {version}" if baseline else "no bm25s: set ASSAY_BM25S_PYTHON"
    theirs = Samples(baseline["queries"]) if baseline else None
    whole = baseline["index"] if baseline else None

    alone, asked = _index_alone(folder / "alone", documents, queries)
    many = f"{len(passages):,} passages"
    yield Row(f"{many} indexed", alone.least, whole, named)
    for name, share in (("median", 0.5), ("95 of 100 within", 0.95)):
        other = theirs.at(share) if theirs else None
        yield Row(f"a query of {many}, {name}", asked.at(share), other, named)

    first, again, unchanged, searched = anyio.run(_folder, folder / "files", documents, queries)
    yield Row(f"{many} in {FILES:,} files read and indexed", first.median)
    yield Row("one file of them changed, and searchable", again.least, whole, f"{named}, anew")
    yield Row("nothing changed, seen to be so", unchanged.median)
    for name, share in (("median", 0.5), ("95 of 100 within", 0.95)):
        other = theirs.at(share) if theirs else None
        yield Row(f"a search with snippets, {name}", searched.at(share), other, named)


def corpus(chance: random.Random) -> tuple[list[list[str]], list[str]]:
    """Return documents, each a list of passages, and queries, with words as rare as in language."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(chance.choices(letters, k=chance.randrange(3, 11))) for _ in range(VOCABULARY)]
    weights = list(accumulate(1 / rank for rank in range(1, VOCABULARY + 1)))

    def text(length: int) -> str:
        return " ".join(chance.choices(words, cum_weights=weights, k=length))

    documents = [[text(WORDS).capitalize() + "." for _ in range(PASSAGES)] for _ in range(FILES)]
    return documents, [text(6) for _ in range(QUERIES)]


def bm25s(folder: Path, passages: list[str], queries: list[str]) -> dict[str, Any] | None:
    """Return what the baseline took, or None where there is none."""
    python = os.environ.get("ASSAY_BM25S_PYTHON") or sys.executable
    folder.mkdir(parents=True, exist_ok=True)
    given = []
    for name, texts in (("passages", passages), ("queries", queries)):
        given.append(folder / f"{name}.json")
        given[-1].write_text(json.dumps(texts))
    done = subprocess.run([python, SCRIPT, *given, str(BUILDS)], capture_output=True, check=False)
    if done.returncode:
        print(f"searching: {python} has no bm25s", file=sys.stderr)
        return None
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _index_alone(
    folder: Path, documents: Sequence[Sequence[str]], queries: Sequence[str]
) -> tuple[Samples, Samples]:
    built, asked = Samples(), Samples()
    ready = [(f"{number}.txt", _document(each)) for number, each in enumerate(documents)]
    for number in range(BUILDS):
        (folder / str(number)).mkdir(parents=True)
        with built.one():
            build_index(folder / str(number), ready)
    index = FolderIndex(folder / "0")
    for query in queries:
        with asked.one():
            index.find(understand(query))
    return built, asked


def _document(passages: Sequence[str]) -> Document:
    text, blocks = "\n\n".join(passages), list[Block]()
    at = 0
    for number, passage in enumerate(passages, 1):
        blocks.append(Block(BlockKind.PARAGRAPH, at, at + len(passage), number))
        at += len(passage) + 2
    return Document(text, tuple(blocks), "text/plain", "plain", "1")


async def _folder(
    folder: Path, documents: Sequence[Sequence[str]], queries: Sequence[str]
) -> tuple[Samples, Samples, Samples, Samples]:
    """Return the times of the first refresh, of one after a change, of an idle one, of searches."""
    root = folder / "root"
    root.mkdir(parents=True)
    for number, passages in enumerate(documents):
        (root / f"{number}.txt").write_text("\n\n".join(passages))
    converter = SandboxedConverter(pool=2)
    search = LocalFolder([root], cache=folder / "cache", converter=converter, rescan_s=3600)
    first, again, unchanged, searched = Samples(), Samples(), Samples(), Samples()
    try:
        with first.one():
            await search.refresh()
        for number in range(3):
            (root / f"{number}.txt").write_text(f"Changed {number}.\n\n{documents[number][0]}")
            await anyio.sleep(0.1)  # so that its time tells a later change
            with again.one():
                await search.refresh()
            with unchanged.one():
                await search.refresh()
        for query in queries:
            with searched.one():
                await search.search(query)
    finally:
        await converter.aclose()
    return first, again, unchanged, searched
