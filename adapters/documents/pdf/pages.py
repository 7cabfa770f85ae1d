"""Reads the pages one by one with both readers, and notes how well each could be read."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pypdfium2
from pypdf.errors import LimitReachedError

from adapters.documents.pdf.budget import MAX_PAGES, Budget, PageTooLarge, Spent
from adapters.documents.pdf.characters import garbage_share, is_language, is_noise
from adapters.documents.pdf.choice import compare
from adapters.documents.pdf.columns import gutters_crossed
from adapters.documents.pdf.first import FirstReader
from adapters.documents.pdf.hidden import separate
from adapters.documents.pdf.lines import Line, join_rows, level_sizes, without_copies
from adapters.documents.pdf.opening import Opened
from adapters.documents.pdf.scan import Scan
from adapters.documents.pdf.second import Sheet
from adapters.documents.pdf.tables import count_cells

_MIN_PICTURE = 0.1
_MIN_DRAWINGS = 200
_MAX_GARBAGE = 0.5


@dataclass(slots=True)
class Found:
    """The lines of each page that was read, and the numbers of pages (from 1) with a fault.

    `textless` pages are pictures; on `wordless` ones nobody can tell which characters are shown;
    `replaced` ones are the second reader's; `mended` ones had their columns put in order.
    `crowded` ones hold so many things that not all were looked at for what is hidden.
    `stopped` says what ended the reading early, or is ''.
    """

    pages: list[list[Line]] = field(default_factory=list)
    textless: list[int] = field(default_factory=list)
    wordless: list[int] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)
    too_large: list[int] = field(default_factory=list)
    doubtful: list[int] = field(default_factory=list)
    replaced: list[int] = field(default_factory=list)
    mended: list[int] = field(default_factory=list)
    scanned: list[int] = field(default_factory=list)
    crowded: list[int] = field(default_factory=list)
    pictures: int = 0
    stopped: str = ""

    @property
    def has_words(self) -> bool:
        """Tell whether some page shows a letter or digit that can be known."""
        return any(
            char.isalnum()
            for number, page in enumerate(self.pages, start=1)
            if number not in self.wordless
            for line in page
            if not line.hidden
            for char in line.text
        )


def read_pages(opened: Opened, budget: Budget) -> Found:
    """Return what is on the pages, as many as may be read."""
    return _Pages(opened, budget).read()


class _Pages:
    def __init__(self, opened: Opened, budget: Budget) -> None:
        self._budget = budget
        self._opened = opened
        self._first = None if opened.first is None else FirstReader(opened.first, budget)
        self._found = Found()

    def read(self) -> Found:
        found = self._found
        for number in range(1, min(self._opened.pages, MAX_PAGES) + 1):
            try:
                self._budget.check_time()
                lines = self._page(number)
            except (Spent, MemoryError) as error:
                found.stopped = str(error) or "more memory than is allowed"
                break
            found.pages.append(lines)
        if not found.stopped and self._opened.pages > MAX_PAGES:
            found.stopped = f"more than {MAX_PAGES:,} pages"
        return found

    def _page(self, number: int) -> list[Line]:
        lines: list[Line] = []
        failure = self._first_reading(number, lines)
        ours = without_copies(lines)
        second = self._opened.second
        if failure == "large":
            self._found.too_large.append(number)
        elif second is not None:
            try:
                with second.page(number) as sheet:
                    return self._choose(number, ours, sheet, failed=bool(failure))
            except pypdfium2.PdfiumError:
                self._found.doubtful.append(number)
        if failure == "damaged":
            self._found.failed.append(number)
        return join_rows(ours)

    def _first_reading(self, number: int, into: list[Line]) -> str:
        """Add the first reader's lines; return how it failed, or ''."""
        if self._first is None:
            return "damaged"
        try:
            self._first.read(number, into)
        except (Spent, MemoryError):
            raise
        except (PageTooLarge, LimitReachedError):
            return "large"
        except Exception:  # noqa: BLE001 - pypdf raises anything on a damaged page
            return "damaged"
        return ""

    def _choose(self, number: int, ours: list[Line], sheet: Sheet, *, failed: bool) -> list[Line]:
        found, scan = self._found, sheet.scan()
        found.pictures += scan.pictures
        if not scan.is_whole:
            found.crowded.append(number)
        comparison = compare("\n".join(line.text for line in ours), sheet.text())
        if comparison.is_doubtful:
            found.doubtful.append(number)
        if comparison.second_is_better:
            found.replaced.append(number)
            chosen = sheet.lines(scan)
        else:
            chosen = self._in_order(number, ours, sheet, scan)
        if failed and not comparison.second_is_better:
            found.failed.append(number)
        return self._judged(number, scan, count_cells(chosen, scan.boxes))

    def _in_order(self, number: int, ours: list[Line], sheet: Sheet, scan: Scan) -> list[Line]:
        if gutters := gutters_crossed(scan.boxes):
            self._found.mended.append(number)
            return sheet.lines(scan, gutters=gutters)
        apart = separate(ours, list(scan.hidden.values())) if scan.hidden else ours
        return sheet.lines(scan) if apart is None else join_rows(apart)

    def _judged(self, number: int, scan: Scan, lines: Sequence[Line]) -> list[Line]:
        """Note what a page lacks; return its lines, aside when nobody can tell what they say."""
        found = self._found
        seen = "".join(line.text for line in lines if not line.hidden)
        if not seen.strip():
            if scan.picture_share >= _MIN_PICTURE or scan.drawings >= _MIN_DRAWINGS:
                found.textless.append(number)
        elif not is_language(seen) or garbage_share(seen) > _MAX_GARBAGE:
            found.wordless.append(number)
            return [replace(line, aside=True) for line in lines]
        elif scan.is_ocr:
            found.scanned.append(number)
            lines = level_sizes(lines)
        return [
            replace(line, aside=True) if not line.mono and is_noise(line.text) else line
            for line in lines
        ]
