"""Reads PDF files: text with blocks, and how well each page could be read."""

from importlib.metadata import version

from adapters.documents.pdf.active import left_out
from adapters.documents.pdf.budget import Budget, bounded_parsing
from adapters.documents.pdf.composing import Composition, compose
from adapters.documents.pdf.first import silenced
from adapters.documents.pdf.hidden import beginnings
from adapters.documents.pdf.opening import Opened, open_both
from adapters.documents.pdf.pages import Found, read_pages
from adapters.documents.pdf.report import losses, nothing_read, warnings_of
from adapters.documents.pdf.titles import title_of
from adapters.documents.reading import Reading, number_blocks
from state.values.blocks import Document, Quality

EXTRACTOR = "pdf"
VERSION = "2"


def read_pdf(data: bytes, *, charset: str = "") -> Reading:  # noqa: ARG001 - every reader's arguments
    """Return what a PDF says, page by page; a PDF knows its own encodings.

    pypdf's text is taken unless it is garbage and PDFium's is not; pages on which the two
    disagree are in doubt. Raises `Unreadable` for files that are locked, damaged, mere pictures
    of pages, empty, or too large to be begun.
    """
    with silenced(), bounded_parsing():
        budget = Budget()
        opened = open_both(data)
        try:
            return _reading(read_pages(opened, budget), opened)
        finally:
            if opened.second is not None:
                opened.second.close()


def extractor_version() -> str:
    """Return this reader's version with those of what it reads with."""
    return f"{VERSION}+pypdf-{version('pypdf')}+pypdfium2-{version('pypdfium2')}"


def _reading(found: Found, opened: Opened) -> Reading:
    if not found.has_words:
        raise nothing_read(found, opened)
    composition = compose(found.pages)
    hidden = beginnings(line for page in found.pages for line in page)
    document = Document(
        text=composition.text,
        blocks=number_blocks(composition.text, composition.segments),
        media_type="application/pdf",
        extractor=EXTRACTOR,
        extractor_version=extractor_version(),
        title=_title(opened, composition),
        warnings=tuple(warnings_of(found, hidden)),
        quality=Quality(
            pages=opened.pages,
            pages_without_text=tuple(sorted({*found.textless, *found.wordless})),
            pages_in_doubt=tuple(found.doubtful),
            dropped=left_out(opened.first, len(found.pages), found.pictures),
            hidden_text=hidden,
        ),
    )
    return Reading(document, "; ".join(losses(found, opened)))


def _title(opened: Opened, composition: Composition) -> str | None:
    stated: object = None
    if opened.first is not None:
        try:
            stated = opened.first.metadata.title if opened.first.metadata else None
        except Exception:  # noqa: BLE001 - damaged metadata raise anything; a title is optional
            stated = None
    return title_of(stated, composition)
