"""Turns an HTML tree into the text that a reader sees, as segments."""

import re
from collections.abc import Iterator

from lxml.html import HtmlElement

from adapters.documents.reading import Segment
from state.values.blocks import BlockKind


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


_UNSEEN = _names(
    "script style template noscript head title meta link iframe object embed canvas audio video "
    "datalist annotation annotation-xml"
)
_HEADINGS = _names("h1 h2 h3 h4 h5 h6")
_KINDS = {
    "li": BlockKind.LIST,
    "dt": BlockKind.LIST,
    "dd": BlockKind.LIST,
    "pre": BlockKind.CODE,
    "figcaption": BlockKind.CAPTION,
    "caption": BlockKind.CAPTION,
}
_BLOCKS = _names(
    "address article aside blockquote body center details dialog dir div dl fieldset figure footer "
    "form frameset header hgroup hr html legend main menu nav ol optgroup option p search section "
    "select summary table tbody td tfoot th thead tr ul"
)
_HIDING_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*0(?![.\d])"
    r"|opacity\s*:\s*0(?![.\d])",
    re.IGNORECASE,
)
# Renderings of a formula whose source is beside them, so that it is not read twice.
_FORMULA_COPIES = _names("katex-html MathJax MathJax_SVG MathJax_CHTML MathJax_Preview")
_SPACE = re.compile(r"\s+")
_SPACES = re.compile(r" {2,}")
_AROUND_BREAK = re.compile(r" *\n *")
_LONG_CELL = 1_000


class VisibleText:
    """Collects visible text: `text`, its `segments` in order, and how much was `hidden`."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self.hidden = 0
        self._parts: list[str] = []
        self._length = 0
        self._run: list[str] = []
        self._heading = ""

    @property
    def text(self) -> str:
        """Return what was read; segments are ranges of it."""
        return "".join(self._parts)

    def read(self, tree: HtmlElement) -> None:
        """Add all that `tree` shows."""
        self._visit(tree, BlockKind.PARAGRAPH)
        self._flush(BlockKind.PARAGRAPH)

    def _visit(self, element: HtmlElement, kind: BlockKind) -> None:
        tag = element.tag
        if tag == "math":
            self._run.append(_formula(element))
        elif tag == "script" and element.get("type", "").startswith("math/tex"):
            self._run.append(f" ${(element.text or '').strip()}$ ")
        elif tag in _UNSEEN or _FORMULA_COPIES.intersection(element.get("class", "").split()):
            return
        elif _is_hidden(element):
            self.hidden += len(_SPACE.sub(" ", element.text_content()).strip())
        elif tag == "br":
            self._run.append("\n")
        elif tag == "table" and _is_data(element):
            self._flush(kind)
            self._add_table(element)
        elif tag in _HEADINGS or tag in _KINDS or tag in _BLOCKS:
            self._flush(kind)
            inner = BlockKind.HEADING if tag in _HEADINGS else _KINDS.get(tag, kind)
            self._descend(element, inner)
            self._flush(inner)
        else:
            self._descend(element, kind)

    def _descend(self, element: HtmlElement, kind: BlockKind) -> None:
        self._write(element.text, kind)
        for child in element:
            if isinstance(child.tag, str):
                self._visit(child, kind)
            self._write(child.tail, kind)

    def _write(self, text: str | None, kind: BlockKind) -> None:
        if text:
            self._run.append(text if kind is BlockKind.CODE else _SPACE.sub(" ", text))

    def _flush(self, kind: BlockKind) -> None:
        """End the run of inline text; two line breaks in it separate paragraphs."""
        run = "".join(self._run)
        self._run.clear()
        if kind is BlockKind.CODE:
            self._add(kind, run.strip("\r\n").rstrip())
            return
        for part in _AROUND_BREAK.sub("\n", _SPACES.sub(" ", run)).split("\n\n"):
            self._add(kind, part.strip())

    def _add(self, kind: BlockKind, text: str) -> None:
        if not text.strip():
            return
        if kind is BlockKind.PARAGRAPH and text[0] == text[-1] == "$" and text.count("$") == 2:
            kind = BlockKind.EQUATION
        if self._parts:
            after_item = kind is BlockKind.LIST and self.segments[-1].kind is BlockKind.LIST
            self._emit("\n" if after_item else "\n\n")
        start = self._length
        self._emit(text)
        self.segments.append(Segment(kind, start, self._length, self._heading))
        if kind is BlockKind.HEADING:
            self._heading = " ".join(text.split())

    def _emit(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    def _add_table(self, table: HtmlElement) -> None:
        for caption in table.iterchildren("caption"):
            self._visit(caption, BlockKind.CAPTION)
        rows = (" | ".join(self._cells(row)).strip() for row in table.iter("tr"))
        self._add(BlockKind.TABLE, "\n".join(row for row in rows if row.strip("| ")))

    def _cells(self, row: HtmlElement) -> Iterator[str]:
        for cell in row.iterchildren("td", "th"):
            inner = VisibleText()
            inner.read(cell)
            self.hidden += inner.hidden
            yield " ".join(inner.text.split())


def _is_hidden(element: HtmlElement) -> bool:
    if "mathml" in element.get("class", ""):  # hidden for the eye, where an image stands for it
        return False
    if element.get("hidden") is not None:
        return True
    if element.tag == "dialog" and element.get("open") is None:
        return True
    return _HIDING_STYLE.search(element.get("style", "")) is not None


def _is_data(table: HtmlElement) -> bool:
    """Tell a table of data from one that only arranges the page."""
    if table.get("role") in ("presentation", "none"):
        return False
    widest = 0
    for element in table.iter():
        if element.tag in _HEADINGS or element.tag in ("form", "pre", "ul", "ol"):
            return False
        if element.tag == "table" and element is not table:
            return False
        if element.tag == "tr":
            widest = max(widest, sum(1 for _ in element.iterchildren("td", "th")))
        elif element.tag == "td" and len(element.text_content()) > _LONG_CELL:
            return False
    return widest > 1


def _formula(math: HtmlElement) -> str:
    """Return a MathML element as its TeX source where it has one, else as its characters."""
    for note in math.iter("annotation"):
        if "tex" in note.get("encoding", "").lower() and (note.text or "").strip():
            return f" ${_bare_tex(note.text)}$ "
    if math.get("alttext", "").strip():
        return f" ${_bare_tex(math.get('alttext'))}$ "
    return " " + _SPACE.sub(" ", "".join(math.itertext())) + " "


def _bare_tex(tex: str) -> str:
    bare = " ".join(tex.split())
    if bare.startswith("{\\displaystyle") and bare.endswith("}"):
        return bare[len("{\\displaystyle") : -1].strip()
    return bare
