"""What PDFium finds on a page besides text: pictures, drawings, and text that nobody sees."""

import ctypes
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pypdfium2 import raw

INVISIBLE = "drawn in the invisible mode"
SAME_COLOUR = "in the colour of what is behind it"
TRANSPARENT = "transparent"
TINY = "too small to be seen"
OFF_PAGE = "outside of the page"

_MIN_SIZE = 1.5
_MIN_ALPHA = 12
_MAX_DIFFERENCE = 10
_WHITE = (255, 255, 255)
_MAX_OBJECTS = 40_000
_MAX_GROUNDS = 2_000
_MAX_LOOKS = 1_000_000
_MAX_DEPTH = 8
_SEGMENTS_OF_RECTANGLE = 6
_UNSEEN_MODES = (3, 7)
_STROKED_MODES = (1, 5)

Box = tuple[float, float, float, float]
Colour = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Hidden:
    """Text that nobody sees, why, and between which heights it stands."""

    why: str
    text: str
    bottom: float
    top: float


@dataclass(slots=True)
class Scan:
    """What is on a page. Boxes are left, bottom, right, top; `boxes` are of text, as drawn.

    `hidden` is by the address of the object that draws the text. `picture_share` is how much of
    the page its largest picture covers; `drawings` counts lines and shapes. `is_ocr` tells that
    the text is the invisible layer over a scan. `is_whole` is False when there was too much.
    """

    page: Box
    boxes: list[Box] = field(default_factory=list)
    hidden: dict[int, Hidden] = field(default_factory=dict)
    pictures: int = 0
    picture_share: float = 0.0
    drawings: int = 0
    is_ocr: bool = False
    is_whole: bool = True


@dataclass(slots=True)
class _Ground:
    """Something drawn that text can stand on; its colour is None when it has many."""

    box: Box
    colour: Colour | None


class _Scanner:
    def __init__(self, page: Any, text: Any) -> None:
        self._page = page
        self._text = text
        self._grounds: list[_Ground] = []
        self._colours: set[Colour] = set()
        self._looks = 0
        self._invisible: list[tuple[Any, Box]] = []
        self.found = Scan(_page_box(page))

    def scan(self) -> Scan:
        found = self.found
        for count, (kind, thing, box) in enumerate(_things(self._page)):
            if count >= _MAX_OBJECTS or self._looks > _MAX_LOOKS:
                found.is_whole = False
                break
            if kind == raw.FPDF_PAGEOBJ_TEXT:
                found.boxes.append(box)
                self._text_object(thing, box)
            elif kind == raw.FPDF_PAGEOBJ_PATH:
                found.drawings += 1
                self._path(thing, box)
            else:
                if kind == raw.FPDF_PAGEOBJ_IMAGE:
                    found.pictures += 1
                    found.picture_share = max(found.picture_share, _share(box, found.page))
                self._ground(box, None)
        self._judge_invisible()
        return found

    def _text_object(self, thing: Any, box: Box) -> None:
        mode = raw.FPDFTextObj_GetTextRenderMode(thing)
        if mode in _UNSEEN_MODES:
            self._invisible.append((thing, box))
            return
        why = self._why_unseen(thing, box, mode)
        if why:
            self._hide(thing, box, why)

    def _why_unseen(self, thing: Any, box: Box, mode: int) -> str:
        if _is_outside(box, self.found.page):
            return OFF_PAGE
        if box[3] - box[1] < _MIN_SIZE and box[2] > box[0] and _size(thing) < _MIN_SIZE:
            return TINY
        colour, alpha = _colour(thing, stroked=mode in _STROKED_MODES)
        if alpha < _MIN_ALPHA:
            return TRANSPARENT
        if colour is None or not (_alike(colour, _WHITE) or colour in self._colours):
            return ""
        ground = self._ground_of(box)
        return SAME_COLOUR if ground is not None and _alike(colour, ground) else ""

    def _ground_of(self, box: Box) -> Colour | None:
        x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        self._looks += len(self._grounds)
        for ground in reversed(self._grounds):
            if ground.box[0] <= x <= ground.box[2] and ground.box[1] <= y <= ground.box[3]:
                return ground.colour
        return _WHITE

    def _path(self, thing: Any, box: Box) -> None:
        fill, stroke = ctypes.c_int(), ctypes.c_int()
        raw.FPDFPath_GetDrawMode(thing, fill, stroke)
        is_thick = bool(stroke.value) and _is_thick(thing, box)
        if not fill.value and not is_thick:
            return
        colour, alpha = _colour(thing, stroked=not fill.value)
        if alpha < _MIN_ALPHA:
            return
        is_plain = is_thick or raw.FPDFPath_CountSegments(thing) <= _SEGMENTS_OF_RECTANGLE
        if is_plain and alpha > 250:
            self._ground(box, colour)
        elif colour is None or not _alike(colour, _WHITE):
            self._ground(box, None)  # a shape: it may be behind the text, or only around it

    def _ground(self, box: Box, colour: Colour | None) -> None:
        if box[2] - box[0] < 2 or box[3] - box[1] < 2 or len(self._grounds) >= _MAX_GROUNDS:
            return
        self._grounds.append(_Ground(box, colour))
        if colour is not None:
            self._colours.add(colour)

    def _judge_invisible(self) -> None:
        found = self.found
        share = len(self._invisible) / len(found.boxes) if found.boxes else 0
        found.is_ocr = share >= 0.8 and found.picture_share >= 0.5
        if not found.is_ocr:
            for thing, box in self._invisible:
                self._hide(thing, box, INVISIBLE)

    def _hide(self, thing: Any, box: Box, why: str) -> None:
        text = _text_of(thing, self._text)
        if text.strip():
            self.found.hidden[address(thing)] = Hidden(why, text, box[1], box[3])


def scan_page(page: Any, text: Any) -> Scan:
    """Return what is on a page; `page` and `text` are PDFium's own handles."""
    return _Scanner(page, text).scan()


def address(thing: Any) -> int:
    """Return where PDFium keeps an object, which tells it from others while its page is open."""
    return ctypes.cast(thing, ctypes.c_void_p).value or 0


def _things(page: Any) -> Iterator[tuple[int, Any, Box]]:
    """Yield kind, handle and box of all that is drawn, also inside of forms."""
    count, at = raw.FPDFPage_CountObjects(page), raw.FPDFPage_GetObject
    bounds = tuple(ctypes.c_float() for _ in range(4))
    for index in range(count):
        thing = at(page, index)
        if thing:
            yield from _inside(thing, bounds, None, 0)


def _inside(
    thing: Any, bounds: tuple[Any, ...], outer: "_Matrix | None", depth: int
) -> Iterator[tuple[int, Any, Box]]:
    kind = raw.FPDFPageObj_GetType(thing)
    if kind != raw.FPDF_PAGEOBJ_FORM:
        raw.FPDFPageObj_GetBounds(thing, *bounds)
        box = bounds[0].value, bounds[1].value, bounds[2].value, bounds[3].value
        yield kind, thing, box if outer is None else outer.box(box)
    elif depth < _MAX_DEPTH:
        own = raw.FS_MATRIX()
        raw.FPDFPageObj_GetMatrix(thing, own)
        matrix = _Matrix(own.a, own.b, own.c, own.d, own.e, own.f)
        frame = matrix if outer is None else matrix.then(outer)
        for index in range(raw.FPDFFormObj_CountObjects(thing)):
            inner = raw.FPDFFormObj_GetObject(thing, index)
            if inner:
                yield from _inside(inner, bounds, frame, depth + 1)


@dataclass(frozen=True, slots=True)
class _Matrix:
    a: float
    b: float
    c: float
    d: float
    e: float
    f: float

    def then(self, outer: "_Matrix") -> "_Matrix":
        return _Matrix(
            self.a * outer.a + self.b * outer.c,
            self.a * outer.b + self.b * outer.d,
            self.c * outer.a + self.d * outer.c,
            self.c * outer.b + self.d * outer.d,
            self.e * outer.a + self.f * outer.c + outer.e,
            self.e * outer.b + self.f * outer.d + outer.f,
        )

    def box(self, box: Box) -> Box:
        corners = [
            (x * self.a + y * self.c + self.e, x * self.b + y * self.d + self.f)
            for x in (box[0], box[2])
            for y in (box[1], box[3])
        ]
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        return min(xs), min(ys), max(xs), max(ys)


def _page_box(page: Any) -> Box:
    box = raw.FS_RECTF()
    raw.FPDF_GetPageBoundingBox(page, box)
    return box.left, box.bottom, box.right, box.top


def _is_outside(box: Box, page: Box) -> bool:
    return box[2] < page[0] or box[0] > page[2] or box[3] < page[1] or box[1] > page[3]


def _share(box: Box, page: Box) -> float:
    width = min(box[2], page[2]) - max(box[0], page[0])
    height = min(box[3], page[3]) - max(box[1], page[1])
    area = (page[2] - page[0]) * (page[3] - page[1])
    return max(0.0, width) * max(0.0, height) / area if area > 0 else 0.0


def _size(thing: Any) -> float:
    size, matrix = ctypes.c_float(), raw.FS_MATRIX()
    raw.FPDFTextObj_GetFontSize(thing, size)
    raw.FPDFPageObj_GetMatrix(thing, matrix)
    return abs(size.value) * math.hypot(matrix.c, matrix.d)


def _colour(thing: Any, *, stroked: bool) -> tuple[Colour | None, int]:
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    get = raw.FPDFPageObj_GetStrokeColor if stroked else raw.FPDFPageObj_GetFillColor
    if not get(thing, red, green, blue, alpha):
        return None, 255
    return (red.value, green.value, blue.value), alpha.value


def _alike(one: Colour, other: Colour) -> bool:
    return all(abs(a - b) <= _MAX_DIFFERENCE for a, b in zip(one, other, strict=True))


def _is_thick(thing: Any, box: Box) -> bool:
    """Tell whether a path is one broad line, as some programs draw the ground of a title."""
    width = ctypes.c_float()
    raw.FPDFPageObj_GetStrokeWidth(thing, width)
    return min(box[2] - box[0], box[3] - box[1]) <= 2.5 * width.value


def _text_of(thing: Any, text: Any) -> str:
    size = raw.FPDFTextObj_GetText(thing, text, None, 0)
    if size <= 2:
        return ""
    buffer = (ctypes.c_ushort * (size // 2))()
    raw.FPDFTextObj_GetText(thing, text, buffer, size)
    return bytes(memoryview(buffer).cast("B")[: size - 2]).decode("utf-16-le", "ignore")
