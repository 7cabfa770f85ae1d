"""Reads HTML: the text is all that a reader sees; the blocks of the article are main."""

import re

import trafilatura
from lxml import etree
from lxml import html as lxml_html

from adapters.documents.charset import Decoded, decode
from adapters.documents.reading import Reading, Segment, Unreadable, number_blocks
from adapters.documents.web_page import about, hidden
from adapters.documents.web_page.article import article_text, main_pieces
from adapters.documents.web_page.formulas import Formulas
from adapters.documents.web_page.styles import Styles
from adapters.documents.web_page.walk import VisibleText
from state.values.blocks import Block, Document, Outcome, Quality

EXTRACTOR = "html"
VERSION = "2"

_DECLARATION = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]+)|<\?xml[^>]{0,100}encoding\s*=\s*["']([\w.:-]+)""",
    re.IGNORECASE,
)
_MUCH = 200


def read_html(data: bytes, *, charset: str = "") -> Reading:
    """Return the visible text of a page, with the article's blocks marked as `main`.

    What is hidden, and scripts, styles and templates are left out; what is for readers without
    scripts counts only where there is nothing else. Tables are rows of Markdown, formulas TeX
    between dollar signs, items of lists stand behind their markers. When no article is found, all
    blocks but navigation and forms are main. The title is the page's `<title>`, else its first
    `<h1>`, else None. Entities other than HTML's own are not expanded, and nothing is loaded.
    """
    decoded = decode(data, declared=charset or _declared_charset(data))
    tree, too_deep = _parse(decoded)
    comments = hidden.comments(tree)
    etree.strip_tags(tree, etree.Comment)
    seen, not_followed = _seen(tree)
    if too_deep and not seen.page.pieces:
        raise Unreadable(Outcome.LIMIT, "The page is nested deeper than 256 levels.")
    deep = "the page is nested too deeply to be read to its end" if too_deep else ""
    lost = decoded.lost or deep
    unseen = [hidden.words_in(element) for element in seen.hidden]
    concealed = [*unseen, *map(hidden.words_in, seen.doubtful), *comments]
    title = about.title_of(tree, seen.page.text, seen.page.pieces)
    warnings = (lost, not_followed, *_warnings(tree, decoded.text, seen.page.text, unseen))
    document = Document(
        text=seen.page.text,
        blocks=_blocks(tree, seen, title),  # changes the tree: the last to use it
        media_type="text/html",
        extractor=EXTRACTOR,
        extractor_version=f"{VERSION}+trafilatura-{trafilatura.__version__}",
        title=title,
        warnings=tuple(filter(None, (*warnings, *hidden.warning(concealed)))),
        quality=Quality(
            dropped=about.dropped(seen.counts, seen.lost_formulas),
            hidden_text=hidden.beginnings(concealed),
        ),
    )
    return Reading(document, lost)


def _blocks(tree: lxml_html.HtmlElement, seen: VisibleText, title: str | None) -> tuple[Block, ...]:
    text, pieces = seen.page.text, seen.page.pieces
    seen.conform(tree)
    marks = main_pieces(text, pieces, article_text(tree), title)
    segments = (
        Segment(p.kind, p.start, p.end, p.heading, main=is_main, level=p.level)
        for p, is_main in zip(pieces, marks, strict=True)
    )
    return number_blocks(text, segments)


def _declared_charset(data: bytes) -> str:
    found = _DECLARATION.search(data[:4096])
    if not found:
        return ""
    name = (found[1] or found[2]).decode("ascii", "replace")
    return "utf-8" if name.lower().startswith("utf-16") else name  # WHATWG HTML §13.2.3.2


def _parse(decoded: Decoded) -> tuple[lxml_html.HtmlElement, bool]:
    parser = lxml_html.HTMLParser(
        encoding="utf-8", huge_tree=False, no_network=True, remove_pis=True
    )
    try:
        tree = lxml_html.document_fromstring(decoded.text.encode(), parser=parser)
    except etree.ParserError as error:
        raise Unreadable(Outcome.EMPTY, "The page holds no text.") from error
    too_deep = any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log)
    return tree, too_deep


def _seen(tree: lxml_html.HtmlElement) -> tuple[VisibleText, str]:
    """Return what `tree` shows, and a warning when its style rules could not be taken at word.

    Rules that would hide most of a page are there for scripts to undo.
    """
    seen = _read(tree, with_rules=True)
    hides = sum(len(hidden.words_in(element)) for element in seen.hidden)
    if hides > max(_MUCH, len(seen.page.text)):
        plain = _read(tree, with_rules=False)
        if len(plain.page.text) > len(seen.page.text):
            return plain, "style rules that hide most of the page were not followed"
    if not seen.page.pieces:
        return _read(tree, with_rules=True, noscript=True), ""
    return seen, ""


def _read(tree: lxml_html.HtmlElement, *, with_rules: bool, noscript: bool = False) -> VisibleText:
    seen = VisibleText(Formulas(tree), Styles(tree, with_rules=with_rules), noscript=noscript)
    seen.read(tree)
    return seen


def _warnings(tree: lxml_html.HtmlElement, markup: str, text: str, unseen: list[str]) -> list[str]:
    found: list[str] = []
    if hides := sum(map(len, unseen)):
        found.append(f"text that the page hides was left out ({hides} characters)")
    if about.is_cut_off(markup):
        found.append("the page seems to be cut off")
    if about.needs_scripts(tree, text):
        found.append("the page shows little without JavaScript")
    return found
