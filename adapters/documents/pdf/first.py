"""The first reader: pypdf in plain mode, and where each run of its text stands on the page."""

import logging
import math
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import Any

from pypdf import PageObject, PdfReader
from pypdf.generic import (
    DecodedStreamObject,
    DictionaryObject,
    NameObject,
    StreamObject,
)

from adapters.documents.pdf.budget import MAX_PAGE_BYTES, Budget, PageTooLarge, Spent
from adapters.documents.pdf.characters import sound
from adapters.documents.pdf.lines import PLAIN, Line, Run, Style, angle_of, make_lines, style_of

# The operators that can add text. pypdf passes over content without them only when nobody watches.
_TEXT_OPERATORS = (b"Tj", b"TJ", b"Do", b"'", b'"')
_FIXED_PITCH = 1
_DRAWN = re.compile(rb"/([^\s/<>\[\](){}%]+)\s+Do\b")
_ENDLESS = 1_000_000_000
_SHOWING = (b"Tj", b"TJ", b"'", b'"')
_MAX_DEPTH = 50
_FORGET_AFTER = 24_000_000

Matrix = Sequence[float]


def open_first(data: bytes) -> PdfReader:
    """Return pypdf's reader of `data`; what it raises says what is wrong with the file."""
    return PdfReader(BytesIO(data))


class FirstReader:
    """Reads the pages of one file, within `budget`."""

    def __init__(self, reader: PdfReader, budget: Budget) -> None:
        self._reader = reader
        self._budget = budget
        self._styles: dict[int, tuple[object, Style]] = {}
        self._forms: dict[int, tuple[object, int]] = {}
        self._held = 0

    def read(self, number: int, into: list[Line]) -> None:
        """Add the lines of a page (from 1) to `into`, also those before an error.

        Raises `Spent`, `PageTooLarge`, or whatever pypdf raises on a page that is damaged.
        """
        self._budget.check_time()
        page = self._reader.pages[number - 1]
        contents = page.get_contents()
        if contents is None:
            return
        content = contents.get_data()
        if len(content) > MAX_PAGE_BYTES:
            raise PageTooLarge(f"more than {MAX_PAGE_BYTES:,} bytes of drawing")
        if not _may_hold_text(content):
            return
        resources = _dictionary(page.get("/Resources"))
        size = self._leave_out_figures(content, resources, ())
        self._budget.add_bytes(size)
        watcher = _Watcher(resources, self._styles, self._budget)
        try:
            self._extract(page, watcher)
        finally:
            into += make_lines(watcher.rows(), number)
            self._forget(size)
        if watcher.spent is not None:
            raise watcher.spent

    def _extract(self, page: PageObject, watcher: "_Watcher") -> None:
        page.extract_text(
            visitor_text=watcher.text,
            visitor_operand_before=watcher.before,
            visitor_operand_after=watcher.after,
        )

    def _forget(self, size: int) -> None:
        """Let go of what pypdf keeps of the pages before, which can be all of a large file."""
        self._held += size
        if self._held > _FORGET_AFTER:
            self._reader.resolved_objects.clear()
            self._styles.clear()
            self._forms.clear()
            self._held = 0

    def _leave_out_figures(
        self, content: bytes, resources: DictionaryObject, above: tuple[int, ...]
    ) -> int:
        """Empty the forms that hold no text; return how many bytes `content` comes to with them.

        A form counts as often as it is drawn, by forms that are drawn themselves.
        """
        total = len(content)
        forms = _dictionary(resources.get("/XObject"))
        drawn = Counter(_DRAWN.findall(content))
        for name in list(forms):
            form = _get(forms, name)
            if not isinstance(form, StreamObject) or form.get("/Subtype") != "/Form":
                continue
            if id(form) in above:
                continue
            if len(above) >= _MAX_DEPTH:
                return _ENDLESS
            size = self._size(form, above)
            if not size:
                forms[NameObject(name)] = _empty_form()
            total += size * drawn[name[1:].encode("latin-1", "replace")]
        return min(total, _ENDLESS)

    def _size(self, form: StreamObject, above: tuple[int, ...]) -> int:
        """Return how many bytes a form comes to with those in it, 0 when there is no text."""
        known = self._forms.get(id(form))
        if known is None:
            data = form.get_data()
            size = 0
            if _may_hold_text(data):
                resources = _dictionary(form.get("/Resources"))
                size = self._leave_out_figures(data, resources, (*above, id(form)))
            known = form, size
            self._forms[id(form)] = known
        return known[1]


class _Watcher:
    """Follows an extraction: collects runs, row by row, in the coordinates of the page."""

    def __init__(
        self, resources: DictionaryObject, styles: dict[int, tuple[object, Style]], budget: Budget
    ) -> None:
        self.spent: Spent | PageTooLarge | None = None
        self._rows: list[list[Run]] = [[]]
        self._styles = styles
        self._budget = budget
        # pypdf counts positions in a form from the form's own corner.
        self._frames: list[tuple[Matrix | None, DictionaryObject]] = [(None, resources)]
        # A run can hold text of several scales, of which pypdf tells only the first.
        self._scales: dict[float, int] = {}

    def rows(self) -> list[list[Run]]:
        """Return what was collected, line by line."""
        return self._rows

    def before(self, operator: bytes, operands: Any, cm: Any, tm: Any) -> None:
        try:
            self._budget.add_operator()
        except Spent as error:
            self.spent = error  # pypdf swallows what is raised inside of a form
            raise
        if operator == b"Do":
            self._frames.append(self._frame_of(operands, cm))
        elif operator in _SHOWING and operands:
            scale = math.hypot(
                tm[2] * cm[0] + tm[3] * cm[2],
                tm[2] * cm[1] + tm[3] * cm[3],
            )
            self._scales[scale] = self._scales.get(scale, 0) + _length(operands[-1])

    def after(self, operator: bytes, _operands: Any, _cm: Any, _tm: Any) -> None:
        if operator == b"Do" and len(self._frames) > 1:
            self._frames.pop()

    def _frame_of(self, operands: Any, cm: Matrix) -> tuple[Matrix | None, DictionaryObject]:
        outer, resources = self._frames[-1]
        form = _get(_dictionary(resources.get("/XObject")), operands[0]) if operands else None
        if not isinstance(form, StreamObject):
            return outer, resources
        matrix = _times(_matrix_of(form), cm)
        own = _dictionary(form.get("/Resources")) or resources
        return matrix if outer is None else _times(matrix, outer), own

    def text(self, text: str, cm: Any, tm: Any, font: Any, size: float) -> None:
        if not text:
            return
        if text == "\n":
            self._rows.append([])
            return
        frame = self._frames[-1][0]
        m = _times(tm, cm) if frame is None else _times(_times(tm, cm), frame)
        style = self._style(font)
        height = abs(size) * self._scale(m)
        for number, part in enumerate(sound(text).split("\n")):
            if number:
                self._rows.append([])
            if part:
                angle = 0 if m[0] > 0 and not m[1] else angle_of(m[0], m[1])
                self._rows[-1].append(Run(part, m[4], m[5], height, style, angle))

    def _scale(self, m: Matrix) -> float:
        scale = math.hypot(m[2], m[3])
        if len(self._scales) > 1 and self._frames[-1][0] is None:
            scale = max(self._scales, key=lambda each: self._scales[each])
        self._scales.clear()
        return scale

    def _style(self, font: DictionaryObject | None) -> Style:
        if font is None:
            return PLAIN
        known = self._styles.get(id(font))
        if known is None:
            known = font, _style_of_font(font)
            self._styles[id(font)] = known
        return known[1]


def _style_of_font(font: DictionaryObject) -> Style:
    descriptor = _dictionary(font.get("/FontDescriptor"))
    flags, weight = descriptor.get("/Flags"), descriptor.get("/FontWeight")
    return style_of(
        str(font.get("/BaseFont", "")),
        fixed_pitch=isinstance(flags, int) and bool(flags & _FIXED_PITCH),
        weight=float(weight) if isinstance(weight, int | float) else 0,
    )


def _may_hold_text(content: bytes) -> bool:
    return any(operator in content for operator in _TEXT_OPERATORS)


def _length(shown: object) -> int:
    parts = shown if isinstance(shown, list) else [shown]
    return sum(len(part) for part in parts if isinstance(part, str | bytes))


def _times(m: Matrix, n: Matrix) -> Matrix:
    return (
        m[0] * n[0] + m[1] * n[2],
        m[0] * n[1] + m[1] * n[3],
        m[2] * n[0] + m[3] * n[2],
        m[2] * n[1] + m[3] * n[3],
        m[4] * n[0] + m[5] * n[2] + n[4],
        m[4] * n[1] + m[5] * n[3] + n[5],
    )


def _matrix_of(form: StreamObject) -> Matrix:
    stated = form.get("/Matrix")
    if isinstance(stated, list) and len(stated) == 6:
        numbers = [part.get_object() for part in stated]
        if all(isinstance(part, int | float) for part in numbers):
            return tuple(map(float, numbers))
    return (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


def _dictionary(value: Any) -> DictionaryObject:
    """Return what `value` (perhaps a reference) is, or an empty dictionary."""
    found = value.get_object() if value is not None else None
    return found if isinstance(found, DictionaryObject) else DictionaryObject()


def _get(holder: DictionaryObject, name: Any) -> object:
    value = holder.get(name) if isinstance(name, str) else None
    return None if value is None else value.get_object()


def _empty_form() -> StreamObject:
    form = DecodedStreamObject()
    form[NameObject("/Type")] = NameObject("/XObject")
    form[NameObject("/Subtype")] = NameObject("/Form")
    return form


@contextmanager
def silenced() -> Iterator[None]:
    """Keep what the readers have to say of damaged files out of logs and standard error."""
    loggers = [logging.getLogger(name) for name in ("pypdf", "pypdfium2")]
    before = [(logger.level, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, (level, propagate) in zip(loggers, before, strict=True):
            logger.setLevel(level)
            logger.propagate = propagate
