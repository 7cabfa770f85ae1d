"""What Word's styles say of a paragraph: its role, its level, its numbers and its look."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from lxml import etree

from adapters.documents.docx_reader import looks
from adapters.documents.docx_reader.looks import PLAIN, Look, look_of, value
from adapters.documents.docx_reader.xml import w

MAX_LEVEL = 9
_MAX_CHAIN = 32  # styles that one is based on; Word itself refuses more than about ten

# Word keeps the names of built-in styles in English, whatever its language; others do not.
_HEADING = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|kop|rubrik|overskrift|otsikko|nagłówek|nadpis|"
    r"címsor|заголовок|başlık|標題|标题|見出し|제목)\s*([1-9])\Z"
)
_CODE = re.compile(
    r"(?:source ?code|code(?: ?block| listing| sample| snippet| text)?|html preformatted|"
    r"preformatted(?: text)?|verbatim|macro text|program ?listing|quelltext|quellcode)\Z"
)
_CAPTION = re.compile(r"(?:(?:table|image|figure|listing) )?caption\Z|beschriftung\Z|légende\Z")
_NAVIGATION = re.compile(r"(?:toc|index) ?(?:\d|heading)\Z|table of (?:figures|authorities)\Z")


class Role(Enum):
    """What paragraphs of a style are in the document."""

    BODY = auto()
    TITLE = auto()
    HEADING = auto()
    CAPTION = auto()
    CODE = auto()
    NAVIGATION = auto()


@dataclass(frozen=True, slots=True)
class ParagraphStyle:
    """What a style says of its paragraphs, with all that it is based on.

    `number` is the id of its numbering ('' for none) and `depth` the level in it from 0, or None;
    `shade` is the colour behind its paragraphs, or ''.
    """

    role: Role = Role.BODY
    level: int = 0
    number: str = ""
    depth: int | None = None
    look: Look = PLAIN
    shade: str = ""


class Styles:
    """The styles of a document, looked up by id; an unknown id means the default style."""

    def __init__(self, root: etree._Element | None) -> None:
        self._styles: dict[tuple[str, str], etree._Element] = {}
        self._paragraphs: dict[str, ParagraphStyle] = {}
        self._runs: dict[str, Look] = {}
        self._shaded_tables: dict[str, bool] = {}
        self._default = ""
        base: Look = PLAIN
        if root is not None:
            base = look_of(root.find(f"{w('docDefaults')}/{w('rPrDefault')}/{w('rPr')}"), PLAIN)
            self._index(root)
        self._base = base
        self.is_monospaced = self.paragraph("").look.is_monospaced

    def paragraph(self, style: str) -> ParagraphStyle:
        """Return what the paragraph style of this id says."""
        if style not in self._paragraphs:
            self._paragraphs[style] = self._read_paragraph(style)
        return self._paragraphs[style]

    def run(self, style: str) -> Look:
        """Return what the character style of this id says."""
        if style not in self._runs:
            look = PLAIN
            for element in reversed(list(self._chain("character", style))):
                look = look_of(element.find(w("rPr")), look)
            self._runs[style] = look
        return self._runs[style]

    def shades_tables(self, style: str) -> bool:
        """Tell whether the table style of this id puts any colour behind its text."""
        if style not in self._shaded_tables:
            self._shaded_tables[style] = any(
                looks.shade(element) not in ("", looks.WHITE)
                for link in self._chain("table", style)
                for element in link.iter(w("shd"))
            )
        return self._shaded_tables[style]

    def number_of(self, style: str) -> str:
        """Return the id of the numbering that a style of numbering stands for, or ''."""
        element = self._styles.get(("numbering", style))
        return "" if element is None else value(element.find(_NUM_ID))

    def _index(self, root: etree._Element) -> None:
        for element in root.iterchildren(w("style")):
            kind, identifier = element.get(w("type"), "paragraph"), element.get(w("styleId"), "")
            self._styles.setdefault((kind, identifier), element)
            if kind == "paragraph" and element.get(w("default")) in ("1", "true", "on"):
                self._default = identifier

    def _chain(self, kind: str, style: str) -> Iterator[etree._Element]:
        """Yield a style and those it is based on; a circle is followed once."""
        seen: set[str] = set()
        while style not in seen and len(seen) < _MAX_CHAIN:
            element = self._styles.get((kind, style))
            if element is None:
                return
            yield element
            seen.add(style)
            style = value(element.find(w("basedOn")))

    def _read_paragraph(self, style: str) -> ParagraphStyle:
        known = ("paragraph", style) in self._styles
        chain = list(self._chain("paragraph", style if known else self._default))
        role, level = _role(chain)
        look, shade = self._base, ""
        for element in reversed(chain):
            look = look_of(element.find(w("rPr")), look)
            found = element.find(f"{w('pPr')}/{w('shd')}")
            shade = shade if found is None else looks.shade(found)
        number, depth = _numbering(chain)
        return ParagraphStyle(role, level, number, depth, look, shade)


_NUM_ID = f"{w('pPr')}/{w('numPr')}/{w('numId')}"
_ILVL = f"{w('pPr')}/{w('numPr')}/{w('ilvl')}"


def _numbering(chain: list[etree._Element]) -> tuple[str, int | None]:
    depth: int | None = None
    for element in chain:
        if depth is None:
            depth = to_int(value(element.find(_ILVL)))
        if number := value(element.find(_NUM_ID)):
            return number, depth
    return "", None


def _role(chain: list[etree._Element]) -> tuple[Role, int]:
    """Return the role that the nearest of the styles has, and a heading's level."""
    for element in chain:
        name = " ".join(value(element.find(w("name"))).casefold().split())
        if found := _HEADING.match(name):
            return Role.HEADING, int(found[1])
        for role, pattern in _ROLES:
            if pattern.match(name):
                return role, 0
        outline = to_int(value(element.find(f"{w('pPr')}/{w('outlineLvl')}")))
        if outline is not None:
            return (Role.HEADING, outline + 1) if outline < MAX_LEVEL else (Role.BODY, 0)
    return Role.BODY, 0


_ROLES = (
    (Role.TITLE, re.compile(r"title\Z|titel\Z|document title\Z")),
    (Role.BODY, re.compile(r"sub-?title\Z")),
    (Role.CAPTION, _CAPTION),
    (Role.CODE, _CODE),
    (Role.NAVIGATION, _NAVIGATION),
)


def to_int(text: str) -> int | None:
    """Return a short decimal number, or None for anything else."""
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 10 else None
