"""The second reader: PDFium, for comparison, and for pages where the first reader fails.

PDFium ends the process when it runs out of memory, so no page comes here that the first reader
found too large.
"""

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import pypdfium2
from pypdfium2 import raw

from adapters.documents.pdf.glyphs import Glyph, glyphs, rows_as_read, rows_by_column
from adapters.documents.pdf.lines import Line, make_lines
from adapters.documents.pdf.scan import Scan, scan_page

MAX_CHARS_OF_PAGE = 200_000


class SecondReader:
    """Reads the pages of one file."""

    def __init__(self, data: bytes) -> None:
        """Open `data`; raises `pypdfium2.PdfiumError`."""
        self._document = pypdfium2.PdfDocument(data)

    @property
    def pages(self) -> int:
        """Return how many pages there are."""
        return len(self._document)

    @contextmanager
    def page(self, number: int) -> Iterator["Sheet"]:
        """Open a page (from 1) for the time of the block; raises `pypdfium2.PdfiumError`."""
        page = self._document[number - 1]
        try:
            text = page.get_textpage()
            try:
                yield Sheet(page, text, number)
            finally:
                text.close()
        finally:
            page.close()

    def close(self) -> None:
        """Let go of the file."""
        self._document.close()


class Sheet:
    """One page, as PDFium reads it."""

    def __init__(self, page: pypdfium2.PdfPage, text: pypdfium2.PdfTextPage, number: int) -> None:
        self._page = page
        self._text = text
        self._number = number

    def text(self) -> str:
        """Return all text of the page, in PDFium's order; hyphens at line ends are U+FFFE."""
        count = min(raw.FPDFText_CountChars(self._text.raw), MAX_CHARS_OF_PAGE)
        if count <= 0:
            return ""
        buffer = (ctypes.c_ushort * (count + 1))()
        written = raw.FPDFText_GetText(self._text.raw, 0, count, buffer)
        encoded = memoryview(buffer).cast("B")[: max(0, written - 1) * 2]
        return bytes(encoded).decode("utf-16-le", "ignore").replace("\r\n", "\n")

    def scan(self) -> Scan:
        """Return what is on the page besides characters, and which of those nobody sees."""
        return scan_page(self._page.raw, self._text.raw)

    def lines(self, scan: Scan, *, gutters: Sequence[float] = ()) -> list[Line]:
        """Return the lines as PDFium reads them, those that nobody sees last.

        With `gutters`, the text between them is read column by column.
        """
        seen: list[Glyph] = []
        unseen: dict[str, list[Glyph]] = {}
        for glyph in glyphs(self._text.raw):
            reason = scan.hidden.get(glyph.look.address)
            (seen if reason is None else unseen.setdefault(reason.why, [])).append(glyph)
        rows = rows_by_column(seen, gutters) if gutters else rows_as_read(seen)
        lines = make_lines(rows, self._number)
        for why, hidden in unseen.items():
            for line in make_lines(rows_as_read(hidden), self._number):
                lines.append(replace(line, hidden=why))
        return lines
