"""Reads Markdown: the text is the source itself, the blocks are ranges of it."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from adapters.documents.charset import decode
from adapters.documents.reading import Reading, Segment, number_blocks
from state.values.blocks import BlockKind, Document

EXTRACTOR = "markdown"
VERSION = "1"

_MAX_NESTING = 40
_FRONT_MATTER = re.compile(
    r"(---|\+\+\+)[ \t]*\r?\n(?:.*?\r?\n)??(?:\1|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL
)
_STATED_TITLE = re.compile(r"^title[ \t]*[:=][ \t]*(\S.*?)[ \t]*\r?$", re.MULTILINE | re.IGNORECASE)
_LINE = re.compile(r"\r\n|\r|\n")
_TAG = re.compile(r"<!--.*?-->|<[^<>]*>", re.DOTALL)


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING}).enable("table")
    # Only headings and pictures need their inline marks read; see _plain.
    return parser.disable(["inline", "text_join"])


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
    comments and lone pictures are no evidence.
    """
    decoded = decode(data, declared=charset)
    text = decoded.text
    source = _Source(text, (0, *(match.end() for match in _LINE.finditer(text)), len(text)))
    front = _front_matter(text)
    skipped = bisect_left(source.lines, len(front))
    tokens = _parser().parse("\n" * skipped + text[len(front) :])
    segments = list(_segments(tokens, source))
    if front:
        segments.insert(0, Segment(BlockKind.CODE, 0, len(front), main=False))
    too_deep = any(token.level >= _MAX_NESTING - 2 for token in tokens)
    deep = f"text nested deeper than {_MAX_NESTING} levels is not offered as evidence"
    document = Document(
        text=text,
        blocks=number_blocks(text, segments),
        media_type="text/markdown",
        extractor=EXTRACTOR,
        extractor_version=VERSION,
        title=_stated_title(front) or _first_h1(tokens),
        warnings=tuple(filter(None, (decoded.lost, deep if too_deep else ""))),
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
    words: list[str] = []
    for token in _inline_parser().parseInline(content):
        for child in token.children or ():
            if child.type in ("text", "code_inline"):
                words.append(child.content)
            elif child.type in ("softbreak", "hardbreak"):
                words.append(" ")
    return " ".join("".join(words).split())


def _segments(tokens: list[Token], source: _Source) -> Iterator[Segment]:
    heading = ""
    lists = tables = 0
    in_heading = False
    for token in tokens:
        if token.type.endswith("_list_open"):
            lists += 1
        elif token.type.endswith("_list_close"):
            lists -= 1
        elif token.type == "table_open":
            tables += 1
            yield Segment(BlockKind.TABLE, *source.span(token), heading=heading)
        elif token.type == "table_close":
            tables -= 1
        elif token.type == "heading_open":
            in_heading = True
        elif token.type == "heading_close":
            in_heading = False
        elif token.type in ("fence", "code_block"):
            yield Segment(BlockKind.CODE, *_code_span(token, source), heading=heading)
        elif token.type == "html_block":
            start, end = source.span(token)
            shows_words = any(map(str.isalnum, _TAG.sub("", token.content[:4_000])))
            yield Segment(BlockKind.PARAGRAPH, start, end, heading=heading, main=shows_words)
        elif token.type == "inline" and in_heading:
            start, end = _content_span(token, source)
            yield Segment(BlockKind.HEADING, start, end, heading=heading)
            heading = _plain(token.content)
        elif token.type == "inline" and not tables:
            start, end = _content_span(token, source)
            kind = _prose_kind(token.content, in_list=lists > 0)
            pictures_only = token.content.startswith(("![", "[![")) and not _plain(token.content)
            yield Segment(kind, start, end, heading=heading, main=not pictures_only)


def _prose_kind(content: str, *, in_list: bool) -> BlockKind:
    if content.startswith("[^"):
        return BlockKind.FOOTNOTE
    if len(content) > 4 and content.startswith("$$") and content.endswith("$$"):
        return BlockKind.EQUATION
    return BlockKind.LIST if in_list else BlockKind.PARAGRAPH


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
