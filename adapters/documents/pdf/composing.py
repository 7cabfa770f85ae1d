"""Composes a document's text and blocks from the lines of its pages."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from adapters.documents.pdf.edges import edge_lines
from adapters.documents.pdf.joining import Chain, chains, sentence_cuts
from adapters.documents.pdf.lines import Line
from adapters.documents.pdf.paragraphs import Measure, Paragraph, depth_of, group, measure
from adapters.documents.reading import Segment
from state.values.blocks import BlockKind

_MAX_LEVEL = 6


@dataclass(frozen=True, slots=True)
class Composition:
    """A text and its segments, with the headings in order."""

    text: str
    segments: tuple[Segment, ...]
    headings: tuple[Paragraph, ...]
    usual: Measure


def compose(pages: Sequence[Sequence[Line]]) -> Composition:
    """Return the text of pages whose lines are in reading order, and its segments.

    Running heads, page numbers, text across the page and hidden lines are not main; they come
    after the paragraph that goes on past them.
    """
    edges = edge_lines(pages)
    flow = [[line for line in page if _is_flow(line) and id(line) not in edges] for page in pages]
    usual = measure([line for page in flow for line in page])
    found: list[Paragraph] = []
    for page, lines in zip(pages, flow, strict=True):
        found += group(lines, usual)
        found += [
            Paragraph(BlockKind.PARAGRAPH, (line,), main=False)
            for line in page
            if not _is_flow(line) or id(line) in edges
        ]
    found = _without_labels(found)
    levels = _levels(found)
    writer = _Writer(levels)
    for chain in chains(found, usual):
        writer.add(chain)
    headings = tuple(p for p in found if p.kind is BlockKind.HEADING)
    return Composition("".join(writer.parts), tuple(writer.segments), headings, usual)


def _is_flow(line: Line) -> bool:
    return not line.hidden and not line.aside


def _without_labels(found: Sequence[Paragraph]) -> list[Paragraph]:
    """Return `found` with what stands several times and heads nothing as no heading.

    Such are the labels of figures, which are often larger than the text.
    """
    heads: Counter[str] = Counter()
    idle: Counter[str] = Counter()
    main = [paragraph for paragraph in found if paragraph.main]
    for at, paragraph in enumerate(main):
        if paragraph.kind is BlockKind.HEADING:
            below = main[at + 1].kind if at + 1 < len(main) else BlockKind.CAPTION
            heads[paragraph.text] += 1
            idle[paragraph.text] += below in (BlockKind.HEADING, BlockKind.CAPTION)
    labels = {text for text, count in heads.items() if count == idle[text] > 1}
    return [
        replace(paragraph, kind=BlockKind.PARAGRAPH)
        if paragraph.kind is BlockKind.HEADING and paragraph.text in labels
        else paragraph
        for paragraph in found
    ]


def _rank(heading: Paragraph) -> tuple[float, int]:
    return -round(heading.lines[0].size * 2) / 2, depth_of(heading.text)


def _levels(found: Sequence[Paragraph]) -> dict[tuple[float, int], int]:
    """Return the level of each look that headings have, the largest first."""
    ranks = sorted({_rank(p) for p in found if p.kind is BlockKind.HEADING})
    return {rank: min(level, _MAX_LEVEL) for level, rank in enumerate(ranks, start=1)}


@dataclass(slots=True)
class _Writer:
    levels: dict[tuple[float, int], int]
    parts: list[str] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    _length: int = 0
    _heading: str = ""
    _last: BlockKind | None = None

    def add(self, chain: Chain) -> None:
        first = chain[0]
        if self.parts:
            after_item = first.kind is BlockKind.LIST and self._last is BlockKind.LIST
            self._emit("\n" if after_item else "\n\n")
        self._last = first.kind
        texts = [paragraph.text for paragraph in chain]
        start = self._length
        self._emit("\n".join(texts))
        self._segment(chain, start, sentence_cuts(texts))

    def _segment(self, chain: Chain, start: int, cuts: Sequence[int]) -> None:
        """Add the segments of a chain: one for each page that a sentence of it begins on."""
        first = chain[0]
        level = self.levels[_rank(first)] if first.kind is BlockKind.HEADING else 0
        heading = self._heading if first.main else ""
        made: list[Segment] = []
        for paragraph, cut in zip(chain, [0, *cuts], strict=True):
            at = start + cut
            if made and made[-1].page == paragraph.page:
                continue
            if made:
                made[-1] = replace(made[-1], end=at)
            made.append(
                Segment(first.kind, at, self._length, heading, first.main, paragraph.page, level)
            )
        self.segments += [segment for segment in made if segment.start < segment.end]
        if first.kind is BlockKind.HEADING:
            self._heading = " ".join(first.text.split())

    def _emit(self, text: str) -> None:
        self.parts.append(text)
        self._length += len(text)
