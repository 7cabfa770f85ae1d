"""What a page's own styles say about whether a text can be seen; nothing is loaded for it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from lxml.html import HtmlElement

_MAX_CSS = 400_000
_MAX_RULES = 20_000
_MAX_RULES_OF_A_NAME = 50
_MAX_STYLE = 4_000
_MAX_LOOKS = 300_000

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_SIMPLE = re.compile(r"([a-z][\w-]*)?((?:[.#][\w-]+)*)\Z", re.IGNORECASE)
_NAME = re.compile(r"([.#])([\w-]+)")
_EVERY_SCREEN = re.compile(r"@media\s+(?:only\s+)?(?:all|screen)\s*\Z", re.IGNORECASE)
_NEVER_BY_RULE = frozenset(("html", "body", "main", "article"))
_RELEVANT = frozenset(
    "display visibility opacity font-size position left right top bottom text-indent clip "
    "clip-path color background background-color background-image margin-left".split()
)
_LENGTH = re.compile(r"(-?\d*\.?\d+)\s*(px|pt|em|rem|ex|%|vw|vh|cm|mm|in)?(?![\w.])", re.IGNORECASE)
_PX = {"": 1.0, "px": 1.0, "pt": 1.33, "em": 16.0, "rem": 16.0, "ex": 8.0, "%": 0.16}
_FAR = -500.0
_TINY = 2.0
_CLIPPED = re.compile(r"rect\(\s*(?:[01](?:px)?[\s,]*){4}\)|inset\(\s*(?:50|100)%", re.IGNORECASE)


Declarations = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Rule:
    tag: str
    classes: frozenset[str]
    id: str
    declarations: Declarations

    def fits(self, element: HtmlElement, classes: frozenset[str]) -> bool:
        if self.tag and self.tag != element.tag:
            return False
        return self.classes <= classes and (not self.id or self.id == element.get("id"))


class Styles:
    """The style rules of a page whose selectors are tags, classes and ids alone.

    `is_open` says that a style sheet outside the page may change what these rules say.
    """

    def __init__(self, tree: HtmlElement, *, with_rules: bool = True) -> None:
        self._rules: dict[str, list[_Rule]] = {}
        self._looks = 0
        self.is_open = any(
            "stylesheet" in (link.get("rel") or "").lower() for link in tree.iter("link")
        )
        if with_rules:
            css = "\n".join(sheet.text or "" for sheet in tree.iter("style"))[:_MAX_CSS]
            for count, rule in enumerate(_rules(_COMMENT.sub(" ", css))):
                if count >= _MAX_RULES:
                    break
                key = rule.id or next(iter(sorted(rule.classes)), "") or rule.tag
                alike = self._rules.setdefault(key, [])
                if len(alike) < _MAX_RULES_OF_A_NAME:
                    alike.append(rule)

    def of(self, element: HtmlElement) -> dict[str, str]:
        """Return what is declared of `element` itself, its own style last."""
        style = element.get("style")
        declared: dict[str, str] = {}
        if self._rules and element.tag not in _NEVER_BY_RULE:
            declared |= self._by_rules(element)
        if element.get("bgcolor"):
            declared["background-color"] = element.get("bgcolor", "")
        if element.tag == "font" and element.get("color"):
            declared["color"] = element.get("color", "")
        return declared | _declarations(style) if style else declared

    def _by_rules(self, element: HtmlElement) -> dict[str, str]:
        classes = frozenset(element.get("class", "").split())
        declared: dict[str, str] = {}
        for key in (element.tag, *sorted(classes), element.get("id")):
            for rule in self._rules.get(key, ()):
                if rule.fits(element, classes):
                    declared |= rule.declarations
        return declared

    def hide(self, element: HtmlElement) -> bool:
        """Tell whether `element` and what is in it cannot be seen.

        A whole page that is hidden is there for a script to show.
        """
        if element.tag in ("html", "body"):
            return False
        if element.get("hidden") is not None:
            return True
        if element.tag == "dialog" and element.get("open") is None:
            return True
        declared = self.of(element)
        if not declared:
            return False
        if _is_removed(declared):
            return True
        if "font-size" in declared and _is_tiny(declared["font-size"]):
            return not self._is_reset(element, "font-size")
        if "color" in declared:
            return self._is_painted_over(element, declared)
        return False

    def may_hide(self, element: HtmlElement) -> bool:
        """Tell whether `element` is white on a ground that the page itself does not name."""
        declared = self.of(element)
        if not self.is_open or "color" not in declared or "style" not in element.attrib:
            return False
        return _is_white(_colour(declared["color"])) and self._ground(element) is None

    def _is_painted_over(self, element: HtmlElement, declared: Declarations) -> bool:
        colour = _colour(declared["color"])
        if colour is None or self._is_reset(element, "color"):
            return False
        if colour == _CLEAR:
            return "background-clip" not in (element.get("style") or "")
        ground = self._ground(element)
        if ground is None:
            return _is_white(colour) and not self.is_open
        return ground != _CLEAR and _are_alike(colour, ground)

    def _ground(self, element: HtmlElement) -> "_Colour | None":
        """Return the colour behind `element`: `_CLEAR` for a picture, None where none is named."""
        for around in self._some(chain((element,), element.iterancestors())):
            declared = self.of(around)
            if around.get("background") or "url(" in declared.get("background-image", ""):
                return _CLEAR
            named = declared.get("background-color") or declared.get("background", "")
            if "url(" in named or "gradient" in named:
                return _CLEAR
            colour = _colour(named)
            if colour is not None and colour != _CLEAR:
                return colour
        return None

    def _is_reset(self, element: HtmlElement, name: str) -> bool:
        """Tell whether something inside declares `name` anew."""
        return any(
            name in self.of(inner)
            for inner in self._some(element.iterdescendants())
            if isinstance(inner.tag, str)
        )

    def _some(self, elements: Iterable[HtmlElement]) -> Iterator[HtmlElement]:
        """Yield `elements` as long as this page has not been looked about in too often."""
        for element in elements:
            self._looks += 1
            if self._looks > _MAX_LOOKS:
                return
            yield element


def _rules(css: str) -> Iterator[_Rule]:
    at = 0
    while (brace := css.find("{", at)) >= 0:
        # What stands before a selector: the end of the block before, or a statement.
        prelude = css[at:brace].rpartition("}")[2].rpartition(";")[2].strip()
        if prelude.startswith("@"):
            at = brace + 1 if _EVERY_SCREEN.match(prelude) else _block_end(css, brace)
            continue
        end = css.find("}", brace)
        if end < 0:
            return
        at = end + 1
        declarations = _declarations(css[brace + 1 : end])
        if declarations:
            yield from _simple_rules(prelude, declarations)


def _block_end(css: str, brace: int) -> int:
    depth = 0
    for match in re.finditer(r"[{}]", css[brace:]):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return brace + match.end()
    return len(css)


def _simple_rules(prelude: str, declarations: Declarations) -> Iterator[_Rule]:
    for selector in prelude.split(","):
        found = _SIMPLE.match(selector.strip())
        if not found or not found[0]:
            continue
        tag = (found[1] or "").lower()
        names = _NAME.findall(found[2])
        ids = [name for mark, name in names if mark == "#"]
        if tag not in _NEVER_BY_RULE and len(ids) < 2:
            classes = frozenset(name for mark, name in names if mark == ".")
            yield _Rule(tag, classes, ids[0] if ids else "", declarations)


def _declarations(style: str) -> dict[str, str]:
    declared: dict[str, str] = {}
    for part in style[:_MAX_STYLE].split(";"):
        name, colon, value = part.partition(":")
        name = name.strip().lower()
        if colon and name in _RELEVANT:
            declared[name] = value.partition("!")[0].strip().lower()
    return declared


def _is_removed(declared: Declarations) -> bool:
    if declared.get("display") == "none":
        return True
    if declared.get("visibility") in ("hidden", "collapse"):
        return True
    opacity = _length(declared.get("opacity", ""))
    if opacity is not None and opacity < 0.05:
        return True
    if _CLIPPED.search(declared.get("clip", "")) or _CLIPPED.search(declared.get("clip-path", "")):
        return True
    if _is_far(declared, "text-indent") or _is_far(declared, "margin-left"):
        return True
    is_placed = declared.get("position") in ("absolute", "fixed", "relative")
    return is_placed and any(_is_far(declared, s) for s in ("left", "right", "top", "bottom"))


def _is_far(declared: Declarations, name: str) -> bool:
    length = _length(declared.get(name, ""))
    return length is not None and length <= _FAR


def _length(value: str) -> float | None:
    """Return a length in pixels, taking a percentage and `em` as of 16 pixels."""
    found = _LENGTH.match(value)
    if not found:
        return None
    unit = (found[2] or "").lower()
    return float(found[1]) * (_PX.get(unit) or 10.0)


def _is_tiny(value: str) -> bool:
    size = _length(value)
    return size is not None and size < _TINY


# Colours

_Colour = tuple[int, int, int]
_CLEAR: _Colour = (-1, -1, -1)
_NAMED: dict[str, _Colour] = {
    "white": (255, 255, 255),
    "snow": (255, 250, 250),
    "ivory": (255, 255, 240),
    "whitesmoke": (245, 245, 245),
    "ghostwhite": (248, 248, 255),
    "black": (0, 0, 0),
    "transparent": _CLEAR,
    "red": (255, 0, 0),
    "green": (0, 128, 0),
    "blue": (0, 0, 255),
    "yellow": (255, 255, 0),
    "gray": (128, 128, 128),
    "grey": (128, 128, 128),
    "silver": (192, 192, 192),
}
_HEX = re.compile(r"#?([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})(?![\w])", re.IGNORECASE)
_RGB = re.compile(r"rgba?\(\s*([\d.]+)[\s,]+([\d.]+)[\s,]+([\d.]+)(?:[\s,/]+([\d.]+%?))?\s*\)")


def _colour(value: str) -> _Colour | None:
    """Return the colour that `value` begins with; None for what is not known."""
    word = value.strip()
    if found := _RGB.match(word):
        if found[4] and float(found[4].rstrip("%")) == 0:
            return _CLEAR
        red, green, blue = (min(255, int(float(part))) for part in found.groups()[:3])
        return red, green, blue
    named = _NAMED.get(word.split(" ")[0]) if word else None
    if named is not None:
        return named
    if found := _HEX.match(word):
        digits = found[1]
        if len(digits) < 6:
            digits = "".join(digit * 2 for digit in digits)
        if digits[6:] == "00":
            return _CLEAR
        return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)
    return None


def _are_alike(one: _Colour, other: _Colour) -> bool:
    return all(abs(a - b) <= 12 for a, b in zip(one, other, strict=True))


def _is_white(colour: _Colour | None) -> bool:
    return colour is not None and colour != _CLEAR and _are_alike(colour, (255, 255, 255))
