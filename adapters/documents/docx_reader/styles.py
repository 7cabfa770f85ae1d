"""What Word's styles say of a paragraph: its role, its level, its numbers and its look."""

import re
from collections.abc import Container
from dataclasses import dataclass
from enum import Enum, auto

from lxml import etree

from adapters.documents.docx_reader import looks
from adapters.documents.docx_reader.looks import PLAIN, Look, look_of, value
from adapters.documents.docx_reader.xml import w

MAX_LEVEL = 9

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
            for element in reversed(self._chain("character", style, self._runs)):
                base = self._runs.get(value(element.find(_BASED_ON)), PLAIN)
                self._runs[element.get(_STYLE_ID, "")] = look_of(element.find(_RUN), base)
            self._runs.setdefault(style, PLAIN)
        return self._runs[style]

    def shades_tables(self, style: str) -> bool:
        """Tell whether the table style of this id puts any colour behind its text."""
        if style not in self._shaded_tables:
            self._shaded_tables[style] = any(
                looks.shade(element) not in ("", looks.WHITE)
                for link in self._chain("table", style, ())
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

    def _chain(self, kind: str, style: str, known: Container[str]) -> list[etree._Element]:
        """Return a style and those it is based on that are not `known`; a circle ends it."""
        chain: dict[str, etree._Element] = {}
        while style not in chain and style not in known:
            element = self._styles.get((kind, style))
            if element is None:
                break
            chain[style] = element
            style = value(element.find(_BASED_ON))
        return list(chain.values())

    def _read_paragraph(self, style: str) -> ParagraphStyle:
        """Read a style, and first those it is based on."""
        known = self._paragraphs
        for element in reversed(self._chain("paragraph", style, known)):
            base = known.get(value(element.find(_BASED_ON)), ParagraphStyle(look=self._base))
            known[element.get(_STYLE_ID, "")] = _paragraph_style(element, base)
        if style in known:
            return known[style]
        return (
            ParagraphStyle(look=self._base)
            if style == self._default
            else self.paragraph(self._default)
        )


_BASED_ON = w("basedOn")
_STYLE_ID = w("styleId")
_RUN = w("rPr")
_SHADE = f"{w('pPr')}/{w('shd')}"
_NUM_ID = f"{w('pPr')}/{w('numPr')}/{w('numId')}"
_ILVL = f"{w('pPr')}/{w('numPr')}/{w('ilvl')}"
_OUTLINE = f"{w('pPr')}/{w('outlineLvl')}"


def _paragraph_style(element: etree._Element, base: ParagraphStyle) -> ParagraphStyle:
    """Return what a style says where its base says no other."""
    role, level = _role(element) or (base.role, base.level)
    number, depth = value(element.find(_NUM_ID)), to_int(value(element.find(_ILVL)))
    if not number:
        number, depth = base.number, base.depth if depth is None else depth
    shade = element.find(_SHADE)
    return ParagraphStyle(
        role=role,
        level=level,
        number=number,
        depth=depth,
        look=look_of(element.find(_RUN), base.look),
        shade=base.shade if shade is None else looks.shade(shade),
    )


def _role(element: etree._Element) -> tuple[Role, int] | None:
    """Return the role that a style itself has, and a heading's level."""
    name = " ".join(value(element.find(w("name"))).casefold().split())
    if found := _HEADING.match(name):
        return Role.HEADING, int(found[1])
    for role, pattern in _ROLES:
        if pattern.match(name):
            return role, 0
    outline = to_int(value(element.find(_OUTLINE)))
    if outline is None:
        return None
    return (Role.HEADING, outline + 1) if 0 <= outline < MAX_LEVEL else (Role.BODY, 0)


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
