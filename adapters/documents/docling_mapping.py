"""Maps what docling found in a document onto ours: text, and blocks that are ranges of it."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from adapters.documents.reading import Segment, number_blocks
from state.values.blocks import BlockKind, Document, Quality

EXTRACTOR = "docling"
VERSION = "1"
PACKAGES = ("docling", "docling-slim", "docling-core", "docling-ibm-models")
"""What docling's reading depends on, as far as it is installed."""

_KINDS = {
    "title": BlockKind.HEADING,
    "section_header": BlockKind.HEADING,
    "field_heading": BlockKind.HEADING,
    "list_item": BlockKind.LIST,
    "table": BlockKind.TABLE,
    "document_index": BlockKind.TABLE,
    "code": BlockKind.CODE,
    "formula": BlockKind.EQUATION,
    "caption": BlockKind.CAPTION,
    "footnote": BlockKind.FOOTNOTE,
}
_BESIDES = ("page_header", "page_footer", "document_index")  # no evidence, whatever their layer
_MAX_HIDDEN, _MAX_BEGINNING = 20, 200

# Docling is an optional package: of its objects nothing is known here but what this module reads.
_Item = Any


@dataclass(slots=True)
class _Text:
    """The text as it grows, and the segments of it."""

    parts: list[str] = field(default_factory=list[str])
    segments: list[Segment] = field(default_factory=list[Segment])
    length: int = 0

    def add(self, text: str, before: str) -> int:
        """Append `text`, with `before` in front of it unless it is the first; return its start."""
        before = before if self.parts else before.lstrip("\n")
        self.parts.append(before + text)
        self.length += len(before) + len(text)
        return self.length - len(text)


def map_document(found: _Item, *, media_type: str) -> Document:
    """Return the document that the `DoclingDocument` `found` is: blocks in its reading order.

    Page headers and footers, notes of an author, hidden text, text inside of pictures and tables of
    contents are kept, but are not what the document is about (`main=False`).
    """
    text = _Text()
    hidden: list[str] = []
    pages: set[int] = set()
    title: str | None = None
    heading, pictures = "", 0
    inline: str | None = None
    for item, in_picture in _items(found):
        label = str(getattr(item.label, "value", item.label))
        pictures += label in ("picture", "chart")
        said = _said(item, label)
        if not said:
            continue
        layer, kind = item.content_layer.value, _KINDS.get(label, BlockKind.PARAGRAPH)
        main = layer == "body" and not in_picture and label not in _BESIDES
        page = item.prov[0].page_no if item.prov else None
        if page is not None:
            pages.add(page)
        if layer == "invisible":
            hidden.append(" ".join(said.split())[:_MAX_BEGINNING])
        run = _inline_group(item, found)
        if run is not None and run == inline:  # one more run of a paragraph's characters
            text.add(said, " ")
            text.segments[-1] = replace(text.segments[-1], end=text.length)
            continue
        inline = run
        start = text.add(said, _between(text.segments, kind, item))
        if kind is BlockKind.HEADING and main:
            heading = " ".join(said.split())
            title = heading if label == "title" and title is None else title
        text.segments.append(
            Segment(
                *(kind, start, text.length, "" if kind is BlockKind.HEADING else heading),
                main=main,
                page=page,
                level=_level(item, label),
            )
        )
    whole = "".join(text.parts)
    count = len(found.pages)
    return Document(
        text=whole,
        blocks=number_blocks(whole, text.segments),
        media_type=media_type,
        extractor=EXTRACTOR,
        extractor_version=extractor_version(),
        title=title,
        quality=Quality(
            pages=count or None,
            pages_without_text=tuple(sorted(set(found.pages) - pages)),
            dropped=(f"{pictures} picture{'s' if pictures > 1 else ''}",) if pictures else (),
            hidden_text=tuple(dict.fromkeys(hidden))[:_MAX_HIDDEN],
        ),
    )


def extractor_version() -> str:
    """Return this reader's version with those of docling and of what it reads with."""
    return "+".join([VERSION, *(f"{name}-{_version(name)}" for name in PACKAGES if _version(name))])


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _items(found: _Item) -> Iterator[tuple[_Item, bool]]:
    """Yield the items in reading order, and whether each is inside of a picture.

    What is inside of a table is left out: it is in the table's cells.
    """
    known: _Item = type(found.body.content_layer)
    walk = found.iterate_items(traverse_pictures=True, included_content_layers=set(known))
    table = picture = None
    for item, depth in walk:
        label = str(getattr(item.label, "value", item.label))
        table = None if table is not None and depth <= table else table
        picture = None if picture is not None and depth <= picture else picture
        if label in ("caption", "footnote"):
            yield item, False
        elif table is None:
            yield item, picture is not None
        if label in ("table", "document_index") and table is None:
            table = depth
        elif label in ("picture", "chart") and picture is None:
            picture = depth


def _said(item: _Item, label: str) -> str:
    if label in ("table", "document_index"):
        return _table(item.data)
    text = str(getattr(item, "text", "") or "").strip("\n")
    if label == "formula":
        return f"$${text.strip()}$$" if text.strip() else str(item.orig).strip()
    return text if label == "code" else text.strip()


def _table(data: _Item) -> str:
    """Return the rows between pipes; a cell that spans several stands in the first of them."""
    rows = [[""] * data.num_cols for _ in range(data.num_rows)]
    for cell in data.table_cells:
        row, column = cell.start_row_offset_idx, cell.start_col_offset_idx
        if row < data.num_rows and column < data.num_cols:
            rows[row][column] = " ".join(cell.text.split()).replace("|", r"\|")
    if not any(map(any, rows)):
        return ""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, f"| {' | '.join(['---'] * data.num_cols)} |")
    return "\n".join(lines)


def _inline_group(item: _Item, found: _Item) -> str | None:
    """Return the reference of the paragraph whose differently set parts `item` is one of."""
    if item.parent is None:
        return None
    parent = item.parent.resolve(found)
    return str(parent.self_ref) if getattr(parent.label, "value", "") == "inline" else None


def _between(segments: list[Segment], kind: BlockKind, item: _Item) -> str:
    """Return what stands before an item in the text: a gap, and the marker of a list's item."""
    follows = bool(segments) and segments[-1].kind is kind is BlockKind.LIST
    marker = ""
    if kind is BlockKind.LIST:
        marker = f"{item.marker if item.enumerated and item.marker else '-'} "
    return ("\n" if follows else "\n\n") + marker


def _level(item: _Item, label: str) -> int:
    """Return a heading's depth as docling's own Markdown has it: the title 1, others below."""
    if label == "title":
        return 1
    return int(getattr(item, "level", 0)) + 1 if label == "section_header" else 0
