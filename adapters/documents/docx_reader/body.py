"""Walks over the body of a document, or of a note or header, and writes its blocks."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from lxml import etree

from adapters.documents.docx_reader import looks
from adapters.documents.docx_reader.drawings import chosen
from adapters.documents.docx_reader.inline import Inline
from adapters.documents.docx_reader.looks import UNKNOWN, WHITE, is_on, value
from adapters.documents.docx_reader.numbering import Label
from adapters.documents.docx_reader.story import Story
from adapters.documents.docx_reader.styles import MAX_LEVEL, ParagraphStyle, Role, to_int
from adapters.documents.docx_reader.tables import Table, read_table
from adapters.documents.docx_reader.writer import Writer
from adapters.documents.docx_reader.xml import MC_NS, R_NS, m, w
from state.values.blocks import BlockKind

_MAX_HEADING = 400  # a longer paragraph is none, whatever its outline level says
_CODE_LIKE = re.compile(r"^(?: {2,}|\t)\S|[{}\[\]=<>_\\|]|\w\(|::|->|;\s*$|^\s*(?:#|//|\$ |>>> )")


@dataclass(slots=True)
class _Properties:
    """What a paragraph says of itself, which counts more than what its style says."""

    style: str = ""
    number: str | None = None
    depth: int | None = None
    outline: int | None = None
    shade: str = ""
    is_joined: bool = False
    is_mark_hidden: bool = False


class Walker:
    """Writes the blocks of one part. `main` is what becomes of their `main`."""

    def __init__(self, story: Story, writer: Writer, *, background: str = WHITE) -> None:
        self.story = story
        self.writer = writer
        self.headers: list[str] = []
        self.main = True
        self._background = background
        self._inside = 0
        self._joined: Inline | None = None

    def blocks(self, container: etree._Element, background: str | None = None) -> None:
        """Write all that `container` holds; `background` is the colour behind it, if another."""
        outer = self._joined, self._background
        self._joined, self._background = None, background or self._background
        self._descend(container)
        if self._joined is not None:  # nothing follows that it could have been joined to
            self._emit(self._joined, self.story.styles.paragraph(""), _Properties())
        self._joined, self._background = outer

    def text_of(self, container: etree._Element, background: str | None = None) -> str:
        """Return what `container` holds, paragraphs on lines of their own, and write nothing."""
        outer, self.writer = self.writer, Writer(bullet="• ")
        self.writer.heading = outer.heading
        self._inside += 1
        self.blocks(container, background)
        self._inside -= 1
        text, self.writer = self.writer.text, outer
        return text.replace("\n\n", "\n")

    def _descend(self, container: etree._Element) -> None:
        for element in container:
            tag = element.tag
            if tag == _PARAGRAPH:
                self._paragraph(element)
                continue
            handler = self._HANDLERS.get(tag)
            if handler is not None:
                handler(self, element)
            elif len(element) and not tag.endswith("Pr"):
                self._descend(element)

    # What stands beside paragraphs

    def _table(self, element: etree._Element) -> None:
        table = read_table(element, self)
        if table is not None:
            self._write_table(table)

    def _write_table(self, table: Table) -> None:
        if self._inside:
            self.writer.add(BlockKind.TABLE, table.as_line())
        else:
            self.writer.add(BlockKind.TABLE, table.as_markdown(), main=self.main)

    def _control(self, control: etree._Element) -> None:
        content = control.find(w("sdtContent"))
        if content is None:
            return
        gallery = control.find(f"{w('sdtPr')}/{w('docPartObj')}/{w('docPartGallery')}")
        outer = self.main
        if "table of contents" in value(gallery).casefold():
            self.main = False
        self._descend(content)
        self.main = outer

    def _alternative(self, element: etree._Element) -> None:
        branch = chosen(element)
        if branch is not None:
            self._descend(branch)

    def _deleted(self, element: etree._Element) -> None:
        if any(text.text for text in element.iter(w("delText"), w("t"))):
            self.story.dropped["deletion"] += 1

    def _formula(self, element: etree._Element) -> None:
        inline = Inline(self.story, self.writer.heading)
        inline.read_formula(element)
        self._emit(inline, self.story.styles.paragraph(""), _Properties())

    def _embedded(self, _: etree._Element) -> None:
        self.story.dropped["embedded document"] += 1
        self.story.lose("a document that is embedded in this one was not read")

    def _section(self, element: etree._Element) -> None:
        for reference in element.iterchildren(w("headerReference"), w("footerReference")):
            self.headers.append(reference.get(f"{{{R_NS}}}id", ""))

    # Paragraphs

    def _paragraph(self, paragraph: etree._Element) -> None:
        said = self._properties(paragraph)
        style = self.story.styles.paragraph(said.style)
        inline = self._joined or Inline(self.story, self.writer.heading)
        self._joined = None
        inline.read(
            paragraph,
            base=style.look,
            background=said.shade or style.shade or self._background,
        )
        if said.is_joined:
            self._joined = inline
        else:
            self._emit(inline, style, said)

    def _properties(self, paragraph: etree._Element) -> _Properties:
        said = _Properties()
        properties = paragraph[0] if len(paragraph) else None
        if properties is None or properties.tag != _PROPERTIES:
            return said
        for child in properties:
            tag = child.tag
            if tag == _STYLE:
                said.style = value(child)
            elif tag == _NUMBERING:
                said.number = value(child.find(_NUMBER)) or None
                said.depth = to_int(value(child.find(_DEPTH)))
            elif tag == _OUTLINE:
                said.outline = to_int(value(child))
            elif tag == _SHADE:
                said.shade = looks.shade(child)
            elif tag == _MARK:
                said.is_joined = any(child.find(gone) is not None for gone in _GONE)
                vanish = child.find(w("vanish"))
                said.is_mark_hidden = vanish is not None and is_on(vanish)
            elif tag == _SECTION:
                self._section(child)
        return said

    def _emit(self, inline: Inline, style: ParagraphStyle, said: _Properties) -> None:
        label = self._label(style, said)
        role, level = _role(style, said)
        may_be_equation = role is Role.BODY and label is None and not self._inside
        parts = inline.finish(may_be_equation=may_be_equation)
        for part in parts:
            if part.kind is BlockKind.EQUATION:
                self.writer.add(part.kind, part.text, main=self.main)
            else:
                self._emit_text(part.text, inline, label, role, level)
        for box in inline.boxes:
            self.blocks(box, UNKNOWN)

    def _emit_text(
        self, text: str, inline: Inline, label: Label | None, role: Role, level: int
    ) -> None:
        writer, main = self.writer, self.main
        if role is Role.NAVIGATION or inline.in_contents:
            writer.add(BlockKind.PARAGRAPH, text, main=False)
            return
        if role is Role.CODE or (
            role is Role.BODY and label is None and self._is_code(text, inline)
        ):
            writer.add(BlockKind.CODE, text, main=main)
            return
        if role in (Role.TITLE, Role.HEADING):
            self._emit_heading(" ".join(text.split()), label, role, level)
            return
        if label is not None:
            writer.add_item(text, label=label.text, depth=label.depth, main=main)
            return
        kind = BlockKind.CAPTION if role is Role.CAPTION else BlockKind.PARAGRAPH
        writer.add(kind, text, main=main)

    def _emit_heading(self, text: str, label: Label | None, role: Role, level: int) -> None:
        if not text:
            return
        if role is Role.TITLE and not self.story.title and self.main and not self._inside:
            self.story.title = text
        if label is not None and label.text:
            text = f"{label.text} {text}"
        if len(text) > _MAX_HEADING:
            self.writer.add(BlockKind.PARAGRAPH, text, main=self.main)
        else:
            self.writer.add(BlockKind.HEADING, text, level=level, main=self.main)

    def _label(self, style: ParagraphStyle, said: _Properties) -> Label | None:
        number = style.number if said.number is None else said.number
        if not number or number == "0" or said.is_mark_hidden:
            return None
        depth = style.depth if said.depth is None else said.depth
        return self.story.numbering.label(number, depth, style=said.style)

    def _is_code(self, text: str, inline: Inline) -> bool:
        """Tell whether a paragraph set in a font for code, and not for its looks, is code."""
        if not inline.is_monospaced or self.story.styles.is_monospaced or not text.strip():
            return False
        return self.writer.last_kind is BlockKind.CODE or bool(_CODE_LIKE.search(text))

    _HANDLERS: ClassVar[dict[str, Callable[[Walker, etree._Element], None]]] = {
        w("tbl"): _table,
        w("sdt"): _control,
        w("sectPr"): _section,
        w("altChunk"): _embedded,
        w("subDoc"): _embedded,
        w("del"): _deleted,
        w("moveFrom"): _deleted,
        m("oMathPara"): _formula,
        m("oMath"): _formula,
        f"{{{MC_NS}}}AlternateContent": _alternative,
    }


def _role(style: ParagraphStyle, said: _Properties) -> tuple[Role, int]:
    if said.outline is None or style.role not in (Role.BODY, Role.HEADING):
        return style.role, 1 if style.role is Role.TITLE else style.level
    if 0 <= said.outline < MAX_LEVEL:
        return Role.HEADING, said.outline + 1
    return Role.BODY, 0


_PARAGRAPH = w("p")
_PROPERTIES = w("pPr")
_STYLE = w("pStyle")
_NUMBERING = w("numPr")
_NUMBER = w("numId")
_DEPTH = w("ilvl")
_OUTLINE = w("outlineLvl")
_SHADE = w("shd")
_MARK = w("rPr")
_SECTION = w("sectPr")
_GONE = (w("del"), w("moveFrom"))
