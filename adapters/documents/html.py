"""Reads HTML: the text is all that a reader sees; the blocks of the article are main."""

import re

import trafilatura
from lxml import etree
from lxml import html as lxml_html

from adapters.documents.charset import Decoded, decode
from adapters.documents.html_text import VisibleText
from adapters.documents.reading import Reading, Segment, Unreadable, number_blocks
from state.values.blocks import BlockKind, Document, Outcome

EXTRACTOR = "html"
VERSION = "1"

_DECLARATION = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]+)|<\?xml[^>]{0,100}encoding\s*=\s*["']([\w.:-]+)""",
    re.IGNORECASE,
)
# Letters and digits; scripts without spaces count by character.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")
_SHINGLE = 4
_MAIN_SHARE = 0.6


def read_html(data: bytes, *, charset: str = "") -> Reading:
    """Return the visible text of a page, with the article's blocks marked as `main`.

    What is hidden, and scripts, styles and templates are left out. When no article is found, all
    blocks are main. The title is the page's `<title>`, else its first `<h1>`, else None. Entities
    other than HTML's own are not expanded, and nothing is loaded.
    """
    decoded = decode(data, declared=charset or _declared_charset(data))
    tree, too_deep = _parse(decoded)
    visible = VisibleText()
    visible.read(tree)
    text, segments = visible.text, visible.segments
    lost = decoded.lost or (
        "the page is nested too deeply to be read to its end" if too_deep else ""
    )
    if too_deep and not segments:
        raise Unreadable(Outcome.LIMIT, "The page is nested deeper than 256 levels.")
    warnings = [lost] if lost else []
    if visible.hidden:
        warnings.append(f"text that the page hides was left out ({visible.hidden} characters)")
    document = Document(
        text=text,
        blocks=number_blocks(text, _mark_main(text, segments, _article(tree))),
        media_type="text/html",
        extractor=EXTRACTOR,
        extractor_version=f"{VERSION}+trafilatura-{trafilatura.__version__}",
        title=_title(tree, text, segments),
        warnings=tuple(warnings),
    )
    return Reading(document, lost)


def _declared_charset(data: bytes) -> str:
    found = _DECLARATION.search(data[:4096])
    if not found:
        return ""
    name = (found[1] or found[2]).decode("ascii", "replace")
    return "utf-8" if name.lower().startswith("utf-16") else name  # WHATWG HTML §13.2.3.2


def _parse(decoded: Decoded) -> tuple[lxml_html.HtmlElement, bool]:
    parser = lxml_html.HTMLParser(
        encoding="utf-8", huge_tree=False, no_network=True, remove_comments=True, remove_pis=True
    )
    try:
        tree = lxml_html.document_fromstring(decoded.text.encode(), parser=parser)
    except etree.ParserError as error:
        raise Unreadable(Outcome.EMPTY, "The page holds no text.") from error
    too_deep = any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log)
    return tree, too_deep


def _article(tree: lxml_html.HtmlElement) -> str:
    try:
        return trafilatura.extract(tree, include_comments=False) or ""
    except Exception:  # noqa: BLE001 - heuristics over any page; without them all blocks are main
        return ""


def _title(tree: lxml_html.HtmlElement, text: str, segments: list[Segment]) -> str | None:
    for element in tree.iterfind(".//title"):
        if not any(parent.tag == "svg" for parent in element.iterancestors()):
            title = " ".join(element.text_content().split())
            if title:
                return title
    for element in tree.iter("h1"):
        wanted = " ".join(element.text_content().split())
        for segment in segments:
            if segment.kind is BlockKind.HEADING and text[segment.start : segment.end] == wanted:
                return wanted or None
    return None


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _shingles(words: list[str]) -> list[tuple[str, ...]]:
    return [tuple(words[i : i + _SHINGLE]) for i in range(len(words) - _SHINGLE + 1)]


def _mark_main(text: str, segments: list[Segment], article: str) -> list[Segment]:
    """Return `segments` with `main` set where their words are the article's."""
    if not _words(article):
        return segments
    lines = {tuple(_words(line)) for line in article.splitlines()}
    known = set(_shingles(_words(article)))
    marked: list[Segment] = []
    next_is_main = False
    for segment in reversed(segments):
        words = _words(text[segment.start : segment.end])
        shingles = _shingles(words)
        share = sum(shingle in known for shingle in shingles) / len(shingles) if shingles else 0
        is_main = share >= _MAIN_SHARE or (bool(words) and tuple(words) in lines)
        if segment.kind is BlockKind.HEADING:
            is_main = is_main or next_is_main
        next_is_main = is_main
        marked.append(
            Segment(segment.kind, segment.start, segment.end, segment.heading, main=is_main)
        )
    return marked[::-1]
