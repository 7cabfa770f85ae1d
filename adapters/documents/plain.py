"""Reads plain text and reStructuredText-like files: paragraphs, underlined headings, list items."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from adapters.documents.charset import decode
from adapters.documents.reading import Reading, Segment, number_blocks
from state.values.blocks import BlockKind, Document

EXTRACTOR = "plain"
VERSION = "2"

# Next line (NEL), line and paragraph separator end lines too (Unicode, UAX 14).
_LINE = re.compile("[^\r\n\f\x85\u2028\u2029]*(?:\r\n|[\r\n\f\x85\u2028\u2029]|\\Z)")
_RULE = re.compile(r"([=\-~^\"'`*+#:._])\1{2,}\Z")
_ITEM = re.compile(r"[ \t]*(?:[-*+•‣\u2013]|\(?(?:\d{1,3}|[A-Za-z]|#)[.)])[ \t]+\S")
_MACHINERY = re.compile(
    r"\.\. (?:_|\[|\||toctree::|image::|raw::|index::|meta::|\w+:\w*directive)|\.\.\Z"
)
_MAX_HEADING = 200


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int
    text: str

    @property
    def is_rule(self) -> bool:
        return _RULE.match(self.text.strip()) is not None


def read_plain(data: bytes, *, charset: str = "", media_type: str = "text/plain") -> Reading:
    """Return plain text with its paragraphs, which are separated by blank lines.

    A line with a rule of punctuation under it is a heading; when one opens the document it is the
    title. A paragraph that begins with a bullet or number is split into its items.
    """
    decoded = decode(data, declared=charset)
    text = decoded.text
    segments = list(_segments(text))
    opening = segments[0] if segments else None
    is_titled = opening is not None and opening.kind is BlockKind.HEADING
    document = Document(
        text=text,
        blocks=number_blocks(text, segments),
        media_type=media_type,
        extractor=EXTRACTOR,
        extractor_version=VERSION,
        title=_spaced(text[opening.start : opening.end]) if opening and is_titled else None,
        warnings=(decoded.lost,) if decoded.lost else (),
    )
    return Reading(document, decoded.lost)


def read_code(data: bytes, *, charset: str = "", media_type: str = "text/plain") -> Reading:
    """Return source code: as plain text, but every run of lines is code; there is no title."""
    decoded = decode(data, declared=charset)
    segments = [
        Segment(BlockKind.CODE, group[0].start, group[-1].end) for group in _groups(decoded.text)
    ]
    document = Document(
        text=decoded.text,
        blocks=number_blocks(decoded.text, segments),
        media_type=media_type,
        extractor=EXTRACTOR,
        extractor_version=VERSION,
        warnings=(decoded.lost,) if decoded.lost else (),
    )
    return Reading(document, decoded.lost)


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _groups(text: str) -> Iterator[list[_Line]]:
    """Yield the runs of lines between blank ones."""
    group: list[_Line] = []
    for match in _LINE.finditer(text):
        if match[0].strip():
            group.append(_Line(match.start(), match.end(), match[0].rstrip()))
        elif group:
            yield group
            group = []
        if match[0].endswith("\f") and group:
            yield group
            group = []
    if group:
        yield group


def _segments(text: str) -> Iterator[Segment]:
    heading = ""
    styles: list[tuple[str, bool]] = []
    for group in _groups(text):
        rest = group
        while rest and (taken := _heading_lines(rest)):
            title, rule = rest[taken - 2], rest[taken - 1]
            level = _level((rule.text.strip()[0], taken == 3), styles)
            yield Segment(BlockKind.HEADING, title.start, title.end, heading=heading, level=level)
            heading = _spaced(title.text)[:_MAX_HEADING]
            rest = rest[taken:]
        while rest and rest[0].is_rule:
            rest = rest[1:]
        if not rest:
            continue
        if _ITEM.match(rest[0].text):
            yield from _items(rest, heading)
        else:
            yield _paragraph(rest, heading)


def _level(style: tuple[str, bool], styles: list[tuple[str, bool]]) -> int:
    """Return the depth of a heading by when its rule, over and under or under, first occurred."""
    if style not in styles:
        styles.append(style)
    return styles.index(style) + 1


def _heading_lines(lines: list[_Line]) -> int:
    """Return how many of the first lines make a heading (its rules included), or 0."""
    over = 1 if lines[0].is_rule else 0
    if len(lines) < over + 2:
        return 0
    title, rule = lines[over], lines[over + 1]
    text = title.text.strip()
    if not rule.is_rule or title.is_rule or len(text) > _MAX_HEADING:
        return 0
    if not any(map(str.isalnum, text)) or len(rule.text.strip()) < min(len(text), 8) - 1:
        return 0
    return over + 2


def _paragraph(lines: list[_Line], heading: str) -> Segment:
    opening = lines[0].text
    is_table = sum(line.text.count("|") > 1 for line in lines) == len(lines) > 1
    kind = BlockKind.TABLE if is_table else BlockKind.PARAGRAPH
    is_machinery = _MACHINERY.match(opening) is not None
    return Segment(kind, lines[0].start, lines[-1].end, heading=heading, main=not is_machinery)


def _items(lines: list[_Line], heading: str) -> Iterator[Segment]:
    start = lines[0].start
    for previous, line in pairwise(lines):
        if _ITEM.match(line.text):
            yield Segment(BlockKind.LIST, start, previous.end, heading=heading)
            start = line.start
    yield Segment(BlockKind.LIST, start, lines[-1].end, heading=heading)
