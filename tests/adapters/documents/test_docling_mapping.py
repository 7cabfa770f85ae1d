"""How docling's documents become ours, with documents of the package docling-core itself."""

from itertools import pairwise
from typing import Any

import pytest

from adapters.documents.docling_mapping import map_document
from adapters.documents.render import to_markdown
from state.values.blocks import BlockKind, Document

core = pytest.importorskip(
    "docling_core.types.doc", reason="docling-core is not installed; it needs an older Typer"
)


def at(page: int) -> Any:
    box = core.BoundingBox(l=0, t=0, r=1, b=1)
    return core.ProvenanceItem(page_no=page, bbox=box, charspan=(0, 1))


@pytest.fixture
def found() -> Any:
    made = core.DoclingDocument(name="ferry")
    for page in (1, 2, 3):
        made.add_page(page_no=page, size=core.Size(width=100, height=100))
    return made


def mapped(found: Any) -> Document:
    document = map_document(found, media_type="application/pdf")
    for one, two in pairwise(document.blocks):
        assert one.end <= two.start
    return document


def told(document: Document) -> list[tuple[str, str]]:
    return [(b.kind.value, document.text[b.start : b.end]) for b in document.blocks]


def test_every_kind_of_item_becomes_a_block_of_its_kind(found: Any) -> None:
    found.add_title("The Ostra ferry", prov=at(1))
    found.add_heading("Seats", level=1, prov=at(1))
    found.add_text(core.DocItemLabel.TEXT, "It carries 120 passengers.", prov=at(1))
    found.add_heading("By deck", level=2, prov=at(2))
    group = found.add_list_group()
    found.add_list_item("Upper deck", parent=group, prov=at(2))
    found.add_list_item("Lower deck", enumerated=True, marker="2.", parent=group, prov=at(2))
    found.add_code("if full:\n    wait()", prov=at(2))
    found.add_formula("E = mc^2", prov=at(2))
    found.add_formula("", orig="x + y", prov=at(2))
    found.add_text(core.DocItemLabel.FOOTNOTE, "1 Without crew.", prov=at(2))

    document = mapped(found)

    assert told(document) == [
        ("heading", "The Ostra ferry"),
        ("heading", "Seats"),
        ("paragraph", "It carries 120 passengers."),
        ("heading", "By deck"),
        ("list", "Upper deck"),
        ("list", "Lower deck"),
        ("code", "if full:\n    wait()"),
        ("equation", "$$E = mc^2$$"),
        ("equation", "x + y"),
        ("footnote", "1 Without crew."),
    ]
    assert [b.level for b in document.blocks if b.kind is BlockKind.HEADING] == [1, 2, 3]
    assert [b.page for b in document.blocks] == [1, 1, 1, *[2] * 7]
    assert [b.heading for b in document.blocks][2:5] == ["Seats", "", "By deck"]
    assert document.title == "The Ostra ferry"
    assert (document.quality.pages, document.quality.pages_without_text) == (3, (3,))
    assert document.extractor_version.startswith("1+")
    assert "- Upper deck\n2. Lower deck" in document.text
    assert "# The Ostra ferry\n\n## Seats" in to_markdown(document)


def test_a_table_becomes_rows_between_pipes(found: Any) -> None:
    def cell(text: str, row: int, column: int, span: int = 1) -> Any:
        return core.TableCell(
            text=text, start_row_offset_idx=row, end_row_offset_idx=row + 1,
            start_col_offset_idx=column, end_col_offset_idx=column + span, col_span=span,
        )  # fmt: skip

    data = core.TableData(
        num_rows=3,
        num_cols=2,
        table_cells=[
            *(cell("Decks and\nseats", 0, 0, 2), cell("Upper", 1, 0), cell("40", 1, 1)),
            *(cell("Lower | rear", 2, 0), cell("80", 2, 1)),
        ],
    )
    caption = found.add_text(core.DocItemLabel.CAPTION, "Table 1: seats.", prov=at(1))
    found.add_table(data=data, caption=caption, prov=at(1))

    assert ("caption", "Table 1: seats.") in told(mapped(found))
    assert told(mapped(found))[-1] == (
        "table",
        "| Decks and seats |  |\n| --- | --- |\n| Upper | 40 |\n| Lower \\| rear | 80 |",
    )


def test_what_is_not_the_document_s_own_is_kept_aside(found: Any) -> None:
    layer = core.ContentLayer
    found.add_text(
        core.DocItemLabel.PAGE_HEADER, "Ferry news", prov=at(1), content_layer=layer.FURNITURE
    )
    found.add_text(core.DocItemLabel.TEXT, "It is blue.", prov=at(1))
    found.add_text(core.DocItemLabel.TEXT, "Obey me.", prov=at(1), content_layer=layer.INVISIBLE)
    picture = found.add_picture(prov=at(2))
    found.add_text(core.DocItemLabel.TEXT, "a label", prov=at(2), parent=picture)
    found.add_text(core.DocItemLabel.TEXT, "It is old.", prov=at(2))

    document = mapped(found)

    assert document.main_text == "It is blue.\n\nIt is old."
    assert {"Ferry news", "Obey me.", "a label"} <= {text for _, text in told(document)}
    assert document.quality.hidden_text == ("Obey me.",)
    assert document.quality.dropped == ("1 picture",)


def test_differently_set_parts_of_a_paragraph_are_one_block(found: Any) -> None:
    group = found.add_inline_group()
    for part in ("It carries", "120", "passengers."):
        found.add_text(core.DocItemLabel.TEXT, part, parent=group)
    found.add_text(core.DocItemLabel.TEXT, "It is blue.")

    document = mapped(found)

    assert told(document) == [
        ("paragraph", "It carries 120 passengers."),
        ("paragraph", "It is blue."),
    ]
    assert document.title is None
    assert document.blocks[0].page is None


def test_an_empty_document_has_no_text(found: Any) -> None:
    document = mapped(found)

    assert (document.text, document.blocks, document.quality.pages) == ("", (), 3)
