"""Reads what a paragraph holds: text, fields, notes, formulas, and the boxes anchored in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from lxml import etree

from adapters.documents.docx_reader import symbols
from adapters.documents.docx_reader.drawings import chosen, text_boxes
from adapters.documents.docx_reader.fields import CHECKED, UNCHECKED
from adapters.documents.docx_reader.looks import Look, look_of, over, value
from adapters.documents.docx_reader.omml import to_latex
from adapters.documents.docx_reader.story import Story
from adapters.documents.docx_reader.xml import MC_NS, m, w
from adapters.documents.web_page.raised import lowered, raised
from state.values.blocks import BlockKind

_W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
_ODD = re.compile("[\n\r\t\uf020-\uf0ff]")
_LINES = re.compile(r"[\n\r\t]")
_EQUATION_NUMBER = re.compile(r"\(\s*[\w.\-\u2013]{1,12}\s*\)\Z")
_STRIKE = "~~"


class _Formula(str):
    """LaTeX that stands in a line of text."""

    __slots__ = ()


class _Display(_Formula):
    """LaTeX that stands on a line of its own."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Part:
    """A paragraph, or one of the pieces into which equations on their own lines divide it."""

    kind: BlockKind
    text: str


class Inline:
    """Collects the contents of one paragraph, or of several that tracked deletions have joined."""

    def __init__(self, story: Story, heading: str) -> None:
        self.boxes: list[etree._Element] = []
        self.is_monospaced = True
        self.in_contents = story.fields.in_contents
        self._story = story
        self._heading = heading
        self._base = Look()
        self._background = ""
        self._pieces: list[str] = []
        self._unseen: list[str] = []
        self._is_struck = False

    def read(self, paragraph: etree._Element, *, base: Look, background: str) -> None:
        """Add what `paragraph` holds; `base` is its look, `background` the colour behind it."""
        self._base = base
        self._background = background
        self._descend(paragraph)
        self._strike(is_struck=False)
        self.in_contents = self.in_contents or self._story.fields.in_contents

    def read_formula(self, element: etree._Element) -> None:
        """Add an `m:oMath` or `m:oMathPara` that stands in no paragraph."""
        self._visit(element)

    def finish(self, *, may_be_equation: bool) -> list[Part]:
        """Return what was collected; with `may_be_equation`, equations are parts of their own."""
        self._story.hide("".join(self._unseen))
        if may_be_equation:
            formulas = [piece for piece in self._pieces if isinstance(piece, _Formula)]
            rest = "".join(p for p in self._pieces if not isinstance(p, _Formula)).strip()
            if formulas and not rest:
                return [_equation(formula) for formula in formulas]
            if len(formulas) == 1 and _EQUATION_NUMBER.match(rest):
                return [Part(BlockKind.EQUATION, f"$${formulas[0]}$$ {rest}")]
            if any(isinstance(formula, _Display) for formula in formulas):
                return list(_divided(self._pieces))
        return [Part(BlockKind.PARAGRAPH, "".join(map(_spelled, self._pieces)))]

    # What paragraphs hold

    def _descend(self, element: etree._Element) -> None:
        for child in element:
            self._visit(child)

    def _visit(self, element: etree._Element) -> None:
        tag = element.tag
        if tag == _RUN:
            self._run(element)
            return
        handler = self._HANDLERS.get(tag)
        if handler is not None:
            handler(self, element)
        elif len(element) and not tag.endswith("Pr"):
            self._descend(element)

    def _inserted(self, element: etree._Element) -> None:
        self._story.insertions += 1
        self._descend(element)

    def _deleted(self, element: etree._Element) -> None:
        if any(text.text for text in element.iter(_DELETED_TEXT, _TEXT)):
            self._story.dropped["deletion"] += 1

    def _control(self, control: etree._Element) -> None:
        box = control.find(f"{w('sdtPr')}/{_W14}checkbox")
        if box is not None:
            checked = box.find(f"{_W14}checked")
            is_checked = checked is not None and checked.get(f"{_W14}val") in ("1", "true", "on")
            self._write(CHECKED if is_checked else UNCHECKED, self._base)
            return
        content = control.find(w("sdtContent"))
        if content is not None:
            self._descend(content)

    def _ruby(self, ruby: etree._Element) -> None:
        for child in ruby.iterchildren(w("rubyBase")):
            self._descend(child)
        reading = "".join(text.text or "" for text in ruby.findall(f"{w('rt')}//{_TEXT}"))
        if reading.strip():
            self._write(f"({reading.strip()})", self._base)

    def _alternative(self, element: etree._Element) -> None:
        branch = chosen(element)
        if branch is not None:
            self._descend(branch)

    def _drawing(self, element: etree._Element) -> None:
        story = self._story
        self.boxes.extend(text_boxes(element, story.dropped, story.outside))

    def _math(self, element: etree._Element) -> None:
        if latex := to_latex(element):
            self._strike(is_struck=False)
            self._pieces.append(_Formula(latex))

    def _display(self, element: etree._Element) -> None:
        for math in element.iterchildren(m("oMath")):
            if latex := to_latex(math):
                self._pieces.append(_Display(latex))

    # What runs hold

    def _run(self, run: etree._Element) -> None:
        look = self._base
        for child in run:
            tag = child.tag
            if tag == _TEXT:
                if child.text:
                    self._write(child.text, look)
            elif tag == _RUN_PROPERTIES:
                look = self._look(child)
            else:
                self._run_child(child, tag, look)

    def _run_child(self, child: etree._Element, tag: str, look: Look) -> None:
        stands_for = _CHARACTERS.get(tag)
        if stands_for is not None:
            self._put(stands_for, look)
        elif handler := self._RUN_HANDLERS.get(tag):
            handler(self, child, look)
        else:
            self._visit(child)

    def _look(self, properties: etree._Element) -> Look:
        base = self._base
        style = properties.find(_RUN_STYLE)
        if style is not None:
            base = over(base, self._story.styles.run(value(style)))
        return look_of(properties, base)

    def _write(self, text: str, look: Look) -> None:
        fields = self._story.fields
        if fields.in_instruction:
            return
        if _ODD.search(text):
            text = symbols.unprivate(_LINES.sub(" ", text), look.font)
            self._story.dropped["symbol"] += text.count(symbols.UNKNOWN)
        if look.is_unseen(self._background):
            self._unseen.append(text)
            return
        fields.note_result()
        if self._is_struck is not bool(look.struck) and text.strip():
            self._strike(is_struck=bool(look.struck))
        if look.raised == "superscript":
            text = raised(text, self._last)
        elif look.raised == "subscript":
            text = lowered(text)
        if self.is_monospaced and not look.is_monospaced and not text.isspace():
            self.is_monospaced = False
        self._pieces.append(text)

    @property
    def _last(self) -> str:
        """Return the character before, or ''."""
        return self._pieces[-1][-1:] if self._pieces else ""

    def _strike(self, *, is_struck: bool) -> None:
        if self._is_struck is not is_struck:
            self._is_struck = is_struck
            self._pieces.append(_STRIKE)

    def _put(self, text: str, look: Look) -> None:
        """Add what no field's instruction can hold, such as a tab."""
        if not self._story.fields.in_instruction and not look.is_unseen(self._background):
            self._pieces.append(text)

    def _symbol(self, element: etree._Element, look: Look) -> None:
        char = symbols.symbol(element.get(w("char"), ""), element.get(w("font"), ""))
        self._story.dropped["symbol"] += char == symbols.UNKNOWN
        self._write(char, look)

    def _field_mark(self, element: etree._Element, look: Look) -> None:
        shown, left_out = self._story.fields.mark(element)
        if left_out:
            self._story.dropped[left_out] += 1
        if shown:
            self._write(shown, look)

    def _instruction(self, element: etree._Element, _: Look) -> None:
        self._story.fields.instruct(element.text or "")

    def _note(self, element: etree._Element, look: Look) -> None:
        if self._story.fields.in_instruction or look.is_unseen(self._background):
            return
        mark = self._story.notes.refer(
            element.tag.rpartition("}")[2].removesuffix("Reference"),
            element.get(w("id"), ""),
            heading=self._heading,
            has_own_mark=element.get(w("customMarkFollows"), "0") in ("1", "true", "on"),
        )
        self._pieces.append(mark)

    def _comment(self, _: etree._Element, __: Look) -> None:
        self._story.dropped["comment"] += 1

    def _skip(self, _: etree._Element) -> None:
        """Leave out what shows nothing, or is counted elsewhere."""

    _HANDLERS: ClassVar[dict[str, Callable[[Inline, etree._Element], None]]] = {
        w("ins"): _inserted,
        w("moveTo"): _inserted,
        w("del"): _deleted,
        w("moveFrom"): _deleted,
        w("sdt"): _control,
        w("ruby"): _ruby,
        w("drawing"): _drawing,
        w("pict"): _drawing,
        w("object"): _drawing,
        f"{{{MC_NS}}}AlternateContent": _alternative,
        m("oMath"): _math,
        m("oMathPara"): _display,
        w("delText"): _skip,
        w("fldData"): _skip,
    }
    _RUN_HANDLERS: ClassVar[dict[str, Callable[[Inline, etree._Element, Look], None]]] = {
        w("sym"): _symbol,
        w("fldChar"): _field_mark,
        w("instrText"): _instruction,
        w("footnoteReference"): _note,
        w("endnoteReference"): _note,
        w("commentReference"): _comment,
    }


_RUN = w("r")
_TEXT = w("t")
_DELETED_TEXT = w("delText")
_RUN_PROPERTIES = w("rPr")
_RUN_STYLE = w("rStyle")
_CHARACTERS = {
    w("tab"): "\t",
    w("ptab"): "\t",
    w("br"): "\n",
    w("cr"): "\n",
    w("noBreakHyphen"): "\u2011",
    w("softHyphen"): "",  # it is seen only where a line ends
}


def _equation(formula: str) -> Part:
    return Part(BlockKind.EQUATION, f"$${formula}$$")


def _spelled(piece: str) -> str:
    return f"${piece}$" if isinstance(piece, _Formula) else piece


def _divided(pieces: list[str]) -> Iterator[Part]:
    """Yield the paragraphs and equations that equations on their own lines divide a text into."""
    run: list[str] = []
    for piece in pieces:
        if isinstance(piece, _Display):
            yield Part(BlockKind.PARAGRAPH, "".join(map(_spelled, run)))
            yield _equation(piece)
            run = []
        else:
            run.append(piece)
    yield Part(BlockKind.PARAGRAPH, "".join(map(_spelled, run)))
