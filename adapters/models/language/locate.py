"""Where a quote stands that a model gave: exactly, or it is no quote."""

import re
from collections.abc import Iterable, Sequence

from adapters.models.extractive.sentences import split
from adapters.models.port import Selected
from state.values.evidence import Passage
from state.values.normal_form import Span
from state.values.orders import ordering_paragraphs
from state.values.quotes import MAX_QUOTE, MIN_QUOTE, NormalisedText

_ELLIPSIS = re.compile(r"\s*(?:\[?…\]?|\[?\.{3,}\]?)\s*")
_NUMBER = re.compile(r"\A\s*\[\s*[pheq]\s*\d+(?:,[^\]]{0,40})?\]\s*", re.IGNORECASE)
_WRAPPED = re.compile(r"\A\s*[\"“”„«»‘’']+|[\"“”„«»‘’']+\s*\Z")
_LONGEST_SENTENCE = 600
_SHORTEST_PIECE = 20


class Finder:
    """Finds quotes in passages, each of which is made ready once."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages
        self._ready: dict[int, NormalisedText] = {}
        self._orders: dict[int, list[tuple[int, int]]] = {}
        self._sentences: dict[int, list[Span]] = {}

    def find(self, quote: str, at: int | None, subquestion_id: str) -> Selected | None:
        """Return `quote` as it stands in the passage with index `at`, else in another one.

        What is found is a slice of the passage: the whole sentence where the quote is part of just
        one. None when the words stand nowhere, or where a source gives orders to its reader.
        """
        for said in readings(quote):
            for place in self._places(at):
                span = self._span(place, said)
                if span is not None:
                    return select(self._passages[place], span, subquestion_id)
        return None

    def shown(self, at: int) -> str:
        """Return the text of a passage without what gives orders to its reader."""
        text = self._passages[at].text
        for start, end in reversed(self._ordering(at)):
            text = text[:start].rstrip() + "\n" + text[end:].lstrip()
        return text.strip()

    def _places(self, at: int | None) -> Iterable[int]:
        first = [at] if at is not None else []
        source = self._passages[at].source_id if at is not None else ""
        others = [index for index in range(len(self._passages)) if index != at]
        return [*first, *sorted(others, key=lambda i: self._passages[i].source_id != source)]

    def _span(self, at: int, quote: str) -> Span | None:
        if at not in self._ready:
            self._ready[at] = NormalisedText(self._passages[at].text)
        found = self._ready[at].find_all(quote, limit=2)
        if not found:
            return None
        span = self._widened(at, found[0]) if len(found) == 1 else found[0]
        ordering = self._ordering(at)
        if any(start < span.end and span.start < end for start, end in ordering):
            return None
        return _trimmed(self._passages[at].text, span)

    def _widened(self, at: int, span: Span) -> Span:
        """Return the only sentence that `span` is part of, or `span`."""
        if at not in self._sentences:
            self._sentences[at] = [Span(s.start, s.end) for s in split(self._passages[at].text)]
        whole = [
            sentence
            for sentence in self._sentences[at]
            if sentence.start <= span.start and span.end <= sentence.end
        ]
        shortest = min(whole, key=lambda each: each.end - each.start, default=span)
        return shortest if shortest.end - shortest.start <= _LONGEST_SENTENCE else span

    def _ordering(self, at: int) -> list[tuple[int, int]]:
        if at not in self._orders:
            self._orders[at] = ordering_paragraphs(self._passages[at].text)
        return self._orders[at]


def select(passage: Passage, span: Span, subquestion_id: str) -> Selected:
    """Return the range `span` of `passage` as evidence; what was taken is the source's own text."""
    return Selected(
        subquestion_id=subquestion_id,
        source_id=passage.source_id,
        locator=passage.locator,
        title=passage.title,
        text=passage.text[span.start : span.end],
        start=passage.start + span.start,
        end=passage.start + span.end,
        paragraph=passage.paragraph,
        page=passage.page,
        heading=passage.heading,
        modified_at=passage.modified_at,
    )


def readings(quote: str) -> list[str]:
    """Return what a model may have meant to quote: as it is, without marks, then in pieces."""
    plain = _NUMBER.sub("", quote).strip()
    bare = _WRAPPED.sub("", plain).strip()
    pieces = [piece for piece in _ELLIPSIS.split(bare) if len(piece) >= _SHORTEST_PIECE]
    readings = [plain, bare, *sorted(pieces, key=len, reverse=True)]
    return [each for each in dict.fromkeys(readings) if MIN_QUOTE <= len(each) <= MAX_QUOTE]


def _trimmed(text: str, span: Span) -> Span | None:
    piece = text[span.start : span.end]
    start = span.start + len(piece) - len(piece.lstrip())
    end = span.start + len(piece.rstrip())
    return Span(start, end) if MIN_QUOTE <= end - start <= MAX_QUOTE else None
