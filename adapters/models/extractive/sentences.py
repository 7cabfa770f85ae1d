"""Where sentences, list items, table rows and code begin and end inside a passage."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from adapters.models.extractive.terms import is_unspaced

MIN_QUOTE = 4
MAX_QUOTE = 1800
_WIDE_TABLE = 750
_LEAD_LIST = 700
_ANAPHOR = 420
_TERSE = 12

_END = re.compile(r"[.!?…]+[\"'”’»)\]*_]*(?=\s)|[。！？；]+[”’」』）]*|\n[ \t]*\n")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|etc|al|approx|ca|no|nos|nr|fig|figs|eq|eqs|sec|ch|vol|pp?|ed|eds|dr|mr"
    r"|mrs|ms|prof|st|sr|jr|inc|ltd|co|corp|dept|est|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
    r"|bzw|usw|vgl|abs|art|bd|hrsg|str|mio|mrd|tel|max|min|u\.a|z\.\s?b|d\.\s?h|s\.\s?o|gen|col|capt"
    r"|lt|rev|hon|gov|sen|rep|u\.s|u\.k|a\.m|p\.m)|(?<![^\W\d_])(?-i:[A-ZÀ-ÖØ-Þ]))\.\Z",
    re.IGNORECASE,
)
_WORD_END = re.compile(r"[^\W\d_]{4,}[\"'”’»)\]*_`]*\.\Z")
_ORDINAL = re.compile(r"(?:^|[\s(])\d{1,2}\.\Z")
_MONTH = re.compile(
    r"\s*(?:Jan|Feb|M[aä]r|Apr|Ma[iy]|Jun|Jul|Aug|Sep|O[ck]t|Nov|De[cz])[a-zäé]*\b", re.IGNORECASE
)
_ITEM = re.compile(r"[ \t]*(?:[-*+•–·▪]|\(?\d{1,3}[.)]|\(?[a-z][.)])[ \t]+", re.IGNORECASE)
_ROW = re.compile(
    r"[ \t]*\|.*\||[^|\n]+\|[^|\n]+\|.*|[^\t\n]+\t[^\t\n]+\t.*|.*\S {3,}\S.* {3,}\S.*"
)
_RULE = re.compile(r"[\s|:+=-]+\Z")
_FIELD = re.compile(r"[A-Z][\w-]{1,30}(?: [\w-]{1,20}){0,2}:[ \t]+\S")
_FEWEST_FIELDS = 3
_NAMING = re.compile(r"(?:Name|Title|Package|Product|Project|Titel):")
_CODE = re.compile(r"\s*(?:```|~~~|>>>|\$ |#!|(?:def|class|import|from|return|const|let|var) )")
_ANAPHORIC = re.compile(
    r"(?:It|Its|They|Their|These|This|Those|That|He|She|His|Her|Such|Both|There|Here|Then|But|"
    r"However|Also|Er|Sie|Es|Diese[rsnm]?|Dies|Dabei|Dort|Il|Elle|它|他|她|该|这)\b"
)


@dataclass(frozen=True, slots=True)
class Span:
    """A candidate quote `text[start:end]`; `context` is what the layout adds (a table's header)."""

    start: int
    end: int
    context: str = ""


def split(text: str) -> list[Span]:
    """Return the quotable ranges of a passage, 4 to 1800 characters each, in order of their starts.

    Ranges may overlap: a sentence that begins with a pronoun, or follows a question or a colon, is
    offered with the one before it too; a list with the sentence that leads into it.
    """
    spans: list[Span] = []
    for start, end in _chunks(text):
        spans.extend(_split_chunk(text, start, end))
    spans = [piece for span in spans for piece in _bounded(text, span)]
    return sorted(set(spans), key=lambda span: (span.start, span.end))


def _chunks(text: str) -> Iterator[tuple[int, int]]:
    """Yield runs of lines of one kind: rows, code, items, prose."""
    start, kind, at, fenced = 0, "", 0, False
    for line in text.splitlines(keepends=True):
        fence = line.lstrip().startswith(("```", "~~~"))
        here = "code" if fenced or fence else _kind(line, kind)
        fenced = fenced != fence
        if here != kind and kind:
            yield start, at
            start = at
        kind = here
        at += len(line)
    if at > start:
        yield start, at


def _kind(line: str, previous: str) -> str:
    if not line.strip():
        return previous or "prose"
    if _CODE.match(line):
        return "code"
    if _ROW.match(line) and len(line) < 2000:
        return "rows"
    if _ITEM.match(line):
        return "items"
    if previous in ("items", "code") and line[0] in " \t":
        return previous
    return "prose"


def is_field(text: str) -> bool:
    """Tell whether `text` is one line that names a thing and states its value: "Version: 3.1"."""
    return _FIELD.match(text) is not None and "\n" not in text.strip()


def is_item(text: str) -> bool:
    """Tell whether `text` begins as an item of a list does."""
    return _ITEM.match(text) is not None


def _fields(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the lines of a list of fields, each with what goes on under it; else nothing.

    The list may be a piece of a longer one, and begin within a field.
    """
    found: list[tuple[int, int]] = []
    others = 0
    for a, b in _lines(text, start, end):
        if _FIELD.match(text, a):
            found.append((a, b))
        elif text[a:b].strip():
            others += text[a] not in " \t"
            found = [*found[:-1], (found[-1][0], b)] if found else [(a, b)]
    return found if len(found) >= max(_FEWEST_FIELDS, 3 * others) else []


def _split_chunk(text: str, start: int, end: int) -> Iterator[Span]:
    first = text[start:end].lstrip("\n").split("\n", 1)[0]
    kind = "code" if first.lstrip().startswith(("```", "~~~")) else _kind(first, "")
    if kind == "rows":
        yield from _rows(text, start, end)
    elif kind == "code":
        yield Span(start, end)
    elif kind == "items":
        yield from _items(text, start, end)
    elif fields := _fields(text, start, end):
        named = (text[a:b] for a, b in fields if _NAMING.match(text, a))
        context = next(named, "").partition(":")[2].strip()
        yield from (Span(*_trim(text, a, b), context) for a, b in fields)
    else:
        yield from _prose(text, start, end)


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for line in text[start:end].splitlines(keepends=True):
        yield start, start + len(line)
        start += len(line)


def _rows(text: str, start: int, end: int) -> Iterator[Span]:
    rows = [(a, b) for a, b in _lines(text, start, end) if not _RULE.match(text[a:b])]
    header = text[rows[0][0] : rows[0][1]] if len(rows) > 1 else ""
    for a, b in rows[1:] or rows:
        whole = b - start <= _WIDE_TABLE
        yield Span(start if whole else a, b, "" if whole else header)


def _items(text: str, start: int, end: int) -> Iterator[Span]:
    at = start
    for a, _ in _lines(text, start, end):
        if a > at and _ITEM.match(text, a):
            yield from _prose(text, at, a)
            at = a
    yield from _prose(text, at, end)
    lead = text[:start].rstrip()
    if lead.endswith((":", "：")):
        begin = max(lead.rfind(mark) for mark in (". ", "\n", "。")) + 1
        if end - begin <= _LEAD_LIST:
            yield Span(begin, end)


def _prose(text: str, start: int, end: int) -> Iterator[Span]:
    previous: Span | None = None
    for a, b in _sentences(text, start, end):
        span = Span(a, b)
        terse = b - a <= _TERSE and is_unspaced(text[a])  # leaves its subject unsaid
        leans = terse or (
            previous is not None
            and (_ANAPHORIC.match(text, a) is not None or text[previous.end - 1] in "?？:：")
        )
        if previous and leans and b - previous.start <= _ANAPHOR:
            yield Span(previous.start, b)
        yield span
        previous = span


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    marker = _ITEM.match(text, start, end)
    at = start
    for match in _END.finditer(text, marker.end() if marker else start, end):
        if _goes_on(text, at, match.start(), match.end(), end):
            continue
        if text[at : match.end()].strip():
            yield _trim(text, at, match.end())
        at = match.end()
    if text[at:end].strip():
        yield _trim(text, at, end)


def _goes_on(text: str, at: int, stop: int, after: int, end: int) -> bool:
    if text[stop] != ".":
        return False
    if stop > at and text[stop - 1].isspace():  # " . ", as text without capitals is written
        return False
    head = text[max(at, stop - 12) : stop + 1]
    rest = text[after : min(end, after + 24)].lstrip()
    if rest and rest[0].islower():  # names such as npm begin sentences too
        return _WORD_END.search(head) is None or _ABBREVIATION.search(head) is not None
    if _ORDINAL.search(head) and (_MONTH.match(rest) or at == stop - len(head.lstrip()) + 1):
        return True
    return bool(rest) and _ABBREVIATION.search(head) is not None


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())


def _bounded(text: str, span: Span) -> Iterator[Span]:
    start, end = _trim(text, span.start, span.end)
    while end - start > MAX_QUOTE:
        cut = max(text.rfind(mark, start + MAX_QUOTE // 2, start + MAX_QUOTE) for mark in "\n; ，,")
        cut = cut + 1 if cut > 0 else start + MAX_QUOTE
        left = _trim(text, start, cut)
        if left[1] - left[0] >= MIN_QUOTE:
            yield Span(*left, span.context)
        start = _trim(text, cut, end)[0]
    if end - start >= MIN_QUOTE:
        yield Span(start, end, span.context)
