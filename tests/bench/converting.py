"""Conversion: what reading each document in a limited child costs over reading it right here."""

from collections.abc import Iterator
from pathlib import Path

import anyio

from adapters.documents.direct import DirectConverter
from adapters.documents.port import Converter
from adapters.documents.sandboxed import SandboxedConverter
from tests.bench.measuring import ROOT, Row, Samples

TIMES = 8
Document = tuple[str, bytes]


def measure(folder: Path) -> Iterator[Row]:
    """Yield the time of the first conversion, and that of each later one."""
    examples = ROOT / "examples" / "seedbank"
    documents = [(path.name, path.read_bytes()) for path in sorted(examples.iterdir())]
    first, later, direct = anyio.run(_convert, documents)
    yield Row("conversion, the first", first)
    yield Row("conversion, each later one, median", later.median, direct.median, "in this process")


async def _convert(documents: list[Document]) -> tuple[float, Samples, Samples]:
    sandboxed, direct = SandboxedConverter(pool=1), DirectConverter()
    begun, there, here = Samples(), Samples(), Samples()
    try:
        with begun.one():
            await _one(sandboxed, documents[0])
        await _one(direct, documents[0])  # imports what it needs
        for _ in range(TIMES):
            for document in documents:
                with there.one():
                    await _one(sandboxed, document)
                with here.one():
                    await _one(direct, document)
    finally:
        await sandboxed.aclose()
    return begun.median, there, here


async def _one(converter: Converter, document: Document) -> None:
    name, data = document
    made = await converter.convert(data, name=name)
    assert made.outcome.is_readable, name
