"""How characters are set, as far as it decides whether, and as what, a reader sees them."""

import re
from dataclasses import dataclass, replace

from lxml import etree

from adapters.documents.docx_reader.xml import w

UNKNOWN = "?"
"""A background that cannot be told from the file alone."""
WHITE = "FFFFFF"

_TINY = 1.5
_HEX = re.compile(r"[0-9A-Fa-f]{6}\Z")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)(pt)?\Z")
_MONOSPACED = re.compile(
    r"\bmono\b|mono(?:space|type corsiva)?\d*$|courier|consolas|menlo|monaco|lucida console|"
    r"typewriter|\bcode\b|inconsolata|andale mono|terminal|fixedsys|ocr[ -]?[ab]\b",
    re.IGNORECASE,
)
_NOT_MONOSPACED = re.compile(r"corsiva", re.IGNORECASE)
_VAL = w("val")
_FALSE = frozenset(("0", "false", "off", "none"))
_NEAR = 6  # of 255: what no eye tells from the background
_HIGHLIGHTS = {"white": WHITE, "black": "000000", "none": ""}


@dataclass(frozen=True, slots=True)
class Look:
    """The look of a run. None, 0 and '' mean that nothing is said.

    `size` is in points; `shade` is the colour behind the characters; `raised` is 'superscript',
    'subscript', 'baseline' or ''.
    """

    hidden: bool | None = None
    color: str = ""
    size: float = 0.0
    shade: str = ""
    font: str = ""
    struck: bool | None = None
    raised: str = ""

    def is_unseen(self, background: str) -> bool:
        """Tell whether a reader sees nothing of such characters before `background`."""
        if self.hidden or 0 < self.size < _TINY:
            return True
        if not self.color:
            return False
        behind = self.shade or background
        return _is_near(self.color, behind)

    @property
    def is_monospaced(self) -> bool:
        """Tell whether the font is one for code."""
        return is_monospaced(self.font)


PLAIN = Look()


def is_monospaced(font: str) -> bool:
    """Tell whether the name of a font is that of one in which all characters are equally wide."""
    return bool(_MONOSPACED.search(font)) and not _NOT_MONOSPACED.search(font)


def is_on(element: etree._Element) -> bool:
    """Return the value of a switch such as `w:vanish`, which is on when it says nothing."""
    return element.get(_VAL, "1").casefold() not in _FALSE


def value(element: etree._Element | None) -> str:
    """Return `w:val`, or '' when it or the element is absent."""
    return "" if element is None else str(element.get(_VAL, ""))


def shade(element: etree._Element) -> str:
    """Return the colour of a `w:shd`, '' for none, `UNKNOWN` for a pattern or a theme's colour."""
    pattern = element.get(_VAL, "clear")
    if pattern == "nil":
        return ""
    fill = str(element.get(_COLOR if pattern == "solid" else _FILL, "auto"))
    if pattern not in ("clear", "solid"):
        return UNKNOWN
    if _HEX.match(fill):
        return fill.upper()
    return UNKNOWN if element.get(_THEME_FILL) else ""


def look_of(properties: etree._Element | None, base: Look) -> Look:
    """Return `base` changed by what a `w:rPr` says; a style of characters is not looked up."""
    if properties is None:
        return base
    changes: dict[str, str | float | bool] = {}
    for child in properties:
        name = _RELEVANT.get(child.tag)
        if name is not None:
            _change(changes, name, child)
    if not changes:
        return base
    return replace(base, **changes)  # type: ignore[arg-type] # each is of its field's type


def over(base: Look, top: Look) -> Look:
    """Return `base` with what `top` says put over it."""
    if top is PLAIN:
        return base
    return Look(
        hidden=base.hidden if top.hidden is None else top.hidden,
        color=top.color or base.color,
        size=top.size or base.size,
        shade=top.shade or base.shade,
        font=top.font or base.font,
        struck=base.struck if top.struck is None else top.struck,
        raised=top.raised or base.raised,
    )


_COLOR = w("color")
_FILL = w("fill")
_THEME_FILL = w("themeFill")
_THEME_COLOR = w("themeColor")
_RELEVANT = {
    w("vanish"): "hidden",
    w("color"): "color",
    w("sz"): "size",
    w("shd"): "shade",
    w("highlight"): "highlight",
    w("rFonts"): "font",
    w("strike"): "struck",
    w("dstrike"): "struck",
    w("vertAlign"): "raised",
}


def _change(changes: dict[str, str | float | bool], name: str, element: etree._Element) -> None:
    match name:
        case "hidden" | "struck":
            changes[name] = is_on(element) or changes.get(name, False)
        case "color":
            changes["color"] = _color(element)
        case "size":
            changes["size"] = _points(value(element))
        case "shade":
            changes.setdefault("shade", shade(element))
        case "highlight":
            if found := _HIGHLIGHTS.get(value(element), UNKNOWN):
                changes["shade"] = found
        case "font":
            if font := element.get(_ASCII) or element.get(_H_ANSI):
                changes["font"] = font
        case _:
            changes[name] = value(element)


_ASCII = w("ascii")
_H_ANSI = w("hAnsi")


def _color(element: etree._Element) -> str:
    said = value(element)
    if _HEX.match(said):
        return said.upper()
    return WHITE if element.get(_THEME_COLOR) in ("background1", "light1") else ""


def _points(size: str) -> float:
    found = _SIZE.match(size)
    if not found:
        return 0.0
    return float(found[1]) / (1 if found[2] else 2)  # half-points, unless a unit is given


def _is_near(color: str, background: str) -> bool:
    if not _HEX.match(background):
        return False
    pairs = zip(bytes.fromhex(color), bytes.fromhex(background), strict=True)
    return all(abs(one - other) < _NEAR for one, other in pairs)
