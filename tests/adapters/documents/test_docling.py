"""Docling: when it is asked, what happens when it fails, and how its documents become ours."""

import os
from pathlib import Path

import pytest

from adapters.documents.convert import converter_version
from adapters.documents.direct import DirectConverter
from adapters.documents.docling_reader import FUNCTION, convert_bytes, is_installed
from adapters.documents.preferred import PreferringConverter, prefer_docling
from adapters.documents.sandboxed import SandboxedConverter
from state.values.blocks import Conversion, Document, Outcome
from tests.adapters.documents.pdf_maker import show, simple

pytestmark = pytest.mark.anyio
STANDIN = str(Path(__file__).parent / "docling_standin")
SLIDES = b"PK\x03\x04" + b"ppt/presentation.xml" + bytes(40)


async def read(
    *files: tuple[bytes, str], environment: dict[str, str] | None = None
) -> list[Conversion]:
    """Return how the files are read where docling is the stand-in."""
    docling = SandboxedConverter(
        pool=1, function=FUNCTION, roots=(STANDIN,), environment=environment or {}
    )
    converter = PreferringConverter(DirectConverter(), docling)
    try:
        return [await converter.convert(data, name=name) for data, name in files]
    finally:
        await converter.aclose()


def pdf(text: str) -> bytes:
    return simple(show(text, 72, 700))


def document_of(conversion: Conversion) -> Document:
    assert conversion.document is not None, conversion.reason
    return conversion.document


async def test_docling_reads_pdf_and_slides_and_nothing_else() -> None:
    made = await read((pdf("fine"), "a.pdf"), (SLIDES, "b.pptx"), (b"# Notes\n", "c.md"))

    assert [document_of(each).extractor for each in made] == ["docling", "docling", "markdown"]
    assert document_of(made[0]).text == "document.pdf read by the stand-in, OCR: [False]"
    assert document_of(made[1]).text.startswith("document.pptx")
    assert document_of(made[1]).media_type.endswith("presentationml.presentation")
    assert (document_of(made[0]).blocks[0].page, document_of(made[0]).quality.pages) == (1, 1)


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("crash", "stopped unexpectedly"),
        ("raise", "RuntimeError: the layout model gave no boxes"),
        ("fail", "page 1 is odd"),
        ("nothing", "no text"),
    ],
)
async def test_what_docling_cannot_read_the_built_in_reader_reads(word: str, why: str) -> None:
    made, after = await read((pdf(f"It will {word} now."), "a.pdf"), (pdf("fine"), "b.pdf"))

    assert document_of(made).extractor == "pdf"
    assert f"It will {word} now." in document_of(made).text
    assert why in document_of(made).warnings[-1]
    assert document_of(after).extractor == "docling"


async def test_a_part_is_taken_with_what_is_lost() -> None:
    (made,) = await read((pdf("half"), "a.pdf"))

    assert (made.outcome, document_of(made).extractor) == (Outcome.PARTIAL, "docling")
    assert "page 2 is odd" in made.reason


async def test_without_its_models_docling_is_not_asked_again_and_the_reader_says_so() -> None:
    first, second, slides = await read(
        *((pdf("fine"), "a.pdf"), (pdf("fine"), "b.pdf"), (SLIDES, "c.pptx")),
        environment={"DOCLING_ARTIFACTS_PATH": "/nowhere"},
    )

    for made in (first, second):
        assert document_of(made).extractor == "pdf"
        assert "model.safetensors is not in /nowhere" in document_of(made).warnings[-1]
        assert "docling-tools models download" in document_of(made).warnings[-1]
    assert slides.outcome is Outcome.UNSUPPORTED
    assert slides.reason.startswith("Spreadsheets and slides cannot be read")
    assert "/nowhere" in slides.reason


async def test_docling_is_preferred_only_where_it_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inner = DirectConverter()
    if not is_installed():
        assert prefer_docling(inner) is inner
    monkeypatch.syspath_prepend(STANDIN)

    made = prefer_docling(inner)

    assert isinstance(made, PreferringConverter)
    await made.aclose()


def test_another_docling_makes_another_version_of_the_converter(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    converter_version.cache_clear()
    before = converter_version()
    metadata = tmp_path / "docling-99.1.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: docling\nVersion: 99.1\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    converter_version.cache_clear()
    after = converter_version()
    converter_version.cache_clear()

    assert before != after
    assert "docling=99.1" in after


def test_where_docling_is_broken_it_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    if is_installed():
        pytest.skip("docling is installed here")
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_HUB_DISABLE_TELEMETRY"):
        monkeypatch.setenv(name, os.environ.get(name, ""))  # put back afterwards
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")

    made = convert_bytes(pdf("fine"), "a.pdf", "")

    assert made.outcome is Outcome.UNSUPPORTED
    assert "No module named 'docling'" in made.reason
