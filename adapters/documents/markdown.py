"""Reads Markdown: the text is the source itself, the blocks are ranges of it."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from adapters.documents.charset import decode
from adapters.documents.markdown_rules import NOTE, add_rules
from adapters.documents.reading import Reading, Segment, number_blocks
from adapters.documents.web_page import hidden
from state.values.blocks import BlockKind, Document, Quality

EXTRACTOR = "markdown"
VERSION = "2"

_MAX_NESTING = 40
_MAX_HEADING = 200
_MAX_NOTED = 1_000
_FRONT_MATTER = re.compile(
    r"(---|\+\+\+)[ \t]*\r?\n(?:.*?\r?\n)??(?:\1|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL
)
_STATED_TITLE = re.compile(r"^title[ \t]*[:=][ \t]*(\S.*?)[ \t]*\r?$", re.MULTILINE | re.IGNORECASE)
_LINE = re.compile(r"\r\n|\r|\n")
_TAG = re.compile(r"<!--.*?-->|<[^<>]*>", re.DOTALL)
_MARKS = re.compile(r"[\\`*_\[\]<&!]")
_REMARK = re.compile(
    r"^ {0,3}\[(?://|comment|_)\]:[ \t]*(?:#|<>)[ \t]*[(\"'](.{1,2000})[)\"'][ \t]*$", re.MULTILINE
)
_UNSHOWN_HTML = re.compile(r"\s*<(?:script|style|template)\b", re.IGNORECASE)
_HIDING_HTML = re.compile(
    r"<[a-z][^<>]{0,500}?(?:\shidden(?=[\s>=])|style\s*=[^<>]{0,300}?"
    r"(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d])|opacity\s*:\s*0(?![.\d])))",
    re.IGNORECASE,
)


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING}).enable("table")
    # Only headings and pictures need their inline marks read; see _plain.
    return add_rules(parser.disable(["inline", "text_join"]))


@lru_cache(maxsize=1)
def _inline_parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING})


@dataclass(frozen=True, slots=True)
class _Source:
    """The text, and where its lines begin (with one more entry for the end)."""

    text: str
    lines: tuple[int, ...]

    def span(self, token: Token) -> tuple[int, int]:
        first, last = token.map or (0, 0)
        end = len(self.lines) - 1
        return self.lines[min(first, end)], self.lines[min(last, end)]


def read_markdown(data: bytes, *, charset: str = "") -> Reading:
    """Return Markdown with its blocks; every list item is a block of its own.

    The title is the one in the front matter, else the first heading of level 1. Front matter,
    comments and lone pictures are no evidence. Markers of lists, headings and notes are not part of
    their blocks.
    """
    decoded = decode(data, declared=charset)
    text = decoded.text
    source = _Source(text, (0, *(match.end() for match in _LINE.finditer(text)), len(text)))
    front = _front_matter(text)
    skipped = bisect_left(source.lines, len(front))
    tokens = _parser().parse("\n" * skipped + text[len(front) :])
    walk = _Walk(source)
    segments = list(walk.segments(tokens))
    if front:
        segments.insert(0, Segment(BlockKind.CODE, 0, len(front), main=False))
    too_deep = any(token.level >= _MAX_NESTING - 2 for token in tokens)
    deep = f"text nested deeper than {_MAX_NESTING} levels is not offered as evidence"
    remarks = (found[1].strip("\"'") for found in _REMARK.finditer(text))
    concealed = [*walk.concealed, *filter(None, map(hidden.told, remarks))][:_MAX_NOTED]
    orders = hidden.warning(concealed)
    document = Document(
        text=text,
        blocks=number_blocks(text, segments),
        media_type="text/markdown",
        extractor=EXTRACTOR,
        extractor_version=VERSION,
        title=_stated_title(front) or _first_h1(tokens),
        warnings=tuple(filter(None, (decoded.lost, deep if too_deep else "", *orders))),
        quality=Quality(hidden_text=hidden.beginnings(concealed)),
    )
    return Reading(document, decoded.lost or (deep if too_deep else ""))


def _front_matter(text: str) -> str:
    found = _FRONT_MATTER.match(text[:20_000])
    return found[0] if found else ""


def _stated_title(front: str) -> str | None:
    found = _STATED_TITLE.search(front)
    if not found:
        return None
    title = found[1]
    if len(title) > 1 and title[0] == title[-1] and title[0] in "\"'":
        title = title[1:-1]
    return " ".join(title.split()) or None


def _first_h1(tokens: list[Token]) -> str | None:
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open" and opening.tag == "h1":
            return _plain(inline.content) or None
    return None


def _plain(content: str) -> str:
    """Return the words of inline Markdown without its marks."""
    if not _MARKS.search(content):
        return " ".join(content.split())
    words: list[str] = []
    for token in _inline_parser().parseInline(content):
        for child in token.children or ():
            if child.type in ("text", "code_inline"):
                words.append(child.content)
            elif child.type in ("softbreak", "hardbreak"):
                words.append(" ")
    return " ".join("".join(words).split())


@dataclass(slots=True)
class _Walk:
    """Turns tokens into segments; `concealed` collects what the source holds for no reader."""

    source: _Source
    concealed: list[str] = field(default_factory=list[str])
    heading: str = ""

    def segments(self, tokens: list[Token]) -> Iterator[Segment]:
        lists = tables = level = 0
        for token in tokens:
            if token.type.endswith("_list_open"):
                lists += 1
            elif token.type.endswith("_list_close"):
                lists -= 1
            elif token.type == "table_open":
                tables += 1
                span = self.source.span(token)
                yield Segment(BlockKind.TABLE, *span, heading=self.heading)
            elif token.type == "table_close":
                tables -= 1
            elif token.type == "heading_open":
                level = int(token.tag[1:])
            elif token.type == "heading_close":
                level = 0
            elif token.type == "inline" and level:
                yield self._heading(token, level)
            elif token.type == "inline" and not tables:
                yield from self._prose(token, in_list=lists > 0)
            else:
                yield from self._leaf(token)

    def _heading(self, token: Token, level: int) -> Segment:
        span = _content_span(token, self.source)
        above, self.heading = self.heading, _plain(token.content)[:_MAX_HEADING]
        return Segment(BlockKind.HEADING, *span, heading=above, level=level)

    def _leaf(self, token: Token) -> Iterator[Segment]:
        if token.type in ("fence", "code_block"):
            span = _code_span(token, self.source)
            yield Segment(BlockKind.CODE, *span, heading=self.heading)
        elif token.type == "html_block":
            yield self._markup(token)
        elif token.type == "formula":
            span = self.source.span(token)
            yield Segment(BlockKind.EQUATION, *span, heading=self.heading)
        elif token.type == "note":
            start, end = self.source.span(token)
            if mark := NOTE.search(self.source.text, start, end):
                start = mark.end()
            yield Segment(BlockKind.FOOTNOTE, start, end, heading=self.heading)

    def _markup(self, token: Token) -> Segment:
        start, end = self.source.span(token)
        head = token.content[:4_000]
        words = _TAG.sub("", head)
        shows_words = any(map(str.isalnum, words)) and not _UNSHOWN_HTML.match(head)
        if head.lstrip().startswith("<!--"):
            self._conceal(head.strip().removeprefix("<!--").removesuffix("-->"))
        elif _HIDING_HTML.search(head):
            self.concealed.append(" ".join(words.split()))
            shows_words = False
        opening = head.lstrip().lower()
        kind = BlockKind.TABLE if opening.startswith("<table") else BlockKind.PARAGRAPH
        kind = BlockKind.CODE if opening.startswith("<pre") else kind
        return Segment(kind, start, end, heading=self.heading, main=shows_words)

    def _prose(self, token: Token, *, in_list: bool) -> Iterator[Segment]:
        start, end = _content_span(token, self.source)
        kind = BlockKind.LIST if in_list else BlockKind.PARAGRAPH
        content = token.content
        pictures_only = content.startswith(("![", "[![")) and not _plain(content)
        at = start
        for opening, closing in _comments(self.source.text, start, end):
            yield Segment(kind, at, opening, heading=self.heading, main=not pictures_only)
            yield Segment(BlockKind.PARAGRAPH, opening, closing, heading=self.heading, main=False)
            self._conceal(self.source.text[opening + 4 : closing - 3])
            at = closing
        yield Segment(kind, at, end, heading=self.heading, main=not pictures_only)

    def _conceal(self, comment: str) -> None:
        if len(self.concealed) < _MAX_NOTED and (said := hidden.told(comment)):
            self.concealed.append(said)


def _comments(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of comments that begin and end in `text[start:end]`."""
    while (opening := text.find("<!--", start, end)) >= 0:
        closing = text.find("-->", opening, end)
        if closing < 0:
            return
        start = closing + 3
        if not opening or text[opening - 1] != "\\":
            yield opening, start


def _content_span(token: Token, source: _Source) -> tuple[int, int]:
    """Return the range of the content itself: without `#`, `-` or `>` before it, or `#` after."""
    start, end = source.span(token)
    lines = token.content.split("\n")
    # The parser replaces NUL and line ends and no other character, and decoding left no NUL.
    begin = source.text.find(lines[0], start, end)
    finish = source.text.rfind(lines[-1], start, end)
    if begin < 0 or finish < begin:
        return start, end
    return begin, finish + len(lines[-1])


def _code_span(token: Token, source: _Source) -> tuple[int, int]:
    """Return the range of the code, without the fence around it."""
    start, end = source.span(token)
    if token.type != "fence" or token.map is None:
        return start, end
    first, last = token.map
    body = source.lines[min(first + 1, len(source.lines) - 1)]
    closing = source.text[source.lines[last - 1] : end].strip(" \t\r\n>")
    closed = (
        last - 1 > first and closing.startswith(token.markup) and not closing.strip(token.markup[0])
    )
    return body, max(body, source.lines[last - 1] if closed else end)
