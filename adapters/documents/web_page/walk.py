"""Walks over an HTML tree and writes down what a reader sees of it."""

import re
from collections import Counter

from lxml.etree import strip_elements, strip_tags
from lxml.html import HtmlElement

from adapters.documents.web_page import tables
from adapters.documents.web_page.formulas import Formulas
from adapters.documents.web_page.raised import lowered, raised
from adapters.documents.web_page.styles import Styles
from adapters.documents.web_page.writer import Item, PageText, Place
from state.values.blocks import BlockKind


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


_UNSEEN = _names(
    "script style template head title meta link iframe object embed canvas audio video noembed "
    "noframes datalist textarea annotation annotation-xml rt rp rtc desc metadata defs"
)
_COUNTED = {
    "script": "script",
    "iframe": "frame",
    "frame": "frame",
    "object": "embedded object",
    "embed": "embedded object",
    "video": "video",
    "audio": "sound",
    "canvas": "drawing",
    "svg": "drawing",
    "img": "picture",
    "form": "form",
    "rt": "reading aid above characters",
}
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_KINDS = {
    "pre": BlockKind.CODE,
    "xmp": BlockKind.CODE,
    "listing": BlockKind.CODE,
    "plaintext": BlockKind.CODE,
    "figcaption": BlockKind.CAPTION,
    "caption": BlockKind.CAPTION,
}
_BLOCKS = _names(
    "address article aside blockquote body center dd details dialog dir div dl dt fieldset figure "
    "footer form frameset header hgroup hr html legend li main menu nav ol optgroup option p "
    "search section select summary table tbody td tfoot th thead tr ul svg"
)
_ASIDE = _names("nav select button menu dialog")
_ASIDE_ROLES = _names(
    "navigation search banner contentinfo menu menubar toolbar alertdialog dialog button tablist"
)
_PROSE_PARENTS = _names("p li td th dd dt h1 h2 h3 h4 h5 h6 figcaption blockquote")
_CAPTIONS = _names("caption wp-caption-text figure-caption image-caption thumbcaption gallerytext")
_GUTTERS = _names(
    "gutter lineno linenos linenumber linenumbers line-numbers linenodiv rouge-gutter"
)
_CONTROLS = _names(
    "mw-cite-backlink footnote-backref footnote-back reversefootnote mw-editsection headerlink "
    "header-anchor anchorjs-link hash-link"
)
_FOOTNOTE_CLASSES = _names("footnotes footnote endnotes endnote reflist references footnote-list")
_FOOTNOTE_ROLES = _names("doc-endnotes doc-footnote doc-endnote")
_FOOTNOTE_ID = re.compile(r"cite_note|_?(?:fn|ftn|footnote|endnote|note)[-_:.]?\d+\w*\Z")
_FORMULA_HOLDER = "mathml"  # in a class: hidden for the eye, where an image stands for it
_SPACE = re.compile(r"\s+")


class VisibleText:
    """What a page shows: `page` holds the text.

    `hidden` elements are passed over; `doubtful` ones are read, but perhaps nobody sees them;
    `rewritten` ones stand in the text in other characters, as formulas do. With `noscript`, what
    is there for readers without scripts counts as shown.
    """

    def __init__(self, formulas: Formulas, styles: Styles, *, noscript: bool = False) -> None:
        self.page = PageText()
        self.hidden: list[HtmlElement] = []
        self.doubtful: list[HtmlElement] = []
        self.rewritten: list[tuple[HtmlElement, str]] = []
        self.counts: Counter[str] = Counter()
        self._formulas = formulas
        self._styles = styles
        self._noscript = noscript
        self._is_doubtful = False
        self._numbers: dict[HtmlElement, int] = {}
        self._defines: dict[HtmlElement, bool] = {}

    def conform(self, tree: HtmlElement) -> None:
        """Change the `tree` that was read so that it holds what the text holds."""
        for element in self.hidden:
            element.tag = _GONE
        for element, text in self.rewritten:
            del element[:]
            element.tag, element.text = _TEXT, text
        for cell in tree.iter("td", "th"):  # how far it reaches, others count out cell by cell
            cell.attrib.pop("rowspan", None)
            cell.attrib.pop("colspan", None)
        strip_elements(tree, _GONE, with_tail=False)
        strip_tags(tree, _TEXT)

    @property
    def lost_formulas(self) -> int:
        """Return how many formulas have no source on the page."""
        return self._formulas.lost

    def read(self, tree: HtmlElement) -> None:
        """Add all that `tree` shows."""
        place = Place()
        self._visit(tree, place)
        self.page.flush(place)

    def _visit(self, element: HtmlElement, place: Place) -> None:
        tag = element.tag
        formula = self._formulas.read(element)
        if formula is not None:
            self.page.write_formula(formula, place)
            self.rewritten.append((element, formula.text if formula.tex else ""))
            return
        if counted := _COUNTED.get(tag):
            self.counts[counted] += 1
        if tag in _UNSEEN or (tag == "noscript" and not self._noscript):
            return
        classes = element.get("class") or ""
        if self._styles.hide(element) and _FORMULA_HOLDER not in classes:
            self.hidden.append(element)
        elif classes and _is_furniture(element, classes.split()):
            return
        elif self._styles.may_hide(element) and not self._is_doubtful:
            self.doubtful.append(element)
            self._is_doubtful = True
            self._enter(element, place)
            self._is_doubtful = False
        else:
            self._enter(element, place)

    def _enter(self, element: HtmlElement, place: Place) -> None:
        tag = element.tag
        if tag == "br":
            self.page.write("\n", place)
        elif tag == "table" and tables.is_data(element):
            self.page.flush(place)
            self._add_table(element, place)
        elif tag in ("sub", "sup") and (script := self._script(element)) is not None:
            self.page.write(script, place)
            self.rewritten.append((element, script))
        elif tag == "q":
            self.page.write("“", place)
            self._descend(element, place)
            self.page.write("”", place)
        elif _is_block(element):
            self.page.flush(place)
            inner = self._place_of(element, place)
            self._descend(element, inner)
            self.page.flush(inner)
        else:
            is_link = place.is_link or (tag == "a" and element.get("href") is not None)
            is_code = tag in ("code", "samp") and place.kind is BlockKind.CODE
            self._descend(element, place if is_code else place._replace(is_link=is_link))

    def _descend(self, element: HtmlElement, place: Place) -> None:
        self._write(element.text, place)
        for child in element:
            if isinstance(child.tag, str):
                self._visit(child, place)
            self._write(child.tail, place)

    def _write(self, text: str | None, place: Place) -> None:
        if text:
            shown = text if place.kind is BlockKind.CODE else _SPACE.sub(" ", text)
            self.page.write(shown, place, is_doubtful=self._is_doubtful)

    def _place_of(self, element: HtmlElement, place: Place) -> Place:
        tag = element.tag
        kind, level, item = _KINDS.get(tag, place.kind), 0, place.item
        if tag in _HEADINGS or element.get("role") == "heading":
            kind, level = BlockKind.HEADING, _level(element)
        elif _is_caption(element):
            kind = BlockKind.CAPTION
        if _opens_footnotes(element):
            kind = BlockKind.FOOTNOTE
        if tag in ("li", "dt") or (tag == "dd" and self._is_defined(element)):
            kind = BlockKind.FOOTNOTE if kind is BlockKind.FOOTNOTE else BlockKind.LIST
            item = self._item(element, place.item, kind)
        is_aside = place.is_aside or tag in _ASIDE or element.get("role") in _ASIDE_ROLES
        return Place(kind, level, item, is_aside, place.is_link, element)

    def _item(self, element: HtmlElement, around: Item | None, kind: BlockKind) -> Item:
        parent = element.getparent()
        if element.tag == "li" and parent is not None and parent.tag == "ol":
            number = self._number(element, parent)
            marker = f"[{number}] " if kind is BlockKind.FOOTNOTE else f"{number}. "
        else:
            marker = "- "
        if element.tag == "dd":
            around = (around or Item("")).inside("", indent=2)
        return around.inside(marker) if around else Item(marker)

    def _number(self, element: HtmlElement, parent: HtmlElement) -> int:
        """Return the number of an item: its own, or one more than that of the item before."""
        stated = _count(element.get("value"))
        if stated is None and parent in self._numbers:
            stated = self._numbers[parent] + 1
        elif stated is None:
            stated = _count(parent.get("start"))
        number = 1 if stated is None else stated
        self._numbers[parent] = number
        return number

    def _is_defined(self, element: HtmlElement) -> bool:
        """Tell whether a `<dd>` is beside a term; in a list without terms it only indents."""
        parent = element.getparent()
        if parent is None:
            return False
        if parent not in self._defines:
            self._defines[parent] = parent.find("dt") is not None
        return self._defines[parent]

    def _add_table(self, table: HtmlElement, place: Place) -> None:
        for caption in table.iterchildren("caption"):
            self._visit(caption, place)
        rows = tables.markdown_rows(table, self._cell)
        self.page.add(rows, place._replace(kind=BlockKind.TABLE, block=table))

    def _cell(self, cell: HtmlElement) -> str:
        """Return what a cell shows on one line; items and rows inside stay apart."""
        inner = VisibleText(self._formulas, self._styles, noscript=self._noscript)
        inner.read(cell)
        self.hidden += inner.hidden
        self.doubtful += inner.doubtful
        self.rewritten += inner.rewritten
        self.counts += inner.counts
        text = inner.page.text
        parts: list[str] = []
        for piece in inner.page.pieces:
            shown = " ".join(text[piece.start : piece.end].split())
            if piece.kind is BlockKind.TABLE:
                shown = _unruled(text[piece.start : piece.end])
            elif piece.kind is BlockKind.EQUATION:
                shown = "$" + shown.strip("$") + "$"
            parts.append(f"• {shown}" if piece.kind is BlockKind.LIST else shown)
        return _escaped(" ".join(parts))

    def _script(self, element: HtmlElement) -> str | None:
        """Return a raised or lowered text as characters, or None when it holds more than text."""
        if any(
            isinstance(child.tag, str) and child.tag not in _SCRIPTED for child in element.iter()
        ):
            return None
        text = _SPACE.sub(" ", element.text_content()).strip()
        if element.tag == "sub":
            return lowered(text)
        is_note = element.find(".//a[@href]") is not None
        return f"[{text}]" if is_note and text.isdigit() else raised(text, self.page.last)


# Names that no page can give its elements.
_GONE, _TEXT = "_gone", "_text"
_NO_DIGITS = str.maketrans("", "", "0123456789")
_SCRIPTED = _names("sub sup a i b em strong span var small font cite")


def _is_block(element: HtmlElement) -> bool:
    tag = element.tag
    if tag in _BLOCKS or tag in _HEADINGS or tag in _KINDS:
        return True
    if tag == "button":
        parent = element.getparent()
        return parent is None or parent.tag not in _PROSE_PARENTS
    return False


def _is_furniture(element: HtmlElement, classes: list[str]) -> bool:
    """Tell whether it numbers lines of code, edits a section or leads back from a note."""
    if not _CONTROLS.isdisjoint(classes):
        return True
    if _GUTTERS.isdisjoint(classes) or element.tag == "pre":
        return False
    return not element.text_content().translate(_NO_DIGITS).strip()


def _level(element: HtmlElement) -> int:
    if level := _HEADINGS.get(element.tag):
        return level
    said = element.get("aria-level", "")
    return int(said) if said in ("1", "2", "3", "4", "5", "6") else 2


def _is_caption(element: HtmlElement) -> bool:
    names = element.get("class")
    return (
        bool(names)
        and element.tag in ("p", "div", "dd")
        and not _CAPTIONS.isdisjoint(names.split())
    )


def _opens_footnotes(element: HtmlElement) -> bool:
    if element.get("role") in _FOOTNOTE_ROLES:
        return True
    if element.tag in ("li", "p", "dd") and _FOOTNOTE_ID.match(element.get("id") or ""):
        return True
    names = element.get("class")
    return (
        bool(names)
        and element.tag in ("ol", "ul", "div", "section", "aside", "li", "p")
        and not _FOOTNOTE_CLASSES.isdisjoint(names.lower().split())
    )


def _count(said: str | None) -> int | None:
    bare = (said or "").strip()
    return int(bare) if bare.isascii() and bare.isdigit() and len(bare) < 7 else None


def _unruled(rows: str) -> str:
    """Return the rows of a table inside a cell on one line."""
    lines = [line.strip("| ") for line in rows.split("\n")]
    return "; ".join(line.replace(" | ", ", ") for n, line in enumerate(lines) if n != 1)


def _escaped(cell: str) -> str:
    """Return the words of a cell so that no bar in them ends it."""
    if "|" not in cell:
        return cell
    parts = re.split(r"(\$[^$]+\$)", cell)
    for number, part in enumerate(parts):
        if number % 2:
            parts[number] = part.replace(r"\|", r"\Vert ").replace("|", r"\vert ")
        else:
            parts[number] = re.sub(r"\\?\|", r"\\|", part)
    return "".join(parts)
