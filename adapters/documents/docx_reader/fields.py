"""Follows Word's fields, of which the result is text and the instruction is not (§17.16)."""

from dataclasses import dataclass

from lxml import etree

from adapters.documents.docx_reader.looks import is_on, value
from adapters.documents.docx_reader.styles import to_int
from adapters.documents.docx_reader.xml import w

CHECKED, UNCHECKED = "☒", "☐"

# Drawn by Word from the instruction alone, so that their text is not in the file.
_DRAWN = frozenset(("EQ", "MACROBUTTON", "GOTOBUTTON", "ADVANCE", "SYMBOL", "BARCODE"))
_OUTSIDE = frozenset(("INCLUDETEXT", "DDE", "DDEAUTO", "LINK"))
_CONTENTS = frozenset(("TOC", "TOA", "INDEX"))
_TYPE = w("fldCharType")


@dataclass(slots=True)
class _Field:
    in_instruction: bool = True
    name: str = ""
    form: str = ""
    has_result: bool = False


class Fields:
    """The fields that are open at a place of the text."""

    def __init__(self) -> None:
        self._open: list[_Field] = []
        self._instructions = 0
        self._contents = 0
        self._is_sound = True

    def enter(self, root: etree._Element) -> None:
        """Begin a part; one whose fields do not close is read as if it had none."""
        depth = 0
        for mark in root.iter(w("fldChar")):
            kind = mark.get(_TYPE)
            depth += (kind == "begin") - (kind == "end" and depth > 0)
        self._open.clear()
        self._instructions = self._contents = 0
        self._is_sound = depth == 0

    @property
    def in_instruction(self) -> bool:
        """Tell whether text at this place belongs to an instruction."""
        return self._instructions > 0

    @property
    def in_contents(self) -> bool:
        """Tell whether text at this place belongs to a table of contents or an index."""
        return self._contents > 0

    def note_result(self) -> None:
        """Say that text of the innermost field's result was seen."""
        if self._open:
            self._open[-1].has_result = True

    def instruct(self, text: str) -> None:
        """Take a piece of an instruction; its first word names the field."""
        if self._open and not self._open[-1].name:
            name = next(iter(text.split()), "").upper()
            self._open[-1].name = name
            self._contents += name in _CONTENTS

    def mark(self, element: etree._Element) -> tuple[str, str]:
        """Take a `w:fldChar`; return text that stands for the field, and what is left out of it."""
        if not self._is_sound:
            return "", ""
        match element.get(_TYPE):
            case "begin":
                self._open.append(_Field(form=_form(element)))
                self._instructions += 1
            case "separate" if self._open and self._open[-1].in_instruction:
                self._open[-1].in_instruction = False
                self._instructions -= 1
            case "end" if self._open:
                return self._end()
            case _:
                pass
        return "", ""

    def _end(self) -> tuple[str, str]:
        field = self._open.pop()
        self._instructions -= field.in_instruction
        self._contents -= field.name in _CONTENTS
        left_out = ""
        if field.name in _OUTSIDE:
            left_out = "outside file"
        elif field.name in _DRAWN and not field.has_result:
            left_out = "drawn field"
        return ("" if field.has_result or self._instructions else field.form), left_out


def _form(begin: etree._Element) -> str:
    """Return what a field of a form shows: a box, or the chosen entry of a list."""
    data = begin.find(w("ffData"))
    if data is None:
        return ""
    box = data.find(w("checkBox"))
    if box is not None:
        said = box.find(w("checked"))
        said = box.find(w("default")) if said is None else said
        return CHECKED if said is not None and is_on(said) else UNCHECKED
    choices = data.find(w("ddList"))
    if choices is not None:
        entries = choices.findall(w("listEntry"))
        chosen = to_int(value(choices.find(w("result"))) or "0")
        if chosen is not None and 0 <= chosen < len(entries):
            return value(entries[chosen])
    return ""
